// SPDX-License-Identifier: Apache-2.0
// Every mode of interpolation is a product of one sparse matrix an axis: an output position reads
// a few input positions with weights.
#include "engine/cpu/resample.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/parallel.h"
#include "engine/tensor/storage.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// Output position i reads positions[k] * weights[k] for k in [begin[i], begin[i + 1]).
struct Taps {
    std::vector<std::int64_t> begin{0};
    std::vector<std::int64_t> positions;
    std::vector<double> weights;
    void add(std::int64_t position, double weight) {
        positions.push_back(position);
        weights.push_back(weight);
    }
    void close() { begin.push_back(static_cast<std::int64_t>(positions.size())); }
};

/// The element at or before x, within [0, last]; 0 for NaN. Scales may be so small that x is no
/// int64.
std::int64_t indexAt(double x, std::int64_t last) {
    if (!(x > 0)) return 0;
    return x >= static_cast<double>(last) ? last : static_cast<std::int64_t>(x);
}

/// Keys' cubic kernel.
double cubic(double x, double a) {
    x = std::fabs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
}

/// A triangle or a cubic as wide as the step, so that no input element is passed over.
void addAntialiased(Taps& taps, ResampleMode mode, std::int64_t in, std::int64_t i, double step) {
    const double half = mode == ResampleMode::Linear ? 1 : 2;
    const double stretch = std::max(step, 1.0);
    const double support = half * stretch;
    const double center = step * (static_cast<double>(i) + 0.5);
    const std::int64_t first = indexAt(center - support + 0.5, in);
    const std::int64_t last = indexAt(center + support + 0.5, in);
    double total = 0;
    const std::size_t start = taps.weights.size();
    for (std::int64_t at = first; at < last; ++at) {
        const double x = (static_cast<double>(at) - center + 0.5) / stretch;
        // -0.5 here and -0.75 without antialiasing, as in PyTorch.
        const double weight =
            mode == ResampleMode::Linear ? std::max(0.0, 1 - std::fabs(x)) : cubic(x, -0.5);
        taps.add(at, weight);
        total += weight;
    }
    for (std::size_t k = start; total != 0 && k < taps.weights.size(); ++k)
        taps.weights[k] /= total;
}

Taps tapsOf(const ResampleShape& s, unsigned axis) {
    const std::int64_t in = s.input[axis];
    const std::int64_t out = s.output[axis];
    Taps taps;
    const double ratio =
        s.scale[axis] > 0 ? 1 / s.scale[axis] : static_cast<double>(in) / static_cast<double>(out);
    double step = ratio;
    if (s.alignCorners)
        step = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    const auto source = [&](std::int64_t i) {
        const auto at = static_cast<double>(i);
        return s.alignCorners ? at * step : (at + 0.5) * step - 0.5;
    };
    for (std::int64_t i = 0; i < out; ++i) {
        switch (s.mode) {
            case ResampleMode::Nearest:
            case ResampleMode::NearestExact: {
                // In float32, as PyTorch: another rounding would pick another element.
                const float offset = s.mode == ResampleMode::Nearest ? 0.0F : 0.5F;
                const float at =
                    std::floor((static_cast<float>(i) + offset) * static_cast<float>(ratio));
                taps.add(indexAt(static_cast<double>(at), in - 1), 1);
                break;
            }
            case ResampleMode::Linear: {
                if (s.antialias) {
                    addAntialiased(taps, s.mode, in, i, step);
                    break;
                }
                const double at = std::max(source(i), 0.0);
                const std::int64_t low = indexAt(at, in - 1);
                const double weight = std::min(at - static_cast<double>(low), 1.0);
                taps.add(low, 1 - weight);
                if (low + 1 < in)
                    taps.add(low + 1, weight);
                else
                    taps.weights.back() = 1;
                break;
            }
            case ResampleMode::Cubic: {
                if (s.antialias) {
                    addAntialiased(taps, s.mode, in, i, step);
                    break;
                }
                const double at = source(i);
                const double low = std::floor(at);
                for (int k = -1; k <= 2; ++k)
                    taps.add(indexAt(low + k, in - 1), cubic(at - low - k, -0.75));
                break;
            }
        }
        taps.close();
    }
    return taps;
}

/// One axis: [outer, in, inner] → [outer, out, inner].
template <class T>
void apply(const Taps& taps, std::int64_t outer, std::int64_t in, std::int64_t out,
           std::int64_t inner, const T* from, T* to) {
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(out * inner, 1), 1);
    parallelFor(outer, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t o = first; o < last; ++o) {
            const T* source = from + o * in * inner;
            T* row = to + o * out * inner;
            for (std::int64_t i = 0; i < out; ++i, row += inner) {
                std::fill_n(row, inner, T(0));
                for (std::int64_t k = taps.begin[static_cast<std::size_t>(i)];
                     k < taps.begin[static_cast<std::size_t>(i + 1)]; ++k) {
                    const auto at = static_cast<std::size_t>(k);
                    const T weight = static_cast<T>(taps.weights[at]);
                    const T* x = source + taps.positions[at] * inner;
                    for (std::int64_t j = 0; j < inner; ++j) row[j] += weight * x[j];
                }
            }
        }
    });
}
/// Its adjoint: [outer, out, inner] → [outer, in, inner].
template <class T>
void applyTransposed(const Taps& taps, std::int64_t outer, std::int64_t in, std::int64_t out,
                     std::int64_t inner, const T* from, T* to) {
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(out * inner, 1), 1);
    parallelFor(outer, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t o = first; o < last; ++o) {
            T* target = to + o * in * inner;
            std::fill_n(target, in * inner, T(0));
            const T* row = from + o * out * inner;
            for (std::int64_t i = 0; i < out; ++i, row += inner) {
                for (std::int64_t k = taps.begin[static_cast<std::size_t>(i)];
                     k < taps.begin[static_cast<std::size_t>(i + 1)]; ++k) {
                    const auto at = static_cast<std::size_t>(k);
                    const T weight = static_cast<T>(taps.weights[at]);
                    T* x = target + taps.positions[at] * inner;
                    for (std::int64_t j = 0; j < inner; ++j) x[j] += weight * row[j];
                }
            }
        }
    });
}

/// Runs the axes one after another; in between the results lie in temporary tensors.
template <class T>
void run(const ResampleShape& s, bool adjoint, const T* from, const Tensor& out) {
    ResampleShape::Triple sizes = adjoint ? s.output : s.input;
    const ResampleShape::Triple& wanted = adjoint ? s.input : s.output;
    std::vector<unsigned> axes;
    for (unsigned axis = 0; axis < 3; ++axis)
        if (s.input[axis] != 1 || s.output[axis] != 1) axes.push_back(axis);
    if (axes.empty()) {
        std::copy_n(from, out.numel(), out.data<T>());
        return;
    }
    Tensor held;
    for (const unsigned axis : axes) {
        const Taps taps = tapsOf(s, axis);
        std::int64_t outer = s.planes;
        std::int64_t inner = 1;
        for (unsigned k = 0; k < axis; ++k) outer *= sizes[k];
        for (unsigned k = axis + 1; k < 3; ++k) inner *= sizes[k];
        sizes[axis] = wanted[axis];
        Tensor next = out;
        if (axis != axes.back())
            next = Tensor::empty({s.planes, sizes[0], sizes[1], sizes[2]}, out.dtype(),
                                 MemoryRole::Temporary);
        const auto pass = adjoint ? applyTransposed<T> : apply<T>;
        pass(taps, outer, s.input[axis], s.output[axis], inner, from, next.data<T>());
        held = next;
        from = held.data<T>();
    }
}

}  // namespace

void resample(const ResampleShape& shape, const Tensor& input, const Tensor& out) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(), [&]<class T>() { run<T>(shape, false, x.data<T>(), out); });
}
void resampleBackward(const ResampleShape& shape, const Tensor& grad, const Tensor& out) {
    const Tensor g = dense(grad);
    visitFloating(g.dtype(), [&]<class T>() { run<T>(shape, true, g.data<T>(), out); });
}

}  // namespace tapescope::engine::cpu
