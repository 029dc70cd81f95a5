// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/reduce_kernels.h"

#include "engine/cpu/complex_kernels.h"
#include "engine/cpu/copy.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/reduce_plan.h"
#include "engine/ops/checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Work is cut into units by sizes alone, so that every number of threads adds in the same order. A
// unit's results go to partial accumulators that are then combined in order.
constexpr std::int64_t kUnit = kGrain;
constexpr std::int64_t kColumnTile = 1024;  // accumulators of 8 KiB stay in the first-level cache

/// Takes partial accumulators into acc as if they were elements; sums of squares etc. add up.
ReduceOp combining(ReduceOp op) {
    switch (op) {
        case ReduceOp::Squares:
        case ReduceOp::SquaredDiff:
        case ReduceOp::ExpDiff:
            return ReduceOp::Sum;
        default:
            return op;
    }
}

struct Reduction {
    const char* x;
    std::int64_t itemBytes;
    RowReduceLoop row;
    ColumnReduceLoop columns;
    ReduceOp op;
    bool floating;
    const char* params;
    UnaryLoop widen;  ///< to the type the loops take; null: x has it

    /// A row, or a row of columns, of at most kColumnTile elements in the loops' type.
    using Buffer = std::array<std::uint64_t, kColumnTile>;
    void takeRow(std::int64_t n, const char* from, std::int64_t stride, void* acc,
                 const void* param) const {
        if (!widen) return row(n, from, stride, acc, param);
        Buffer buffer;
        for (std::int64_t at = 0; at < n; at += kColumnTile) {
            const std::int64_t count = std::min(kColumnTile, n - at);
            widen(count, buffer.data(), 1, from + at * stride * itemBytes, stride, {});
            row(count, buffer.data(), 1, acc, param);
        }
    }
    void takeColumns(std::int64_t rows, std::int64_t rowStride, std::int64_t count,
                     const char* from, void* acc, const void* param) const {
        if (!widen) return columns(rows, rowStride, count, from, acc, param);
        Buffer buffer;
        for (std::int64_t r = 0; r < rows; ++r) {
            widen(count, buffer.data(), 1, from + r * rowStride * itemBytes, 1, {});
            columns(1, 0, count, buffer.data(), acc, param);
        }
    }
    const char* element(std::int64_t offset) const { return x + offset * itemBytes; }
    const void* param(std::int64_t output) const { return params ? params + output * 8 : nullptr; }
    /// acc[o] takes partials[c * outputs + o] for every c.
    void combine(void* acc, const void* partials, std::int64_t outputs, std::int64_t chunks) const {
        const DType type = floating ? DType::F64 : DType::I64;
        const auto loop =
            loops()
                .reduce.columns[static_cast<unsigned>(combining(op))][static_cast<unsigned>(type)];
        loop(chunks, outputs, outputs, partials, acc, nullptr);
    }
};

/// Each output is a list of rows along the innermost reduced dimension.
void reduceRows(const Reduction& r, const ReducePlan& plan, void* acc) {
    const std::int64_t outputs = plan.kept.count;
    const std::int64_t length = plan.reduced.lastSize();
    const std::int64_t stride = plan.reduced.lastStride();
    const AxisList outer = plan.reduced.outer();
    const std::int64_t piece = std::min(length, kUnit);
    const std::int64_t pieces = (length - 1) / piece + 1;
    const std::int64_t rows = outer.count * pieces;
    const std::int64_t rowsPerChunk = std::max<std::int64_t>(1, kUnit / piece);
    const std::int64_t chunks = (rows - 1) / rowsPerChunk + 1;

    const auto take = [&](std::int64_t output, std::int64_t chunk, void* into) {
        const std::int64_t base = plan.kept.offset(output);
        const std::int64_t end = std::min(rows, (chunk + 1) * rowsPerChunk);
        for (std::int64_t i = chunk * rowsPerChunk; i < end; ++i) {
            const std::int64_t from = i % pieces * piece;
            const std::int64_t at = base + outer.offset(i / pieces) + from * stride;
            r.takeRow(std::min(piece, length - from), r.element(at), stride, into, r.param(output));
        }
    };
    const auto slot = [](void* base, std::int64_t i) {
        return static_cast<void*>(static_cast<char*>(base) + i * 8);
    };
    if (chunks == 1) {
        parallelFor(outputs, std::max<std::int64_t>(1, kUnit / plan.reduced.count),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t o = begin; o < end; ++o) take(o, 0, slot(acc, o));
                    });
        return;
    }
    Accumulators partials = startOf(r.op, outputs * chunks, r.floating);
    parallelFor(outputs * chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            take(i % outputs, i / outputs, slot(partials.data(), i));
    });
    r.combine(acc, partials.data(), outputs, chunks);
}

/// The innermost kept dimension is dense: whole rows of accumulators at a time.
void reduceColumns(const Reduction& r, const ReducePlan& plan, void* acc) {
    const std::int64_t outputs = plan.kept.count;
    const std::int64_t width = plan.kept.lastSize();
    const AxisList outerKept = plan.kept.outer();
    const AxisList outerReduced = plan.reduced.outer();
    const std::int64_t runLength = plan.reduced.lastSize();
    const std::int64_t runStride = plan.reduced.lastStride();
    const std::int64_t tile = std::min(width, kColumnTile);
    const std::int64_t tiles = (width - 1) / tile + 1;
    const std::int64_t rows = plan.reduced.count;
    const std::int64_t units = outerKept.count * tiles;
    const std::int64_t rowsPerChunk = units >= 16 ? rows : std::min(rows, kUnit / tile);
    const std::int64_t chunks = (rows - 1) / rowsPerChunk + 1;

    const auto take = [&](std::int64_t unit, std::int64_t chunk, char* into) {
        const std::int64_t column = unit % tiles * tile;
        const std::int64_t count = std::min(tile, width - column);
        const std::int64_t first = unit / tiles * width + column;  // output
        const std::int64_t base = outerKept.offset(unit / tiles) + column;
        const std::int64_t end = std::min(rows, (chunk + 1) * rowsPerChunk);
        for (std::int64_t i = chunk * rowsPerChunk; i < end;) {
            const std::int64_t within = i % runLength;
            const std::int64_t n = std::min(runLength - within, end - i);
            r.takeColumns(n, runStride, count,
                          r.element(base + outerReduced.offset(i / runLength) + within * runStride),
                          into + first * 8, r.param(first));
            i += n;
        }
    };
    if (chunks == 1) {
        const std::int64_t unitWork = tile * rows;
        parallelFor(units, std::max<std::int64_t>(1, kUnit / unitWork),
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t u = begin; u < end; ++u)
                            take(u, 0, static_cast<char*>(acc));
                    });
        return;
    }
    Accumulators partials = startOf(r.op, outputs * chunks, r.floating);
    auto* base = static_cast<char*>(partials.data());
    parallelFor(units * chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            take(i % units, i / units, base + i / units * outputs * 8);
    });
    r.combine(acc, partials.data(), outputs, chunks);
}

}  // namespace

Accumulators::Accumulators(std::int64_t count, double floating, std::int64_t integral,
                           bool isFloating) {
    Word start{};
    if (isFloating) {
        start.real = floating;
    } else {
        start.integer = integral;
    }
    if (count <= static_cast<std::int64_t>(m_small.size())) {
        std::fill_n(m_small.begin(), count, start);
    } else {
        m_large.assign(static_cast<std::size_t>(count), start);
    }
}

Accumulators startOf(ReduceOp op, std::int64_t count, bool isFloating) {
    using Limits = std::numeric_limits<std::int64_t>;
    switch (op) {
        case ReduceOp::Prod:
        case ReduceOp::All:
            return {count, 1, 1, isFloating};
        case ReduceOp::Max:
            return {count, -kInfinity, Limits::min(), isFloating};
        case ReduceOp::Min:
            return {count, kInfinity, Limits::max(), isFloating};
        default:
            return {count, 0, 0, isFloating};
    }
}

void reduceInto(ReduceOp op, const Tensor& x, const std::array<bool, kMaxRank>& mask, void* acc,
                const void* params) {
    if (x.numel() == 0) return;
    const ReducePlan plan(x, mask);
    const auto o = static_cast<unsigned>(op);
    const DType type = computeType(x.dtype());
    const auto t = static_cast<unsigned>(type);
    const Reduction r{static_cast<const char*>(x.data_ptr()),
                      static_cast<std::int64_t>(itemSize(x.dtype())),
                      loops().reduce.rows[o][t],
                      loops().reduce.columns[o][t],
                      op,
                      isFloating(x.dtype()),
                      static_cast<const char*>(params),
                      type == x.dtype() ? nullptr : convertLoop(type, x.dtype())};
    const bool denseColumns = plan.kept.lastStride() == 1 && plan.kept.lastSize() >= 4;
    if (denseColumns && plan.reduced.lastStride() != 1) {
        reduceColumns(r, plan, acc);
    } else {
        reduceRows(r, plan, acc);
    }
}

std::array<bool, kMaxRank> reducedDims(std::string_view op, const Dims& dims, int rank) {
    std::array<bool, kMaxRank> mask{};
    if (dims.empty()) {
        std::fill_n(mask.begin(), rank, true);
        return mask;
    }
    for (const std::int64_t d : wrapDims(op, dims, rank)) mask[static_cast<unsigned>(d)] = rank > 0;
    return mask;
}

namespace {

Dims dimsOf(const Attrs& attrs) { return attrs.has(0) ? attrs.dims(0) : Dims{}; }

/// out[o] = finish(accumulator), converted to out's dtype.
template <class A, class Finish>
void store(const A* acc, const Tensor& out, const Finish& finish) {
    visitEveryDType(out.dtype(), [&]<class T>() {
        T* y = out.data<T>();
        const std::int64_t n = out.numel();
        for (std::int64_t o = 0; o < n; ++o) y[o] = static_cast<T>(finish(acc[o]));
    });
}

/// One pass; finish works on double for floating inputs and is not used for others.
template <class Finish>
void reduceFloating(ReduceOp op, const OpArgs& args, const Tensor& out, const Finish& finish) {
    const Tensor& x = args[0];
    const auto mask = reducedDims("reduction", dimsOf(args.attrs), x.dim());
    Accumulators acc = startOf(op, out.numel(), isFloating(x.dtype()));
    reduceInto(op, x, mask, acc.data(), nullptr);
    if (isFloating(x.dtype())) {
        store(acc.doubles(), out, finish);
    } else {
        store(acc.integers(), out, [](std::int64_t v) { return v; });
    }
}

constexpr auto kAsIs = [](double v) { return v; };

/// Elements that reduce to one output.
std::int64_t groupSize(const Tensor& x, const std::array<bool, kMaxRank>& mask) {
    std::int64_t count = 1;
    for (int d = 0; d < x.dim(); ++d) {
        if (mask[static_cast<unsigned>(d)]) count *= x.sizes()[d];
    }
    return count;
}

/// Two passes: the mean, then the squared differences from it.
template <class Finish>
void variance(const OpArgs& args, const Tensor& out, const Finish& finish) {
    const Tensor& x = args[0];
    const auto mask = reducedDims("var", dimsOf(args.attrs), x.dim());
    const std::int64_t outputs = out.numel();
    const auto n = static_cast<double>(groupSize(x, mask));
    const auto correction = static_cast<double>(args.attrs.has(1) ? args.attrs.integer(1) : 1);
    Accumulators means = startOf(ReduceOp::Sum, outputs, true);
    reduceInto(ReduceOp::Sum, x, mask, means.data(), nullptr);
    for (std::int64_t o = 0; o < outputs; ++o) means.doubles()[o] /= n;
    Accumulators squares = startOf(ReduceOp::Sum, outputs, true);
    reduceInto(ReduceOp::SquaredDiff, x, mask, squares.data(), means.data());
    const double divisor = std::max(0.0, n - correction);
    store(squares.doubles(), out, [&](double v) { return finish(v / divisor); });
}

}  // namespace

void sum(const OpArgs& args, std::span<Tensor> outputs) {
    if (isComplex(args[0].dtype())) return complexSum(args[0], dimsOf(args.attrs), 1, outputs[0]);
    reduceFloating(ReduceOp::Sum, args, outputs[0], kAsIs);
}
void prod(const OpArgs& args, std::span<Tensor> outputs) {
    reduceFloating(ReduceOp::Prod, args, outputs[0], kAsIs);
}
void amax(const OpArgs& args, std::span<Tensor> outputs) {
    reduceFloating(ReduceOp::Max, args, outputs[0], kAsIs);
}
void amin(const OpArgs& args, std::span<Tensor> outputs) {
    reduceFloating(ReduceOp::Min, args, outputs[0], kAsIs);
}
void any(const OpArgs& args, std::span<Tensor> outputs) {
    reduceFloating(ReduceOp::Any, args, outputs[0], kAsIs);
}
void all(const OpArgs& args, std::span<Tensor> outputs) {
    reduceFloating(ReduceOp::All, args, outputs[0], kAsIs);
}

void mean(const OpArgs& args, std::span<Tensor> outputs) {
    const auto mask = reducedDims("mean", dimsOf(args.attrs), args[0].dim());
    const auto n = static_cast<double>(groupSize(args[0], mask));
    if (isComplex(args[0].dtype())) return complexSum(args[0], dimsOf(args.attrs), n, outputs[0]);
    reduceFloating(ReduceOp::Sum, args, outputs[0], [n](double v) { return v / n; });
}

void norm(const OpArgs& args, std::span<Tensor> outputs) {
    // The sum is made wider than the dtype, but overflows where PyTorch's does: clipping by an
    // infinite norm must show here as it does there.
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double largest = args[0].dtype() == DType::F64 ? std::numeric_limits<double>::max()
                                                         : std::numeric_limits<float>::max();
    reduceFloating(ReduceOp::Squares, args, outputs[0],
                   [largest](double v) { return v > largest ? kInfinity : std::sqrt(v); });
}

void var(const OpArgs& args, std::span<Tensor> outputs) { variance(args, outputs[0], kAsIs); }
void standardDeviation(const OpArgs& args, std::span<Tensor> outputs) {
    variance(args, outputs[0], [](double v) { return std::sqrt(v); });
}

void logsumexp(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    const auto mask = reducedDims("logsumexp", dimsOf(args.attrs), x.dim());
    const std::int64_t count = outputs[0].numel();
    Accumulators largest = startOf(ReduceOp::Max, count, true);
    reduceInto(ReduceOp::Max, x, mask, largest.data(), nullptr);
    for (std::int64_t o = 0; o < count; ++o) {
        if (std::isinf(largest.doubles()[o])) largest.doubles()[o] = 0;  // inf - inf would be NaN
    }
    Accumulators sums = startOf(ReduceOp::Sum, count, true);
    reduceInto(ReduceOp::ExpDiff, x, mask, sums.data(), largest.data());
    for (std::int64_t o = 0; o < count; ++o)
        sums.doubles()[o] = largest.doubles()[o] + std::log(sums.doubles()[o]);
    store(sums.doubles(), outputs[0], kAsIs);
}

}  // namespace tapescope::engine::cpu
