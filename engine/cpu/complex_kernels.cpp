// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/complex_kernels.h"

#include "engine/cpu/map.h"
#include "engine/cpu/reduce_kernels.h"
#include "engine/tensor/complex.h"

#include <cmath>

namespace tapescope::engine::cpu {
namespace {

/// Functions of a hypotenuse, an exponential or an angle take many times an addition's time.
constexpr std::int64_t kCostlyGrain = kGrain / 8;

Complex64 times(Complex64 a, Complex64 b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Smith's division (CACM 5, 1962), in double: nothing on the way can overflow.
Complex64 dividedBy(Complex64 x, Complex64 y) {
    const double a = x.real();
    const double b = x.imag();
    const double c = y.real();
    const double d = y.imag();
    const auto give = [](double re, double im) {
        return Complex64(static_cast<float>(re), static_cast<float>(im));
    };
    if (std::abs(c) >= std::abs(d)) {
        if (c == 0) return give(a / std::abs(c), b / std::abs(d));  // infinities or NaN
        const double ratio = d / c;
        const double scale = 1 / (c + d * ratio);
        return give((a + b * ratio) * scale, (b - a * ratio) * scale);
    }
    const double ratio = c / d;
    const double scale = 1 / (d + c * ratio);
    return give((a * ratio + b) * scale, (b * ratio - a) * scale);
}

float magnitudeOf(Complex64 z) { return std::hypot(z.real(), z.imag()); }

template <class Out, class Fn>
void map1(std::int64_t grain, const Fn& fn, const Tensor& out, const Tensor& x) {
    mapElements<Out, Complex64>(grain, fn, out, x);
}
template <class Fn>
void map2(const Fn& fn, const Tensor& out, const Tensor& a, const Tensor& b) {
    mapElements<Complex64, Complex64, Complex64>(kGrain, fn, out, a, b);
}

}  // namespace

void complexUnary(UnaryOp op, const Tensor& x, const Tensor& out) {
    switch (op) {
        case UnaryOp::Neg:
            return map1<Complex64>(
                kGrain, [](Complex64 z) { return -z; }, out, x);
        case UnaryOp::Abs:
            return map1<float>(kCostlyGrain, magnitudeOf, out, x);
        case UnaryOp::Exp:
            return map1<Complex64>(
                kCostlyGrain, [](Complex64 z) { return std::exp(z); }, out, x);
        case UnaryOp::Sign:
            return complexSgn(x, out);
        default:
            refuseDType(DType::C64);
    }
}

void complexBinary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
    switch (op) {
        case BinaryOp::Add:
            return map2([](Complex64 x, Complex64 y) { return x + y; }, out, a, b);
        case BinaryOp::Sub:
            return map2([](Complex64 x, Complex64 y) { return x - y; }, out, a, b);
        case BinaryOp::Mul:
            return map2(times, out, a, b);
        case BinaryOp::Div:
            return map2(dividedBy, out, a, b);
        default:
            refuseDType(DType::C64);
    }
}

void complexCompare(CompareOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
    if (op != CompareOp::Eq && op != CompareOp::Ne) refuseDType(DType::C64);
    mapElements<bool, Complex64, Complex64>(
        kGrain,
        [equal = op == CompareOp::Eq](Complex64 x, Complex64 y) { return (x == y) == equal; }, out,
        a, b);
}

void complexTest(TestOp op, const Tensor& x, const Tensor& out) {
    const auto run = [&](const auto& fn) { map1<bool>(kGrain, fn, out, x); };
    switch (op) {
        case TestOp::Not:
            return run([](Complex64 z) { return z == Complex64(); });
        case TestOp::IsNan:
            return run([](Complex64 z) { return std::isnan(z.real()) || std::isnan(z.imag()); });
        case TestOp::IsInf:
            return run([](Complex64 z) { return std::isinf(z.real()) || std::isinf(z.imag()); });
        default:
            refuseDType(DType::C64);
    }
}

bool takesComplex(UnaryOp op) {
    return op == UnaryOp::Neg || op == UnaryOp::Abs || op == UnaryOp::Exp;
}
bool takesComplex(BinaryOp op) {
    return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Div;
}

void complexConj(const Tensor& x, const Tensor& out) {
    map1<Complex64>(
        kGrain, [](Complex64 z) { return Complex64(z.real(), -z.imag()); }, out, x);
}

void complexSgn(const Tensor& x, const Tensor& out) {
    map1<Complex64>(
        kCostlyGrain,
        [](Complex64 z) {
            const float size = magnitudeOf(z);
            return size == 0 ? Complex64() : Complex64(z.real() / size, z.imag() / size);
        },
        out, x);
}

void complexAngle(const Tensor& x, const Tensor& out) {
    map1<float>(
        kCostlyGrain, [](Complex64 z) { return std::atan2(z.imag(), z.real()); }, out, x);
}

void complexPolar(const Tensor& magnitude, const Tensor& angle, const Tensor& out) {
    mapElements<Complex64, float, float>(
        kCostlyGrain,
        [](float r, float phi) { return Complex64(r * std::cos(phi), r * std::sin(phi)); }, out,
        magnitude, angle);
}

void complexSum(const Tensor& x, const Dims& dims, double divisor, const Tensor& out) {
    // The halves of a number are one more dimension, which stays.
    const auto mask = reducedDims("sum", dims, x.dim());
    const std::int64_t sums = 2 * out.numel();
    Accumulators acc = startOf(ReduceOp::Sum, sums, true);
    reduceInto(ReduceOp::Sum, realPairs(x), mask, acc.data(), nullptr);
    auto* const y = static_cast<float*>(out.data_ptr());
    for (std::int64_t i = 0; i < sums; ++i) y[i] = static_cast<float>(acc.doubles()[i] / divisor);
}

}  // namespace tapescope::engine::cpu
