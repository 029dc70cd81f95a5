// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/conv.h"
#include "engine/cpu/parallel.h"

#include <algorithm>

namespace tapescope::engine::cpu {

namespace {

/// The outputs [begin, end) for which a kernel tap meets the input rather than its padding.
struct Reach {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t first;  ///< the input position that output 0 would meet; may be negative
};
Reach reach(const ConvShape& s, unsigned axis, std::int64_t tap) {
    const std::int64_t first = tap * s.dilation[axis] - s.padding[axis];
    const std::int64_t stride = s.stride[axis];
    const std::int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    const std::int64_t last = s.input[axis] - 1 - first;
    const std::int64_t end = last < 0 ? 0 : std::min(last / stride + 1, s.output[axis]);
    return {begin, std::max(begin, end), first};
}

/// Per-plane sizes that the three loops share.
struct Planes {
    explicit Planes(const ConvShape& s)
        : in(s.inPlane()),
          out(s.outPlane()),
          taps(s.taps()),
          inGroup(s.channels / s.groups),
          outGroup(s.outChannels / s.groups) {}
    std::int64_t in;
    std::int64_t out;
    std::int64_t taps;
    std::int64_t inGroup;   ///< input channels of one group
    std::int64_t outGroup;  ///< output channels of one group
};

/// fn(tap, outRow, inRow, columns) for every kernel tap and output row that meets the input; rows
/// are counted through all depths. columns.first: the input column of output column 0.
template <class Fn>
void forEachTapRow(const ConvShape& s, const Fn& fn) {
    std::int64_t tap = 0;
    for (std::int64_t kd = 0; kd < s.kernel[0]; ++kd) {
        const Reach depths = reach(s, 0, kd);
        for (std::int64_t kh = 0; kh < s.kernel[1]; ++kh) {
            const Reach rows = reach(s, 1, kh);
            for (std::int64_t kw = 0; kw < s.kernel[2]; ++kw, ++tap) {
                const Reach columns = reach(s, 2, kw);
                if (columns.begin == columns.end) continue;
                for (std::int64_t od = depths.begin; od < depths.end; ++od) {
                    const std::int64_t id = od * s.stride[0] + depths.first;
                    for (std::int64_t oh = rows.begin; oh < rows.end; ++oh)
                        fn(tap, od * s.output[1] + oh,
                           id * s.input[1] + oh * s.stride[1] + rows.first, columns);
                }
            }
        }
    }
}

std::int64_t planesPerPiece(std::int64_t work) {
    return std::max<std::int64_t>(kGrain / std::max<std::int64_t>(work, 1), 1);
}

template <class T>
void forward(const ConvShape& s, const T* input, const T* weight, const T* bias, T* out) {
    const Planes p(s);
    const std::int64_t step = s.stride[2];
    parallelFor(s.batch * s.outChannels, planesPerPiece(p.out * p.taps * p.inGroup),
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t plane = begin; plane < end; ++plane) {
                        const std::int64_t n = plane / s.outChannels;
                        const std::int64_t oc = plane % s.outChannels;
                        T* to = out + plane * p.out;
                        std::fill_n(to, p.out, bias ? bias[oc] : T(0));
                        for (std::int64_t c = 0; c < p.inGroup; ++c) {
                            const T* from =
                                input + (n * s.channels + oc / p.outGroup * p.inGroup + c) * p.in;
                            const T* w = weight + (oc * p.inGroup + c) * p.taps;
                            forEachTapRow(s, [&](std::int64_t tap, std::int64_t oh, std::int64_t ih,
                                                 const Reach& columns) {
                                const T factor = w[tap];
                                T* row = to + oh * s.output[2];
                                const T* source = from + ih * s.input[2];
                                for (std::int64_t ow = columns.begin; ow < columns.end; ++ow)
                                    row[ow] += factor * source[ow * step + columns.first];
                            });
                        }
                    }
                });
}

template <class T>
void inputGrad(const ConvShape& s, const T* grad, const T* weight, T* out) {
    const Planes p(s);
    const std::int64_t step = s.stride[2];
    parallelFor(s.batch * s.channels, planesPerPiece(p.out * p.taps * p.outGroup),
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t plane = begin; plane < end; ++plane) {
                        const std::int64_t n = plane / s.channels;
                        const std::int64_t ic = plane % s.channels;
                        const std::int64_t group = ic / p.inGroup;
                        T* to = out + plane * p.in;
                        std::fill_n(to, p.in, T(0));
                        for (std::int64_t o = 0; o < p.outGroup; ++o) {
                            const std::int64_t oc = group * p.outGroup + o;
                            const T* from = grad + (n * s.outChannels + oc) * p.out;
                            const T* w = weight + (oc * p.inGroup + ic % p.inGroup) * p.taps;
                            forEachTapRow(s, [&](std::int64_t tap, std::int64_t oh, std::int64_t ih,
                                                 const Reach& columns) {
                                const T factor = w[tap];
                                const T* row = from + oh * s.output[2];
                                T* target = to + ih * s.input[2];
                                for (std::int64_t ow = columns.begin; ow < columns.end; ++ow)
                                    target[ow * step + columns.first] += factor * row[ow];
                            });
                        }
                    }
                });
}

template <class T>
void weightGrad(const ConvShape& s, const T* grad, const T* input, T* out) {
    const Planes p(s);
    const std::int64_t step = s.stride[2];
    parallelFor(s.outChannels * p.inGroup, planesPerPiece(p.out * p.taps * s.batch),
                [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t pair = begin; pair < end; ++pair) {
                        const std::int64_t oc = pair / p.inGroup;
                        const std::int64_t ic = oc / p.outGroup * p.inGroup + pair % p.inGroup;
                        T* to = out + pair * p.taps;
                        std::fill_n(to, p.taps, T(0));
                        for (std::int64_t n = 0; n < s.batch; ++n) {
                            const T* g = grad + (n * s.outChannels + oc) * p.out;
                            const T* x = input + (n * s.channels + ic) * p.in;
                            forEachTapRow(s, [&](std::int64_t tap, std::int64_t oh, std::int64_t ih,
                                                 const Reach& columns) {
                                const T* row = g + oh * s.output[2];
                                const T* source = x + ih * s.input[2];
                                T sum(0);
                                for (std::int64_t ow = columns.begin; ow < columns.end; ++ow)
                                    sum += row[ow] * source[ow * step + columns.first];
                                to[tap] += sum;
                            });
                        }
                    }
                });
}

}  // namespace

template <class T>
void convolveDirect(ConvKind kind, const ConvShape& shape, const T* a, const T* b, const T* bias,
                    T* out) {
    switch (kind) {
        case ConvKind::Forward:
            return forward(shape, a, b, bias, out);
        case ConvKind::InputGrad:
            return inputGrad(shape, a, b, out);
        case ConvKind::WeightGrad:
            return weightGrad(shape, a, b, out);
    }
}

template void convolveDirect(ConvKind, const ConvShape&, const float*, const float*, const float*,
                             float*);
template void convolveDirect(ConvKind, const ConvShape&, const double*, const double*,
                             const double*, double*);

}  // namespace tapescope::engine::cpu
