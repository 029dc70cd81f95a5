// SPDX-License-Identifier: Apache-2.0
// libtorch's side of peer_overhead.cpp: what a call costs in PyTorch's own C++ API. compare.py
// builds it against the wheel.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <torch/torch.h>
#include <vector>

using Clock = std::chrono::steady_clock;

static double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
}

static void measure(const std::string& name, double budget, const std::function<void()>& call) {
    call();
    long calls = 1;
    for (;; calls *= 2) {
        const auto start = Clock::now();
        for (long i = 0; i < calls; ++i) call();
        if (seconds(start) > 0.002) break;
    }
    std::vector<double> times;
    const auto begin = Clock::now();
    while (times.size() < 5 || (seconds(begin) < budget && times.size() < 201)) {
        const auto start = Clock::now();
        for (long i = 0; i < calls; ++i) call();
        times.push_back(seconds(start) / static_cast<double>(calls));
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"case\":\"%s\",\"seconds\":%.9g,\"best\":%.9g}\n", name.c_str(),
                times[times.size() / 2], times.front());
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    const double budget = argc > 2 ? std::atof(argv[2]) : 1;
    torch::manual_seed(1);
    const auto a = torch::randn({4}), b = torch::randn({4}), m = torch::randn({4, 4});
    {
        const torch::NoGradGuard guard;
        measure("add_4_nograd", budget, [&] { torch::add(a, b); });
        const auto c = a.clone();
        measure("add_4_inplace", budget, [&] { c.add_(b); });
        measure("mm_4x4_nograd", budget, [&] { torch::mm(m, m); });
        measure("view_4_nograd", budget, [&] { a.view({2, 2}); });
    }
    const auto x = torch::randn({4}).requires_grad_(), y = torch::randn({4}).requires_grad_();
    measure("add_4_grad", budget, [&] { torch::add(x, y); });
    measure("chain20_forward_backward", budget, [&] {
        x.mutable_grad() = torch::Tensor();
        y.mutable_grad() = torch::Tensor();
        torch::Tensor t = x;
        for (int i = 0; i < 5; ++i) t = ((t + y) * y).relu() - y;
        t.sum().backward();
    });
    namespace nn = torch::nn;
    nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 8), nn::ReLU(),
                       nn::Linear(8, 2));
    torch::optim::Adam adam(net->parameters(), 1e-3);
    const auto in = torch::randn({2, 4}), target = torch::randn({2, 2});
    measure("tiny_mlp_adam_step", budget, [&] {
        adam.zero_grad();
        torch::mse_loss(net->forward(in), target).backward();
        adam.step();
    });
    return 0;
}
