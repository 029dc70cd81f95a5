# SPDX-License-Identifier: Apache-2.0
import os
import time

ring = 100000
traces = [[], []]
settings = None


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=0):
    global settings, ring
    if os.environ.get("FAKE_TORCH_FAILS"):
        raise RuntimeError("this build has no history")
    settings = (enabled, context, stacks)
    ring = max_entries


def _snapshot():
    if os.environ.get("FAKE_TORCH_ODD"):
        return {"device_traces": [[{"action": None, "time_us": "soon"}]]}
    return {"segments": [], "device_traces": [list(t) for t in traces]}


def add(device, action, addr, size, **more):
    frames = [{"filename": os.path.join(os.path.dirname(__file__), "memory.py"), "line": 1, "name": "inside"},
              {"filename": "/home/me/train.py", "line": 31, "name": "forward"}]
    traces[device].append({"action": action, "addr": addr, "size": size, "stream": 0, "frames": frames,
                           "time_us": time.time_ns() // 1000, **more})
    del traces[device][:-ring]
