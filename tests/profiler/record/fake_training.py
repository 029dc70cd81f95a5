# SPDX-License-Identifier: Apache-2.0
"""A training on the fake PyTorch."""
import os
import sys
import time

import torch

how = sys.argv[1]
if how == "cpu":
    print("trained on the CPU")
    sys.exit(0)
torch.cuda.init()
memory = torch.cuda.memory
memory.add(0, "segment_alloc", 1 << 40, 2 << 20)
memory.add(0, "alloc", 1 << 40, 512)
time.sleep(0.2)  # a flush or two
memory.add(0, "free_requested", 1 << 40, 512)
memory.add(1, "oom", 4096, 1 << 30, device_free=4096)
for observer in torch._C.observers:
    observer(1, 1 << 30, 1 << 30, 4096)
if os.fork() == 0:
    memory.add(0, "alloc", 7, 7)
    sys.exit(0)
os.wait()
if how == "overflow":
    for i in range(3000):
        memory.add(0, "alloc", i, 512)
    time.sleep(0.3)
memory.add(0, "free_completed", 1 << 40, 512)
print("trained", flush=True)
if how == "killed":
    time.sleep(0.3)
    os.kill(os.getpid(), 9)
sys.exit(3)
