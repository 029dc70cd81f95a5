// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dropout.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/parallel.h"
#include "engine/observe/context.h"

#include <algorithm>

namespace tapescope::engine::cpu {

void maskAndScale(const Tensor& x, const Tensor& mask, double scale, const Tensor& out) {
    const Tensor values = dense(x);
    const Tensor kept = dense(mask);
    visitFloating(out.dtype(), [&]<class T>() {
        const T* from = values.data<T>();
        const bool* keep = kept.data<bool>();
        T* to = out.data<T>();
        const T factor = static_cast<T>(scale);
        const auto run = nnLoops<T>().maskAndScale;
        parallelFor(out.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
            run(end - begin, from + begin, keep + begin, factor, to + begin);
        });
    });
}

void dropout(const Tensor& x, double p, double scale, const Tensor& out, const Tensor& mask) {
    Generator& generator = Context::current().generator();
    const std::uint64_t seed = generator.seed();
    const std::int64_t numel = mask.numel();
    const std::uint64_t first = generator.reserve(numel);
    bool* const keep = mask.data<bool>();
    // A word below p * 2^32 drops its element; p = 1 drops them all, which no word can say.
    const auto limit = static_cast<std::uint64_t>(p * 4294967296.0);
    if (limit > 0xFFFFFFFFU) {
        std::fill_n(keep, numel, false);
    } else {
        static_assert(kGrain % 4 == 0, "a piece starts with the first word of a counter");
        const auto draw = nnTable().philoxAtLeast;
        parallelFor(numel, kGrain, [=](std::int64_t begin, std::int64_t end) {
            draw(end - begin, seed, first + static_cast<std::uint64_t>(begin) / 4,
                 static_cast<std::uint32_t>(limit), keep + begin);
        });
    }
    maskAndScale(x, mask, scale, out);
}

}  // namespace tapescope::engine::cpu
