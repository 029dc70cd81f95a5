// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dropout.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/parallel.h"
#include "engine/observe/context.h"

namespace tapescope::engine::cpu {

void maskAndScale(const Tensor& x, const Tensor& mask, double scale, const Tensor& out) {
    const Tensor values = dense(x);
    const Tensor kept = dense(mask);
    visitFloating(out.dtype(), [&]<class T>() {
        const T* from = values.data<T>();
        const bool* keep = kept.data<bool>();
        T* to = out.data<T>();
        const T factor = static_cast<T>(scale);
        parallelFor(out.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) to[i] = keep[i] ? from[i] * factor : T(0);
        });
    });
}

void dropout(const Tensor& x, double p, double scale, const Tensor& out, const Tensor& mask) {
    Generator& generator = Context::current().generator();
    const std::uint64_t seed = generator.seed();
    const std::int64_t numel = mask.numel();
    const std::uint64_t first = generator.reserve(numel);
    // A word below p * 2^32 drops its element.
    const auto limit = static_cast<std::uint64_t>(p * 4294967296.0);
    bool* const keep = mask.data<bool>();
    static_assert(kGrain % 4 == 0, "a piece starts with the first word of a counter");
    parallelFor(numel, kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; i += 4) {
            const auto words = Generator::philox(seed, first + static_cast<std::uint64_t>(i) / 4);
            for (std::int64_t j = i; j < i + 4 && j < end; ++j)
                keep[j] = words[static_cast<unsigned>(j - i)] >= limit;
        }
    });
    maskAndScale(x, mask, scale, out);
}

}  // namespace tapescope::engine::cpu
