# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of compare.py: the cases of peer_operators.cpp and peer_training.cpp under the same names.

    OMP_NUM_THREADS=2 python3 torch_cases.py [--seconds S] [CASE ...]
"""
import json
import os
import resource
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, COLUMNS = 16384, 1024


def no_grad(make):
    def build():
        call = make()

        def run():
            with torch.no_grad():
                call()

        return run

    return build


def unary(fn, draw=torch.randn):
    def make():
        x = draw(ROWS, COLUMNS)
        return lambda: fn(x)

    return no_grad(make)


def with_inputs(fn, *sizes):
    def make():
        inputs = [torch.randn(*s) for s in sizes]
        return lambda: fn(*inputs)

    return no_grad(make)


def transform(fn, *size):
    def make():
        x = torch.complex(torch.randn(*size), torch.randn(*size))
        return lambda: fn(x)

    return no_grad(make)


def irfft():
    x = torch.fft.rfft(torch.randn(4096, 256))
    return lambda: torch.fft.irfft(x)


def batch_norm():
    x, w, b = torch.randn(8, 64, 112, 112), torch.ones(64), torch.zeros(64)
    mean, var = torch.zeros(64), torch.ones(64)
    return lambda: F.batch_norm(x, mean, var, w, b, True)


def conv(input_size, weight_size, stride):
    def make():
        x, w = torch.randn(*input_size, requires_grad=True), torch.randn(*weight_size, requires_grad=True)
        padding = (weight_size[2] // 2, weight_size[3] // 2)
        grad = torch.ones_like(F.conv2d(x, w, None, stride, padding))

        def run():
            F.conv2d(x, w, None, stride, padding).backward(grad)
            x.grad = None
            w.grad = None

        return run

    return make


class Residual(nn.Module):
    def __init__(self, inside, width, stride, bottleneck):
        super().__init__()
        out = 4 * width if bottleneck else width
        if bottleneck:
            layers = [(inside, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)]
        else:
            layers = [(inside, width, 3, stride), (width, width, 3, 1)]
        body = []
        for i, (a, b, k, s) in enumerate(layers):
            body += [nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b)]
            if i + 1 < len(layers):
                body.append(nn.ReLU())
        self.body = nn.Sequential(*body)
        self.down = None
        if stride != 1 or inside != out:
            self.down = nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + (self.down(x) if self.down else x))


def resnet(blocks, bottleneck):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for i in range(count):
            layers.append(Residual(inside, width, 2 if i == 0 and stage > 0 else 1, bottleneck))
            inside = 4 * width if bottleneck else width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))


def small_cnn():
    channels, layers = [3, 32, 32, 64, 64], []
    for i in range(4):
        layers += [nn.Conv2d(channels[i], channels[i + 1], 3, 2 if i == 2 else 1, 1, bias=False),
                   nn.BatchNorm2d(channels[i + 1]), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class GptBlock(nn.Module):
    def __init__(self, dim, heads, mask):
        super().__init__()
        self.heads, self.mask = heads, mask
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.fc, self.out = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        batch, length, dim = x.shape
        q, k, v = (t.reshape(batch, length, self.heads, dim // self.heads).transpose(1, 2)
                   for t in self.qkv(self.ln1(x)).split(dim, 2))
        scores = (q @ k.transpose(-2, -1)) * (dim // self.heads) ** -0.5
        scores = scores.masked_fill(self.mask, float("-inf")).softmax(-1)
        x = x + self.proj((scores @ v).transpose(1, 2).reshape(batch, length, dim))
        return x + self.out(F.gelu(self.fc(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=256, dim=384, layers=6, heads=6, length=256):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, dim), nn.Embedding(length, dim)
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        self.blocks = nn.ModuleList(GptBlock(dim, heads, mask) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).reshape(-1, self.head.out_features)


class LstmModel(nn.Module):
    def __init__(self, vocabulary=256, width=256, hidden=512):
        super().__init__()
        self.token, self.lstm = nn.Embedding(vocabulary, width), nn.LSTM(width, hidden, num_layers=2)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, tokens):
        return self.head(self.lstm(self.token(tokens))[0]).reshape(-1, self.head.out_features)


def training(net, x, y, optimizer):
    def run():
        net.zero_grad(set_to_none=True)
        F.cross_entropy(net(x), y).backward()
        if optimizer:
            optimizer.step()

    return run


def train_mlp():
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return training(net, torch.randn(64, 784), torch.randint(0, 10, (64,)), torch.optim.Adam(net.parameters(), lr=1e-3))


def train_cnn():
    net = small_cnn()
    return training(net, torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,)),
                    torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9))


def train_resnet(blocks, bottleneck):
    return lambda: training(resnet(blocks, bottleneck), torch.randn(4, 3, 224, 224), torch.randint(0, 1000, (4,)), None)


def train_lstm():
    net = LstmModel()
    return training(net, torch.randint(0, 256, (64, 32)), torch.randint(0, 256, (64 * 32,)),
                    torch.optim.Adam(net.parameters(), lr=1e-3))


def train_gpt():
    net = Gpt()
    return training(net, torch.randint(0, 256, (4, 256)), torch.randint(0, 256, (4 * 256,)),
                    torch.optim.AdamW(net.parameters(), lr=3e-4, weight_decay=0.01))


CASES = {
    "add_16M": with_inputs(torch.add, (ROWS, COLUMNS), (ROWS, COLUMNS)),
    "add_row_16M": with_inputs(torch.add, (ROWS, COLUMNS), (COLUMNS,)),
    "exp_16M": unary(torch.exp),
    "tanh_16M": unary(torch.tanh),
    "gelu_16M": unary(F.gelu),
    "sin_16M": unary(torch.sin),
    "log_16M": unary(torch.log, torch.rand),
    "erfc_16M": unary(torch.special.erfc),
    "erfinv_16M": unary(torch.erfinv, torch.rand),
    "lgamma_16M": unary(torch.lgamma, torch.rand),
    "pow_16M": unary(lambda x: torch.pow(x, 1.7), torch.rand),
    "normal_16M": unary(lambda x: x.normal_()),
    "uniform_16M": unary(lambda x: x.uniform_()),
    "relu_16M": unary(torch.relu),
    "sum_16M": unary(torch.sum),
    "sum_rows_16M": unary(lambda x: x.sum(1)),
    "sum_columns_16M": unary(lambda x: x.sum(0)),
    "amax_rows_16M": unary(lambda x: x.amax(1)),
    "prod_rows_16M": unary(lambda x: x.prod(1)),
    "cumsum_rows_16M": unary(lambda x: x.cumsum(1)),
    "topk10_rows_16M": unary(lambda x: x.topk(10, 1)),
    "sort_rows_16M": unary(lambda x: x.sort(1)),
    "softmax_16M": unary(lambda x: torch.softmax(x, -1)),
    "transpose_copy_16M": unary(lambda x: x.t().contiguous()),
    "layer_norm_16M": with_inputs(lambda x, w, b: F.layer_norm(x, (COLUMNS,), w, b), (ROWS, COLUMNS), (COLUMNS,), (COLUMNS,)),
    "batch_norm_train_8x64x112x112": no_grad(batch_norm),
    "max_pool_3x3_8x64x112x112": with_inputs(lambda x: F.max_pool2d(x, 3, 2, 1), (8, 64, 112, 112)),
    "bmm_qk_96x128x64": with_inputs(lambda q, k: q @ k.transpose(-2, -1), (96, 128, 64), (96, 128, 64)),
    "fft_4096x64": transform(torch.fft.fft, 4096, 64),
    "fft_1024x1000": transform(torch.fft.fft, 1024, 1000),
    "fft_1024x1009": transform(torch.fft.fft, 1024, 1009),
    "fft_64x65536": transform(torch.fft.fft, 64, 65536),
    "fft_columns_1024x1024": transform(lambda x: torch.fft.fft(x, dim=0), 1024, 1024),
    "fft2_64x128x128": transform(torch.fft.fft2, 64, 128, 128),
    "rfft_4096x256": with_inputs(torch.fft.rfft, (4096, 256)),
    "irfft_4096x256": no_grad(irfft),
    "conv3x3_64_56_forward_backward": conv((8, 64, 56, 56), (64, 64, 3, 3), 1),
    "conv1x1_256_28_forward_backward": conv((8, 256, 28, 28), (128, 256, 1, 1), 1),
    "conv7x7_3_224_forward_backward": conv((4, 3, 224, 224), (64, 3, 7, 7), 2),
    "train_mlp": train_mlp,
    "train_cnn": train_cnn,
    "train_resnet18": train_resnet([2, 2, 2, 2], False),
    "train_resnet50": train_resnet([3, 4, 6, 3], True),
    "train_lstm": train_lstm,
    "train_gpt": train_gpt,
}
for size in (64, 512, 1024, 2048):
    CASES[f"matmul_{size}"] = with_inputs(torch.matmul, (size, size), (size, size))


def measure(name, budget):
    torch.manual_seed(1)
    call = CASES[name]()
    call()
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if time.perf_counter() - start > 0.002:
            break
        calls *= 2
    times, begin = [], time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - begin < budget and len(times) < 201):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    times.sort()
    print(json.dumps({"case": name, "seconds": times[len(times) // 2], "best": times[0],
                      "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)


def main(words):
    budget = 1.0
    if words and words[0] == "--seconds":
        budget, words = float(words[1]), words[2:]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    for name in words or CASES:
        measure(name, budget)


if __name__ == "__main__":
    main(sys.argv[1:])
