// SPDX-License-Identifier: Apache-2.0
// The inlined elementary functions, in every instruction set this machine has, against the C
// library in double.
#include "engine/cpu/isa.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

/// floats from low to high, evenly and on both sides of zero finely.
std::vector<float> samples(double low, double high) {
    std::vector<float> x;
    constexpr int kCount = 200000;
    for (int i = 0; i <= kCount; ++i)
        x.push_back(static_cast<float>(low + (high - low) * i / kCount));
    for (double v = 1e-38; v < 1; v *= 1.07) {
        if (v >= low && v <= high) x.push_back(static_cast<float>(v));
        if (-v >= low && -v <= high) x.push_back(static_cast<float>(-v));
    }
    return x;
}

/// The spacing of floats at v.
double ulpOf(double v) {
    const auto f = static_cast<float>(std::fabs(v));
    return static_cast<double>(std::nextafter(f, std::numeric_limits<float>::infinity())) -
           static_cast<double>(f);
}

struct Function {
    const char* name;
    UnaryOp op;
    double low;
    double high;
    double maxUlp;
    std::function<double(double)> exact;
    LoopParams params = {};
};

class VectorMath : public testing::TestWithParam<Isa> {
protected:
    void SetUp() override {
        if (!loopsFor(GetParam())) GTEST_SKIP() << "this processor has no " << isaName(GetParam());
    }
    void run(UnaryOp op, const std::vector<float>& x, std::vector<float>& y,
             LoopParams params = {}) const {
        const UnaryLoop loop = loopsFor(GetParam())->unary.loops[static_cast<int>(op)][2];
        y.assign(x.size(), 0);
        loop(static_cast<std::int64_t>(x.size()), y.data(), 1, x.data(), 1, params);
    }
};

TEST_P(VectorMath, IsAccurateToAFewUnitsInTheLastPlace) {
    const std::vector<Function> functions{
        {"exp", UnaryOp::Exp, -87.0, 88.7, 2, [](double v) { return std::exp(v); }},
        {"exp of denormal results", UnaryOp::Exp, -103.0, -87.0, 2,
         [](double v) { return std::exp(v); }},
        {"log", UnaryOp::Log, 1e-38, 100.0, 2, [](double v) { return std::log(v); }},
        {"tanh", UnaryOp::Tanh, -12.0, 12.0, 3, [](double v) { return std::tanh(v); }},
        {"sin", UnaryOp::Sin, -7.0, 7.0, 3, [](double v) { return std::sin(v); }},
        {"cos", UnaryOp::Cos, -7.0, 7.0, 3, [](double v) { return std::cos(v); }},
        {"sin of larger numbers", UnaryOp::Sin, -9000.0, 9000.0, 4,
         [](double v) { return std::sin(v); }},
        {"cos of larger numbers", UnaryOp::Cos, -9000.0, 9000.0, 4,
         [](double v) { return std::cos(v); }},
        {"sigmoid", UnaryOp::Sigmoid, -80.0, 80.0, 4,
         [](double v) { return 1 / (1 + std::exp(-v)); }},
        {"silu", UnaryOp::Silu, -80.0, 80.0, 4, [](double v) { return v / (1 + std::exp(-v)); }},
        {"softplus", UnaryOp::Softplus, -80.0, 20.0, 4,
         [](double v) { return std::log1p(std::exp(v)); }},
        {"elu",
         UnaryOp::Elu,
         -40.0,
         5.0,
         4,
         [](double v) { return v > 0 ? v : std::expm1(v); },
         {1.0, 0.0}},
    };
    for (const Function& f : functions) {
        const std::vector<float> x = samples(f.low, f.high);
        std::vector<float> y;
        run(f.op, x, y, f.params);
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

// Through gelu(x) = x / 2 (1 + erf(x / sqrt 2)): 1 + erf cancels below zero, so the error is
// counted in units of x.
TEST_P(VectorMath, GeluIsAccurateRelativeToItsArgument) {
    const std::vector<float> x = samples(-10.0, 10.0);
    std::vector<float> y;
    run(UnaryOp::Gelu, x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = static_cast<double>(x[i]);
        const double exact = 0.5 * v * (1 + std::erf(v * std::sqrt(0.5)));
        ASSERT_LE(std::fabs(static_cast<double>(y[i]) - exact), 1.5 * ulpOf(v)) << "at " << v;
    }
}

TEST_P(VectorMath, SpecialValuesAreThoseOfTheCLibrary) {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x{0.0F,  -0.0F,  inf,     -inf,    nan,     1.0F,
                               -1.0F, 1e-45F, -1e-45F, 3.4e38F, -3.4e38F};
    const std::vector<Function> functions{
        {"exp", UnaryOp::Exp, 0, 0, 0, [](double v) { return std::exp(v); }},
        {"log", UnaryOp::Log, 0, 0, 0, [](double v) { return std::log(v); }},
        {"tanh", UnaryOp::Tanh, 0, 0, 0, [](double v) { return std::tanh(v); }},
        {"sqrt", UnaryOp::Sqrt, 0, 0, 0, [](double v) { return std::sqrt(v); }},
    };
    for (const Function& f : functions) {
        std::vector<float> y;
        run(f.op, x, y);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto exact = static_cast<float>(f.exact(static_cast<double>(x[i])));
            if (std::isnan(exact)) {
                EXPECT_TRUE(std::isnan(y[i])) << f.name << " of " << x[i] << " is " << y[i];
            } else if (std::isinf(exact)) {
                EXPECT_EQ(y[i], exact) << f.name << " of " << x[i];
            } else {
                EXPECT_NEAR(y[i], exact, 2 * ulpOf(static_cast<double>(exact)))
                    << f.name << " of " << x[i];
            }
            if (f.op == UnaryOp::Tanh && exact == 0) {
                EXPECT_EQ(std::signbit(y[i]), std::signbit(exact)) << x[i];
            }
        }
    }
}

// Where in a row an element lies must not change its value: rows are cut into pieces.
TEST_P(VectorMath, ALoopsTailGivesTheBitsOfItsBody) {
    const std::vector<float> x = samples(-5.0, 5.0);
    for (const UnaryOp op :
         {UnaryOp::Exp, UnaryOp::Tanh, UnaryOp::Gelu, UnaryOp::Sigmoid, UnaryOp::Softplus}) {
        std::vector<float> whole;
        run(op, x, whole);
        for (const std::size_t count : {1U, 3U, 7U, 15U, 31U, 63U}) {
            const std::vector<float> part(x.begin() + 1000,
                                          x.begin() + 1000 + static_cast<std::ptrdiff_t>(count));
            std::vector<float> y;
            run(op, part, y);
            for (std::size_t i = 0; i < count; ++i)
                EXPECT_EQ(y[i], whole[1000 + i]) << static_cast<int>(op);
        }
    }
}

std::string isaTestName(const testing::TestParamInfo<Isa>& isa) {
    return std::string(isaName(isa.param));
}
INSTANTIATE_TEST_SUITE_P(Isas, VectorMath, testing::Values(Isa::Base, Isa::Avx2, Isa::Avx512),
                         isaTestName);

}  // namespace
}  // namespace tapescope::engine::cpu
