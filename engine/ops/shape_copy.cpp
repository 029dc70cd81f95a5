// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

namespace tapescope::engine {

namespace {

void inferSame(const OpArgs& a, OutputMetas& out) { out.add(a[0].sizes(), a[0].dtype()); }

void copyKernel(const OpArgs& a, std::span<Tensor> out) { cpu::copyTensor(out[0], a[0]); }

void vjpCopy(const VjpArgs& v, std::span<Tensor> grads) { grads[0] = v.grad(); }

void inferFlip(const OpArgs& a, OutputMetas& out) {
    wrapDims("flip", a.attrs.dims(0), a[0].dim());
    inferSame(a, out);
}

void flipKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::flipInto(a[0], wrapDims("flip", a.attrs.dims(0), a[0].dim()), out[0]);
}

void vjpFlip(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = flip(v.grad(), v.attrs.dims(0));
}

void inferPad(const OpArgs& a, OutputMetas& out) {
    const Dims& sizes = a[0].sizes();
    const Dims& padding = a.attrs.dims(0);
    if (padding.size() % 2 != 0)
        throw ShapeError(message("pad: padding ", padding, " must come in pairs (before, after)"));
    if (padding.size() / 2 > sizes.size())
        throw ShapeError(
            message("pad: padding ", padding, " names more dimensions than ", sizes, " has"));
    Dims result = sizes;
    for (int i = 0; i < padding.size() / 2; ++i) {
        const int d = sizes.size() - 1 - i;
        result[d] =
            checkedAdd("pad", checkedAdd("pad", sizes[d], padding[2 * i]), padding[2 * i + 1]);
        if (result[d] < 0)
            throw ShapeError(message("pad: padding ", padding, " cuts away more than size ",
                                     sizes[d], " of dimension ", d, " of ", sizes));
    }
    checkSizes("pad", result);
    checkFits("pad", a.attrs.real(1), a[0].dtype());
    out.add(result, a[0].dtype());
}

void padKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::padInto(a[0], a.attrs.dims(0), a.attrs.real(1), out[0]);
}

void vjpPad(const VjpArgs& v, std::span<Tensor> grads) {
    Dims back = v.attrs.dims(0);
    for (std::int64_t& p : back) p = -p;
    grads[0] = pad(v.grad(), back, 0.0);
}

constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kFlipAttrs[] = {{"dims", AttrKind::Dims}};
constexpr AttrDef kPadAttrs[] = {{"padding", AttrKind::Dims}, {"value", AttrKind::Float, "0"}};

}  // namespace

constinit OpDef kContiguous{.name = "contiguous",
                            .family = Family::Shape,
                            .args = kInput,
                            .attrs = {},
                            .infer = inferSame,
                            .vjp = vjpCopy,
                            .native = kEveryType,
                            .kernels = {copyKernel}};
constinit OpDef kClone{.name = "clone",
                       .family = Family::Shape,
                       .args = kInput,
                       .attrs = {},
                       .infer = inferSame,
                       .vjp = vjpCopy,
                       .native = kEveryType,
                       .kernels = {copyKernel}};
constinit OpDef kFlip{.name = "flip",
                      .family = Family::Shape,
                      .args = kInput,
                      .attrs = kFlipAttrs,
                      .infer = inferFlip,
                      .vjp = vjpFlip,
                      .native = kEveryType,
                      .kernels = {flipKernel}};
constinit OpDef kPad{.name = "pad",
                     .family = Family::Shape,
                     .args = kInput,
                     .attrs = kPadAttrs,
                     .infer = inferPad,
                     .vjp = vjpPad,
                     .native = kEveryType,
                     .kernels = {padKernel}};

Tensor contiguous(const Tensor& x, Site site) {
    if (x.defined() && x.is_contiguous()) return x;
    return call1(kContiguous, {&x}, Attrs(), site);
}
Tensor clone(const Tensor& x, Site site) { return call1(kClone, {&x}, Attrs(), site); }
Tensor flip(const Tensor& x, const Dims& dims, Site site) {
    return call1(kFlip, {&x}, Attrs(dims), site);
}
Tensor pad(const Tensor& x, const Dims& padding, double value, Site site) {
    return call1(kPad, {&x}, Attrs(padding, value), site);
}

Tensor sum_to_size(const Tensor& x, const Dims& sizes, Site site) {
    const Dims from = x.sizes();
    if (from == sizes) return x;
    const int added = from.size() - sizes.size();
    Dims grown;
    for (int i = 0; i < from.size(); ++i) {
        const std::int64_t target = i < added ? 1 : sizes[i - added];
        if (i < added || (target == 1 && from[i] != 1))
            grown.push_back(i);
        else if (target != from[i])
            grown = {-1};
        if (grown == Dims{-1}) break;
    }
    if (added < 0 || grown == Dims{-1})
        throw ShapeError(message("sum_to_size: ", sizes, " does not broadcast to ", from) +
                         placeSuffix("", site));
    const Tensor summed = grown.empty() ? x : sum(x, grown, true, site);
    return added == 0 ? summed : reshape(summed, sizes, site);
}

}  // namespace tapescope::engine
