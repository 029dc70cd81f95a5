// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/view_info.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/rearrange.h"
#include "engine/ops/rearrange_rows.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tapescope::engine {
namespace {

constexpr ArgDef kTensors[] = {{.name = "tensors", .list = true}};
constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kCombinationAttrs[] = {{"r", AttrKind::Int, "2"},
                                         {"with_replacement", AttrKind::Bool, "false"}};

using Widen = Tensor (*)(const Tensor&, Site);
std::vector<Tensor> widened(const OpArgs& a, Widen widen, Site site) {
    std::vector<Tensor> tensors;
    for (const Tensor* t : a.inputs) tensors.push_back(widen(*t, site));
    return tensors;
}
Tensor hstackOf(const OpArgs& a, Site site) {
    const std::vector<Tensor> tensors = widened(a, atleast_1d, site);
    return cat(tensors, tensors[0].dim() == 1 ? 0 : 1, site);
}
Tensor vstackOf(const OpArgs& a, Site site) { return cat(widened(a, atleast_2d, site), 0, site); }
Tensor dstackOf(const OpArgs& a, Site site) { return cat(widened(a, atleast_3d, site), 2, site); }

Tensor blockDiagOf(const OpArgs& a, Site site) {
    const std::vector<Tensor> blocks = widened(a, atleast_2d, site);
    std::int64_t columns = 0;
    for (const Tensor& b : blocks) {
        checkRank("block_diag", "a tensor", b, 2);
        columns = checkedAdd("block_diag", columns, b.size(1));
    }
    std::vector<Tensor> rows;
    std::int64_t before = 0;
    for (const Tensor& b : blocks) {
        rows.push_back(pad(b, {before, columns - before - b.size(1)}, 0, site));
        before += b.size(1);
    }
    return cat(rows, 0, site);
}

Tensor cartesianOf(const OpArgs& a, Site site) {
    const int count = static_cast<int>(a.inputs.size());
    Dims grid;
    for (int i = 0; i < count; ++i) {
        checkRank("cartesian_prod", "a tensor", a[i], 1);
        grid.push_back(a[i].size(0));
    }
    if (count == 1) return a[0];
    std::vector<Tensor> columns;
    for (int i = 0; i < count; ++i) {
        Dims sizes = Dims::filled(count, 1);
        sizes[i] = grid[i];
        const Tensor lined = expand(reshape(a[i], sizes, site), grid, site);
        columns.push_back(reshape(lined, {-1}, site));
    }
    return stack(columns, 1, site);
}

/// The next choice of r of n places in lexicographic order; false after the last.
bool nextChoice(std::vector<std::int64_t>& places, std::int64_t n, bool again) {
    const auto r = static_cast<std::int64_t>(places.size());
    for (std::int64_t i = r - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t most = again ? n - 1 : n - r + i;
        if (places[at] >= most) continue;
        ++places[at];
        for (std::size_t k = at + 1; k < places.size(); ++k)
            places[k] = places[k - 1] + (again ? 0 : 1);
        return true;
    }
    return false;
}
/// How many choices there are. Throws ShapeError if they cannot be counted.
std::int64_t choices(std::int64_t n, std::int64_t r, bool again) {
    const std::int64_t from = again && n > 0 ? checkedAdd("combinations", n, r - 1) : n;
    if (r > from) return 0;
    std::int64_t count = 1;
    for (std::int64_t i = 1; i <= std::min(r, from - r); ++i)
        count = checkedMul("combinations", count, from - i + 1) / i;
    return count;
}
Tensor combinationsOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const std::int64_t r = a.attrs.integer(0);
    const bool again = a.attrs.flag(1);
    checkRank("combinations", "input", x, 1);
    if (r < 0) throw ShapeError(message("combinations: r ", r, " must not be negative"));
    if (r == 0) return zeros({0}, {.dtype = x.dtype()}, site);
    const std::int64_t n = x.size(0);
    const std::int64_t count = choices(n, r, again);
    checkSizes("combinations", {count, r});
    const Tensor index = Tensor::empty({count * r}, DType::I64);
    if (count > 0) {
        std::vector<std::int64_t> places(static_cast<std::size_t>(r), 0);
        if (!again) std::iota(places.begin(), places.end(), 0);
        auto* next = index.data<std::int64_t>();
        do {
            next = std::copy(places.begin(), places.end(), next);
        } while (nextChoice(places, n, again));
    }
    return reshape(index_select(x, 0, index, site), {count, r}, site);
}

constexpr OpDef joining(std::string_view name, CompositeFn fn) {
    return compositeRow(name, Family::Shape, kTensors, {}, fn, TypeRule::Promote);
}

Tensor joined(const OpDef& row, std::span<const Tensor> tensors, Site site) {
    if (tensors.empty())
        throw ShapeError(message(row.name, ": give at least one tensor") + placeSuffix("", site));
    std::vector<const Tensor*> inputs;
    for (const Tensor& t : tensors) inputs.push_back(&t);
    return std::move(call(row, inputs, {}, site)[0]);
}

/// The dimension along which hsplit, vsplit and dsplit cut.
int splitDim(std::string_view op, const Tensor& x, int least, int dim, Site site) {
    if (x.dim() < least)
        throw ShapeError(
            message(op, ": input ", x.sizes(), " must have at least ", least, " dimensions") +
            placeSuffix("", site));
    return least == 1 && x.dim() == 1 ? 0 : dim;
}
/// The same with the number of parts dividing the size.
std::vector<Tensor> evenly(std::string_view op, const Tensor& x, std::int64_t sections, int dim,
                           Site site) {
    if (sections < 1 || x.size(dim) % sections != 0)
        throw ShapeError(message(op, ": dimension ", dim, " of size ", x.size(dim),
                                 " does not divide into ", sections, " equal parts") +
                         placeSuffix("", site));
    return tensor_split(x, sections, dim, site);
}

}  // namespace

constinit OpDef kHstack = joining("hstack", composeOne<hstackOf>);
constinit OpDef kVstack = joining("vstack", composeOne<vstackOf>);
constinit OpDef kDstack = joining("dstack", composeOne<dstackOf>);
constinit OpDef kBlockDiag = joining("block_diag", composeOne<blockDiagOf>);
constinit OpDef kCartesianProd = joining("cartesian_prod", composeOne<cartesianOf>);
constinit OpDef kCombinations = compositeRow("combinations", Family::Shape, kInput,
                                             kCombinationAttrs, composeOne<combinationsOf>);

Tensor hstack(std::span<const Tensor> tensors, Site site) { return joined(kHstack, tensors, site); }
Tensor vstack(std::span<const Tensor> tensors, Site site) { return joined(kVstack, tensors, site); }
Tensor dstack(std::span<const Tensor> tensors, Site site) { return joined(kDstack, tensors, site); }
Tensor block_diag(std::span<const Tensor> tensors, Site site) {
    return joined(kBlockDiag, tensors, site);
}
Tensor cartesian_prod(std::span<const Tensor> tensors, Site site) {
    return joined(kCartesianProd, tensors, site);
}
Tensor combinations(const Tensor& x, std::int64_t r, bool with_replacement, Site site) {
    return call1(kCombinations, {&x}, Attrs(r, with_replacement), site);
}

std::vector<Tensor> split_with_sizes(const Tensor& x, std::span<const std::int64_t> sizes,
                                     std::int64_t dim, Site site) {
    if (x.dim() == 0)
        throw IndexError("split: a 0-dimensional tensor cannot be split" + placeSuffix("", site));
    const int d = wrapDim("split", dim, x.dim());
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > x.size(d) - start)
            throw ShapeError(message("split: sizes that start at ", start, " with ", size,
                                     " do not fit dimension ", d, " of size ", x.size(d)) +
                             placeSuffix("", site));
        parts.push_back(narrow(x, d, start, size, site));
        start += size;
    }
    if (start != x.size(d))
        throw ShapeError(message("split: the sizes add up to ", start, ", but dimension ", d,
                                 " has size ", x.size(d)) +
                         placeSuffix("", site));
    noteOneOfMany(parts);
    return parts;
}
std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, std::int64_t dim,
                          Site site) {
    return split_with_sizes(x, sizes, dim, site);
}
std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim, Site site) {
    if (x.dim() == 0)
        throw IndexError("unbind: a 0-dimensional tensor has no parts" + placeSuffix("", site));
    const int d = wrapDim("unbind", dim, x.dim());
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < x.size(d); ++i) parts.push_back(select(x, d, i, site));
    noteOneOfMany(parts);
    return parts;
}
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t dim,
                                 Site site) {
    if (x.dim() == 0)
        throw IndexError("tensor_split: a 0-dimensional tensor cannot be split" +
                         placeSuffix("", site));
    const int d = wrapDim("tensor_split", dim, x.dim());
    if (sections < 1)
        throw ShapeError(
            message("tensor_split: ", sections, " sections were asked for; give at least 1") +
            placeSuffix("", site));
    const std::int64_t least = x.size(d) / sections;
    const std::int64_t larger = x.size(d) % sections;
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    for (std::int64_t i = 0; i < sections; ++i) {
        const std::int64_t length = least + (i < larger ? 1 : 0);
        parts.push_back(narrow(x, d, start, length, site));
        start += length;
    }
    return parts;
}
std::vector<Tensor> tensor_split(const Tensor& x, std::span<const std::int64_t> indices,
                                 std::int64_t dim, Site site) {
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    for (const std::int64_t index : indices) {
        parts.push_back(slice(x, dim, start, index, 1, site));
        start = index;
    }
    parts.push_back(slice(x, dim, start, std::numeric_limits<std::int64_t>::max(), 1, site));
    return parts;
}
std::vector<Tensor> hsplit(const Tensor& x, std::int64_t sections, Site site) {
    return evenly("hsplit", x, sections, splitDim("hsplit", x, 1, 1, site), site);
}
std::vector<Tensor> vsplit(const Tensor& x, std::int64_t sections, Site site) {
    return evenly("vsplit", x, sections, splitDim("vsplit", x, 2, 0, site), site);
}
std::vector<Tensor> dsplit(const Tensor& x, std::int64_t sections, Site site) {
    return evenly("dsplit", x, sections, splitDim("dsplit", x, 3, 2, site), site);
}
std::vector<Tensor> hsplit(const Tensor& x, std::span<const std::int64_t> indices, Site site) {
    return tensor_split(x, indices, splitDim("hsplit", x, 1, 1, site), site);
}
std::vector<Tensor> vsplit(const Tensor& x, std::span<const std::int64_t> indices, Site site) {
    return tensor_split(x, indices, splitDim("vsplit", x, 2, 0, site), site);
}
std::vector<Tensor> dsplit(const Tensor& x, std::span<const std::int64_t> indices, Site site) {
    return tensor_split(x, indices, splitDim("dsplit", x, 3, 2, site), site);
}

}  // namespace tapescope::engine
