// SPDX-License-Identifier: Apache-2.0
// What an operator call costs: overhead on tiny tensors, bandwidth on large ones.
#include "engine/autograd/autograd.h"
#include "engine/nn/activations.h"
#include "engine/nn/containers.h"
#include "engine/nn/linear.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"

#include <benchmark/benchmark.h>

namespace {

namespace engine = tapescope::engine;
using engine::NoGradGuard;
using engine::Tensor;

void addTiny(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor a = engine::ones({4});
    const Tensor b = engine::ones({4});
    for (auto _ : state) benchmark::DoNotOptimize(engine::add(a, b));
}
BENCHMARK(addTiny);

void addTinyRecorded(benchmark::State& state) {
    const Tensor a = engine::ones({4}, {.requires_grad = true});
    const Tensor b = engine::ones({4}, {.requires_grad = true});
    for (auto _ : state) benchmark::DoNotOptimize(engine::add(a, b));
}
BENCHMARK(addTinyRecorded);

void mulTinyByNumber(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor a = engine::ones({4});
    for (auto _ : state) benchmark::DoNotOptimize(engine::mul(a, 2.0));
}
BENCHMARK(mulTinyByNumber);

void addTinyInPlace(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor a = engine::ones({4});
    const Tensor b = engine::zeros({4});
    for (auto _ : state) benchmark::DoNotOptimize(engine::add_(a, b));
}
BENCHMARK(addTinyInPlace);

/// 20 operators forward and back; items = operators, so the reported time per item is the cost of
/// one.
void chainForwardBackward(benchmark::State& state) {
    const Tensor x = engine::full({4}, 0.5, {.requires_grad = true});
    const Tensor w = engine::full({4}, 0.9, {.requires_grad = true});
    for (auto _ : state) {
        Tensor y = x;
        for (int i = 0; i < 10; ++i) y = engine::add(engine::mul(y, w), x);
        y.backward(engine::ones({4}));
        x.set_grad({});
        w.set_grad({});
    }
    state.SetItemsProcessed(state.iterations() * 20);
}
BENCHMARK(chainForwardBackward);

/// Linear 4-8-8-2 with a batch of 2, forward, backward and an Adam step: all overhead.
void tinyMlpAdamStep(benchmark::State& state) {
    engine::nn::Sequential net(
        engine::nn::make<engine::nn::Linear>(4, 8), engine::nn::make<engine::nn::ReLU>(),
        engine::nn::make<engine::nn::Linear>(8, 8), engine::nn::make<engine::nn::ReLU>(),
        engine::nn::make<engine::nn::Linear>(8, 2));
    engine::optim::Adam adam(net.parameters(), engine::optim::AdamOptions{});
    const Tensor x = engine::rand({2, 4});
    const Tensor target = engine::rand({2, 2});
    for (auto _ : state) {
        adam.zero_grad();
        engine::mse_loss(net(x), target).backward();
        adam.step();
    }
}
BENCHMARK(tinyMlpAdamStep);

/// One long chain: the cost of a node must not grow with the depth. items = operators.
void deepChain(benchmark::State& state) {
    const Tensor x = engine::ones({1}, {.requires_grad = true});
    for (auto _ : state) {
        Tensor y = x;
        for (std::int64_t i = 0; i < state.range(0); ++i) y = engine::mul(y, x);
        y.backward();
        x.set_grad({});
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(deepChain)->Arg(1000)->Arg(100000);

constexpr std::int64_t kLarge = 16 * 1024 * 1024;

/// bytes: read and written per call.
template <class Fn>
void bandwidth(benchmark::State& state, std::int64_t bytes, const Fn& fn) {
    const NoGradGuard guard;
    for (auto _ : state) benchmark::DoNotOptimize(fn());
    state.SetBytesProcessed(state.iterations() * bytes);
}

void add16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge});
    const Tensor b = engine::rand({kLarge});
    bandwidth(state, 12 * kLarge, [&] { return engine::add(a, b); });
}
BENCHMARK(add16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void exp16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge});
    bandwidth(state, 8 * kLarge, [&] { return engine::exp(a); });
}
BENCHMARK(exp16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void tanh16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge});
    bandwidth(state, 8 * kLarge, [&] { return engine::tanh(a); });
}
BENCHMARK(tanh16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void gelu16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge});
    bandwidth(state, 8 * kLarge, [&] { return engine::gelu(a); });
}
BENCHMARK(gelu16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void sum16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge});
    bandwidth(state, 4 * kLarge, [&] { return engine::sum(a); });
}
BENCHMARK(sum16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void sumRows16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge / 1024, 1024});
    bandwidth(state, 4 * kLarge, [&] { return engine::sum(a, {1}); });
}
BENCHMARK(sumRows16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void sumColumns16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge / 1024, 1024});
    bandwidth(state, 4 * kLarge, [&] { return engine::sum(a, {0}); });
}
BENCHMARK(sumColumns16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void amax16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge});
    bandwidth(state, 4 * kLarge, [&] { return engine::amax(a); });
}
BENCHMARK(amax16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void softmax16M(benchmark::State& state) {
    const Tensor a = engine::rand({kLarge / 1024, 1024});
    bandwidth(state, 8 * kLarge, [&] { return engine::softmax(a, -1); });
}
BENCHMARK(softmax16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void transposeCopy16M(benchmark::State& state) {
    const Tensor a = engine::rand({4096, 4096});
    bandwidth(state, 8 * kLarge, [&] { return engine::contiguous(engine::transpose(a, 0, 1)); });
}
BENCHMARK(transposeCopy16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void rand16M(benchmark::State& state) {
    bandwidth(state, 4 * kLarge, [] { return engine::rand({kLarge}); });
}
BENCHMARK(rand16M)->Unit(benchmark::kMillisecond)->UseRealTime();

void randn16M(benchmark::State& state) {
    bandwidth(state, 4 * kLarge, [] { return engine::randn({kLarge}); });
}
BENCHMARK(randn16M)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
