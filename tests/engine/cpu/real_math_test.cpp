// SPDX-License-Identifier: Apache-2.0
// The inlined functions of isa/real_math.h, in every instruction set this machine has, against the
// C library in double.
#include "engine/cpu/isa.h"
#include "engine/cpu/real_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

double ulpOf(double v) {
    const auto f = static_cast<float>(std::fabs(v));
    return static_cast<double>(std::nextafter(f, std::numeric_limits<float>::infinity())) -
           static_cast<double>(f);
}
std::vector<float> samples(double low, double high) {
    std::vector<float> x;
    constexpr int kCount = 40000;
    for (int i = 0; i <= kCount; ++i)
        x.push_back(static_cast<float>(low + (high - low) * i / kCount));
    for (double v = 1e-30; v < 1; v *= 1.3) {
        for (const double signedV : {v, -v}) {
            if (signedV >= low && signedV <= high) x.push_back(static_cast<float>(signedV));
        }
    }
    return x;
}

class RealMath : public testing::TestWithParam<Isa> {
protected:
    void SetUp() override {
        if (!realTableFor(GetParam()))
            GTEST_SKIP() << "this processor has no " << isaName(GetParam());
    }
};

/// Newton's method on the C library's erf and erfc.
double inverseOfErf(double y) {
    const double size = std::fabs(y);
    double x = size < 0.9 ? size : std::sqrt(-std::log1p(-size));
    for (int i = 0; i < 60; ++i)
        x -= (size < 0.5 ? std::erf(x) - size : (1 - size) - std::erfc(x)) /
             (1.1283791670955126 * std::exp(-x * x));
    return std::copysign(x, y);
}

TEST_P(RealMath, UnaryFunctionsAreAccurateToAFewUnitsInTheLastPlace) {
    struct Function {
        const char* name;
        RealUnary op;
        double low;
        double high;
        double maxUlp;
        std::function<double(double)> exact;
    };
    const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
    const std::vector<Function> functions{
        {"erf", RealUnary::Erf, -5, 5, 3, [](double v) { return std::erf(v); }},
        {"erfc", RealUnary::Erfc, -5, 9, 6, [](double v) { return std::erfc(v); }},
        {"erfinv", RealUnary::Erfinv, -0.999999, 0.999999, 6, inverseOfErf},
        {"atanh", RealUnary::Atanh, -0.999999, 0.999999, 4, [](double v) { return std::atanh(v); }},
        {"lgamma", RealUnary::Lgamma, 0, 30, 3, [](double v) { return std::lgamma(v); }},
        {"lgamma around its zeros", RealUnary::Lgamma, 0.999, 2.001, 3,
         [](double v) { return std::lgamma(v); }},
        {"lgamma of large numbers", RealUnary::Lgamma, 1e3, 1e30, 3,
         [](double v) { return std::lgamma(v); }},
        {"lgamma of negative numbers", RealUnary::Lgamma, -1.9, -1.1, 4,
         [](double v) { return std::lgamma(v); }},
        {"expm1", RealUnary::Expm1, -60, 88.7, 3, [](double v) { return std::expm1(v); }},
        {"log1p", RealUnary::Log1p, -0.999, 100, 3, [](double v) { return std::log1p(v); }},
        {"exp2", RealUnary::Exp2, -126, 127.9, 2, [](double v) { return std::exp2(v); }},
        {"exp2 of denormal results", RealUnary::Exp2, -149, -126, 2,
         [](double v) { return std::exp2(v); }},
        {"log2", RealUnary::Log2, 1e-38, 100, 2, [](double v) { return std::log2(v); }},
        {"tan", RealUnary::Tan, -99000, 99000, 4, [](double v) { return std::tan(v); }},
        {"tan past the vector form", RealUnary::Tan, 1e5, 1e9, 4,
         [](double v) { return std::tan(v); }},
        {"atan", RealUnary::Atan, -100, 100, 3, [](double v) { return std::atan(v); }},
        {"asin", RealUnary::Asin, -1, 1, 4, [](double v) { return std::asin(v); }},
        {"acos", RealUnary::Acos, -1, 0.999, 4, [](double v) { return std::acos(v); }},
        {"mish", RealUnary::Mish, -80, 80, 6, [&](double v) { return v * std::tanh(softplus(v)); }},
        {"logsigmoid", RealUnary::LogSigmoid, -80, 80, 4, [&](double v) { return -softplus(-v); }},
    };
    for (const Function& f : functions) {
        const std::vector<float> x = samples(f.low, f.high);
        std::vector<float> y(x.size());
        realTableFor(GetParam())
            ->f32[static_cast<int>(f.op)](static_cast<std::int64_t>(x.size()), y.data(), 1,
                                          x.data(), 1, {});
        double worst = 0;
        float at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double exact = f.exact(static_cast<double>(x[i]));
            const double error = std::fabs(static_cast<double>(y[i]) - exact) / ulpOf(exact);
            if (error > worst) {
                worst = error;
                at = x[i];
            }
        }
        EXPECT_LE(worst, f.maxUlp) << f.name << " at " << at;
    }
}

TEST_P(RealMath, PowIsAccurateAndKeepsTheCLibrarysSpecialCases) {
    const auto pow = loopsFor(GetParam())->binary.loops[static_cast<int>(BinaryOp::Pow)][2];
    const auto of = [&](std::vector<float> a, const std::vector<float>& b) {
        pow(static_cast<std::int64_t>(a.size()), a.data(), 1, a.data(), 1, b.data(), 1, {});
        return a;
    };
    std::vector<float> a;
    std::vector<float> b;
    for (int i = 0; i < 20000; ++i) {
        a.push_back(static_cast<float>(std::pow(10.0, i % 61 - 30) * (1 + i % 977 / 977.0)));
        b.push_back(static_cast<float>((i % 801 - 400) / 100.0));
    }
    const std::vector<float> y = of(a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double exact = std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]));
        const auto rounded = static_cast<float>(exact);
        if (rounded == 0 || std::isinf(rounded)) {
            EXPECT_EQ(y[i], rounded) << a[i] << " ^ " << b[i];
            continue;
        }
        EXPECT_LE(std::fabs(static_cast<double>(y[i]) - exact), ulpOf(exact))
            << a[i] << " ^ " << b[i];
    }
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const float special[] = {0.0F, -0.0F,  1.0F, -1.0F, 2.0F, -3.0F,
                             0.5F, 1e-40F, kInf, -kInf, kNan};
    for (const float x : special) {
        for (const float exponent : special) {
            const float expected = std::pow(x, exponent);
            const float actual = of({x}, {exponent})[0];
            if (std::isnan(expected)) {
                EXPECT_TRUE(std::isnan(actual)) << x << " ^ " << exponent;
                continue;
            }
            EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << x << " ^ " << exponent;
            EXPECT_FLOAT_EQ(actual, expected) << x << " ^ " << exponent;
        }
    }
}

TEST_P(RealMath, Atan2IsAccurateInEveryDirection) {
    std::vector<float> ys;
    std::vector<float> xs;
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
        const double angle = 2 * 3.14159265358979 * i / kSteps;
        const double radius = std::pow(10.0, i % 41 - 20);
        ys.push_back(static_cast<float>(radius * std::sin(angle)));
        xs.push_back(static_cast<float>(radius * std::cos(angle)));
    }
    const float inf = std::numeric_limits<float>::infinity();
    for (const float y : {0.0F, -0.0F, 1.0F, -1.0F, inf, -inf}) {
        for (const float x : {0.0F, -0.0F, 1.0F, -1.0F, inf, -inf}) {
            ys.push_back(y);
            xs.push_back(x);
        }
    }
    std::vector<float> angles(ys.size());
    realBinaryTableFor(GetParam())
        ->f32[static_cast<int>(RealBinary::Atan2)](
            static_cast<std::int64_t>(ys.size()), angles.data(), 1, ys.data(), 1, xs.data(), 1, {});
    for (std::size_t i = 0; i < ys.size(); ++i) {
        const double exact = std::atan2(static_cast<double>(ys[i]), static_cast<double>(xs[i]));
        ASSERT_LE(std::fabs(static_cast<double>(angles[i]) - exact), 3 * ulpOf(exact))
            << "atan2(" << ys[i] << ", " << xs[i] << ") is " << angles[i];
        ASSERT_EQ(std::signbit(angles[i]), std::signbit(exact)) << ys[i] << ", " << xs[i];
    }
}

template <class T>
void expectExactRemainders(BinaryLoop loop, const char* type) {
    std::vector<T> a;
    std::vector<T> b;
    std::uint64_t state = 12345;
    const auto next = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (int i = 0; i < 50000; ++i) {
        const double ratio = std::exp2(40 * next() - 10);
        const auto divisor = static_cast<T>((next() - 0.5) * std::exp2(20 * next() - 10));
        const bool whole = i % 3 == 0;  // quotients at and beside whole numbers
        const T near = static_cast<T>(std::floor(ratio)) * divisor;
        b.push_back(divisor);
        a.push_back(whole ? (i % 2 == 0 ? near : std::nextafter(near, T(0)))
                          : static_cast<T>(ratio * (next() - 0.5)) * divisor);
    }
    std::vector<T> r(a.size());
    loop(static_cast<std::int64_t>(a.size()), r.data(), 1, a.data(), 1, b.data(), 1, {});
    for (std::size_t i = 0; i < a.size(); ++i) {
        const T exact = std::fmod(a[i], b[i]);
        ASSERT_EQ(r[i], exact) << type << " fmod(" << a[i] << ", " << b[i] << ")";
        ASSERT_EQ(std::signbit(r[i]), std::signbit(exact)) << type << ": " << a[i] << ", " << b[i];
    }
}

TEST_P(RealMath, RemaindersAreExact) {
    const RealBinaryTable& table = *realBinaryTableFor(GetParam());
    expectExactRemainders<float>(table.f32[static_cast<int>(RealBinary::Fmod)], "float32");
    expectExactRemainders<double>(table.f64[static_cast<int>(RealBinary::Fmod)], "float64");
}

INSTANTIATE_TEST_SUITE_P(Isas, RealMath, testing::Values(Isa::Base, Isa::Avx2, Isa::Avx512),
                         [](const testing::TestParamInfo<Isa>& isa) {
                             return std::string(isaName(isa.param));
                         });

}  // namespace
}  // namespace tapescope::engine::cpu
