#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what a program said with what its tape holds; exit status 1 if they differ.

check_tape.py SAID.jsonl FOLDER                         with TAPESCOPE_GPU_EVENTS (the program), single events too
check_tape.py --profiler SAID.jsonl FOLDER_0 FOLDER_N   torch.profiler's kernels of N steps against the difference of two tapes
check_tape.py --cost OFF.jsonl ON.jsonl                 a step's median with and without recording; goal: at most 5 % more
"""
import ctypes
import glob
import json
import os
import sqlite3
import subprocess
import sys


def read_said(path):
    said = []
    with open(path, errors="replace") as f:
        for line in f:
            if line.startswith("{"):
                try:
                    said.append(json.loads(line))
                except ValueError:
                    pass
    return said


def demangled(name):
    if not name.startswith("_Z"):
        return name
    lib = ctypes.CDLL("libstdc++.so.6")
    demangle = lib.__cxa_demangle
    demangle.restype = ctypes.c_char_p
    text = demangle(name.encode(), None, None, None)
    return text.decode() if text else name


def kernels_of(folder):
    out = {}
    for tape in glob.glob(os.path.join(folder, "*.tape")):
        db = sqlite3.connect(tape)
        for name, count in db.execute("SELECT name, count FROM gpu_kernels"):
            out[demangled(name)] = out.get(demangled(name), 0) + count
        db.close()
    return out


def against_profiler(said_file, without, with_steps):
    """What the steps added to the tape must be what torch.profiler saw of them, name by name."""
    expected = [s["kernels_of_torch_profiler"] for s in read_said(said_file) if "kernels_of_torch_profiler" in s]
    if not expected:
        print("  FAILED  torch.profiler said nothing")
        return 1
    before, after = kernels_of(without), kernels_of(with_steps)
    found = {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}
    same = found == expected[0]
    print("  %-7s kernels as torch.profiler sees them: %d of %d names, %d of %d kernels" % (
        "ok" if same else "FAILED", len(found), len(expected[0]), sum(found.values()), sum(expected[0].values())))
    if not same:
        for name in sorted(set(found) | set(expected[0])):
            if found.get(name, 0) != expected[0].get(name, 0):
                print("          %d on the tape, %d in torch.profiler: %s" % (
                    found.get(name, 0), expected[0].get(name, 0), name[:150]))
    return 0 if same else 1


def cost(off_file, on_file):
    off, on = ([s["median_ms"] for s in read_said(f) if "median_ms" in s] for f in (off_file, on_file))
    if not off or not on:
        print("  FAILED  no times of steps")
        return 1
    more = on[0] / off[0] - 1
    print("  %-7s a step: %.3f ms, recorded %.3f ms: %+.1f %%" % (
        "ok" if more <= 0.05 else "FAILED", off[0], on[0], 100 * more))
    return 0 if more <= 0.05 else 1


class Tapes:
    """The tapes of a folder, one a process."""

    def __init__(self, folder):
        self.paths = sorted(glob.glob(os.path.join(folder, "*.tape")))
        self.kernels, self.copies, self.counts, self.states, self.launched = {}, {}, {}, [], None
        for tape in self.paths:
            db = sqlite3.connect(tape)
            for name, count, low, high in db.execute("SELECT name, count, min_us, max_us FROM gpu_kernels"):
                a = self.kernels.get(name, (0, 1e18, 0))
                self.kernels[name] = (a[0] + count, min(a[1], low), max(a[2], high))
            for kind, name, count, size in db.execute("SELECT kind, name, count, bytes FROM gpu_copies"):
                a = self.copies.get((kind, name), (0, 0))
                self.copies[(kind, name)] = (a[0] + count, a[1] + size)
            for name, count in db.execute("SELECT name, count FROM gpu_counts"):
                self.counts[name] = self.counts.get(name, 0) + count
            self.states += db.execute("SELECT code, message FROM gpu_states WHERE source = 'cupti'").fetchall()
            db.close()

    def of(self, part):
        return sum(v[0] for k, v in self.kernels.items() if k and part in k)

    def total(self):
        return sum(v[0] for v in self.kernels.values())

    def events(self):
        """Single events of all tapes, None without the program that reads them."""
        program = os.environ.get("TAPESCOPE_GPU_EVENTS")
        if not program:
            return None
        out = []
        for i, tape in enumerate(self.paths):
            run = subprocess.run([program, tape], stdout=subprocess.PIPE, check=True)
            for line in run.stdout.decode("utf-8", "replace").splitlines():
                event = json.loads(line)
                event["tape"] = i
                out.append(event)
        return out


class Check:
    def __init__(self, tapes):
        self.tapes, self.bad = tapes, 0

    def __call__(self, name, ok, got=""):
        self.bad += not ok
        print("  %-7s %s %s" % ("ok" if ok else "FAILED", name, got))

    def order(self, events):
        """Work starts after its launch call, and work of one stream does not overlap."""
        calls = {}
        for e in events:
            if e["kind"] in ("runtime call", "driver call") and e["correlation"]:
                key = e["tape"], e["process"], e["correlation"]
                calls[key] = min(calls.get(key, e["start"]), e["start"])
        kernels = [e for e in events if e["kind"] == "kernel" and not e["flags"] & 3]
        early = [calls[k] - e["start"] for e in kernels
                 for k in [(e["tape"], e["process"], e["correlation"])] if k in calls]
        worst = max(early, default=0)
        self("%d of %d kernels have their launch call, and none starts before it" % (len(early), len(kernels)),
             len(early) == len(kernels) and worst <= 20000, "worst: %d ns before" % max(0, worst))
        streams, overlap = {}, 0
        for e in sorted(kernels, key=lambda e: e["start"]):
            if e["graph"]:  # branches of a graph may run side by side
                continue
            key = e["tape"], e["process"], e["context"], e["stream"]
            overlap = max(overlap, streams.get(key, 0) - e["start"])
            streams[key] = max(streams.get(key, 0), e["end"])
        self("no overlap in a stream", overlap <= 1000, "worst: %d ns" % overlap)

    def basic(self, said):
        t = self.tapes
        self("100 plain kernels", t.of("tiny") == 100, t.of("tiny"))
        self("200 kernels of graphs", t.of("inGraph") == 200, t.of("inGraph"))
        moved = {k: v for k, v in t.copies.items() if k[0] == "copy"}
        self("4 copies of 1 MiB", sum(v[0] for v in moved.values()) == 4 and
             sum(v[1] for v in moved.values()) == 4 << 20, moved)
        self("1 memset", sum(v[0] for k, v in t.copies.items() if k[0] == "memset") == 1)
        events = t.events()
        if events is None:
            return
        plain = [e for e in events if e["kind"] == "kernel" and "tiny" in e["name"]]
        self("grids and blocks", all(e["grid"] == [3, 2, 1] and e["block"] == [64, 1, 1] and e["shared"] == 256
                                     for e in plain))
        self("two streams", len({e["stream"] for e in plain}) == 2)
        graph = [e for e in events if e["kind"] == "kernel" and "inGraph" in e["name"]]
        self("kernels of graphs carry its id", all(e["graph"] for e in graph))
        ranges = sorted(e["name"] for e in events if e["kind"] == "NVTX push")
        self("2 NVTX ranges", ranges == ["inner", "outer"], ranges)
        for address in said["addresses"]:
            sizes = [e["bytes"] for e in events if e.get("address") == address]
            self("1 MiB allocated and freed at %#x" % address, sizes == [1 << 20] * 2, sizes)
        self.order(events)

    def clock(self, said):
        events = self.tapes.events()
        if events is None:
            return
        kernels = sorted((e["start"], e["end"]) for e in events if e["kind"] == "kernel" and "spinILi100E" in e["name"])
        outside = [max(before - start, end - after) for (start, end), (before, after) in zip(kernels, said["around"])]
        self("60 kernels lie between the host times around them, within 50 us",
             len(kernels) == len(said["around"]) and max(outside, default=0) <= 50000,
             "worst: %d ns outside" % max(outside, default=0))

    def embedded(self, said):
        t = self.tapes
        self("%d kernels, and none from after the stop" % said["count"],
             t.of("tiny") == said["count"] and t.of("inGraph") == 0, t.of("tiny"))
        events = t.events()
        if events is None:
            return
        ids = {e["correlation"]: e["id"] for e in events if e.get("whose") == 5}
        found = sorted(ids.get(e["correlation"], -1) for e in events if e["kind"] == "kernel")
        self("every kernel has its operator's id",
             found == list(range(said["first"], said["first"] + said["count"])), found[:3])
        self.order(events)

    def duration(self, said):
        found = [v for k, v in self.tapes.kernels.items() if k and "spinILi%dE" % said["us"] in k]
        ns = found[0][2] * 1e3 if found else 0
        self("duration %d us" % said["us"], abs(ns - said["event_ns"]) < 15000 + 0.02 * said["event_ns"],
             "tape %.0f ns, events %.0f ns" % (ns, said["event_ns"]))

    def threads(self, said):
        total, lost = self.tapes.total(), self.tapes.counts.get("dropped records", 0)
        self("stored + dropped = launched", total + lost >= said["kernels"], (total, lost, said["kernels"]))
        if not os.environ.get("TAPESCOPE_GPU_MAX_BUFFERS"):
            self("nothing dropped with default buffers", lost == 0 and total == said["kernels"], lost)
    burst = threads

    def exit(self, said):
        self("kernels are on the tape", self.tapes.total() == said["kernels"], self.tapes.total())

    def torch(self, said):
        self("kernels of the training", self.tapes.total() > 0, self.tapes.total())
        events = self.tapes.events()
        if events is None or said["how"] in ("workers", "profiler-first", "profiler"):
            return
        self.order(events)
        steps = sum(e["name"] == "step" for e in events)
        if "step_ranges" in said:
            self("%d NVTX ranges of steps" % said["step_ranges"], steps == said["step_ranges"], steps)
        sizes = {e["address"]: e["bytes"] for e in events if "address" in e}
        known = [s for s in said["segments"] if s[0] in sizes]
        print("          %d of PyTorch's %d segments are allocations on the tape" % (len(known), len(said["segments"])))
        if not os.environ.get("PYTORCH_CUDA_ALLOC_CONF"):
            self("with their sizes", known == said["segments"] and all(sizes[a] == n for a, n in known))


def main(said_file, folder):
    tapes = Tapes(folder)
    check = Check(tapes)
    check("one tape a process", len(tapes.paths) >= 1, len(tapes.paths))
    if not tapes.paths:
        return 1
    print("  ", {k: v for k, v in tapes.counts.items() if v})
    said = read_said(said_file)
    # "cut": it was traced, and ended by _exit or a signal.
    allowed = {"ok", "cut"} | ({"busy"} if os.environ.get("TAPESCOPE_BUSY_ALLOWED") else set())
    check("tracing is on", all(code in allowed for code, _ in tapes.states), tapes.states)
    check("every kernel has a time", tapes.counts.get("kernels without time", 0) == 0)
    if any(code == "busy" for code, _ in tapes.states):
        print("          the other tool has CUPTI; the program went on and said %d lines" % len(said))
        return 1 if check.bad else 0
    for s in said:
        test = s.get("test")
        if test == "error":
            check("the program ran", False, s)
        elif test != "overhead" and hasattr(check, str(test)):
            getattr(check, test)(s)
    check("the program said its results", bool(said))
    return 1 if check.bad else 0


if __name__ == "__main__":
    if sys.argv[1] == "--profiler":
        sys.exit(against_profiler(*sys.argv[2:5]))
    if sys.argv[1] == "--cost":
        sys.exit(cost(*sys.argv[2:4]))
    sys.exit(main(sys.argv[1], sys.argv[2]))
