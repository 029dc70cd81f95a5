# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CUDA allocator history, written while the program runs.

Once torch.cuda is initialised the history is switched on; every few seconds, when memory runs out and at the end,
new entries go to DIR/PID-START.allocator. Lines of fields between tabs, each line complete or, at the end of a killed
process, cut:

    tapescope-allocator-history 1
    P  pid  parent  rank  local rank  world size  host  boot id  command
    C  CLOCK_MONOTONIC ns  CLOCK_REALTIME ns            (first, and before each batch)
    V  torch version
    S  number  text                                     (a place in the program, numbered from 1)
    E  Unix us  action  device  address  bytes  stream  free bytes of the device (oom)  place, 0 = none
    L  count  reason                                    (entries that were lost)
    X                                                   (the process ended in order)

Everything is guarded: PyTorch's calls here are private and change, and the program must never break or wait on us.
"""
import os
import sys
import threading
import time

_ACTIONS = frozenset(("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
                      "segment_unmap", "snapshot", "oom"))
_MAX_SITES = 200000
_MAX_INT = (1 << 63) - 1
_history = None


def _number(name, default):
    try:
        return int(os.environ.get(name, ""))
    except ValueError:
        return default


def _text(value, limit=1000):
    text = str(value)[:limit].encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())


def _rank(*names):
    for name in names:
        value = _number(name, -1)
        if 0 <= value < 1 << 31:
            return value
    return -1


def _first_line(path):
    try:
        with open(path) as f:
            return f.readline().strip()
    except OSError:
        return ""


def _command():
    try:
        with open("/proc/self/cmdline", "rb") as f:
            return f.read(4000).decode("utf-8", "replace").replace("\0", " ")
    except OSError:
        return " ".join(sys.argv)


class History:
    def __init__(self, folder):
        self.folder = folder
        self.period = max(0.05, _number("TAPESCOPE_ALLOCATOR_MS", 2000) / 1000.0)
        self.entries = max(1000, _number("TAPESCOPE_ALLOCATOR_ENTRIES", 100000))
        self.room = _number("TAPESCOPE_ALLOCATOR_MAX_BYTES", 4 << 30)
        self.lock = threading.RLock()
        self.stop = threading.Event()
        self.pid = os.getpid()
        self.file = None
        self.torch = None
        self.sites = {}
        self.seen = {}  # device -> (time of the newest entry, how many have that time)
        self.own = ()
        self.started = False

    # -- switching on ---------------------------------------------------------------------------------------------

    def on_torch_cuda(self, cuda):
        """torch.cuda has just been imported; nothing of CUDA has started."""
        lazy = getattr(cuda, "_lazy_call", None)
        if callable(lazy):
            lazy(self.on_cuda)
        else:
            threading.Thread(target=self.wait_for_cuda, args=(cuda,), name="tapescope", daemon=True).start()

    def wait_for_cuda(self, cuda):
        while not self.stop.wait(0.2):
            try:
                if cuda.is_initialized():
                    self.on_cuda()
                    return
            except Exception:
                return

    def on_cuda(self):
        """CUDA has started in this process."""
        try:
            if self.started or os.getpid() != self.pid:
                return
            self.started = True
            self.torch = sys.modules["torch"]
            self.own = (os.path.dirname(getattr(self.torch, "__file__", "") or "/nowhere"), os.path.dirname(os.__file__))
            record = self.torch.cuda.memory._record_memory_history
            try:
                record("all", context="alloc", stacks="python", max_entries=self.entries)
            except TypeError:  # before PyTorch 2.1
                record(True, trace_alloc_max_entries=self.entries, trace_alloc_record_context=True)
            self.open()
            self.attach_observer()
            import atexit
            atexit.register(self.close)
            threading.Thread(target=self.run, name="tapescope", daemon=True).start()
        except Exception:
            self.abandon()

    def attach_observer(self):
        try:
            self.torch._C._cuda_attach_out_of_memory_observer(self.on_out_of_memory)
        except Exception:
            pass

    def on_out_of_memory(self, *unused):
        self.flush()

    # -- writing --------------------------------------------------------------------------------------------------

    def open(self):
        name = "%d-%d.allocator" % (self.pid, time.monotonic_ns())
        fd = os.open(os.path.join(self.folder, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        self.file = os.fdopen(fd, "wb", buffering=0)
        self.write(["tapescope-allocator-history\t1",
                    "\t".join(("P", str(self.pid), str(os.getppid()),
                               str(_rank("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")),
                               str(_rank("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")),
                               str(_rank("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")),
                               _text(os.uname().nodename), _first_line("/proc/sys/kernel/random/boot_id"),
                               _text(_command(), 4000))),
                    self.clocks(), "V\t" + _text(getattr(self.torch, "__version__", "?"))])

    @staticmethod
    def clocks():
        return "C\t%d\t%d" % (time.monotonic_ns(), time.time_ns())

    def write(self, lines):
        data = ("\n".join(lines) + "\n").encode("utf-8", "replace")
        if self.file is None:
            return
        if len(data) > self.room:
            data = b"L\t1\tthe file has reached its size limit (TAPESCOPE_ALLOCATOR_MAX_BYTES)\n"
            self.file.write(data)
            self.abandon()
            return
        self.room -= len(data)
        view = memoryview(data)
        while view:
            view = view[self.file.write(view):]

    def site(self, frames, lines):
        """Number of the innermost frame that is neither PyTorch's nor the standard library's."""
        for frame in frames or ():
            path = str(frame.get("filename", ""))
            if not path.endswith(".py") or path.startswith(self.own) or os.sep + "site-packages" + os.sep in path:
                continue
            text = "%s:%s %s" % (path, frame.get("line", 0), frame.get("name", ""))
            number = self.sites.get(text)
            if number is None:
                if len(self.sites) >= _MAX_SITES:
                    return 0
                number = len(self.sites) + 1
                self.sites[text] = number
                lines.append("S\t%d\t%s" % (number, _text(text)))
            return number
        return 0

    def new_entries(self, device, trace):
        """Those of the ring that are not written yet, and whether some in between may be gone."""
        times = [int(e.get("time_us", 0)) for e in trace]
        newest, count = self.seen.get(device, (-1, 0))
        first = len(times)
        while first > 0 and times[first - 1] > newest:
            first -= 1
        same = 0
        while same < first and times[first - 1 - same] == newest:
            same += 1
        first -= max(0, same - count)
        gone = newest >= 0 and first == 0 and same < count and len(trace) >= self.entries
        if times:
            last = times[-1]
            self.seen[device] = (last, sum(1 for t in reversed(times) if t == last))
        return trace[first:], gone

    def lines_of(self, snapshot):
        lines = [self.clocks()]
        for device, trace in enumerate(snapshot.get("device_traces", ())):
            entries, gone = self.new_entries(device, trace)
            if gone:
                lines.append("L\t1\tentries of device %d left PyTorch's ring before they were written; raise "
                             "TAPESCOPE_ALLOCATOR_ENTRIES" % device)
            for e in entries:
                action = e.get("action", "")
                if action not in _ACTIONS:
                    continue
                number = self.site(e.get("frames"), lines)
                oom = action == "oom"
                address = 0 if oom else int(e.get("addr", 0))
                free = int(e.get("device_free", e.get("addr", 0))) if oom else 0
                lines.append("E\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d" % (
                    int(e.get("time_us", 0)), action, device, address & (2 * _MAX_INT + 1),
                    min(max(0, int(e.get("size", 0))), _MAX_INT), int(e.get("stream", 0)) & (2 * _MAX_INT + 1),
                    min(max(0, free), _MAX_INT), number))
        return lines

    def flush(self):
        try:
            with self.lock:
                if self.file is None or os.getpid() != self.pid:
                    return
                lines = self.lines_of(self.torch.cuda.memory._snapshot())
                if len(lines) > 1:
                    self.write(lines)
        except Exception:
            self.abandon()

    def run(self):
        while not self.stop.wait(self.period):
            self.flush()

    def close(self):
        try:
            self.stop.set()
            self.flush()
            with self.lock:
                if self.file is not None and os.getpid() == self.pid:
                    self.write(["X"])
                    self.file.close()
                self.file = None
        except Exception:
            self.abandon()

    def abandon(self):
        """Nothing more is written; what was stays."""
        try:
            self.stop.set()
            if self.file is not None:
                self.file.close()
        except Exception:
            pass
        self.file = None

    def in_child(self):
        """A forked process has a dead CUDA, and the file is its parent's."""
        self.lock = threading.RLock()
        self.stop.set()
        self.file = None
        self.started = True


class Finder:
    """Sees the import of torch.cuda, and nothing else."""

    def __init__(self, history):
        self.history = history

    def find_spec(self, name, path=None, target=None):
        if name != "torch.cuda":
            return None
        try:
            sys.meta_path.remove(self)
            spec = None
            for finder in list(sys.meta_path):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
            if spec is None or spec.loader is None:
                return None
            load = spec.loader.exec_module
            history = self.history

            def exec_module(module):
                load(module)
                try:
                    history.on_torch_cuda(module)
                except Exception:
                    pass

            spec.loader.exec_module = exec_module
            return spec
        except Exception:
            return None


def install(folder):
    global _history
    if _history is not None:
        return
    _history = History(folder)
    sys.meta_path.insert(0, Finder(_history))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_history.in_child)
