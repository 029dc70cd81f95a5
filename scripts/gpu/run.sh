#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On the GPU machine, in the folder that scripts/gpu-check has made: every check with a limit of its own, five minutes in
# all. Results in $OUT (default: ./results): summary.txt and tapes. Exit status: 0 all passed, 1 some failed, 77 no GPU here.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
here=$PWD
out=${OUT:-$here/results}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
summary=$out/summary.txt
: > "$summary"
failed=0
say() { echo "$@" | tee -a "$summary"; }
if ! python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2> /dev/null; then
    say "no driver: stops here"
    exit 77
fi
if ! python3 -c 'import ctypes, sys; c = ctypes.CDLL("libcuda.so.1"); n = ctypes.c_int(0)
sys.exit(c.cuInit(0) != 0 or c.cuDeviceGetCount(ctypes.byref(n)) != 0 or n.value == 0)'; then
    say "a driver, but no GPU: stops here"
    exit 77
fi
say "$(date -u +%F) $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -8)"
say "$(uname -r), $(ldd --version 2>&1 | head -1)"
until=$(($(date +%s) + ${LIMIT_S:-300}))

# one NAME SECONDS EXPECTED_STATUS on|off COMMAND…: runs it, with or without the library, and compares its tape.
one() {
    local name=$1 limit=$2 expected=$3 mode=$4
    shift 4
    if (($(date +%s) + 5 > until)); then
        say "== $name: skipped, the time is up"
        failed=1
        return
    fi
    local folder=$out/$name
    rm -rf "$folder"
    mkdir -p "$folder"
    local variables=(TAPESCOPE_GPU_VERBOSE=1)
    if [ "$mode" = on ]; then
        variables+=("TAPESCOPE_GPU_DIR=$folder" "CUDA_INJECTION64_PATH=$here/libtapescope-inject.so"
                    "NVTX_INJECTION64_PATH=$here/libtapescope-inject.so")
    fi
    local begin
    begin=$(date +%s%N)
    env "${variables[@]}" timeout -k 5 "$limit" "$@" > "$folder/said.jsonl" 2> "$folder/stderr.txt"
    local status=$?
    say "== $name: status $status, $((($(date +%s%N) - begin) / 1000000)) ms"
    if [ "$status" != "$expected" ]; then
        say "  FAILED  status $expected was expected: $(tail -c 300 "$folder/stderr.txt")"
        failed=1
    fi
    grep -E '"(overhead|torch|error)"' "$folder/said.jsonl" | head -8 | tee -a "$summary"
    if [ "$mode" = on ]; then
        timeout 60 python3 check_tape.py "$folder/said.jsonl" "$folder" 2>&1 | tee -a "$summary"
        [ "${PIPESTATUS[0]}" = 0 ] || failed=1
    fi
}

chmod +x gpu_check
one basic-off 30 0 off ./gpu_check basic
one basic 40 0 on ./gpu_check basic
one duration 30 0 on ./gpu_check duration
one threads 40 0 on ./gpu_check threads
one burst 60 0 on ./gpu_check burst
TAPESCOPE_GPU_MAX_BUFFERS=2 TAPESCOPE_GPU_BUFFER_BYTES=65536 one starved 60 0 on ./gpu_check burst
one overhead-off 30 0 off ./gpu_check overhead
one overhead-on 40 0 on ./gpu_check overhead
one exit-return 20 0 on ./gpu_check exit return
one exit-_exit 20 0 on ./gpu_check exit _exit
one exit-abort 20 134 on ./gpu_check exit abort
one exit-reset 20 0 on ./gpu_check exit reset
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    one torch-off 60 0 off python3 torch_check.py train
    one torch 60 0 on python3 torch_check.py train
    one torch-graph 60 0 on python3 torch_check.py graph
    one torch-workers 60 0 on python3 torch_check.py workers
    one torch-0 40 0 on python3 torch_check.py 0
    one torch-20 40 0 on python3 torch_check.py 20
    one torch-profiler 60 0 off python3 torch_check.py profiler
    timeout 60 python3 check_tape.py --profiler "$out/torch-profiler/said.jsonl" "$out/torch-0" "$out/torch-20" 2>&1 |
        tee -a "$summary"
    [ "${PIPESTATUS[0]}" = 0 ] || failed=1
else
    say "== no PyTorch with CUDA here: its checks are left out"
fi
say "$([ $failed = 0 ] && echo "all checks passed" || echo "some checks FAILED")"
exit $failed
