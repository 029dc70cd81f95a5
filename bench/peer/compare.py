#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tapescope's engine against PyTorch on the CPU, same work, one run: prints the table of docs/status.md.

    python3 bench/peer/compare.py --peer VENV [--build build/release] [--rounds 3] [--seconds 1] [--threads 1,2] [CASE ...]

VENV is a throw-away virtual environment with torch (python3 -m venv VENV && VENV/bin/pip install torch). For each case
the two programs take turns, --rounds times; a figure is the median of the rounds' medians, a ratio is taken between
neighbours in time and its median shown. Memory is the peak resident size of a process that ran only this case, without what
the process had before (its libraries), which is measured with a process that does nothing.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OVERHEAD = ["add_4_nograd", "add_4_inplace", "add_4_grad", "mm_4x4_nograd", "view_4_nograd",
            "chain20_forward_backward", "tiny_mlp_adam_step"]


def build_libtorch(venv, folder):
    """Compiles libtorch_overhead.cpp against the wheel, once."""
    program = folder / "libtorch_overhead"
    source = HERE / "libtorch_overhead.cpp"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    torch = pathlib.Path(subprocess.check_output(
        [venv / "bin/python", "-c", "import torch, os; print(os.path.dirname(torch.__file__))"], text=True).strip())
    print("building libtorch_overhead (a minute or two)", file=sys.stderr)
    libraries = [f"-l{name}" for name in ("torch", "torch_cpu", "c10")]
    subprocess.check_call(["g++", "-O2", "-std=c++20", "-w", source, "-o", program, f"-I{torch}/include",
                           f"-I{torch}/include/torch/csrc/api/include", f"-L{torch}/lib", "-Wl,--no-as-needed",
                           f"-Wl,-rpath,{torch}/lib", f"-Wl,-rpath-link,{torch}/lib", *libraries,
                           "-Wl,--allow-shlib-undefined"])
    return program


def run(command, threads):
    # Pinning the BLAS to an older core, as some environments do, would halve the peer's speed.
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    env.update(OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    out = subprocess.run([str(c) for c in command], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {row["case"]: row for row in map(json.loads, out.splitlines())}


def pretty_seconds(s):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if s >= scale:
            return f"{s / scale:.3g} {unit}"
    return f"{s * 1e9:.0f} ns"


def rate(work, s, name):
    if not work or name in OVERHEAD:
        return ""
    unit = "GFLOP/s" if name.startswith(("matmul", "bmm", "conv")) else "GB/s"
    return f"{work / s / 1e9:.0f} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, type=pathlib.Path)
    parser.add_argument("--build", default=HERE.parents[1] / "build/release", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    ours = args.build / "bin/peer_bench"
    if not ours.exists():
        sys.exit(f"{ours} is not there: build the target peer_bench first, or name the build folder with --build")
    python = args.peer / "bin/python"
    if not python.exists():
        sys.exit(f"{python} is not there: python3 -m venv {args.peer} && {args.peer}/bin/pip install torch")
    every = subprocess.check_output([ours, "--list"], text=True).split()
    unknown = set(args.cases) - set(every)
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}; peer_bench --list names them")
    names = args.cases or every
    version = subprocess.check_output([python, "-c", "import torch; print(torch.__version__)"], text=True).strip()
    libtorch = build_libtorch(args.peer, args.build / "bin") if set(names) & set(OVERHEAD) else None
    idle = int(subprocess.check_output(
        [python, "-c", "import torch, resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"]))

    print(f"PyTorch {version}, load at start {os.getloadavg()[0]:.1f}, {args.rounds} rounds in turn\n")
    print("| case | threads | Tapescope | PyTorch | time ratio | rate | memory, MB: Tapescope / PyTorch |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for threads in map(int, args.threads.split(",")):
        shared = {}
        if libtorch:
            wanted = [n for n in names if n in OVERHEAD]
            for _ in range(args.rounds):
                mine = run([ours, "--seconds", args.seconds, *wanted], threads)
                peer = run([libtorch, "--seconds", args.seconds], threads)
                for name in wanted:
                    shared.setdefault(name, []).append((mine[name], peer[name]))
        for name in names:
            pairs = shared.get(name)
            if pairs is None:
                pairs = [(run([ours, "--seconds", args.seconds, name], threads)[name],
                          run([python, HERE / "torch_cases.py", "--seconds", args.seconds, name], threads)[name])
                         for _ in range(args.rounds)]
            mine = statistics.median(a["seconds"] for a, _ in pairs)
            peer = statistics.median(b["seconds"] for _, b in pairs)
            ratio = statistics.median(a["seconds"] / b["seconds"] for a, b in pairs)
            memory = ""
            if name.startswith("train_"):
                memory = f"{pairs[0][0]['peak_kb'] / 1024:.0f} / {(pairs[0][1]['peak_kb'] - idle) / 1024:.0f}"
            print(f"| {name} | {threads} | {pretty_seconds(mine)} | {pretty_seconds(peer)} | {ratio:.2f} | "
                  f"{rate(pairs[0][0]['work'], mine, name)} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
