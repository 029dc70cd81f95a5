// SPDX-License-Identifier: Apache-2.0
// Padding with the input's own elements.
#include "engine/cpu/window_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/rearrange_rows.h"
#include "engine/ops/shape.h"
#include "engine/ops/windows.h"

#include <algorithm>

namespace tapescope::engine {
namespace {

using cpu::PadMode;

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kGrad[] = {{"grad"}};
constexpr AttrDef kPadding[] = {{"padding", AttrKind::Dims}};
/// mode: 0 reflect, 1 replicate, 2 circular.
constexpr AttrDef kBackwardAttrs[] = {
    {"input_sizes", AttrKind::Dims}, {"padding", AttrKind::Dims}, {"mode", AttrKind::Int}};

/// The padded sizes. Throws ShapeError where the mode has too few elements to copy.
Dims paddedSizes(std::string_view op, const Dims& sizes, const Dims& padding, PadMode mode) {
    checkSizes(op, sizes);
    const int count = padding.size() / 2;
    if (padding.size() % 2 != 0 || count < 1 || count > 3)
        throw ShapeError(message(op, ": padding ", padding, " must be 2, 4 or 6 numbers"));
    if (sizes.size() != count + 1 && sizes.size() != count + 2)
        throw ShapeError(message(op, ": padding ", padding, " needs an input of ", count + 1,
                                 " or ", count + 2, " dimensions, not ", sizes));
    Dims result = sizes;
    for (int i = 0; i < count; ++i) {
        const int d = sizes.size() - 1 - i;
        for (const std::int64_t p : {padding[2 * i], padding[2 * i + 1]}) {
            const bool fits = mode == PadMode::Reflect    ? p < sizes[d]
                              : mode == PadMode::Circular ? p <= sizes[d]
                                                          : p <= 0 || sizes[d] > 0;
            if (!fits || sizes[d] == 0)
                throw ShapeError(message(op, ": padding ", padding, " is too large for dimension ",
                                         d, " of size ", sizes[d]));
        }
        const std::int64_t left = checkedAdd(op, std::min<std::int64_t>(padding[2 * i], 0),
                                             std::min<std::int64_t>(padding[2 * i + 1], 0));
        if (mode == PadMode::Circular && sizes[d] + left < 1)
            throw ShapeError(message(op, ": padding ", padding, " leaves nothing of dimension ", d,
                                     " of size ", sizes[d]));
        result[d] = checkedAdd(op, checkedAdd(op, sizes[d], padding[2 * i]), padding[2 * i + 1]);
        if (result[d] < 1)
            throw ShapeError(message(op, ": padding ", padding, " leaves nothing of dimension ", d,
                                     " of size ", sizes[d]));
    }
    checkSizes(op, result);
    return result;
}

template <const OpDef& row, PadMode mode, int dims>
void infer(const OpArgs& a, OutputMetas& out) {
    const Dims& padding = a.attrs.dims(0);
    if (padding.size() != 2 * dims)
        throw ShapeError(
            message(row.name, ": padding ", padding, " must be ", 2 * dims, " numbers"));
    out.add(paddedSizes(row.name, a[0].sizes(), padding, mode), a[0].dtype());
}
template <PadMode mode>
void kernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::padModeInto(a[0], a.attrs.dims(0), mode, out[0]);
}
template <PadMode mode>
void vjp(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = call1(kPadModeBackward, {&v.grad()},
                     Attrs(v.meta(0).sizes, v.attrs.dims(0), static_cast<std::int64_t>(mode)), {});
}

PadMode modeOf(const Attrs& attrs) {
    const std::int64_t mode = attrs.integer(2);
    if (mode < 0 || mode > 2) throw Error(message("pad_mode_backward: there is no mode ", mode));
    return static_cast<PadMode>(mode);
}
void inferBackward(const OpArgs& a, OutputMetas& out) {
    checkFloating("pad_mode_backward", "grad", a[0]);
    const Dims& sizes = a.attrs.dims(0);
    const Dims padded = paddedSizes("pad_mode_backward", sizes, a.attrs.dims(1), modeOf(a.attrs));
    if (a[0].sizes() != padded)
        throw ShapeError(message("pad_mode_backward: grad ", a[0].sizes(),
                                 " must have the padded sizes ", padded));
    out.add(sizes, a[0].dtype());
}
void backwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::padModeBackwardInto(a[0], a.attrs.dims(1), modeOf(a.attrs), out[0]);
}
constexpr std::string_view kModes[] = {"reflect", "replicate", "circular"};
void vjpBackward(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = pad(v.grad(), v.attrs.dims(1), kModes[static_cast<std::size_t>(modeOf(v.attrs))]);
}

template <const OpDef& row, PadMode mode, int dims>
constexpr OpDef padding(std::string_view name) {
    return {.name = name,
            .family = Family::Shape,
            .args = kInput,
            .attrs = kPadding,
            .infer = infer<row, mode, dims>,
            .vjp = vjp<mode>,
            .kernels = {kernel<mode>}};
}

}  // namespace

constinit OpDef kReflectionPad1d =
    padding<kReflectionPad1d, PadMode::Reflect, 1>("reflection_pad1d");
constinit OpDef kReflectionPad2d =
    padding<kReflectionPad2d, PadMode::Reflect, 2>("reflection_pad2d");
constinit OpDef kReflectionPad3d =
    padding<kReflectionPad3d, PadMode::Reflect, 3>("reflection_pad3d");
constinit OpDef kReplicationPad1d =
    padding<kReplicationPad1d, PadMode::Replicate, 1>("replication_pad1d");
constinit OpDef kReplicationPad2d =
    padding<kReplicationPad2d, PadMode::Replicate, 2>("replication_pad2d");
constinit OpDef kReplicationPad3d =
    padding<kReplicationPad3d, PadMode::Replicate, 3>("replication_pad3d");
constinit OpDef kCircularPad1d = padding<kCircularPad1d, PadMode::Circular, 1>("circular_pad1d");
constinit OpDef kCircularPad2d = padding<kCircularPad2d, PadMode::Circular, 2>("circular_pad2d");
constinit OpDef kCircularPad3d = padding<kCircularPad3d, PadMode::Circular, 3>("circular_pad3d");
constinit OpDef kPadModeBackward{.name = "pad_mode_backward",
                                 .family = Family::Shape,
                                 .args = kGrad,
                                 .attrs = kBackwardAttrs,
                                 .infer = inferBackward,
                                 .vjp = vjpBackward,
                                 .kernels = {backwardKernel}};

Tensor pad(const Tensor& x, const Dims& padding, std::string_view mode, double value, Site site) {
    if (mode == "constant") return pad(x, padding, value, site);
    static constexpr const OpDef* kRows[3][3] = {
        {&kReflectionPad1d, &kReflectionPad2d, &kReflectionPad3d},
        {&kReplicationPad1d, &kReplicationPad2d, &kReplicationPad3d},
        {&kCircularPad1d, &kCircularPad2d, &kCircularPad3d}};
    const int dims = padding.size() / 2;
    if (dims < 1 || dims > 3 || padding.size() % 2 != 0)
        throw ShapeError(
            message("pad: padding ", padding, " must be 2, 4 or 6 numbers for mode ", mode) +
            placeSuffix("", site));
    for (std::size_t m = 0; m < 3; ++m)
        if (mode == kModes[m]) return call1(*kRows[m][dims - 1], {&x}, Attrs(padding), site);
    throw Error(message("pad: mode must be constant, reflect, replicate or circular, not ", mode) +
                placeSuffix("", site));
}

}  // namespace tapescope::engine
