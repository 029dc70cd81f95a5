// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/complex.h"

#include "engine/cpu/complex_kernels.h"
#include "engine/cpu/copy.h"
#include "engine/cpu/map.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/row_makers.h"
#include "engine/ops/shape_rows.h"

#include <numbers>

namespace tapescope::engine {
namespace {

constexpr std::uint32_t kRealOrComplex = kComputeTypes | dtypeBit(DType::C64);
constexpr ArgDef kParts[] = {{"real"}, {"imag"}};
constexpr ArgDef kPolarArgs[] = {{"abs"}, {"angle"}};

void requireComplex(std::string_view op, const Tensor& x) {
    if (!is_complex(x))
        throw DTypeError(
            message(op, ": ", x.dtype(),
                    " tensors have no imaginary part; convert with to(x, DType::C64)"));
}
void requireFloat32(std::string_view op, std::string_view what, const Tensor& x) {
    if (x.dtype() != DType::F32)
        throw DTypeError(message(op, ": ", what, " is ", x.dtype(),
                                 ", complex64 is made of float32; convert it with to(x, "
                                 "DType::F32)"));
}

template <OpName name>
void inferFromParts(const OpArgs& args, OutputMetas& out) {
    const bool polar = name.view() == "polar";
    requireFloat32(name.view(), polar ? "abs" : "real", args[0]);
    requireFloat32(name.view(), polar ? "angle" : "imag", args[1]);
    out.add(broadcastOf(name.view(), args[0].sizes(), args[1].sizes()), DType::C64);
}
void complexKernel(const OpArgs& args, std::span<Tensor> out) {
    cpu::copyTensor(complexPart(out[0], 0), args[0]);
    cpu::copyTensor(complexPart(out[0], 1), args[1]);
}
void polarKernel(const OpArgs& args, std::span<Tensor> out) {
    cpu::complexPolar(args[0], args[1], out[0]);
}
void complexVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = reduceTo(a, 0, real(a.grad()));
    if (a.need(1)) out[1] = reduceTo(a, 1, imag(a.grad()));
}
/// z = r u with u = e^(i phi): dr = Re(g conj(u)), dphi = Re(g conj(i z)).
void polarVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor unit = polar(ones_like(a.input(1)), a.input(1));
    if (a.need(0)) out[0] = reduceTo(a, 0, real(mul(a.grad(), conj(unit))));
    if (a.need(1)) {
        const Tensor turned = mul(mul(unit, a.input(0)), wrappedNumber(std::complex<double>(0, 1)));
        out[1] = reduceTo(a, 1, real(mul(a.grad(), conj(turned))));
    }
}

// Views of the parts.
void inferReal(const OpArgs& args, OutputMetas& out) {
    out.add(args[0].sizes(), realType(args[0].dtype()));
}
Tensor viewReal(const OpArgs& args) {
    const Tensor& x = args[0];
    return is_complex(x) ? complexPart(x, 0)
                         : makeView(x, x.sizes(), x.strides(), x.storage_offset());
}
void realVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = to(a.grad(), a.meta(0).dtype); }
void inferImag(const OpArgs& args, OutputMetas& out) {
    requireComplex("imag", args[0]);
    inferReal(args, out);
}
Tensor viewImag(const OpArgs& args) { return complexPart(args[0], 1); }
void imagVjp(const VjpArgs& a, std::span<Tensor> out) {
    out[0] = complex(zeros_like(a.grad()), a.grad());
}

void inferViewAsReal(const OpArgs& args, OutputMetas& out) {
    requireComplex("view_as_real", args[0]);
    Dims sizes = args[0].sizes();
    if (sizes.size() == kMaxRank)
        throw ShapeError(message("view_as_real: ", sizes, " has ", kMaxRank,
                                 " dimensions already, there can be no more"));
    sizes.push_back(2);
    out.add(sizes, DType::F32);
}
Tensor viewAsReal(const OpArgs& args) { return realPairs(args[0]); }
void viewAsRealVjp(const VjpArgs& a, std::span<Tensor> out) {
    Tensor pairs = contiguous(a.grad());
    if (pairs.storage_offset() % 2 != 0) pairs = clone(pairs);
    out[0] = view_as_complex(pairs);
}

ViewPlan planViewAsComplex(const OpArgs& args) {
    const Tensor& x = args[0];
    requireFloat32("view_as_complex", "input", x);
    const int last = x.dim() - 1;
    if (last < 0 || x.sizes()[last] != 2)
        throw ShapeError(message("view_as_complex: the last dimension of ", x.sizes(),
                                 " must have size 2, the real and imaginary parts"));
    ViewPlan plan{x.sizes(), x.strides(), x.storage_offset()};
    plan.sizes.erase(last);
    plan.strides.erase(last);
    if (x.numel() == 0) {
        plan.strides = contiguousStrides(plan.sizes);
        plan.offset = 0;
        return plan;
    }
    bool paired = x.strides()[last] == 1 && plan.offset % 2 == 0;
    for (int d = 0; d < last; ++d) {
        paired = paired && (plan.sizes[d] == 1 || plan.strides[d] % 2 == 0);
        plan.strides[d] /= 2;
    }
    if (!paired)
        throw ShapeError(message("view_as_complex: the pairs of ", x.sizes(), " with strides ",
                                 x.strides(), " and offset ", plan.offset,
                                 " do not lie at even places in memory; use clone() first"));
    plan.offset /= 2;
    return plan;
}
void inferViewAsComplex(const OpArgs& args, OutputMetas& out) {
    out.add(planViewAsComplex(args).sizes, DType::C64);
}
Tensor viewAsComplex(const OpArgs& args) {
    const ViewPlan plan = planViewAsComplex(args);
    return makeViewAs(DType::C64, args[0], plan.sizes, plan.strides, plan.offset);
}
void viewAsComplexVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = view_as_real(a.grad()); }

void conjKernel(const OpArgs& args, std::span<Tensor> out) {
    if (is_complex(args[0])) return cpu::complexConj(args[0], out[0]);
    cpu::copyTensor(out[0], args[0]);
}
void conjVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = conj(a.grad()); }

void inferAngle(const OpArgs& args, OutputMetas& out) {
    out.add(args[0].sizes(), realType(args[0].dtype()));
}
void angleKernel(const OpArgs& args, std::span<Tensor> out) {
    if (is_complex(args[0])) return cpu::complexAngle(args[0], out[0]);
    visitFloating(args[0].dtype(), [&]<class T>() {
        cpu::mapElements<T, T>(
            cpu::kGrain, [](T x) { return x < 0    ? std::numbers::pi_v<T>
                                          : x != x ? x
                                                   : T(0); },
            out[0], args[0]);
    });
}
/// (-b + ai) / |z|^2 = i z / |z|^2; 0 where z is 0 and for real numbers.
void angleVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& z = a.input(0);
    if (!is_complex(z)) {
        out[0] = zeros_like(a.grad());
        return;
    }
    const Tensor size = abs(z);
    const Tensor turned = mul(z, wrappedNumber(std::complex<double>(0, 1)));
    const Tensor slope = div(div(turned, size), size);
    const Tensor zero = wrappedNumber(0.0);
    out[0] = mul(a.grad(), where(eq(size, zero), zero, slope));
}

/// A view's shape rule is not asked at a call: its checks are part of the view.
template <InferFn infer, ViewFn view>
Tensor checkedView(const OpArgs& args) {
    OutputMetas metas;
    infer(args, metas);
    return view(args);
}
template <InferFn infer, ViewFn view>
constexpr OpDef viewRow(std::string_view name, VjpFn vjp) {
    return {.name = name,
            .family = Family::Shape,
            .args = kInputArg,
            .infer = infer,
            .view = checkedView<infer, view>,
            .vjp = vjp};
}
constexpr OpDef partsRow(std::string_view name, std::span<const ArgDef> args, InferFn infer,
                         VjpFn vjp, std::uint32_t saves, KernelFn kernel) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = args,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = saves,
            .native = kRealOrComplex,
            .kernels = {kernel}};
}

constinit OpDef kComplex =
    partsRow("complex", kParts, inferFromParts<"complex">, complexVjp, 0, complexKernel);
constinit OpDef kPolar =
    partsRow("polar", kPolarArgs, inferFromParts<"polar">, polarVjp, 0b11, polarKernel);
constinit OpDef kReal = viewRow<inferReal, viewReal>("real", realVjp);
constinit OpDef kImag = viewRow<inferImag, viewImag>("imag", imagVjp);
constinit OpDef kViewAsReal = viewRow<inferViewAsReal, viewAsReal>("view_as_real", viewAsRealVjp);
constinit OpDef kViewAsComplex =
    viewRow<inferViewAsComplex, viewAsComplex>("view_as_complex", viewAsComplexVjp);
constinit OpDef kConj{.name = "conj",
                      .family = Family::Pointwise,
                      .args = kInputArg,
                      .infer = inferLikeFirst,
                      .vjp = conjVjp,
                      .native = kEveryType,
                      .kernels = {conjKernel}};
constinit OpDef kAngle{.name = "angle",
                       .family = Family::Pointwise,
                       .args = kInputArg,
                       .types = TypeRule::PromoteFloat,
                       .infer = inferAngle,
                       .vjp = angleVjp,
                       .saveInputs = 1,
                       .native = kRealOrComplex,
                       .kernels = {angleKernel}};

constinit OpDef* const kRows[] = {&kComplex,    &kPolar,         &kReal, &kImag,
                                  &kViewAsReal, &kViewAsComplex, &kConj, &kAngle};

}  // namespace

std::span<OpDef* const> complexOps() { return kRows; }

Tensor complex(const Tensor& real, const Tensor& imag, Site site) {
    return call1(kComplex, {&real, &imag}, {}, site);
}
Tensor polar(const Tensor& abs, const Tensor& angle, Site site) {
    return call1(kPolar, {&abs, &angle}, {}, site);
}
Tensor real(const Tensor& x, Site site) {
    if (x.defined() && !is_complex(x)) return x;
    return call1(kReal, {&x}, {}, site);
}
Tensor imag(const Tensor& x, Site site) { return call1(kImag, {&x}, {}, site); }
Tensor conj(const Tensor& x, Site site) {
    if (x.defined() && !is_complex(x)) return x;
    return call1(kConj, {&x}, {}, site);
}
Tensor angle(const Tensor& x, Site site) { return call1(kAngle, {&x}, {}, site); }
Tensor view_as_real(const Tensor& x, Site site) { return call1(kViewAsReal, {&x}, {}, site); }
Tensor view_as_complex(const Tensor& x, Site site) { return call1(kViewAsComplex, {&x}, {}, site); }

}  // namespace tapescope::engine
