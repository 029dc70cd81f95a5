// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/vector_norm.h"

#include "engine/cpu/parallel.h"
#include "engine/cpu/reduce_kernels.h"
#include "engine/cpu/reduce_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// out[o] = finish(add(add(start, x_1), x_2) …) over the elements that reduce to o, cut into chunks
/// that merge() joins in order.
template <class T, class Add, class Merge, class Finish>
void reduceTyped(const Tensor& x, const std::array<bool, kMaxRank>& mask, const Tensor& out,
                 double start, const Add& add, const Merge& merge, const Finish& finish) {
    const ReducePlan plan(x, mask);
    const std::int64_t outputs = plan.kept.count;
    T* const y = out.data<T>();
    if (x.numel() == 0) {
        for (std::int64_t o = 0; o < out.numel(); ++o) y[o] = static_cast<T>(finish(start));
        return;
    }
    const std::int64_t length = plan.reduced.lastSize();
    const std::int64_t stride = plan.reduced.lastStride();
    const AxisList outer = plan.reduced.outer();
    const std::int64_t piece = std::min(length, kGrain);
    const std::int64_t pieces = (length - 1) / piece + 1;
    const std::int64_t rows = outer.count * pieces;
    const std::int64_t rowsPerChunk = std::max<std::int64_t>(1, kGrain / piece);
    const std::int64_t chunks = (rows - 1) / rowsPerChunk + 1;
    std::vector<double> partials(static_cast<std::size_t>(outputs * chunks), start);
    const T* const data = x.data<T>();
    const std::int64_t perUnit = std::min(rows, rowsPerChunk) * piece;
    parallelFor(
        outputs * chunks, std::max<std::int64_t>(1, kGrain / perUnit),
        [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t unit = begin; unit < end; ++unit) {
                const std::int64_t base = plan.kept.offset(unit / chunks);
                const std::int64_t first = unit % chunks * rowsPerChunk;
                double acc = start;
                for (std::int64_t r = first; r < std::min(rows, first + rowsPerChunk); ++r) {
                    const std::int64_t from = r % pieces * piece;
                    const T* const row = data + base + outer.offset(r / pieces) + from * stride;
                    const std::int64_t n = std::min(piece, length - from);
                    for (std::int64_t i = 0; i < n; ++i)
                        acc = add(acc, std::fabs(static_cast<double>(row[i * stride])));
                }
                partials[static_cast<std::size_t>(unit)] = acc;
            }
        });
    for (std::int64_t o = 0; o < outputs; ++o) {
        double acc = start;
        for (std::int64_t c = 0; c < chunks; ++c)
            acc = merge(acc, partials[static_cast<std::size_t>(o * chunks + c)]);
        y[o] = static_cast<T>(finish(acc));
    }
}

}  // namespace

void vectorNorm(const OpArgs& args, std::span<Tensor> outputs) {
    const double p = args.attrs.real(0);
    const Dims& dims = args.attrs.dims(1);
    if (p == 2) return norm({args.inputs, Attrs{dims}}, outputs);
    const Tensor& x = args[0];
    const auto mask = reducedDims("norm", dims, x.dim());
    const auto plus = [](double a, double b) { return a + b; };
    const auto same = [](double v) { return v; };
    visitFloating(x.dtype(), [&]<class T>() {
        const auto run = [&](double start, const auto& add, const auto& merge, const auto& finish) {
            reduceTyped<T>(x, mask, outputs[0], start, add, merge, finish);
        };
        if (p == 0) {
            run(
                0, [](double a, double v) { return a + (v != 0 ? 1.0 : 0.0); }, plus, same);
        } else if (p == 1) {
            run(0, plus, plus, same);
        } else if (p == kInfinity) {
            const auto larger = [](double a, double v) { return v > a || v != v ? v : a; };
            run(0, larger, larger, same);
        } else if (p == -kInfinity) {
            const auto smaller = [](double a, double v) { return v < a || v != v ? v : a; };
            run(kInfinity, smaller, smaller, same);
        } else {
            run(
                0, [p](double a, double v) { return a + std::pow(v, p); }, plus,
                [p](double v) {
                    // Beyond T the sum overflows, as PyTorch's does.
                    constexpr double kLargest = std::numeric_limits<T>::max();
                    return std::pow(v > kLargest ? kInfinity : v, 1 / p);
                });
        }
    });
}

}  // namespace tapescope::engine::cpu
