// SPDX-License-Identifier: Apache-2.0
// Choosing between values, mixing them, and converting their type.
#include "engine/cpu/copy.h"
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
using cpu::TernaryOp;

namespace {

constexpr ArgDef kWhereArgs[] = {{"condition"}, {"input"}, {"other"}};
constexpr ArgDef kMaskArgs[] = {{"input"}, {"mask"}};
constexpr ArgDef kLerpArgs[] = {{"input"}, {"end"}, {"weight"}};
constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kValue[] = {{"value", AttrKind::Float}};
constexpr AttrDef kDType[] = {{"dtype", AttrKind::DType}};

void checkBool(std::string_view op, std::string_view what, const Tensor& x) {
    if (x.dtype() != DType::Bool)
        throw DTypeError(message(op, ": ", what, " must be bool, not ", x.dtype(),
                                 "; compare it with ne(x, 0)"));
}

void inferWhere(const OpArgs& args, OutputMetas& out) {
    checkBool("where", "condition", args[0]);
    const Dims values = broadcastOf("where", args[1].sizes(), args[2].sizes());
    out.add(broadcastOf("where", args[0].sizes(), values), args[1].dtype());
}
void inferMaskedFill(const OpArgs& args, OutputMetas& out) {
    checkBool("masked_fill", "mask", args[1]);
    checkFits("masked_fill", args.attrs.real(0), args[0].dtype());
    out.add(broadcastOf("masked_fill", args[0].sizes(), args[1].sizes()), args[0].dtype());
}
void inferLerp(const OpArgs& args, OutputMetas& out) {
    checkSameDType("lerp", "input", args[0], "end", args[1]);
    if (args[2].dim() != 0) checkSameDType("lerp", "input", args[0], "weight", args[2]);
    const Dims ends = broadcastOf("lerp", args[0].sizes(), args[1].sizes());
    out.add(broadcastOf("lerp", ends, args[2].sizes()), args[0].dtype());
}
/// A 0-d weight may be of any floating dtype.
void lerpKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const DType dtype = args[0].dtype();
    if (args[2].dtype() == dtype) return cpu::ternary<TernaryOp::Lerp>(args, outputs);
    const Tensor weight = cpu::converted(args[2], dtype);
    const Tensor* inputs[] = {&args[0], &args[1], &weight};
    cpu::ternary<TernaryOp::Lerp>({inputs, args.attrs}, outputs);
}
void inferTo(const OpArgs& args, OutputMetas& out) {
    out.add(args[0].sizes(), args.attrs.dtype(0));
}

void whereVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& condition = a.input(0);
    const Tensor zero = wrappedNumber(0.0);
    if (a.need(1)) out[1] = sum_to_size(where(condition, a.grad(), zero), a.meta(1).sizes);
    if (a.need(2)) out[2] = sum_to_size(where(condition, zero, a.grad()), a.meta(2).sizes);
}
void maskedFillVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = sum_to_size(masked_fill(a.grad(), a.input(1), 0.0), a.meta(0).sizes);
}
void lerpVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor& weight = a.input(2);
    if (a.need(0))
        out[0] = sum_to_size(mul(a.grad(), sub(wrappedNumber(1.0), weight)), a.meta(0).sizes);
    if (a.need(1)) out[1] = sum_to_size(mul(a.grad(), weight), a.meta(1).sizes);
    if (a.need(2)) {
        const Tensor grad =
            sum_to_size(mul(a.grad(), sub(a.input(1), a.input(0))), a.meta(2).sizes);
        out[2] = grad.dtype() == a.meta(2).dtype ? grad : to(grad, a.meta(2).dtype);
    }
}
void toVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = to(a.grad(), a.meta(0).dtype); }

}  // namespace

constinit OpDef kWhere{.name = "where",
                       .family = Family::Pointwise,
                       .args = kWhereArgs,
                       .types = TypeRule::Promote,
                       .typesFrom = 1,
                       .infer = inferWhere,
                       .vjp = whereVjp,
                       .saveInputs = 0b001,
                       .native = kEveryType,
                       .kernels = {cpu::ternary<TernaryOp::Where>}};
constinit OpDef kMaskedFill{.name = "masked_fill",
                            .family = Family::Pointwise,
                            .args = kMaskArgs,
                            .attrs = kValue,
                            .infer = inferMaskedFill,
                            .vjp = maskedFillVjp,
                            .saveInputs = 0b10,
                            .native = kEveryType,
                            .kernels = {cpu::maskedFill}};
constinit OpDef kLerp{.name = "lerp",
                      .family = Family::Pointwise,
                      .args = kLerpArgs,
                      .types = TypeRule::Floating,
                      .infer = inferLerp,
                      .vjp = lerpVjp,
                      .saveInputs = 0b111,
                      .native = kEveryRealType,
                      .kernels = {lerpKernel}};
constinit OpDef kTo{.name = "to",
                    .family = Family::Pointwise,
                    .args = kInput,
                    .attrs = kDType,
                    .infer = inferTo,
                    .vjp = toVjp,
                    .native = kEveryType,
                    .kernels = {cpu::convert}};

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, Site site) {
    return call1(kWhere, {&condition, &a, &b}, {}, site);
}
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value, Site site) {
    return call1(kMaskedFill, {&x, &mask}, Attrs{value}, site);
}
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight, Site site) {
    return call1(kLerp, {&start, &end, &weight}, {}, site);
}
Tensor to(const Tensor& x, DType dtype, Site site) {
    if (x.defined() && x.dtype() == dtype) return x;
    return call1(kTo, {&x}, Attrs{dtype}, site);
}

}  // namespace tapescope::engine
