// SPDX-License-Identifier: Apache-2.0
// Trading time for memory: only the segments' inputs are kept, the rest is computed again in
// backward.
//
//     out = checkpoint_sequential(model, segments, x)
#include "engine/autograd/autograd.h"
#include "engine/autograd/checkpoint.h"
#include "engine/nn/nn.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cstdio>

using namespace tapescope::engine;

int main() {
    Context& context = Context::current();
    context.generator().manual_seed(0);
    constexpr int kLayers = 16;
    constexpr std::int64_t kWidth = 256;
    std::vector<std::shared_ptr<nn::Module>> layers;
    std::vector<std::function<Tensor(const Tensor&)>> functions;
    for (int i = 0; i < kLayers; ++i) {
        auto layer = nn::make<nn::Sequential>(nn::make<nn::Linear>(kWidth, kWidth),
                                              nn::make<nn::Tanh>(), nn::make<nn::Dropout>(0.1));
        functions.emplace_back([layer](const Tensor& x) { return layer->call(x); });
        layers.push_back(layer);
    }
    const Tensor x = randn({2048, kWidth});
    const auto run = [&](bool checkpointed, Tensor& gradient) {
        for (const auto& layer : layers) layer->zero_grad();
        context.generator().manual_seed(1);  // the same dropout
        const std::int64_t before = context.allocator().stats().allocatedBytes;
        context.allocator().resetPeaks();
        Tensor y = x;
        if (checkpointed)
            y = checkpoint_sequential(functions, 4, x);
        else
            for (const auto& function : functions) y = function(y);
        const std::int64_t kept = context.allocator().stats().allocatedBytes - before;
        mean(square(y)).backward();
        gradient = clone(layers.front()->parameters()[0].grad());
        return kept;
    };
    Tensor plainGradient;
    Tensor checkpointedGradient;
    const std::int64_t plain = run(false, plainGradient);
    const std::int64_t checkpointed = run(true, checkpointedGradient);
    const double difference = amax(abs(plainGradient - checkpointedGradient)).item();
    std::printf(
        "kept for backward: %.1f MB plain, %.1f MB with 4 segments; gradients differ by %g\n",
        static_cast<double>(plain) / 1e6, static_cast<double>(checkpointed) / 1e6, difference);
    return checkpointed < plain / 2 && difference == 0 ? 0 : 1;
}
