// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <array>

namespace tapescope::engine::cpu {

/// The sizes of a convolution with `rank` spatial dimensions, checked. Triples are (depth, height,
/// width); the ones not in use in front have size, kernel, stride and dilation 1 and padding 0.
struct ConvShape {
    using Triple = std::array<std::int64_t, 3>;
    int rank = 2;
    std::int64_t batch = 0;
    std::int64_t channels = 0;
    std::int64_t outChannels = 0;
    std::int64_t groups = 1;
    Triple input{1, 1, 1};
    Triple output{1, 1, 1};
    Triple kernel{1, 1, 1};
    Triple stride{1, 1, 1};
    Triple padding{0, 0, 0};
    Triple dilation{1, 1, 1};

    static std::int64_t product(const Triple& t) { return t[0] * t[1] * t[2]; }
    std::int64_t inPlane() const { return product(input); }
    std::int64_t outPlane() const { return product(output); }
    std::int64_t taps() const { return product(kernel); }
};

enum class ConvKind : std::uint8_t { Forward, InputGrad, WeightGrad };

/// Forward: a = input, b = weight, out = output, on which bias (or undefined) is added. InputGrad:
/// a = output's gradient, b = weight, out = input's gradient. WeightGrad: a = output's gradient, b
/// = input, out = weight's gradient. float32 runs on oneDNN where it has a kernel, everything else
/// on direct loops.
void convolve(ConvKind kind, const ConvShape& shape, const Tensor& a, const Tensor& b,
              const Tensor& bias, const Tensor& out);

/// out [N, C, ...] += bias [C], in place; dense. plane: elements of one channel.
void addChannelBias(const Tensor& out, const Tensor& bias, std::int64_t plane);

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
