// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/resample.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/nn_vision.h"

#include <cmath>
#include <utility>

namespace tapescope::engine {

namespace {

using cpu::ResampleMode;
using cpu::ResampleShape;

/// PyTorch's names: a mode and a number of spatial dimensions.
struct Kind {
    std::string_view name;
    std::string_view backward;
    ResampleMode mode;
    int rank;
};
constexpr Kind kKinds[] = {
    {"upsample_nearest1d", "upsample_nearest1d_backward", ResampleMode::Nearest, 1},
    {"upsample_nearest2d", "upsample_nearest2d_backward", ResampleMode::Nearest, 2},
    {"upsample_nearest3d", "upsample_nearest3d_backward", ResampleMode::Nearest, 3},
    {"_upsample_nearest_exact1d", "_upsample_nearest_exact1d_backward", ResampleMode::NearestExact,
     1},
    {"_upsample_nearest_exact2d", "_upsample_nearest_exact2d_backward", ResampleMode::NearestExact,
     2},
    {"_upsample_nearest_exact3d", "_upsample_nearest_exact3d_backward", ResampleMode::NearestExact,
     3},
    {"upsample_linear1d", "upsample_linear1d_backward", ResampleMode::Linear, 1},
    {"upsample_bilinear2d", "upsample_bilinear2d_backward", ResampleMode::Linear, 2},
    {"upsample_trilinear3d", "upsample_trilinear3d_backward", ResampleMode::Linear, 3},
    {"upsample_bicubic2d", "upsample_bicubic2d_backward", ResampleMode::Cubic, 2}};
constexpr std::size_t kKindCount = std::size(kKinds);

// Attributes from `first` on: output_size, align_corners, antialias, scale_d, scale_h, scale_w.
ResampleShape shapeOf(std::string_view op, const Kind& kind, const Dims& input, const Attrs& attrs,
                      int first) {
    checkSizes(op, input);
    if (input.size() != kind.rank + 2) {
        static constexpr std::string_view kLayouts[] = {"[N, C, L]", "[N, C, H, W]",
                                                        "[N, C, D, H, W]"};
        throw ShapeError(message(op, ": input ", input, " must have ", kind.rank + 2,
                                 " dimensions ", kLayouts[static_cast<unsigned>(kind.rank - 1)]));
    }
    ResampleShape s;
    s.mode = kind.mode;
    s.planes = checkedMul(op, input[0], input[1]);
    s.input = spatialSizes(input, kind.rank);
    s.output = spatialAttr(op, "output_size", attrs.dims(first), kind.rank, 1, 1);
    s.alignCorners = attrs.flag(first + 1);
    s.antialias = attrs.flag(first + 2);
    for (unsigned axis = 0; axis < 3; ++axis) {
        s.scale[axis] = attrs.real(first + 3 + static_cast<int>(axis));
        if (s.input[axis] < 1)
            throw ShapeError(message(op, ": input ", input, " has planes without elements"));
        if (!(s.scale[axis] >= 0) || std::isinf(s.scale[axis]))
            throw Error(message(op, ": a scale must be positive and finite, or 0 for none"));
    }
    checkSizes(op, withSpatial(input, kind.rank, s.output));
    return s;
}

/// Modes that choose elements instead of mixing them: images of uint8 are taken too.
constexpr bool copies(ResampleMode mode) {
    return mode == ResampleMode::Nearest || mode == ResampleMode::NearestExact;
}

template <std::size_t K>
void infer(const OpArgs& a, OutputMetas& out) {
    constexpr Kind kind = kKinds[K];
    if (!(copies(kind.mode) && a[0].dtype() == DType::U8)) checkFloating(kind.name, "input", a[0]);
    const ResampleShape s = shapeOf(kind.name, kind, a[0].sizes(), a.attrs, 0);
    out.add(withSpatial(a[0].sizes(), kind.rank, s.output), a[0].dtype());
}
template <std::size_t K>
void kernel(const OpArgs& a, std::span<Tensor> out) {
    constexpr Kind kind = kKinds[K];
    const ResampleShape s = shapeOf(kind.name, kind, a[0].sizes(), a.attrs, 0);
    if (isFloating(a[0].dtype())) return cpu::resample(s, a[0], out[0]);
    // Pixels of 8 bits, which float32 holds exactly.
    const Tensor moved = Tensor::empty(out[0].sizes(), DType::F32, MemoryRole::Temporary);
    cpu::resample(s, cpu::converted(a[0], DType::F32), moved);
    cpu::copyTensor(out[0], moved);
}
template <std::size_t K>
void inferBackward(const OpArgs& a, OutputMetas& out) {
    constexpr Kind kind = kKinds[K];
    const Dims& input = a.attrs.dims(0);
    const ResampleShape s = shapeOf(kind.backward, kind, input, a.attrs, 1);
    const Dims expected = withSpatial(input, kind.rank, s.output);
    if (a[0].sizes() != expected)
        throw ShapeError(message(kind.backward, ": grad ", a[0].sizes(),
                                 " must have the output's sizes ", expected));
    out.add(input, a[0].dtype());
}
template <std::size_t K>
void backwardKernel(const OpArgs& a, std::span<Tensor> out) {
    constexpr Kind kind = kKinds[K];
    cpu::resampleBackward(shapeOf(kind.backward, kind, a.attrs.dims(0), a.attrs, 1), a[0], out[0]);
}

const OpDef& forwardRow(std::size_t kind);
const OpDef& backwardRow(std::size_t kind);

// Linear in its input: each is the other's adjoint.
template <std::size_t K>
void vjp(const VjpArgs& v, std::span<Tensor> grads) {
    Attrs attrs(v.meta(0).sizes);
    for (int i = 0; i < 6; ++i) attrs.push_back(v.attrs[i]);
    grads[0] = call1(backwardRow(K), {&v.grad()}, attrs, Site());
}
template <std::size_t K>
void vjpBackward(const VjpArgs& v, std::span<Tensor> grads) {
    Attrs attrs;
    for (int i = 1; i < 7; ++i) attrs.push_back(v.attrs[i]);
    grads[0] = call1(forwardRow(K), {&v.grad()}, attrs, Site());
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGrad[] = {{"grad"}};
constexpr AttrDef kAttrs[] = {
    {"output_size", AttrKind::Dims},        {"align_corners", AttrKind::Bool, "false"},
    {"antialias", AttrKind::Bool, "false"}, {"scale_d", AttrKind::Float, "0"},
    {"scale_h", AttrKind::Float, "0"},      {"scale_w", AttrKind::Float, "0"}};
constexpr AttrDef kBackwardAttrs[] = {{"input_sizes", AttrKind::Dims},
                                      kAttrs[0],
                                      kAttrs[1],
                                      kAttrs[2],
                                      kAttrs[3],
                                      kAttrs[4],
                                      kAttrs[5]};

template <std::size_t K>
constexpr OpDef forwardDef() {
    return {.name = kKinds[K].name,
            .family = Family::Nn,
            .args = kInput,
            .attrs = kAttrs,
            .infer = infer<K>,
            .vjp = vjp<K>,
            .kernels = {kernel<K>}};
}
template <std::size_t K>
constexpr OpDef backwardDef() {
    return {.name = kKinds[K].backward,
            .family = Family::Nn,
            .args = kGrad,
            .attrs = kBackwardAttrs,
            .types = TypeRule::Floating,
            .infer = inferBackward<K>,
            .vjp = vjpBackward<K>,
            .kernels = {backwardKernel<K>}};
}
template <std::size_t... K>
constexpr std::array<OpDef, 2 * sizeof...(K)> allRows(std::index_sequence<K...>) {
    return {forwardDef<K>()..., backwardDef<K>()...};
}

}  // namespace

constinit std::array<OpDef, kUpsampleRows> kUpsample =
    allRows(std::make_index_sequence<kKindCount>());
static_assert(kUpsampleRows == 2 * kKindCount);

namespace {

const OpDef& forwardRow(std::size_t kind) { return kUpsample[kind]; }
const OpDef& backwardRow(std::size_t kind) { return kUpsample[kKindCount + kind]; }

constexpr std::string_view kOp = "interpolate";

/// The row for a mode and rank; throws where PyTorch has none.
const OpDef& rowFor(Interpolation mode, int rank) {
    int first = 0;
    switch (mode) {
        case Interpolation::Nearest:
            return forwardRow(static_cast<std::size_t>(rank - 1));
        case Interpolation::NearestExact:
            return forwardRow(static_cast<std::size_t>(rank + 2));
        case Interpolation::Linear:
            first = 1;
            break;
        case Interpolation::Bilinear:
            first = 2;
            break;
        case Interpolation::Trilinear:
            first = 3;
            break;
        default:
            if (rank == 2) return forwardRow(9);
            throw ShapeError(message(kOp, ": bicubic needs an input [N, C, H, W]"));
    }
    if (rank == first) return forwardRow(static_cast<std::size_t>(rank + 5));
    throw ShapeError(message(kOp, ": the mode with ", first, " spatial dimensions was given ", rank,
                             "; use linear for [N, C, L], bilinear for [N, C, H, W], trilinear for "
                             "[N, C, D, H, W]"));
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateOptions& o, Site site) try {
    const int rank = input.dim() - 2;
    if (rank < 1 || rank > 3)
        throw ShapeError(
            message(kOp, ": input ", input.sizes(), " must have 3 to 5 dimensions [N, C, d...]"));
    if (o.size.empty() == o.scale_factor.empty())
        throw Error(message(kOp, ": give either size or scale_factor"));
    const auto scales = static_cast<int>(o.scale_factor.size());
    if (scales > 1 && scales != rank)
        throw Error(message(kOp, ": scale_factor must have 1 or ", rank, " numbers, not ", scales));
    std::array<double, 3> used{};
    Dims size;
    if (!o.size.empty()) {
        const Spatial given = spatialAttr(kOp, "size", o.size, rank, 1, 1);
        for (int i = 3 - rank; i < 3; ++i) size.push_back(given[static_cast<unsigned>(i)]);
    }
    for (int i = 0; o.size.empty() && i < rank; ++i) {
        const double scale = o.scale_factor[static_cast<std::size_t>(scales == 1 ? 0 : i)];
        const double length = std::floor(static_cast<double>(input.size(2 + i)) * scale);
        if (!(scale > 0) || !(length >= 1) || length > 1e15)
            throw ShapeError(message(kOp, ": scale_factor ", std::to_string(scale), " of input ",
                                     input.sizes(), " leaves no possible size"));
        size.push_back(static_cast<std::int64_t>(length));
        if (!o.recompute_scale_factor) used[static_cast<unsigned>(3 - rank + i)] = scale;
    }
    if (o.antialias && o.mode != Interpolation::Bilinear && o.mode != Interpolation::Bicubic)
        throw Error(message(kOp, ": antialias is for the modes bilinear and bicubic"));
    const bool corners = o.mode == Interpolation::Linear || o.mode == Interpolation::Bilinear ||
                         o.mode == Interpolation::Trilinear || o.mode == Interpolation::Bicubic;
    if (o.align_corners && !corners)
        throw Error(message(kOp, ": align_corners is for the linear and cubic modes"));
    if (o.mode == Interpolation::Area) {
        if (rank == 1) return adaptive_avg_pool1d(input, size, site);
        return rank == 2 ? adaptive_avg_pool2d(input, size, site)
                         : adaptive_avg_pool3d(input, size, site);
    }
    return call1(rowFor(o.mode, rank), {&input},
                 Attrs(size, o.align_corners, o.antialias, used[0], used[1], used[2]), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
