// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>

namespace tapescope::engine::cpu {

/// The sizes of a 2-d convolution, checked. Pairs are (height, width).
struct ConvShape {
    std::int64_t batch = 0;
    std::int64_t channels = 0;
    std::int64_t outChannels = 0;
    std::int64_t groups = 1;
    std::array<std::int64_t, 2> input{};
    std::array<std::int64_t, 2> output{};
    std::array<std::int64_t, 2> kernel{};
    std::array<std::int64_t, 2> stride{};
    std::array<std::int64_t, 2> padding{};
    std::array<std::int64_t, 2> dilation{};
};

enum class ConvKind : std::uint8_t { Forward, InputGrad, WeightGrad };

/// Forward: a = input, b = weight, out = output, on which bias (or undefined) is added. InputGrad:
/// a = output's gradient, b = weight, out = input's gradient. WeightGrad: a = output's gradient, b
/// = input, out = weight's gradient. float32 runs on oneDNN where it has a kernel, everything else
/// on direct loops.
void convolve(ConvKind kind, const ConvShape& shape, const Tensor& a, const Tensor& b,
              const Tensor& bias, const Tensor& out);

/// The same on oneDNN; false if it has no kernel for these sizes. All pointers to dense NCHW / OIHW
/// data.
bool convolveOneDnn(ConvKind kind, const ConvShape& shape, const float* a, const float* b,
                    const float* bias, float* out);
/// The same by loops over the definition; dense data.
template <class T>
void convolveDirect(ConvKind kind, const ConvShape& shape, const T* a, const T* b, const T* bias,
                    T* out);
extern template void convolveDirect(ConvKind, const ConvShape&, const float*, const float*,
                                    const float*, float*);
extern template void convolveDirect(ConvKind, const ConvShape&, const double*, const double*,
                                    const double*, double*);

}  // namespace tapescope::engine::cpu
