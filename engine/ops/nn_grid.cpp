// SPDX-License-Identifier: Apache-2.0
// Sampling an image at given places, composed of operators: gradients of every order follow.
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/nn_vision.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

constexpr std::string_view kOp = "grid_sample";

/// One element that a sample reads along an axis.
struct Tap {
    Tensor index;   ///< int64, inside the axis
    Tensor inside;  ///< bool; undefined where every tap is
    Tensor weight;  ///< undefined: 1
};

/// x - floor(x / 2) * 2
Tensor modTwo(const Tensor& x, Site site) {
    return sub(x, mul(floor(mul(x, 0.5, site), site), 2, site), site);
}

struct Axis {
    std::int64_t size;
    GridPadding padding;
    bool alignCorners;
    Site site;

    /// From [-1, 1] to elements.
    Tensor position(const Tensor& x) const {
        const auto n = static_cast<double>(size);
        if (alignCorners) return mul(add(x, 1, site), (n - 1) / 2, site);
        return mul(sub(mul(add(x, 1, site), n, site), 1, site), 0.5, site);
    }
    Tensor clipped(const Tensor& x) const {
        return clamp(x, 0, static_cast<double>(size - 1), site);
    }
    /// Mirrored at the borders as often as it takes.
    Tensor reflected(const Tensor& x) const {
        const double low = alignCorners ? 0 : -0.5;
        const double span = static_cast<double>(alignCorners ? size - 1 : size);
        if (span == 0) return mul(x, 0, site);
        const Tensor distance = abs(sub(x, low, site), site);
        const Tensor flips = floor(mul(distance.detach(), 1 / span, site), site);
        const Tensor rest = sub(distance, mul(flips, span, site), site);
        const Tensor back = add(neg(rest, site), span, site);
        const Tensor odd = ne(modTwo(flips, site), wrappedNumber(0.0), site);
        return add(where(odd, back, rest, site), low, site);
    }
    Tensor padded(const Tensor& x) const {
        switch (padding) {
            case GridPadding::Border:
                return clipped(x);
            case GridPadding::Reflection:
                return clipped(reflected(x));
            case GridPadding::Zeros:
                break;
        }
        return x;
    }
    /// The tap at a whole position (without a graph).
    Tap tap(const Tensor& at, Tensor weight) const {
        Tap t;
        if (padding == GridPadding::Zeros)
            t.inside = logical_and(ge(at, wrappedNumber(0.0), site),
                                   lt(at, wrappedNumber(static_cast<double>(size)), site), site);
        t.index = to(clipped(at), DType::I64, site);
        t.weight = std::move(weight);
        return t;
    }

    std::vector<Tap> taps(const Tensor& grid, GridMode mode) const {
        // A NaN lies outside.
        const Tensor known = masked_fill(grid, isnan(grid, site), -3, site);
        const Tensor raw = position(known);
        if (mode == GridMode::Bicubic) return cubicTaps(raw);
        const Tensor x = padded(raw);
        if (mode == GridMode::Nearest) {
            // To the even one of two neighbours, as nearbyint.
            const Tensor value = x.detach();
            const Tensor up = floor(add(value, 0.5, site), site);
            const Tensor tie = eq(sub(up, value, site), wrappedNumber(0.5), site);
            const Tensor odd = ne(modTwo(up, site), wrappedNumber(0.0), site);
            return {tap(where(logical_and(tie, odd, site), sub(up, 1, site), up, site), {})};
        }
        const Tensor low = floor(x.detach(), site);
        const Tensor high = sub(x, low, site);
        return {tap(low, add(neg(high, site), 1, site)), tap(add(low, 1, site), high)};
    }

    /// Keys' kernel with a = -0.75 over four elements, each padded by itself.
    std::vector<Tap> cubicTaps(const Tensor& x) const {
        const Tensor low = floor(x.detach(), site);
        const Tensor t = sub(x, low, site);
        const auto near = [&](const Tensor& d) {  // |d| <= 1
            return add(mul(sub(mul(d, 1.25, site), 2.25, site), square(d, site), site), 1, site);
        };
        const auto far = [&](const Tensor& d) {  // 1 < |d| < 2
            const Tensor inner =
                sub(mul(add(mul(sub(d, 5, site), d, site), 8, site), d, site), 4, site);
            return mul(inner, -0.75, site);
        };
        const Tensor other = add(neg(t, site), 1, site);
        const Tensor weights[] = {far(add(t, 1, site)), near(t), near(other),
                                  far(add(other, 1, site))};
        std::vector<Tap> list;
        for (int k = 0; k < 4; ++k) list.push_back(tap(padded(add(low, k - 1, site)), weights[k]));
        return list;
    }
};

void check(const Tensor& input, const Tensor& grid, GridMode mode) {
    const int rank = input.dim() - 2;
    checkFloating(kOp, "input", input);
    checkSameDType(kOp, "input", input, "grid", grid);
    if ((rank != 2 && rank != 3) || grid.dim() != input.dim() || grid.size(-1) != rank ||
        grid.size(0) != input.size(0))
        throw ShapeError(message(kOp, ": input ", input.sizes(), " and grid ", grid.sizes(),
                                 " must be [N, C, H, W] and [N, h, w, 2], or [N, C, D, H, W] and "
                                 "[N, d, h, w, 3]"));
    for (int d = 2; d < input.dim(); ++d)
        if (input.size(d) < 1)
            throw ShapeError(
                message(kOp, ": input ", input.sizes(), " has planes without elements"));
    if (mode == GridMode::Bicubic && rank != 2)
        throw ShapeError(message(kOp, ": bicubic needs an input [N, C, H, W]"));
}

template <class E>
E enumAttr(std::string_view op, std::string_view what, std::int64_t code) {
    if (code < 0 || code > 2) throw Error(message(op, ": ", what, " ", code, " must be 0, 1 or 2"));
    return static_cast<E>(code);
}
Tensor gridComposite(const OpArgs& a, Site site) {
    return grid_sample(
        a[0], a[1], enumAttr<GridMode>(kOp, "interpolation_mode", a.attrs.integer(0)),
        enumAttr<GridPadding>(kOp, "padding_mode", a.attrs.integer(1)), a.attrs.flag(2), site);
}
Tensor affineComposite(const OpArgs& a, Site site) {
    return affine_grid(a[0], a.attrs.dims(0), a.attrs.flag(1), site);
}

constexpr ArgDef kGridArgs[] = {{"input"}, {"grid"}};
constexpr ArgDef kThetaArgs[] = {{"theta"}};
constexpr AttrDef kGridAttrs[] = {{"interpolation_mode", AttrKind::Int, "0"},
                                  {"padding_mode", AttrKind::Int, "0"},
                                  {"align_corners", AttrKind::Bool, "false"}};
constexpr AttrDef kAffineAttrs[] = {{"size", AttrKind::Dims},
                                    {"align_corners", AttrKind::Bool, "false"}};

}  // namespace

// interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode: 0 zeros, 1 border,
// 2 reflection, as in PyTorch's grid_sampler.
constinit OpDef kGridSample{.name = kOp,
                            .family = Family::Nn,
                            .args = kGridArgs,
                            .attrs = kGridAttrs,
                            .composite = composeOne<gridComposite>};
constinit OpDef kAffineGrid{.name = "affine_grid",
                            .family = Family::Nn,
                            .args = kThetaArgs,
                            .attrs = kAffineAttrs,
                            .composite = composeOne<affineComposite>};

Tensor grid_sample(const Tensor& input, const Tensor& grid, GridMode mode, GridPadding padding_mode,
                   bool align_corners, Site site) try {
    check(input, grid, mode);
    const int rank = input.dim() - 2;
    const std::int64_t batch = input.size(0);
    const std::int64_t channels = input.size(1);
    const std::int64_t samples = batch == 0 ? 0 : grid.numel() / batch / rank;
    // The last coordinate of the grid belongs to the first spatial dimension.
    std::vector<std::vector<Tap>> axes;
    std::int64_t plane = 1;
    for (int d = 0; d < rank; ++d) {
        const Tensor coordinate =
            reshape(select(grid, -1, rank - 1 - d, site), {batch, samples}, site);
        const Axis axis{input.size(2 + d), padding_mode, align_corners, site};
        axes.push_back(axis.taps(coordinate, mode));
        plane *= axis.size;
    }
    const Tensor image = reshape(input, {batch, channels, plane}, site);
    Tensor result;
    std::vector<std::size_t> at(static_cast<std::size_t>(rank), 0);
    for (bool more = true; more;) {
        Tensor index, inside, weight;
        for (int d = 0; d < rank; ++d) {
            const Tap& tap = axes[static_cast<std::size_t>(d)][at[static_cast<std::size_t>(d)]];
            const Tensor stride = wrappedNumber(input.size(2 + d));
            index = index.defined() ? add(mul(index, stride, site), tap.index, site) : tap.index;
            if (tap.inside.defined())
                inside = inside.defined() ? logical_and(inside, tap.inside, site) : tap.inside;
            if (tap.weight.defined())
                weight = weight.defined() ? mul(weight, tap.weight, site) : tap.weight;
        }
        Tensor value = gather(
            image, 2, expand(unsqueeze(index, 1, site), {batch, channels, samples}, site), site);
        if (weight.defined()) value = mul(value, unsqueeze(weight, 1, site), site);
        if (inside.defined())
            value = masked_fill(value, logical_not(unsqueeze(inside, 1, site), site), 0, site);
        result = result.defined() ? add(result, value, site) : value;
        more = false;
        for (std::size_t d = at.size(); d-- > 0;) {
            if (++at[d] < axes[d].size()) {
                more = true;
                break;
            }
            at[d] = 0;
        }
    }
    Dims sizes{batch, channels};
    for (int d = 1; d <= rank; ++d) sizes.push_back(grid.size(d));
    return reshape(result, sizes, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor affine_grid(const Tensor& theta, const Dims& size, bool align_corners, Site site) try {
    constexpr std::string_view kName = "affine_grid";
    checkFloating(kName, "theta", theta);
    checkSizes(kName, size);
    const int rank = size.size() - 2;
    if ((rank != 2 && rank != 3) || theta.sizes() != Dims{size[0], rank, rank + 1})
        throw ShapeError(message(kName, ": theta ", theta.sizes(), " and size ", size,
                                 " must be [N, 2, 3] and [N, C, H, W], or [N, 3, 4] and "
                                 "[N, C, D, H, W]"));
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) {
        if (size[2 + d] < 1)
            throw ShapeError(message(kName, ": size ", size, " has planes without elements"));
        count = checkedMul(kName, count, size[2 + d]);
    }
    // Rows (x, y, 1) or (x, y, z, 1).
    const Tensor rows = Tensor::empty({1, count, rank + 1}, DType::F64, MemoryRole::Temporary);
    double* base = rows.data<double>();
    std::fill_n(base, rows.numel(), 1.0);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t rest = i;
        for (int d = rank - 1; d >= 0; --d) {
            const std::int64_t n = size[2 + d];
            const auto at = static_cast<double>(rest % n);
            rest /= n;
            const auto length = static_cast<double>(n);
            double x = 0;
            if (align_corners)
                x = n > 1 ? 2 * at / (length - 1) - 1 : 0;
            else
                x = (2 * at + 1) / length - 1;
            base[i * (rank + 1) + (rank - 1 - d)] = x;
        }
    }
    const Tensor points = to(rows, theta.dtype());
    const Tensor grid = matmul(points, transpose(theta, 1, 2, site), site);
    Dims sizes{size[0]};
    for (int d = 0; d < rank; ++d) sizes.push_back(size[2 + d]);
    sizes.push_back(rank);
    return reshape(grid, sizes, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
