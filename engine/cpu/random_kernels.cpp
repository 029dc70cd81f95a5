// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/random_kernels.h"

#include "engine/cpu/random_words.h"
#include "engine/cpu/strided.h"
#include "engine/errors.h"

#include <cmath>
#include <numeric>

namespace tapescope::engine::cpu {
void rand(const OpArgs&, std::span<Tensor> outputs) {
    const auto draw = [&]<class T>() { drawBlocks<T>(outputs[0], [](double*, std::int64_t) {}); };
    if (outputs[0].dtype() == DType::F16) return draw.operator()<Half>();
    if (outputs[0].dtype() == DType::BF16) return draw.operator()<BFloat16>();
    visitFloating(outputs[0].dtype(), draw);
}

void randn(const OpArgs&, std::span<Tensor> outputs) {
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        drawBlocks<T>(outputs[0], [](double* u, std::int64_t n) { drawTable().normals(n, u); });
    });
}

void randperm(const OpArgs&, std::span<Tensor> outputs) {
    auto* y = outputs[0].data<std::int64_t>();
    const std::int64_t n = outputs[0].numel();
    const Words draw(n);
    WordReader words(draw);
    std::iota(y, y + n, std::int64_t{0});
    for (std::int64_t i = n - 1; i > 0; --i) {
        const auto j =
            (static_cast<std::uint64_t>(words[i]) * static_cast<std::uint64_t>(i + 1)) >> 32;
        std::swap(y[i], y[j]);
    }
}

void bernoulli(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& p = args[0];
    const Tensor& out = outputs[0];
    const auto plan =
        planStrided<2>(out.sizes(), {out.strides(), broadcastStrides(p, out.sizes())});
    visitFloating(out.dtype(), [&]<class T>() {
        const T* probability = p.data<T>();
        T* y = out.data<T>();
        const std::int64_t step = plan.innerStride(1);
        forEachRow(plan, 0, plan.numel, [&](const auto& at, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) {
                const T value = probability[at[1] + i * step];
                if (!(value >= T(0) && value <= T(1)))
                    throw Error("bernoulli: the probability " + std::to_string(value) +
                                " is not between 0 and 1");
            }
        });
        const Words draw(out.numel());
        parallelRows(plan, kDrawGrain, [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
            WordReader words(draw);
            // out is contiguous: its offset counts the elements.
            for (std::int64_t i = 0; i < n; ++i) {
                const double u = static_cast<double>(words[at[0] + i]) * 0x1p-32;
                y[at[0] + i] = u < static_cast<double>(probability[at[1] + i * step]) ? T(1) : T(0);
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
