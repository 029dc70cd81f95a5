#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what a program said with what its tape holds; exit status 1 if they differ.

check_tape.py SAID.jsonl FOLDER
check_tape.py --profiler SAID.jsonl FOLDER_0 FOLDER_N   torch.profiler's kernels of N steps against the difference of two tapes
"""
import ctypes
import glob
import json
import os
import sqlite3
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


def main(said_file, folder):
    said = read_said(said_file)
    tapes = sorted(glob.glob(os.path.join(folder, "*.tape")))
    bad = 0

    def check(name, ok, got=""):
        nonlocal bad
        bad += not ok
        print("  %-7s %s %s" % ("ok" if ok else "FAILED", name, got))

    check("one tape a process", len(tapes) >= 1, len(tapes))
    if not tapes:
        return 1
    kernels, copies, counts, states = {}, {}, {}, []
    for tape in tapes:
        db = sqlite3.connect(tape)
        for name, count, low, high in db.execute("SELECT name, count, min_us, max_us FROM gpu_kernels"):
            a = kernels.get(name, (0, 1e18, 0))
            kernels[name] = (a[0] + count, min(a[1], low), max(a[2], high))
        for kind, name, count, size in db.execute("SELECT kind, name, count, bytes FROM gpu_copies"):
            a = copies.get((kind, name), (0, 0))
            copies[(kind, name)] = (a[0] + count, a[1] + size)
        for name, count in db.execute("SELECT name, count FROM gpu_counts"):
            counts[name] = counts.get(name, 0) + count
        states += db.execute("SELECT code, message FROM gpu_states WHERE source = 'cupti'").fetchall()
        db.close()

    def of(part):
        return sum(v[0] for k, v in kernels.items() if k and part in k)

    total = sum(v[0] for v in kernels.values())
    print("  ", {k: v for k, v in counts.items() if v})
    check("tracing is on", all(code == "ok" for code, _ in states), states)
    check("every kernel has a time", counts.get("kernels without time", 0) == 0)
    for s in said:
        test = s.get("test")
        if test == "error":
            check("the program ran", False, s)
        elif test == "basic":
            check("100 plain kernels", of("tiny") == 100, of("tiny"))
            check("200 kernels of graphs", of("inGraph") == 200, of("inGraph"))
            moved = {k: v for k, v in copies.items() if k[0] == "copy"}
            check("4 copies of 1 MiB", sum(v[0] for v in moved.values()) == 4 and
                  sum(v[1] for v in moved.values()) == 4 << 20, moved)
            check("1 memset", sum(v[0] for k, v in copies.items() if k[0] == "memset") == 1)
        elif test == "duration":
            found = [v for k, v in kernels.items() if k and "spinILi%dE" % s["us"] in k]
            ns = found[0][2] * 1e3 if found else 0
            check("duration %d us" % s["us"], abs(ns - s["event_ns"]) < 15000 + 0.02 * s["event_ns"],
                  "tape %.0f ns, events %.0f ns" % (ns, s["event_ns"]))
        elif test in ("threads", "burst"):
            lost = counts.get("dropped records", 0)
            check("%s: stored + dropped = launched" % test, total + lost >= s["kernels"], (total, lost, s["kernels"]))
            if not os.environ.get("TAPESCOPE_GPU_MAX_BUFFERS"):
                check("%s: nothing dropped with default buffers" % test, lost == 0 and total == s["kernels"], lost)
        elif test == "exit":
            check("kernels are on the tape", total == s["kernels"], total)
        elif test == "torch":
            check("kernels of the training", total > 0, total)
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1] == "--profiler":
        sys.exit(against_profiler(*sys.argv[2:5]))
    sys.exit(main(sys.argv[1], sys.argv[2]))
