// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/conv.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/parallel.h"

#include <algorithm>

namespace tapescope::engine::cpu {

namespace {

/// True if every output element is a sum over nothing, which the loops handle and oneDNN does not.
bool sumsNothing(ConvKind kind, const ConvShape& s) {
    switch (kind) {
        case ConvKind::Forward:
            return s.channels == 0;
        case ConvKind::InputGrad:
            return s.outChannels == 0;
        case ConvKind::WeightGrad:
            return s.batch == 0;
    }
    return false;
}

}  // namespace

void convolve(ConvKind kind, const ConvShape& shape, const Tensor& a, const Tensor& b,
              const Tensor& bias, const Tensor& out) {
    if (out.numel() == 0) return;
    const Tensor left = dense(a);
    const Tensor right = dense(b);
    const Tensor offset = dense(bias);
    if (out.dtype() == DType::F64) {
        convolveDirect<double>(kind, shape, left.data<double>(), right.data<double>(),
                               dataOrNull<double>(offset), out.data<double>());
        return;
    }
    const auto* x = left.data<float>();
    const auto* y = right.data<float>();
    const auto* z = dataOrNull<float>(offset);
    if (sumsNothing(kind, shape) || !convolveOneDnn(kind, shape, x, y, z, out.data<float>()))
        convolveDirect<float>(kind, shape, x, y, z, out.data<float>());
}

void addChannelBias(const Tensor& out, const Tensor& bias, std::int64_t plane) {
    const Tensor offset = dense(bias);
    const std::int64_t channels = offset.numel();
    if (out.numel() == 0) return;
    visitFloating(out.dtype(), [&]<class T>() {
        T* to = out.data<T>();
        const T* from = offset.data<T>();
        parallelFor(out.numel() / plane, std::max<std::int64_t>(kGrain / plane, 1),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                            const T value = from[i % channels];
                            for (std::int64_t k = 0; k < plane; ++k) to[i * plane + k] += value;
                        }
                    });
    });
}

}  // namespace tapescope::engine::cpu
