// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/creation.h"

#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tapescope::engine {
namespace {

constexpr AttrDef kValue[] = {{"fill_value", AttrKind::Float}};
constexpr AttrDef kLinspaceAttrs[] = {{"start", AttrKind::Float},
                                      {"end", AttrKind::Float},
                                      {"steps", AttrKind::Int},
                                      {"dtype", AttrKind::DType, "float32"}};
constexpr AttrDef kLogspaceAttrs[] = {{"start", AttrKind::Float},
                                      {"end", AttrKind::Float},
                                      {"steps", AttrKind::Int},
                                      {"base", AttrKind::Float, "10"},
                                      {"dtype", AttrKind::DType, "float32"}};
constexpr AttrDef kTriangle[] = {
    {"row", AttrKind::Int}, {"col", AttrKind::Int}, {"offset", AttrKind::Int, "0"}};

template <OpName name, int dtypeAt>
void inferSpaced(const OpArgs& args, OutputMetas& out) {
    const DType dtype = args.attrs.has(dtypeAt) ? args.attrs.dtype(dtypeAt) : DType::F32;
    const std::int64_t steps = args.attrs.integer(2);
    if (steps < 0)
        throw Error(message(name.view(), ": the number of steps ", steps, " must not be negative"));
    if (dtype == DType::Bool)
        throw DTypeError(message(name.view(), ": bool tensors cannot count; use int64"));
    for (const int end : {0, 1}) {
        const double value = args.attrs.real(end);
        if (!isFloating(dtype) && !(std::fabs(value) < 0x1p63))
            throw Error(message(name.view(), ": ", std::to_string(value), " does not fit ", dtype));
    }
    checkSizes(name.view(), {steps});
    out.add({steps}, dtype);
}

/// put(i, value i of n): from both ends towards the middle, so that both are exact. In T's
/// precision, as PyTorch; integers step in float.
template <class T, class Put>
void spaced(double start, double end, std::int64_t n, const Put& put) {
    using Step = std::conditional_t<std::is_floating_point_v<T>, T, float>;
    const T first = static_cast<T>(start);
    const T last = static_cast<T>(end);
    const Step step =
        n > 1 ? (static_cast<Step>(last) - static_cast<Step>(first)) / static_cast<Step>(n - 1)
              : Step(0);
    cpu::parallelFor(n, cpu::kGrain, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const bool lower = i < n / 2 || n == 1;
            const Step value = lower
                                   ? static_cast<Step>(first) + step * static_cast<Step>(i)
                                   : static_cast<Step>(last) - step * static_cast<Step>(n - 1 - i);
            put(i, value);
        }
    });
}
template <class Fn>
void visitCounting(DType dtype, const Fn& fn) {
    if (isFloating(dtype)) return visitFloating(dtype, fn);
    fn.template operator()<std::int64_t>();
}
void linspaceKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& out = outputs[0];
    visitCounting(out.dtype(), [&]<class T>() {
        T* y = out.data<T>();
        spaced<T>(args.attrs.real(0), args.attrs.real(1), out.numel(),
                  [=](std::int64_t i, auto value) {
                      const bool fits = std::is_floating_point_v<T> || std::fabs(value) < 0x1p63;
                      y[i] = fits ? static_cast<T>(value) : std::numeric_limits<T>::lowest();
                  });
    });
}
void logspaceKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& out = outputs[0];
    const double base = args.attrs.real(3);
    visitCounting(out.dtype(), [&]<class T>() {
        T* y = out.data<T>();
        spaced<T>(args.attrs.real(0), args.attrs.real(1), out.numel(),
                  [=](std::int64_t i, auto value) {
                      const double power = std::pow(base, static_cast<double>(value));
                      // Out of range: what a conversion to int64 gives.
                      const bool fits = std::is_floating_point_v<T> || std::fabs(power) < 0x1p63;
                      y[i] = fits ? static_cast<T>(power) : std::numeric_limits<T>::lowest();
                  });
    });
}

enum class Side : std::uint8_t { Lower, Upper };
struct Triangle {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t offset;
};
Triangle triangleOf(const Attrs& attrs) {
    const std::int64_t rows = attrs.integer(0);
    const std::int64_t columns = attrs.integer(1);
    const std::int64_t offset = attrs.has(2) ? attrs.integer(2) : 0;
    // An offset beyond the matrix does what one at its edge does, and cannot overflow.
    return {rows, columns, std::clamp(offset, -rows - 1, columns + 1)};
}
/// Elements with column <= row + offset: rows of none, of one more each, then full ones.
std::int64_t countBelow(const Triangle& t, std::int64_t offset) {
    const std::int64_t start = std::clamp<std::int64_t>(-offset, 0, t.rows);
    const std::int64_t full = std::clamp(t.columns - offset - 1, start, t.rows);
    const std::int64_t ramp = (full - start) * (start + full + 2 * offset + 1) / 2;
    return ramp + (t.rows - full) * t.columns;
}
template <OpName name, Side side>
void inferTriangle(const OpArgs& args, OutputMetas& out) {
    checkSizes(name.view(), {args.attrs.integer(0), args.attrs.integer(1)});
    const Triangle t = triangleOf(args.attrs);
    const std::int64_t count = side == Side::Lower
                                   ? countBelow(t, t.offset)
                                   : t.rows * t.columns - countBelow(t, t.offset - 1);
    checkSizes(name.view(), {2, count});
    out.add({2, count}, DType::I64);
}
template <Side side>
void triangleKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Triangle t = triangleOf(args.attrs);
    const std::int64_t count = outputs[0].size(1);
    auto* row = outputs[0].data<std::int64_t>();
    auto* column = row + count;
    const auto* const end = column;
    // Lower: from the first row that has an element. Upper: until the elements are all there.
    for (std::int64_t i = side == Side::Lower ? std::max<std::int64_t>(0, -t.offset) : 0;
         row != end; ++i) {
        const std::int64_t diagonal = i + t.offset;
        const std::int64_t from = side == Side::Lower ? 0 : std::max<std::int64_t>(0, diagonal);
        const std::int64_t to = side == Side::Lower ? std::min(diagonal + 1, t.columns) : t.columns;
        for (std::int64_t j = from; j < to; ++j) {
            *row++ = i;
            *column++ = j;
        }
    }
}

void inferFullLike(const OpArgs& args, OutputMetas& out) {
    checkFits("full_like", args.attrs.real(0), args[0].dtype());
    inferLikeFirst(args, out);
}

constexpr OpDef creation(std::string_view name, std::span<const AttrDef> attrs, InferFn infer,
                         KernelFn kernel) {
    return {.name = name,
            .family = Family::Create,
            .attrs = attrs,
            .infer = infer,
            .kernels = {kernel}};
}

constinit OpDef kFullLike{.name = "full_like",
                          .family = Family::Create,
                          .args = kInputArg,
                          .attrs = kValue,
                          .infer = inferFullLike,
                          .native = kComputeTypes | dtypeBit(DType::C64),
                          .kernels = {cpu::fill}};
constinit OpDef kLinspace =
    creation("linspace", kLinspaceAttrs, inferSpaced<"linspace", 3>, linspaceKernel);
constinit OpDef kLogspace =
    creation("logspace", kLogspaceAttrs, inferSpaced<"logspace", 4>, logspaceKernel);
constinit OpDef kTrilIndices =
    creation("tril_indices", kTriangle, inferTriangle<"tril_indices", Side::Lower>,
             triangleKernel<Side::Lower>);
constinit OpDef kTriuIndices =
    creation("triu_indices", kTriangle, inferTriangle<"triu_indices", Side::Upper>,
             triangleKernel<Side::Upper>);

Tensor withGrad(Tensor t, TensorOptions options) {
    if (options.requires_grad) t.set_requires_grad(true);
    return t;
}

}  // namespace

std::span<OpDef* const> creationRows() {
    static constexpr OpDef* kRows[] = {&kFullLike, &kLinspace, &kLogspace, &kTrilIndices,
                                       &kTriuIndices};
    return kRows;
}

Tensor scalar_tensor(double value, TensorOptions options, Site site) {
    return full({}, value, options, site);
}
Tensor empty(const Dims& sizes, TensorOptions options) {
    checkSizes("empty", sizes);
    return withGrad(Tensor::empty(sizes, options.dtype), options);
}
Tensor empty_like(const Tensor& x) { return Tensor::empty(x.sizes(), x.dtype()); }
Tensor full_like(const Tensor& x, double fill_value, Site site) {
    return call1(kFullLike, {&x}, Attrs{fill_value}, site);
}
Tensor linspace(double start, double end, std::int64_t steps, TensorOptions options, Site site) {
    return withGrad(call1(kLinspace, {}, Attrs{start, end, steps, options.dtype}, site), options);
}
Tensor logspace(double start, double end, std::int64_t steps, double base, TensorOptions options,
                Site site) {
    return withGrad(call1(kLogspace, {}, Attrs{start, end, steps, base, options.dtype}, site),
                    options);
}
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, Site site) {
    return call1(kTrilIndices, {}, Attrs{row, col, offset}, site);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, Site site) {
    return call1(kTriuIndices, {}, Attrs{row, col, offset}, site);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> tensors, std::string_view indexing,
                             Site site) {
    if (indexing != "ij" && indexing != "xy")
        throw Error(message("meshgrid: indexing must be \"ij\" or \"xy\", not \"", indexing, "\""));
    const int rank = static_cast<int>(tensors.size());
    if (rank == 0) throw Error("meshgrid: no tensors were given, at least one is needed");
    // "xy" swaps the first two dimensions of the grid.
    const auto axis = [&](int i) { return indexing == "xy" && rank >= 2 && i < 2 ? 1 - i : i; };
    Dims grid = Dims::filled(rank, 1);
    for (int i = 0; i < rank; ++i) {
        const Tensor& t = tensors[static_cast<std::size_t>(i)];
        if (t.dim() > 1)
            throw ShapeError(
                message("meshgrid: tensor ", i, " ", t.sizes(), " must be 0-d or 1-d"));
        grid[axis(i)] = t.numel();
    }
    std::vector<Tensor> result;
    for (int i = 0; i < rank; ++i) {
        Dims line = Dims::filled(rank, 1);
        line[axis(i)] = grid[axis(i)];
        result.push_back(
            expand(reshape(tensors[static_cast<std::size_t>(i)], line, site), grid, site));
    }
    return result;
}

}  // namespace tapescope::engine
