// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
using cpu::BinaryOp;
using cpu::UnaryOp;

void inferInplaceFor(const OpDef& row, const OpArgs& args, OutputMetas& out) {
    const Tensor& target = args[0];
    for (int d = 0; d < target.dim(); ++d) {
        if (target.strides()[d] == 0 && target.sizes()[d] > 1)
            throw ShapeError(message(row.name, ": the tensor ", target.sizes(),
                                     " is expanded, several of its elements share one place in "
                                     "memory; write to clone()"));
    }
    for (int i = 1; i < static_cast<int>(args.inputs.size()); ++i) {
        const Dims result = broadcastOf(row.name, target.sizes(), args[i].sizes());
        if (result != target.sizes())
            throw ShapeError(message(row.name, ": the result ", result, " does not fit the tensor ",
                                     target.sizes(), " it is written to"));
    }
    if (target.dtype() == DType::Bool && (&row == &kReluInplace || &row == &kSubInplace))
        throw DTypeError(message(
            row.name, ": bool tensors cannot be used; convert them with to(x, DType::I64)"));
    out.add(target.sizes(), target.dtype());
}

namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kInputOther[] = {{"input"}, {"other"}};
constexpr ArgDef kInputSource[] = {{"input"}, {"source"}};
constexpr AttrDef kValue[] = {{"value", AttrKind::Float}};

void inferFill(const OpArgs& args, OutputMetas& out) {
    if (!isDifferentiable(args[0].dtype())) checkFits("fill_", args.attrs.real(0), args[0].dtype());
    inferInplaceFor(kFillInplace, args, out);
}

/// Whatever was there before is lost, and so is its influence.
void overwriteVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = zeros_like(a.grad()); }
void copyVjp(const VjpArgs& a, std::span<Tensor> out) {
    if (a.need(0)) out[0] = zeros_like(a.grad());
    if (a.need(1)) out[1] = sum_to_size(to(a.grad(), a.meta(1).dtype), a.meta(1).sizes);
}

template <const OpDef& row>
constexpr OpDef arithmetic(std::string_view name, TypeRule types, VjpFn vjp, std::uint32_t saves,
                           KernelFn kernel) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kInputOther,
            .types = types,
            .infer = inferInplace<row>,
            .vjp = vjp,
            .saveInputs = saves,
            .inplace = true,
            .native = kEveryType,
            .wideNumber = saves != 0,  // mul_ and div_, which need both operands
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kAddInplace =
    arithmetic<kAddInplace>("add_", TypeRule::Promote, addVjp, 0, cpu::binary<BinaryOp::Add>);
constinit OpDef kSubInplace = arithmetic<kSubInplace>("sub_", TypeRule::PromoteNumbers, subVjp, 0,
                                                      cpu::binary<BinaryOp::Sub>);
constinit OpDef kMulInplace =
    arithmetic<kMulInplace>("mul_", TypeRule::Promote, mulVjp, 0b11, cpu::binary<BinaryOp::Mul>);
constinit OpDef kDivInplace = arithmetic<kDivInplace>("div_", TypeRule::PromoteFloat, divVjp, 0b11,
                                                      cpu::binary<BinaryOp::Div>);
constinit OpDef kReluInplace{.name = "relu_",
                             .family = Family::Pointwise,
                             .args = kInput,
                             .infer = inferInplace<kReluInplace>,
                             .vjp = reluVjp,
                             .saveOutputs = 1,
                             .inplace = true,
                             .native = kEveryRealType,
                             .kernels = {cpu::unary<UnaryOp::Relu>}};
constinit OpDef kFillInplace{.name = "fill_",
                             .family = Family::Pointwise,
                             .args = kInput,
                             .attrs = kValue,
                             .infer = inferFill,
                             .vjp = overwriteVjp,
                             .inplace = true,
                             .native = kEveryType,
                             .kernels = {cpu::fill}};
constinit OpDef kZeroInplace{.name = "zero_",
                             .family = Family::Pointwise,
                             .args = kInput,
                             .infer = inferInplace<kZeroInplace>,
                             .vjp = overwriteVjp,
                             .inplace = true,
                             .native = kEveryType,
                             .kernels = {cpu::fill}};
constinit OpDef kCopyInplace{.name = "copy_",
                             .family = Family::Pointwise,
                             .args = kInputSource,
                             .infer = inferInplace<kCopyInplace>,
                             .vjp = copyVjp,
                             .inplace = true,
                             .native = kEveryType,
                             .kernels = {cpu::copyInto}};

Tensor add_(const Tensor& x, const Tensor& other, Site site) {
    return call1(kAddInplace, {&x, &other}, {}, site);
}
Tensor sub_(const Tensor& x, const Tensor& other, Site site) {
    return call1(kSubInplace, {&x, &other}, {}, site);
}
Tensor mul_(const Tensor& x, const Tensor& other, Site site) {
    return call1(kMulInplace, {&x, &other}, {}, site);
}
Tensor div_(const Tensor& x, const Tensor& other, Site site) {
    return call1(kDivInplace, {&x, &other}, {}, site);
}
Tensor relu_(const Tensor& x, Site site) { return call1(kReluInplace, {&x}, {}, site); }
Tensor fill_(const Tensor& x, double value, Site site) {
    return call1(kFillInplace, {&x}, Attrs{value}, site);
}
Tensor zero_(const Tensor& x, Site site) { return call1(kZeroInplace, {&x}, {}, site); }
Tensor copy_(const Tensor& x, const Tensor& source, Site site) {
    return call1(kCopyInplace, {&x, &source}, {}, site);
}

}  // namespace tapescope::engine
