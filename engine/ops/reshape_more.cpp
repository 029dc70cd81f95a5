// SPDX-License-Identifier: Apache-2.0
// Other views of the same elements, made of the basic ones.
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/rearrange.h"
#include "engine/ops/rearrange_rows.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

#include <algorithm>
#include <functional>

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kInputOther[] = {{"input"}, {"other"}};
constexpr AttrDef kMoveAttrs[] = {{"source", AttrKind::Dims}, {"destination", AttrKind::Dims}};
constexpr AttrDef kAxes[] = {{"axis0", AttrKind::Int}, {"axis1", AttrKind::Int}};
constexpr AttrDef kTwoDims[] = {{"dim0", AttrKind::Int}, {"dim1", AttrKind::Int}};
constexpr AttrDef kUnflattenAttrs[] = {{"dim", AttrKind::Int}, {"sizes", AttrKind::Dims}};
constexpr AttrDef kSize[] = {{"size", AttrKind::Dims}};
constexpr AttrDef kUpscale[] = {{"upscale_factor", AttrKind::Int}};
constexpr AttrDef kDownscale[] = {{"downscale_factor", AttrKind::Int}};
constexpr AttrDef kGroups[] = {{"groups", AttrKind::Int}};

Tensor movedimOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const Dims source = wrapDims("movedim", a.attrs.dims(0), x.dim());
    const Dims destination = wrapDims("movedim", a.attrs.dims(1), x.dim());
    if (source.size() != destination.size())
        throw ShapeError(message("movedim: source ", source, " and destination ", destination,
                                 " must be equally many"));
    if (x.dim() == 0) return x;
    Dims order = Dims::filled(x.dim(), -1);
    for (int i = 0; i < source.size(); ++i) order[static_cast<int>(destination[i])] = source[i];
    std::int64_t next = 0;
    for (std::int64_t& d : order) {
        if (d >= 0) continue;
        while (std::find(source.begin(), source.end(), next) != source.end()) ++next;
        d = next++;
    }
    return permute(x, order, site);
}
Tensor swapOf(const OpArgs& a, Site site) {
    return transpose(a[0], a.attrs.integer(0), a.attrs.integer(1), site);
}
Tensor unflattenOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const int dim = wrapDim("unflatten", a.attrs.integer(0), x.dim());
    const Dims& given = a.attrs.dims(1);
    if (given.empty()) throw ShapeError("unflatten: sizes must not be empty");
    const Dims inner =
        inferSizes("unflatten", x.dim() == 0 ? Dims{1} : Dims{x.sizes()[dim]}, given);
    Dims sizes = x.sizes();
    if (!sizes.empty()) sizes.erase(dim);
    for (int i = 0; i < inner.size(); ++i) sizes.insert(dim + i, inner[i]);
    return reshape(x, sizes, site);
}
Tensor ravelOf(const OpArgs& a, Site site) { return flatten(a[0], 0, -1, site); }

template <int rank>
Tensor atleastOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    if (x.dim() >= rank) return x;
    if (x.dim() == 0) return reshape(x, Dims::filled(rank, 1), site);
    if (rank == 2) return unsqueeze(x, 0, site);
    return unsqueeze(x.dim() == 1 ? unsqueeze(x, 0, site) : x, -1, site);
}
Tensor broadcastOfRow(const OpArgs& a, Site site) { return expand(a[0], a.attrs.dims(0), site); }
Tensor expandAsOf(const OpArgs& a, Site site) { return expand(a[0], a[1].sizes(), site); }
Tensor viewAsOf(const OpArgs& a, Site site) { return view(a[0], a[1].sizes(), site); }

/// x as [batch, c, h, w]; the leading sizes as they were.
struct Images {
    Tensor x;
    Dims leading;
    std::int64_t c, h, w;
};
Images imagesOf(std::string_view op, const Tensor& x, std::int64_t factor, Site site) {
    if (x.dim() < 3)
        throw ShapeError(
            message(op, ": input ", x.sizes(), " must have at least 3 dimensions [c, h, w]"));
    if (factor < 1) throw ShapeError(message(op, ": the factor ", factor, " must be at least 1"));
    Dims leading;
    std::int64_t batch = 1;
    for (int d = 0; d < x.dim() - 3; ++d) {
        leading.push_back(x.sizes()[d]);
        batch *= x.sizes()[d];
    }
    const std::int64_t c = x.size(-3);
    const std::int64_t h = x.size(-2);
    const std::int64_t w = x.size(-1);
    return {reshape(x, {batch, c, h, w}, site), leading, c, h, w};
}
Tensor withLeading(const Tensor& y, Dims leading, std::initializer_list<std::int64_t> last,
                   Site site) {
    for (const std::int64_t size : last) leading.push_back(size);
    return reshape(y, leading, site);
}

Tensor pixelShuffleOf(const OpArgs& a, Site site) {
    const std::int64_t r = a.attrs.integer(0);
    const Images im = imagesOf("pixel_shuffle", a[0], r, site);
    const std::int64_t square = checkedMul("pixel_shuffle", r, r);
    if (im.c % square != 0)
        throw ShapeError(message("pixel_shuffle: ", im.c, " channels of ", a[0].sizes(),
                                 " are not a multiple of upscale_factor squared, ", square));
    const std::int64_t c = im.c / square;
    const Tensor split = reshape(im.x, {im.x.size(0), c, r, r, im.h, im.w}, site);
    return withLeading(permute(split, {0, 1, 4, 2, 5, 3}, site), im.leading,
                       {c, im.h * r, im.w * r}, site);
}
Tensor pixelUnshuffleOf(const OpArgs& a, Site site) {
    const std::int64_t r = a.attrs.integer(0);
    const Images im = imagesOf("pixel_unshuffle", a[0], r, site);
    if (im.h % r != 0 || im.w % r != 0)
        throw ShapeError(message("pixel_unshuffle: height and width of ", a[0].sizes(),
                                 " must be multiples of downscale_factor ", r));
    const Tensor split = reshape(im.x, {im.x.size(0), im.c, im.h / r, r, im.w / r, r}, site);
    return withLeading(permute(split, {0, 1, 3, 5, 2, 4}, site), im.leading,
                       {checkedMul("pixel_unshuffle", im.c, r * r), im.h / r, im.w / r}, site);
}
Tensor channelShuffleOf(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    const std::int64_t groups = a.attrs.integer(0);
    if (x.dim() < 3)
        throw ShapeError(message("channel_shuffle: input ", x.sizes(),
                                 " must have at least 3 dimensions [n, c, ...]"));
    if (groups < 1 || x.size(1) % groups != 0)
        throw ShapeError(message("channel_shuffle: ", x.size(1), " channels do not divide into ",
                                 groups, " groups"));
    const std::int64_t n = x.size(0);
    const std::int64_t c = x.size(1) / groups;
    const std::int64_t rest = x.numel() == 0 ? 0 : x.numel() / (n * c * groups);
    const Tensor split = reshape(x, {n, groups, c, rest}, site);
    return reshape(transpose(split, 1, 2, site), x.sizes(), site);
}

constexpr OpDef row(std::string_view name, std::span<const AttrDef> attrs, CompositeFn fn,
                    std::span<const ArgDef> args = kInput) {
    return compositeRow(name, Family::Shape, args, attrs, fn);
}

}  // namespace

constinit OpDef kMovedim = row("movedim", kMoveAttrs, composeOne<movedimOf>);
constinit OpDef kSwapaxes = row("swapaxes", kAxes, composeOne<swapOf>);
constinit OpDef kSwapdims = row("swapdims", kTwoDims, composeOne<swapOf>);
constinit OpDef kUnflatten = row("unflatten", kUnflattenAttrs, composeOne<unflattenOf>);
constinit OpDef kRavel = row("ravel", {}, composeOne<ravelOf>);
constinit OpDef kAtleast1d = row("atleast_1d", {}, composeOne<atleastOf<1>>);
constinit OpDef kAtleast2d = row("atleast_2d", {}, composeOne<atleastOf<2>>);
constinit OpDef kAtleast3d = row("atleast_3d", {}, composeOne<atleastOf<3>>);
constinit OpDef kBroadcastTo = row("broadcast_to", kSize, composeOne<broadcastOfRow>);
constinit OpDef kExpandAs = row("expand_as", {}, composeOne<expandAsOf>, kInputOther);
constinit OpDef kViewAs = row("view_as", {}, composeOne<viewAsOf>, kInputOther);
constinit OpDef kPixelShuffle = row("pixel_shuffle", kUpscale, composeOne<pixelShuffleOf>);
constinit OpDef kPixelUnshuffle = row("pixel_unshuffle", kDownscale, composeOne<pixelUnshuffleOf>);
constinit OpDef kChannelShuffle = row("channel_shuffle", kGroups, composeOne<channelShuffleOf>);

Tensor movedim(const Tensor& x, const Dims& source, const Dims& destination, Site site) {
    return call1(kMovedim, {&x}, Attrs(source, destination), site);
}
Tensor movedim(const Tensor& x, std::int64_t source, std::int64_t destination, Site site) {
    return movedim(x, Dims{source}, Dims{destination}, site);
}
Tensor swapaxes(const Tensor& x, std::int64_t axis0, std::int64_t axis1, Site site) {
    return call1(kSwapaxes, {&x}, Attrs(axis0, axis1), site);
}
Tensor swapdims(const Tensor& x, std::int64_t dim0, std::int64_t dim1, Site site) {
    return call1(kSwapdims, {&x}, Attrs(dim0, dim1), site);
}
Tensor unflatten(const Tensor& x, std::int64_t dim, const Dims& sizes, Site site) {
    return call1(kUnflatten, {&x}, Attrs(dim, sizes), site);
}
Tensor ravel(const Tensor& x, Site site) { return call1(kRavel, {&x}, {}, site); }
Tensor squeeze(const Tensor& x, const Dims& dims, Site site) {
    Dims order = wrapDims("squeeze", dims, x.dim());
    std::sort(order.begin(), order.end(),
              std::greater<>());  // so that the others keep their places
    Tensor y = x;
    for (const std::int64_t d : order) y = squeeze(y, d, site);
    return y;
}
Tensor squeeze(const Tensor& x, Site site) {
    Tensor y = x;
    for (int d = x.dim() - 1; d >= 0; --d)
        if (x.sizes()[d] == 1) y = squeeze(y, d, site);
    return y;
}
Tensor atleast_1d(const Tensor& x, Site site) { return call1(kAtleast1d, {&x}, {}, site); }
Tensor atleast_2d(const Tensor& x, Site site) { return call1(kAtleast2d, {&x}, {}, site); }
Tensor atleast_3d(const Tensor& x, Site site) { return call1(kAtleast3d, {&x}, {}, site); }
Tensor broadcast_to(const Tensor& x, const Dims& sizes, Site site) {
    return call1(kBroadcastTo, {&x}, Attrs(sizes), site);
}
Tensor expand_as(const Tensor& x, const Tensor& other, Site site) {
    return call1(kExpandAs, {&x, &other}, {}, site);
}
Tensor view_as(const Tensor& x, const Tensor& other, Site site) {
    return call1(kViewAs, {&x, &other}, {}, site);
}
std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors, Site site) {
    Dims common;
    for (const Tensor& t : tensors) {
        const Dims before = common;
        if (!broadcastShapes(before, t.sizes(), common))
            throw ShapeError(
                message("broadcast_tensors: ", before, " and ", t.sizes(), " do not broadcast") +
                placeSuffix("", site));
    }
    std::vector<Tensor> result;
    for (const Tensor& t : tensors)
        result.push_back(t.sizes() == common ? t : expand(t, common, site));
    return result;
}
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor, Site site) {
    return call1(kPixelShuffle, {&x}, Attrs(upscale_factor), site);
}
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor, Site site) {
    return call1(kPixelUnshuffle, {&x}, Attrs(downscale_factor), site);
}
Tensor channel_shuffle(const Tensor& x, std::int64_t groups, Site site) {
    return call1(kChannelShuffle, {&x}, Attrs(groups), site);
}

}  // namespace tapescope::engine
