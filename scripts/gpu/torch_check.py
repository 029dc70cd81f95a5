# SPDX-License-Identifier: Apache-2.0
"""A small PyTorch training.   torch_check.py train|graph|workers|profiler|profiler-first|resnet50|STEPS"""
import json
import sys
import time

import torch
from torch import nn

how = sys.argv[1]
device = torch.device("cuda")
torch.manual_seed(0)
activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        outside = 4 * width

        def conv(a, b, k, s=1):
            return nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b))
        self.path = nn.Sequential(conv(inside, width, 1), nn.ReLU(True), conv(width, width, 3, stride), nn.ReLU(True),
                                  conv(width, outside, 1))
        self.skip = conv(inside, outside, 1, stride) if stride != 1 or inside != outside else nn.Identity()

    def forward(self, x):
        return torch.relu(self.path(x) + self.skip(x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(inside, width, stride if i == 0 else 1))
            inside = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))


first = None
if how == "profiler-first":  # before CUDA is used at all
    first = torch.profiler.profile(activities=activities)
    first.start()
if how == "resnet50":
    net = resnet50().to(device)
    x = torch.randn(64, 3, 224, 224, device=device)
else:
    net = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to(device)
    x = torch.randn(256, 1024, device=device)
optimiser = torch.optim.AdamW(net.parameters())


def step():
    torch.cuda.nvtx.range_push("step")
    optimiser.zero_grad(set_to_none=True)
    net(x).square().mean().backward()
    optimiser.step()
    torch.cuda.nvtx.range_pop()


def kernels_of(profile):
    names = {}
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
            names[event.name] = names.get(event.name, 0) + 1
    return names


for _ in range(3):
    step()
torch.cuda.synchronize()
said = {"test": "torch", "how": how, "torch": torch.__version__}
steps = int(how) if how.isdigit() else {"profiler": 20, "resnet50": 30}.get(how, 200)
begin = time.perf_counter()
if how == "profiler":
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    said["kernels_of_torch_profiler"] = {n: c for n, c in kernels_of(profile).items() if n != "step"}
elif how == "workers":
    from torch.utils.data import DataLoader, TensorDataset
    steps = 8
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
    steps = 100
    for _ in range(steps):
        graph.replay()
else:
    times = []
    for _ in range(steps):
        at = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - at)
    if times:
        said["median_ms"] = sorted(times)[len(times) // 2] * 1e3
    said["step_ranges"] = steps + 3
torch.cuda.synchronize()
said["ms_per_step"] = (time.perf_counter() - begin) / max(1, steps) * 1e3
if first is not None:
    first.stop()
    said["profiler_first_kernels"] = sum(kernels_of(first).values())
said["segments"] = sorted([s["address"], s["total_size"]] for s in torch.cuda.memory_snapshot())
with open("/proc/self/maps") as maps:
    said["cupti"] = sorted({line.split()[-1] for line in maps if "libcupti" in line})
print(json.dumps(said), flush=True)
