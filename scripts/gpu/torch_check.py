# SPDX-License-Identifier: Apache-2.0
"""A small PyTorch training.   torch_check.py train|graph|workers|profiler|STEPS"""
import json
import sys
import time

import torch
from torch import nn

how = sys.argv[1]
device = torch.device("cuda")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to(device)
optimiser = torch.optim.AdamW(net.parameters())
x = torch.randn(256, 1024, device=device)


def step():
    optimiser.zero_grad(set_to_none=True)
    net(x).square().mean().backward()
    optimiser.step()


for _ in range(3):
    step()
torch.cuda.synchronize()
said = {"test": "torch", "how": how, "torch": torch.__version__}
begin = time.perf_counter()
steps = int(how) if how.isdigit() else 200
if how == "profiler":
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    steps = 20
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    names = {}
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
            names[event.name] = names.get(event.name, 0) + 1
    said["kernels_of_torch_profiler"] = names
elif how == "workers":
    from torch.utils.data import DataLoader, TensorDataset
    for (batch,) in DataLoader(TensorDataset(torch.randn(512, 1024)), batch_size=64, num_workers=4):
        net(batch.to(device))
elif how == "graph":
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            net(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(x)
    for _ in range(100):
        graph.replay()
else:
    for _ in range(steps):
        step()
torch.cuda.synchronize()
said["ms_per_step"] = (time.perf_counter() - begin) / max(1, steps) * 1e3
with open("/proc/self/maps") as maps:
    said["cupti"] = sorted({line.split()[-1] for line in maps if "libcupti" in line})
print(json.dumps(said), flush=True)
