// SPDX-License-Identifier: Apache-2.0
// Functions of whole numbers, and comparisons beyond compare.cpp.
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/pointwise_arithmetic.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/reduce.h"
#include "engine/ops/row_makers.h"

#include <cmath>
#include <type_traits>

namespace tapescope::engine {
namespace {

constexpr AttrDef kCloseness[] = {{"rtol", AttrKind::Float, "1e-05"},
                                  {"atol", AttrKind::Float, "1e-08"},
                                  {"equal_nan", AttrKind::Bool, "false"}};

template <class Fn>
void integerKernel(const OpArgs& args, std::span<Tensor> outputs) {
    cpu::mapElements<std::int64_t, std::int64_t, std::int64_t>(cpu::kGrain / 2, Fn{}, outputs[0],
                                                               args[0], args[1]);
}
template <class Fn>
void bitKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (args[0].dtype() != DType::Bool) return integerKernel<Fn>(args, outputs);
    cpu::mapElements<bool, bool, bool>(cpu::kGrain, Fn{}, outputs[0], args[0], args[1]);
}
struct And {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};
void bitwiseNotKernel(const OpArgs& args, std::span<Tensor> outputs) {
    if (args[0].dtype() == DType::Bool)
        return cpu::mapElements<bool, bool>(
            cpu::kGrain, [](bool x) { return !x; }, outputs[0], args[0]);
    cpu::mapElements<std::int64_t, std::int64_t>(
        cpu::kGrain, [](std::int64_t x) { return ~x; }, outputs[0], args[0]);
}
struct LeftShift {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        if (b < 0 || b > 63) return 0;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    }
};
struct RightShift {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return a >> (b < 0 || b > 63 ? 63 : b);
    }
};
std::uint64_t magnitude(std::int64_t x) {
    const auto bits = static_cast<std::uint64_t>(x);
    return x < 0 ? std::uint64_t{0} - bits : bits;
}
std::uint64_t gcdOf(std::int64_t first, std::int64_t second) {
    std::uint64_t a = magnitude(first);
    std::uint64_t b = magnitude(second);
    while (b != 0) {
        const std::uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}
struct Gcd {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return static_cast<std::int64_t>(gcdOf(a, b));
    }
};
struct Lcm {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        const std::uint64_t g = gcdOf(a, b);
        return g == 0 ? 0 : static_cast<std::int64_t>(magnitude(a) / g * magnitude(b));
    }
};

template <OpName name>
void inferWhole(const OpArgs& args, OutputMetas& out) {
    checkTakes(name.view(), Takes::Integers, args[0].dtype());
    checkTakes(name.view(), Takes::Numbers, args[0].dtype());
    inferBinary<name>(args, out);
}
template <OpName name, class Fn>
constexpr OpDef bits() {
    return binaryRow(name.view(), TypeRule::Promote, inferBinaryOf<name, Takes::Integers>, nullptr,
                     0, bitKernel<Fn>);
}
template <OpName name, class Fn>
constexpr OpDef whole() {
    return binaryRow(name.view(), TypeRule::Promote, inferWhole<name>, nullptr, 0,
                     integerKernel<Fn>);
}

template <OpName name>
void inferComparison(const OpArgs& args, OutputMetas& out) {
    out.add(broadcastOf(name.view(), args[0].sizes(), args[1].sizes()), DType::Bool);
}
void logicalXorKernel(const OpArgs& args, std::span<Tensor> outputs) {
    visitDType(args[0].dtype(), [&]<class T>() {
        cpu::mapElements<bool, T, T>(
            cpu::kGrain / 2, [](T a, T b) { return (a != T(0)) != (b != T(0)); }, outputs[0],
            args[0], args[1]);
    });
}
void inferIsclose(const OpArgs& args, OutputMetas& out) {
    checkSameDType("isclose", "input", args[0], "other", args[1]);
    const double rtol = args.attrs.real(0);
    const double atol = args.attrs.real(1);
    if (!(rtol >= 0 && atol >= 0))
        throw Error(message("isclose: rtol ", std::to_string(rtol), " and atol ",
                            std::to_string(atol), " must not be negative"));
    inferComparison<"isclose">(args, out);
}
void iscloseKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const double rtol = args.attrs.real(0);
    const double atol = args.attrs.real(1);
    const bool equalNan = args.attrs.flag(2);
    visitDType(args[0].dtype(), [&]<class T>() {
        cpu::mapElements<bool, T, T>(
            kLibraryGrain,
            [=](T first, T second) {
                if (first == second) return true;
                const auto a = static_cast<double>(first);
                const auto b = static_cast<double>(second);
                if (std::isnan(a) && std::isnan(b)) return equalNan;
                return std::isfinite(b) && std::fabs(a - b) <= atol + rtol * std::fabs(b);
            },
            outputs[0], args[0], args[1]);
    });
}

constinit OpDef kLogicalXor{.name = "logical_xor",
                            .family = Family::Comparison,
                            .args = kInputOtherArgs,
                            .types = TypeRule::Promote,
                            .infer = inferComparison<"logical_xor">,
                            .kernels = {logicalXorKernel}};
constinit OpDef kIsclose{.name = "isclose",
                         .family = Family::Comparison,
                         .args = kInputOtherArgs,
                         .attrs = kCloseness,
                         .infer = inferIsclose,
                         .kernels = {iscloseKernel}};

Tensor both(const OpDef& row, const Operand& a, const Operand& b, Site site) {
    return call1(row, {&a.tensor, &b.tensor}, {}, site);
}

}  // namespace

constinit OpDef kBitwiseAnd = bits<"bitwise_and", And>();
constinit OpDef kBitwiseOr = bits<"bitwise_or", Or>();
constinit OpDef kBitwiseXor = bits<"bitwise_xor", Xor>();
constinit OpDef kBitwiseNot{.name = "bitwise_not",
                            .family = Family::Pointwise,
                            .args = kInputArg,
                            .infer = inferUnaryOf<"bitwise_not", Takes::Integers>,
                            .kernels = {bitwiseNotKernel}};
constinit OpDef kBitwiseLeftShift = whole<"bitwise_left_shift", LeftShift>();
constinit OpDef kBitwiseRightShift = whole<"bitwise_right_shift", RightShift>();
constinit OpDef kGcd = whole<"gcd", Gcd>();
constinit OpDef kLcm = whole<"lcm", Lcm>();

std::span<OpDef* const> bitRows() {
    static constexpr OpDef* kRows[] = {
        &kBitwiseAnd,        &kBitwiseOr, &kBitwiseXor, &kBitwiseNot, &kBitwiseLeftShift,
        &kBitwiseRightShift, &kGcd,       &kLcm,        &kLogicalXor, &kIsclose};
    return kRows;
}

Tensor bitwise_and(const Operand& a, const Operand& b, Site site) {
    return both(kBitwiseAnd, a, b, site);
}
Tensor bitwise_or(const Operand& a, const Operand& b, Site site) {
    return both(kBitwiseOr, a, b, site);
}
Tensor bitwise_xor(const Operand& a, const Operand& b, Site site) {
    return both(kBitwiseXor, a, b, site);
}
Tensor bitwise_not(const Tensor& x, Site site) { return call1(kBitwiseNot, {&x}, {}, site); }
Tensor bitwise_left_shift(const Operand& a, const Operand& b, Site site) {
    return both(kBitwiseLeftShift, a, b, site);
}
Tensor bitwise_right_shift(const Operand& a, const Operand& b, Site site) {
    return both(kBitwiseRightShift, a, b, site);
}
Tensor gcd(const Operand& a, const Operand& b, Site site) { return both(kGcd, a, b, site); }
Tensor lcm(const Operand& a, const Operand& b, Site site) { return both(kLcm, a, b, site); }
Tensor logical_xor(const Operand& a, const Operand& b, Site site) {
    return both(kLogicalXor, a, b, site);
}
Tensor isclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan,
               Site site) {
    return call1(kIsclose, {&a.tensor, &b.tensor}, Attrs{rtol, atol, equal_nan}, site);
}
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan,
              Site site) {
    return all(isclose(a, b, rtol, atol, equal_nan, site), site).item() != 0;
}
bool equal(const Tensor& a, const Tensor& b, Site site) {
    checkSameDType("equal", "input", a, "other", b);
    return a.sizes() == b.sizes() && all(eq(a, b, site), site).item() != 0;
}

}  // namespace tapescope::engine
