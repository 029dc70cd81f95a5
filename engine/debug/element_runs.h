// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace tapescope::engine::debug {

/// fn(first, count, stride) over the elements [begin, end) of t in row-major order, as runs along
/// the last axis (one run for a contiguous tensor). Any strides, negative and zero ones too. Reads
/// nothing itself, dispatches no operator.
template <class T, class Fn>
void forEachRun(const Tensor& t, std::int64_t begin, std::int64_t end, Fn&& fn) {
    end = std::min(end, t.numel());
    if (begin >= end) return;
    const T* const base = static_cast<const T*>(t.data_ptr());
    if (t.is_contiguous()) {
        fn(base + begin, end - begin, std::int64_t{1});
        return;
    }
    const Dims& sizes = t.sizes();
    const Dims& strides = t.strides();
    const int last = sizes.size() - 1;  // a tensor without axes is contiguous
    Dims index = Dims::filled(sizes.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t rest = begin, d = last; d >= 0; --d) {
        const int axis = static_cast<int>(d);
        index[axis] = rest % sizes[axis];
        rest /= sizes[axis];
        offset += index[axis] * strides[axis];
    }
    for (std::int64_t at = begin; at < end;) {
        const std::int64_t count = std::min(sizes[last] - index[last], end - at);
        fn(base + offset, count, strides[last]);
        at += count;
        offset -= index[last] * strides[last];
        index[last] = 0;
        for (int axis = last - 1; axis >= 0; --axis) {
            offset += strides[axis];
            if (++index[axis] < sizes[axis]) break;
            offset -= sizes[axis] * strides[axis];
            index[axis] = 0;
        }
    }
}

/// Copies out.size() elements from the first-th on, row-major. The caller keeps the range inside
/// the tensor and T its dtype.
template <class T>
void copyElements(const Tensor& t, std::int64_t first, std::span<T> out) {
    T* to = out.data();
    forEachRun<T>(t, first, first + static_cast<std::int64_t>(out.size()),
                  [&](const T* from, std::int64_t count, std::int64_t stride) {
                      if (stride == 1) {
                          to = std::copy_n(from, count, to);
                      } else {
                          for (std::int64_t i = 0; i < count; ++i) *to++ = from[i * stride];
                      }
                  });
}

}  // namespace tapescope::engine::debug
