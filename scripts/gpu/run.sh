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

export TAPESCOPE_GPU_EVENTS=$here/tapescope-gpu-events

# compare ARGUMENTS…: what check_tape.py says, into the summary.
compare() {
    timeout 60 python3 check_tape.py "$@" 2>&1 | tee -a "$summary"
    [ "${PIPESTATUS[0]}" = 0 ] || failed=1
}

# one NAME SECONDS EXPECTED_STATUS on|off|inside COMMAND…: runs it, with or without the library, and compares its tape.
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
    if [ "$mode" = on ]; then  # "inside": the command itself sees to a tape in $folder
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
    grep -E '"(overhead|basic|torch|error)"' "$folder/said.jsonl" | cut -c1-600 | head -8 | tee -a "$summary"
    if [ "$mode" != off ]; then
        compare "$folder/said.jsonl" "$folder"
    fi
}

chmod +x gpu_check tapescope-gpu-events
say "libcupti on the disk: $(find / -xdev -name 'libcupti.so*' -not -type d 2> /dev/null | head -8 | tr '\n' ' ')"
one basic-off 30 0 off ./gpu_check basic
one basic 40 0 on ./gpu_check basic
one preload 40 0 inside env "LD_PRELOAD=$here/libtapescope-inject.so" "TAPESCOPE_GPU_DIR=$out/preload" ./gpu_check basic
one embedded 40 0 inside ./gpu_check embedded "$out/embedded"
one clock 30 0 on ./gpu_check clock
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
    one resnet50-off 60 0 off python3 torch_check.py resnet50
    one resnet50 60 0 on python3 torch_check.py resnet50
    compare --cost "$out/resnet50-off/said.jsonl" "$out/resnet50/said.jsonl"
    one torch-graph 60 0 on python3 torch_check.py graph
    one torch-0 40 0 on python3 torch_check.py 0
    one torch-20 40 0 on python3 torch_check.py 20
    one torch-profiler 60 0 off python3 torch_check.py profiler
    compare --profiler "$out/torch-profiler/said.jsonl" "$out/torch-0" "$out/torch-20"
    # Who gets CUPTI when both want it; nothing may crash.
    TAPESCOPE_BUSY_ALLOWED=1 one torch-profiler-inside 60 0 on python3 torch_check.py profiler
    TAPESCOPE_BUSY_ALLOWED=1 one torch-profiler-first 60 0 on python3 torch_check.py profiler-first
    one torch-workers 60 0 on python3 torch_check.py workers
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True one torch-expandable 60 0 on python3 torch_check.py 20
else
    say "== no PyTorch with CUDA here: its checks are left out"
fi
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
    TAPESCOPE_BUSY_ALLOWED=1 one other-tool 60 0 on "$sanitizer" --log-file "$out/other-tool.txt" ./gpu_check exit return
else
    say "== no compute-sanitizer here: the check beside another tool is left out"
fi
say "$([ $failed = 0 ] && echo "all checks passed" || echo "some checks FAILED")"
exit $failed
