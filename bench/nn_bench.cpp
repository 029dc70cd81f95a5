// SPDX-License-Identifier: Apache-2.0
// The operators that networks spend their time in, at the sizes of digits-cnn and of a small MLP.
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

namespace engine = tapescope::engine;
using engine::Conv2dParams;
using engine::Dims;
using engine::NoGradGuard;
using engine::Tensor;

/// Values of ordinary size: zeros would flatter.
Tensor sample(const Dims& sizes) { return engine::randn(sizes); }

void countFlops(benchmark::State& state, double flops) {
    state.counters["FLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}
void countBytes(benchmark::State& state, double bytes) {
    state.counters["B/s"] = benchmark::Counter(bytes * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

struct Conv {
    Dims input;
    Dims weight;
    Dims output;
    Conv2dParams params{.padding = {1, 1}};
    double flops() const {
        return 2.0 * static_cast<double>(engine::numelOf(output)) *
               static_cast<double>(weight[1] * weight[2] * weight[3]);
    }
};
const Conv kFirst{{64, 1, 8, 8}, {32, 1, 3, 3}, {64, 32, 8, 8}};
const Conv kSecond{{64, 32, 8, 8}, {64, 32, 3, 3}, {64, 64, 8, 8}};
const Conv kResNet{{8, 64, 56, 56}, {64, 64, 3, 3}, {8, 64, 56, 56}};

void convForward(benchmark::State& state, const Conv& conv) {
    const NoGradGuard guard;
    const Tensor x = sample(conv.input);
    const Tensor w = sample(conv.weight);
    const Tensor b = sample({conv.weight[0]});
    for (auto _ : state) benchmark::DoNotOptimize(engine::conv2d(x, w, b, conv.params));
    countFlops(state, conv.flops());
}
void convInputGrad(benchmark::State& state, const Conv& conv) {
    const NoGradGuard guard;
    const Tensor g = sample(conv.output);
    const Tensor w = sample(conv.weight);
    for (auto _ : state)
        benchmark::DoNotOptimize(engine::conv2d_input_grad(g, w, conv.input, conv.params));
    countFlops(state, conv.flops());
}
void convWeightGrad(benchmark::State& state, const Conv& conv) {
    const NoGradGuard guard;
    const Tensor g = sample(conv.output);
    const Tensor x = sample(conv.input);
    for (auto _ : state)
        benchmark::DoNotOptimize(engine::conv2d_weight_grad(g, x, conv.weight, conv.params));
    countFlops(state, conv.flops());
}
BENCHMARK_CAPTURE(convForward, digits_first, kFirst)->UseRealTime();
BENCHMARK_CAPTURE(convForward, digits_second, kSecond)->UseRealTime();
BENCHMARK_CAPTURE(convForward, resnet, kResNet)->UseRealTime();
BENCHMARK_CAPTURE(convInputGrad, digits_second, kSecond)->UseRealTime();
BENCHMARK_CAPTURE(convInputGrad, resnet, kResNet)->UseRealTime();
BENCHMARK_CAPTURE(convWeightGrad, digits_first, kFirst)->UseRealTime();
BENCHMARK_CAPTURE(convWeightGrad, digits_second, kSecond)->UseRealTime();
BENCHMARK_CAPTURE(convWeightGrad, resnet, kResNet)->UseRealTime();

void linear(benchmark::State& state) {
    const NoGradGuard guard;
    const std::int64_t rows = state.range(0);
    const std::int64_t in = state.range(1);
    const std::int64_t out = state.range(2);
    const Tensor x = sample({rows, in});
    const Tensor w = sample({out, in});
    const Tensor b = sample({out});
    for (auto _ : state) benchmark::DoNotOptimize(engine::linear(x, w, b));
    countFlops(state, 2.0 * static_cast<double>(rows * in * out));
}
BENCHMARK(linear)->Args({64, 784, 512})->Args({64, 512, 10})->Args({4, 8, 8})->UseRealTime();

void linearForwardBackward(benchmark::State& state) {
    Tensor x = sample({64, 784}).set_requires_grad(true);
    Tensor w = sample({512, 784}).set_requires_grad(true);
    Tensor b = sample({512}).set_requires_grad(true);
    const Tensor g = sample({64, 512});
    for (auto _ : state) {
        engine::linear(x, w, b).backward(g);
        for (const Tensor& t : {x, w, b}) t.set_grad({});
    }
    countFlops(state, 3 * 2.0 * 64 * 784 * 512);
}
BENCHMARK(linearForwardBackward)->UseRealTime();

void matmul(benchmark::State& state) {
    const NoGradGuard guard;
    const std::int64_t n = state.range(0);
    const Tensor a = sample({n, n});
    const Tensor b = sample({n, n});
    for (auto _ : state) benchmark::DoNotOptimize(engine::matmul(a, b));
    countFlops(state, 2.0 * static_cast<double>(n * n * n));
}
BENCHMARK(matmul)->Arg(4)->Arg(16)->Arg(64)->Arg(512)->Arg(1024)->UseRealTime();

void attentionScores(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor q = engine::transpose(sample({16, 128, 6, 64}), 1, 2);
    const Tensor k = engine::transpose(sample({16, 128, 6, 64}), 1, 2);
    for (auto _ : state) benchmark::DoNotOptimize(engine::matmul(q, engine::transpose(k, -2, -1)));
    countFlops(state, 2.0 * 96 * 128 * 128 * 64);
}
BENCHMARK(attentionScores)->UseRealTime();

void softmaxRows(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor x = sample({state.range(0), state.range(1)});
    for (auto _ : state) benchmark::DoNotOptimize(engine::softmax(x, -1));
    countBytes(state, 8.0 * static_cast<double>(x.numel()));
}
BENCHMARK(softmaxRows)->Args({64, 10})->Args({64, 1024})->Args({16384, 1024})->UseRealTime();

void layerNormRows(benchmark::State& state) {
    const NoGradGuard guard;
    const std::int64_t width = state.range(1);
    const Tensor x = sample({state.range(0), width});
    const Tensor w = engine::ones({width});
    const Tensor b = engine::zeros({width});
    for (auto _ : state) benchmark::DoNotOptimize(engine::layer_norm(x, {width}, w, b));
    countBytes(state, 8.0 * static_cast<double>(x.numel()));
}
BENCHMARK(layerNormRows)->Args({64, 1024})->Args({16384, 1024})->UseRealTime();

void batchNormTraining(benchmark::State& state, const Dims& sizes) {
    const NoGradGuard guard;
    const Tensor x = sample(sizes);
    const Tensor w = engine::ones({sizes[1]});
    const Tensor b = engine::zeros({sizes[1]});
    const Tensor mean = engine::zeros({sizes[1]});
    const Tensor var = engine::ones({sizes[1]});
    for (auto _ : state) benchmark::DoNotOptimize(engine::batch_norm(x, w, b, mean, var, true));
    countBytes(state, 8.0 * static_cast<double>(x.numel()));
}
BENCHMARK_CAPTURE(batchNormTraining, digits, Dims{64, 32, 8, 8})->UseRealTime();
BENCHMARK_CAPTURE(batchNormTraining, resnet, Dims{8, 64, 112, 112})->UseRealTime();

void batchNormForwardBackward(benchmark::State& state) {
    Tensor x = sample({8, 64, 112, 112}).set_requires_grad(true);
    Tensor w = engine::ones({64}, {.requires_grad = true});
    const Tensor g = sample({8, 64, 112, 112});
    for (auto _ : state) {
        engine::batch_norm(x, w, {}, {}, {}, true).backward(g);
        for (const Tensor& t : {x, w}) t.set_grad({});
    }
}
BENCHMARK(batchNormForwardBackward)->UseRealTime();

void maxPool(benchmark::State& state, const Dims& sizes, const engine::Pool2dParams& params) {
    const NoGradGuard guard;
    const Tensor x = sample(sizes);
    for (auto _ : state) benchmark::DoNotOptimize(engine::max_pool2d(x, params));
    countBytes(state, 4.0 * static_cast<double>(x.numel()));
}
BENCHMARK_CAPTURE(maxPool, digits, Dims{64, 32, 8, 8}, engine::Pool2dParams{})->UseRealTime();
BENCHMARK_CAPTURE(maxPool, resnet, Dims{8, 64, 112, 112},
                  engine::Pool2dParams{{3, 3}, {2, 2}, {1, 1}})
    ->UseRealTime();

void crossEntropyForwardBackward(benchmark::State& state) {
    Tensor x = sample({64, 10}).set_requires_grad(true);
    const Tensor target = engine::zeros({64}, {.dtype = engine::DType::I64});
    for (auto _ : state) {
        engine::cross_entropy(x, target).backward();
        x.set_grad({});
    }
}
BENCHMARK(crossEntropyForwardBackward);

void dropoutTraining(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor x = sample({64, 4096});
    for (auto _ : state) benchmark::DoNotOptimize(engine::dropout(x, 0.5, true));
    countBytes(state, 8.0 * static_cast<double>(x.numel()));
}
BENCHMARK(dropoutTraining)->UseRealTime();

void embeddingForwardBackward(benchmark::State& state) {
    Tensor weight = sample({10000, 128}).set_requires_grad(true);
    const Tensor index = engine::arange(0, 4096);
    const Tensor g = sample({4096, 128});
    for (auto _ : state) {
        engine::embedding(weight, index).backward(g);
        weight.set_grad({});
    }
}
BENCHMARK(embeddingForwardBackward)->UseRealTime();

void transposeCopy(benchmark::State& state) {
    const NoGradGuard guard;
    const Tensor x = engine::transpose(sample({2048, 2048}), 0, 1);
    for (auto _ : state) benchmark::DoNotOptimize(engine::contiguous(x));
    countBytes(state, 8.0 * static_cast<double>(x.numel()));
}
BENCHMARK(transposeCopy)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
    const char* threads = std::getenv("OMP_NUM_THREADS");
    benchmark::AddCustomContext(
        "threads", threads ? threads : std::to_string(std::thread::hardware_concurrency()));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
