// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/rearrange.h"

#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/rearrange_rows.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/sorting.h"

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kInterleaveArgs[] = {{"input"}, {.name = "repeats", .optional = true}};
constexpr AttrDef kRollAttrs[] = {{"shifts", AttrKind::Dims}, {"dims", AttrKind::Dims, "[]"}};
constexpr AttrDef kRotAttrs[] = {{"k", AttrKind::Int, "1"}, {"dims", AttrKind::Dims, "[0, 1]"}};
constexpr AttrDef kRepeats[] = {{"repeats", AttrKind::Dims}};
constexpr AttrDef kTileDims[] = {{"dims", AttrKind::Dims}};
constexpr AttrDef kInterleaveAttrs[] = {{"repeats", AttrKind::Int, "1"},
                                        {"dim", AttrKind::Int, "none"}};

Tensor rolled(const Tensor& x, std::int64_t shift, int dim, Site site) {
    const std::int64_t size = x.size(dim);
    if (size == 0) return x;
    const std::int64_t by = (shift % size + size) % size;
    if (by == 0) return x;
    const Tensor parts[] = {narrow(x, dim, size - by, by, site),
                            narrow(x, dim, 0, size - by, site)};
    return cat(parts, dim, site);
}
Tensor rollOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const Dims& shifts = a.attrs.dims(0);
    const Dims& dims = a.attrs.dims(1);
    if (dims.empty()) {
        if (shifts.size() != 1)
            throw ShapeError(message("roll: without dims one shift is needed, not ", shifts));
        return reshape(rolled(reshape(x, {-1}, site), shifts[0], 0, site), x.sizes(), site);
    }
    if (shifts.size() != dims.size())
        throw ShapeError(
            message("roll: shifts ", shifts, " and dims ", dims, " must be equally many"));
    Tensor y = x;
    for (int i = 0; i < dims.size(); ++i) {
        const int d = wrapDim("roll", dims[i], x.dim());
        if (x.dim() > 0) y = rolled(y, shifts[i], d, site);
    }
    return same(x, y) ? clone(x, site) : y;
}

Tensor rot90Of(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const Dims& given = a.attrs.dims(1);
    if (given.size() != 2 || x.dim() < 2)
        throw ShapeError(
            message("rot90: two dims of at least 2 are needed, not ", given, " of ", x.sizes()));
    const Dims dims = wrapDims("rot90", given, x.dim());
    switch ((a.attrs.integer(0) % 4 + 4) % 4) {
        case 1:
            return transpose(flip(x, {dims[1]}, site), dims[0], dims[1], site);
        case 2:
            return flip(x, dims, site);
        case 3:
            return transpose(flip(x, {dims[0]}, site), dims[0], dims[1], site);
        default:
            return clone(x, site);
    }
}

std::int64_t productOf(const Dims& sizes, int from, int to) {
    std::int64_t product = 1;
    for (int i = from; i < to; ++i) product *= sizes[i];
    return product;
}

/// x with each of its rows of `tail` dimensions [from, …) repeated: as three dimensions, so that
/// no rank is too large.
Tensor repeatRows(std::string_view op, const Tensor& x, int from, std::int64_t repeats, Dims sizes,
                  int grown, Site site) {
    const std::int64_t rows = productOf(x.sizes(), 0, from);
    const std::int64_t columns = productOf(x.sizes(), from, x.dim());
    sizes[grown] = checkedMul(op, sizes[grown], repeats);
    checkSizes(op, sizes);
    const Tensor flat = reshape(x, {rows, 1, columns}, site);
    return reshape(expand(flat, {rows, repeats, columns}, site), sizes, site);
}

Tensor repeated(std::string_view op, const Tensor& x, const Dims& repeats, Site site) {
    if (repeats.size() < x.dim())
        throw ShapeError(
            message(op, ": ", repeats, " must give a number for each dimension of ", x.sizes()));
    for (const std::int64_t r : repeats)
        if (r < 0) throw ShapeError(message(op, ": repeats ", repeats, " must not be negative"));
    Dims sizes = x.sizes();
    while (sizes.size() < repeats.size()) sizes.insert(0, 1);
    Tensor y = sizes == x.sizes() ? x : reshape(x, sizes, site);
    for (int d = sizes.size() - 1; d >= 0; --d)
        if (repeats[d] != 1) y = repeatRows(op, y, d, repeats[d], y.sizes(), d, site);
    return same(x, y) ? clone(x, site) : y;
}
Tensor repeatOf(const OpArgs& a, Site site) {
    return repeated("repeat", a[0], a.attrs.dims(0), site);
}
Tensor tileOf(const OpArgs& a, Site site) {
    Dims repeats = a.attrs.dims(0);
    while (repeats.size() < a[0].dim()) repeats.insert(0, 1);
    return repeated("tile", a[0], repeats, site);
}

Tensor interleaveOf(const OpArgs& a, Site site) {
    const auto dim = optionalInt(a.attrs, 1);
    const Tensor x = dim && a[0].dim() > 0 ? a[0] : reshape(a[0], {-1}, site);
    const int d = dim ? wrapDim("repeat_interleave", *dim, x.dim()) : 0;
    if (!a.has(1)) {
        const std::int64_t repeats = a.attrs.integer(0);
        if (repeats < 0)
            throw ShapeError(
                message("repeat_interleave: repeats ", repeats, " must not be negative"));
        return repeatRows("repeat_interleave", x, d + 1, repeats, x.sizes(), d, site);
    }
    const Tensor& repeats = a[1];
    checkIndexDType("repeat_interleave", repeats, "repeats");
    const std::int64_t size = x.size(d);
    if (repeats.dim() > 1 || (repeats.numel() != 1 && repeats.numel() != size))
        throw ShapeError(message("repeat_interleave: repeats ", repeats.sizes(),
                                 " must hold 1 number or one for each of ", size));
    for (const std::int64_t r : repeats.to_vector<std::int64_t>())
        if (r < 0)
            throw ShapeError(message("repeat_interleave: repeats must not be negative, not ", r));
    const Tensor each = expand(repeats, {size}, site);
    const Tensor ends = cumsum(each, 0, site);
    const double total = size == 0 ? 0 : select(ends, 0, -1, site).item();
    const Tensor places = arange(0, total, 1, {.dtype = DType::I64}, site);
    return index_select(x, d, searchsorted(ends, places, true, {}, site), site);
}

constexpr OpDef row(std::string_view name, std::span<const AttrDef> attrs, CompositeFn fn,
                    std::span<const ArgDef> args = kInput) {
    return compositeRow(name, Family::Shape, args, attrs, fn);
}

}  // namespace

constinit OpDef kRoll = row("roll", kRollAttrs, composeOne<rollOf>);
constinit OpDef kRot90 = row("rot90", kRotAttrs, composeOne<rot90Of>);
constinit OpDef kRepeat = row("repeat", kRepeats, composeOne<repeatOf>);
constinit OpDef kTile = row("tile", kTileDims, composeOne<tileOf>);
constinit OpDef kRepeatInterleave =
    row("repeat_interleave", kInterleaveAttrs, composeOne<interleaveOf>, kInterleaveArgs);

std::span<OpDef* const> rearrangeOps() {
    static constexpr OpDef* kRows[] = {&kRoll,
                                       &kRot90,
                                       &kRepeat,
                                       &kTile,
                                       &kRepeatInterleave,
                                       &kMovedim,
                                       &kSwapaxes,
                                       &kSwapdims,
                                       &kUnflatten,
                                       &kRavel,
                                       &kAtleast1d,
                                       &kAtleast2d,
                                       &kAtleast3d,
                                       &kBroadcastTo,
                                       &kExpandAs,
                                       &kViewAs,
                                       &kPixelShuffle,
                                       &kPixelUnshuffle,
                                       &kChannelShuffle,
                                       &kHstack,
                                       &kVstack,
                                       &kDstack,
                                       &kBlockDiag,
                                       &kCartesianProd,
                                       &kCombinations,
                                       &kUnfold,
                                       &kUnfoldBackward,
                                       &kAsStrided,
                                       &kAsStridedBackward,
                                       &kIm2col,
                                       &kCol2im,
                                       &kReflectionPad1d,
                                       &kReflectionPad2d,
                                       &kReflectionPad3d,
                                       &kReplicationPad1d,
                                       &kReplicationPad2d,
                                       &kReplicationPad3d,
                                       &kCircularPad1d,
                                       &kCircularPad2d,
                                       &kCircularPad3d,
                                       &kPadModeBackward};
    return kRows;
}

Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims, Site site) {
    return call1(kRoll, {&x}, Attrs(shifts, dims), site);
}
Tensor rot90(const Tensor& x, std::int64_t k, const Dims& dims, Site site) {
    return call1(kRot90, {&x}, Attrs(k, dims), site);
}
Tensor repeat(const Tensor& x, const Dims& repeats, Site site) {
    return call1(kRepeat, {&x}, Attrs(repeats), site);
}
Tensor tile(const Tensor& x, const Dims& dims, Site site) {
    return call1(kTile, {&x}, Attrs(dims), site);
}
Tensor repeat_interleave(const Tensor& x, std::int64_t repeats, std::optional<std::int64_t> dim,
                         Site site) {
    return call1(kRepeatInterleave, {&x}, Attrs(repeats, attrOf(dim)), site);
}
Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<std::int64_t> dim,
                         Site site) {
    return call1(kRepeatInterleave, {&x, &repeats}, Attrs(std::int64_t{1}, attrOf(dim)), site);
}

}  // namespace tapescope::engine
