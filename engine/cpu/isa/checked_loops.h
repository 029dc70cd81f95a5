// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"

// Loops of functions whose vector form holds for ordinary numbers only: F::fast gives NaN where it
// does not, and the block is then calculated again by F::exact, one element after another.
namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

constexpr std::int64_t kBlock = 256;

template <class T>
inline bool anyNan(const T* y, std::int64_t n) {
    int found = 0;
    for (std::int64_t i = 0; i < n; ++i) found |= static_cast<int>(y[i] != y[i]);
    return found != 0;
}

template <class F, class T>
void checkedUnary(std::int64_t n, void* out, std::int64_t outStride, const void* in,
                  std::int64_t inStride, const LoopParams&) {
    auto* y = static_cast<T*>(out);
    const auto* x = static_cast<const T*>(in);
    T block[kBlock];  // out may be in
    for (; n > 0; n -= kBlock, x += kBlock * inStride, y += kBlock * outStride) {
        const std::int64_t count = n < kBlock ? n : kBlock;
        if (inStride == 1) {
            for (std::int64_t i = 0; i < count; ++i) block[i] = F::fast(x[i]);
        } else {
            for (std::int64_t i = 0; i < count; ++i) block[i] = F::fast(x[i * inStride]);
        }
        if (anyNan(block, count)) {
            for (std::int64_t i = 0; i < count; ++i) block[i] = F::exact(x[i * inStride]);
        }
        for (std::int64_t i = 0; i < count; ++i) y[i * outStride] = block[i];
    }
}

template <class F, class T>
void checkedBinary(std::int64_t n, void* out, std::int64_t outStride, const void* first,
                   std::int64_t aStride, const void* second, std::int64_t bStride,
                   const LoopParams&) {
    auto* y = static_cast<T*>(out);
    const auto* a = static_cast<const T*>(first);
    const auto* b = static_cast<const T*>(second);
    T block[kBlock];  // out may be an input
    for (; n > 0;
         n -= kBlock, a += kBlock * aStride, b += kBlock * bStride, y += kBlock * outStride) {
        const std::int64_t count = n < kBlock ? n : kBlock;
        if (aStride == 1 && bStride == 1) {
            for (std::int64_t i = 0; i < count; ++i) block[i] = F::fast(a[i], b[i]);
        } else if (aStride == 1 && bStride == 0) {
            const T same = *b;
            for (std::int64_t i = 0; i < count; ++i) block[i] = F::fast(a[i], same);
        } else {
            for (std::int64_t i = 0; i < count; ++i)
                block[i] = F::fast(a[i * aStride], b[i * bStride]);
        }
        if (anyNan(block, count)) {
            for (std::int64_t i = 0; i < count; ++i)
                block[i] = F::exact(a[i * aStride], b[i * bStride]);
        }
        for (std::int64_t i = 0; i < count; ++i) y[i * outStride] = block[i];
    }
}

}  // namespace
}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
