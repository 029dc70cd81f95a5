// SPDX-License-Identifier: Apache-2.0
// In-place rows made from the rows of the operators they are forms of: the same dtype rule,
// gradient and kernel, writing input 0.
#include "engine/cpu/copy.h"
#include "engine/ops/pointwise_inplace.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

template <const OpDef& base>
OpDef& inplaceOf();

/// The shape rule of the operator, whose result must be what input 0 can hold.
template <const OpDef& base>
void inferInplaceOf(const OpArgs& args, OutputMetas& out) {
    const OpDef& row = inplaceOf<base>();
    OutputMetas result;
    base.infer(args, result);
    const TensorMeta& meta = result.metas[0];
    const Tensor& target = args[0];
    if (meta.sizes != target.sizes())
        throw ShapeError(message(row.name, ": the result ", meta.sizes, " does not fit the tensor ",
                                 target.sizes(), " it is written to"));
    if (meta.dtype != target.dtype())
        throw DTypeError(message(row.name, ": the result is ", meta.dtype,
                                 " and cannot be written in place into a ", target.dtype(),
                                 " tensor"));
    const Tensor* first = &target;
    inferInplaceFor(row, OpArgs{std::span(&first, 1), args.attrs}, out);
}

/// The operator's kernel, with copies of what partly lies under the elements it overwrites.
template <const OpDef& base>
void inplaceKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& target = args[0];
    std::vector<Tensor> copies;
    std::vector<const Tensor*> inputs(args.inputs.begin(), args.inputs.end());
    copies.reserve(inputs.size());
    for (const Tensor*& input : inputs) {
        if (!input->defined() || input->storage() != target.storage()) continue;
        if (input->storage_offset() == target.storage_offset() &&
            input->sizes() == target.sizes() && input->strides() == target.strides())
            continue;
        Tensor& copy = copies.emplace_back(
            Tensor::empty(input->sizes(), input->dtype(), MemoryRole::Temporary));
        cpu::copyTensor(copy, *input);
        input = &copy;
    }
    base.kernels[static_cast<std::size_t>(DeviceKind::Cpu)](OpArgs{inputs, args.attrs}, outputs);
}

OpDef inplaceRow(const OpDef& base, std::string_view name, InferFn infer, KernelFn kernel) {
    OpDef row = base;
    row.name = name;
    row.infer = infer;
    row.inplace = true;
    row.kernels = {kernel};
    return row;
}
/// Made on first use: a row of another source cannot be read while this one's are initialised.
template <const OpDef& base>
OpDef& inplaceOf() {
    static const std::string name = std::string(base.name) + "_";
    static OpDef row = inplaceRow(base, name, inferInplaceOf<base>, inplaceKernel<base>);
    return row;
}

template <const OpDef& base>
Tensor apply(const Tensor& x, Site site, const Attrs& attrs = {}) {
    return call1(inplaceOf<base>(), {&x}, attrs, site);
}
template <const OpDef& base>
Tensor apply(const Tensor& x, const Operand& other, Site site) {
    return call1(inplaceOf<base>(), {&x, &other.tensor}, {}, site);
}

template <const OpDef&... bases>
std::vector<OpDef*> rowsOf() {
    return {&inplaceOf<bases>()...};
}

}  // namespace

std::span<OpDef* const> inplaceRows() {
    static const std::vector<OpDef*> kRows =
        rowsOf<kNeg, kAbs, kSign, kExp, kExp2, kExpm1, kLog, kLog2, kLog10, kLog1p, kSqrt, kRsqrt,
               kSquare, kReciprocal, kSin, kCos, kTan, kSinh, kCosh, kTanh, kErf, kErfc, kSigmoid,
               kFloor, kCeil, kTrunc, kFrac, kRound, kNanToNum, kPow, kRemainder, kFmod,
               kFloorDivide, kAtan2, kClamp, kClampMin, kClampMax, kBitwiseAnd, kBitwiseOr,
               kBitwiseXor, kMaskedFill, kLerp, kAddcmul, kAddcdiv, kLeakyRelu, kElu, kSelu, kCelu,
               kSilu, kMish, kHardtanh, kRelu6, kHardswish, kHardsigmoid, kThreshold>();
    return kRows;
}

Tensor neg_(const Tensor& x, Site site) { return apply<kNeg>(x, site); }
Tensor abs_(const Tensor& x, Site site) { return apply<kAbs>(x, site); }
Tensor sign_(const Tensor& x, Site site) { return apply<kSign>(x, site); }
Tensor exp_(const Tensor& x, Site site) { return apply<kExp>(x, site); }
Tensor exp2_(const Tensor& x, Site site) { return apply<kExp2>(x, site); }
Tensor expm1_(const Tensor& x, Site site) { return apply<kExpm1>(x, site); }
Tensor log_(const Tensor& x, Site site) { return apply<kLog>(x, site); }
Tensor log2_(const Tensor& x, Site site) { return apply<kLog2>(x, site); }
Tensor log10_(const Tensor& x, Site site) { return apply<kLog10>(x, site); }
Tensor log1p_(const Tensor& x, Site site) { return apply<kLog1p>(x, site); }
Tensor sqrt_(const Tensor& x, Site site) { return apply<kSqrt>(x, site); }
Tensor rsqrt_(const Tensor& x, Site site) { return apply<kRsqrt>(x, site); }
Tensor square_(const Tensor& x, Site site) { return apply<kSquare>(x, site); }
Tensor reciprocal_(const Tensor& x, Site site) { return apply<kReciprocal>(x, site); }
Tensor sin_(const Tensor& x, Site site) { return apply<kSin>(x, site); }
Tensor cos_(const Tensor& x, Site site) { return apply<kCos>(x, site); }
Tensor tan_(const Tensor& x, Site site) { return apply<kTan>(x, site); }
Tensor sinh_(const Tensor& x, Site site) { return apply<kSinh>(x, site); }
Tensor cosh_(const Tensor& x, Site site) { return apply<kCosh>(x, site); }
Tensor tanh_(const Tensor& x, Site site) { return apply<kTanh>(x, site); }
Tensor erf_(const Tensor& x, Site site) { return apply<kErf>(x, site); }
Tensor erfc_(const Tensor& x, Site site) { return apply<kErfc>(x, site); }
Tensor sigmoid_(const Tensor& x, Site site) { return apply<kSigmoid>(x, site); }
Tensor floor_(const Tensor& x, Site site) { return apply<kFloor>(x, site); }
Tensor ceil_(const Tensor& x, Site site) { return apply<kCeil>(x, site); }
Tensor trunc_(const Tensor& x, Site site) { return apply<kTrunc>(x, site); }
Tensor frac_(const Tensor& x, Site site) { return apply<kFrac>(x, site); }
Tensor round_(const Tensor& x, std::int64_t decimals, Site site) {
    return apply<kRound>(x, site, Attrs{decimals});
}
Tensor nan_to_num_(const Tensor& x, double nan, double posinf, double neginf, Site site) {
    return apply<kNanToNum>(x, site, Attrs{nan, posinf, neginf});
}

Tensor pow_(const Tensor& x, const Operand& exponent, Site site) {
    return apply<kPow>(x, exponent, site);
}
Tensor remainder_(const Tensor& x, const Operand& other, Site site) {
    return apply<kRemainder>(x, other, site);
}
Tensor fmod_(const Tensor& x, const Operand& other, Site site) {
    return apply<kFmod>(x, other, site);
}
Tensor floor_divide_(const Tensor& x, const Operand& other, Site site) {
    return apply<kFloorDivide>(x, other, site);
}
Tensor atan2_(const Tensor& x, const Operand& other, Site site) {
    return apply<kAtan2>(x, other, site);
}
Tensor clamp_(const Tensor& x, double min, double max, Site site) {
    return apply<kClamp>(x, site, Attrs{min, max});
}
Tensor clamp_min_(const Tensor& x, const Operand& min, Site site) {
    return apply<kClampMin>(x, min, site);
}
Tensor clamp_max_(const Tensor& x, const Operand& max, Site site) {
    return apply<kClampMax>(x, max, site);
}
Tensor bitwise_and_(const Tensor& x, const Operand& other, Site site) {
    return apply<kBitwiseAnd>(x, other, site);
}
Tensor bitwise_or_(const Tensor& x, const Operand& other, Site site) {
    return apply<kBitwiseOr>(x, other, site);
}
Tensor bitwise_xor_(const Tensor& x, const Operand& other, Site site) {
    return apply<kBitwiseXor>(x, other, site);
}
Tensor masked_fill_(const Tensor& x, const Tensor& mask, double value, Site site) {
    return call1(inplaceOf<kMaskedFill>(), {&x, &mask}, Attrs{value}, site);
}
Tensor lerp_(const Tensor& x, const Tensor& end, const Tensor& weight, Site site) {
    return call1(inplaceOf<kLerp>(), {&x, &end, &weight}, {}, site);
}
Tensor lerp_(const Tensor& x, const Tensor& end, double weight, Site site) {
    return lerp_(x, end, Tensor::scalar(weight, x.dtype()), site);
}
Tensor addcmul_(const Tensor& x, const Tensor& a, const Tensor& b, double value, Site site) {
    return call1(inplaceOf<kAddcmul>(), {&x, &a, &b}, Attrs{value}, site);
}
Tensor addcdiv_(const Tensor& x, const Tensor& a, const Tensor& b, double value, Site site) {
    return call1(inplaceOf<kAddcdiv>(), {&x, &a, &b}, Attrs{value}, site);
}

Tensor leaky_relu_(const Tensor& x, double negative_slope, Site site) {
    return apply<kLeakyRelu>(x, site, Attrs{negative_slope});
}
Tensor elu_(const Tensor& x, double alpha, Site site) { return apply<kElu>(x, site, Attrs{alpha}); }
Tensor selu_(const Tensor& x, Site site) { return apply<kSelu>(x, site); }
Tensor celu_(const Tensor& x, double alpha, Site site) {
    return apply<kCelu>(x, site, Attrs{alpha});
}
Tensor silu_(const Tensor& x, Site site) { return apply<kSilu>(x, site); }
Tensor mish_(const Tensor& x, Site site) { return apply<kMish>(x, site); }
Tensor hardtanh_(const Tensor& x, double min_val, double max_val, Site site) {
    return apply<kHardtanh>(x, site, Attrs{min_val, max_val});
}
Tensor relu6_(const Tensor& x, Site site) { return apply<kRelu6>(x, site); }
Tensor hardswish_(const Tensor& x, Site site) { return apply<kHardswish>(x, site); }
Tensor hardsigmoid_(const Tensor& x, Site site) { return apply<kHardsigmoid>(x, site); }
Tensor threshold_(const Tensor& x, double threshold, double value, Site site) {
    return apply<kThreshold>(x, site, Attrs{threshold, value});
}

Tensor add_(const Tensor& x, double other, Site site) {
    return add_(x, wrappedNumber(other), site);
}
Tensor sub_(const Tensor& x, double other, Site site) {
    return sub_(x, wrappedNumber(other), site);
}
Tensor mul_(const Tensor& x, double other, Site site) {
    return mul_(x, wrappedNumber(other), site);
}
Tensor div_(const Tensor& x, double other, Site site) {
    return div_(x, wrappedNumber(other), site);
}

}  // namespace tapescope::engine
