// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/autograd.h"

#include "engine/autograd/node.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

Tensor leaf(std::initializer_list<double> values) {
    return Tensor::from<double>(values, {static_cast<std::int64_t>(values.size())})
        .set_requires_grad(true);
}

template <class E, class Fn>
std::string messageOf(Fn&& fn) {
    try {
        fn();
    } catch (const E& e) {
        return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

TEST(Autograd, ASharedInputGetsTheSumOfItsGradients) {
    const Tensor x = leaf({1, 2, 3});
    sum(x * x + x).backward();
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{3, 5, 7}));
}

TEST(Autograd, BackwardAccumulatesUntilTheGradientIsDropped) {
    const Tensor x = leaf({2, 3});
    sum(x * 2.0).backward();
    sum(x * 2.0).backward();
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{4, 4}));
    x.set_grad({});
    sum(x * 2.0).backward();
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 2}));
}

TEST(Autograd, LeavesThatGetTheSameGradientDoNotShareItsMemory) {
    const Tensor a = leaf({1, 1});
    const Tensor b = leaf({1, 1});
    sum(a + b).backward();
    const NoGradGuard guard;
    mul_(a.grad(), Tensor::scalar(5, DType::F64));
    EXPECT_EQ(b.grad().to_vector(), (std::vector<double>{1, 1}));
}

TEST(Autograd, ASecondBackwardNeedsRetainGraph) {
    const Tensor x = leaf({1, 2});
    const Tensor y = sum(exp(x));
    y.backward();
    const std::string text = messageOf<AutogradError>([&] { y.backward(); });
    EXPECT_NE(text.find("retain_graph=true"), std::string::npos) << text;

    const Tensor z = sum(exp(x));
    x.set_grad({});
    z.backward({}, true);
    z.backward();
    EXPECT_NEAR(x.grad().to_vector()[0], 2 * std::exp(1.0), 1e-12);
}

TEST(Autograd, HigherDerivativesOfACubeAreExact) {
    const Tensor x = leaf({2, -3});
    const Tensor y = sum(x * x * x);
    const Tensor first = grad(std::span(&y, 1), std::span(&x, 1), {}, true, true)[0];
    EXPECT_EQ(first.to_vector(), (std::vector<double>{12, 27}));
    const Tensor total = sum(first);
    const Tensor second = grad(std::span(&total, 1), std::span(&x, 1), {}, true, true)[0];
    EXPECT_EQ(second.to_vector(), (std::vector<double>{12, -18}));
    const Tensor again = sum(second);
    EXPECT_EQ(grad(std::span(&again, 1), std::span(&x, 1))[0].to_vector(),
              (std::vector<double>{6, 6}));
    EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, GradOfAnInnerTensorStopsThere) {
    const Tensor x = leaf({3});
    const Tensor h = x * x;
    const Tensor y = sum(h * 5.0);
    EXPECT_EQ(grad(std::span(&y, 1), std::span(&h, 1))[0].to_vector(), (std::vector<double>{5}));
    EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, GradOfAnUnusedInputIsAnErrorUnlessAllowed) {
    const Tensor x = leaf({1});
    const Tensor unused = leaf({1});
    const Tensor y = sum(x * 2.0);
    EXPECT_THROW((void)grad(std::span(&y, 1), std::span(&unused, 1), {}, true), AutogradError);
    EXPECT_FALSE(
        grad(std::span(&y, 1), std::span(&unused, 1), {}, false, false, true)[0].defined());
}

TEST(Autograd, NothingIsRecordedUnderNoGrad) {
    const Tensor x = leaf({1, 2});
    Tensor y;
    {
        const NoGradGuard guard;
        y = x * 2.0;
    }
    EXPECT_FALSE(y.requires_grad());
    const std::string text = messageOf<AutogradError>([&] { sum(y).backward(); });
    EXPECT_NE(text.find("no graph to go back through"), std::string::npos);
}

TEST(Autograd, ANonScalarNeedsAGradient) {
    const Tensor x = leaf({1, 2});
    EXPECT_THROW((x * 2.0).backward(), AutogradError);
    (x * 2.0).backward(Tensor::from<double>({1, 10}, {2}));
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 20}));
    EXPECT_THROW((x * 2.0).backward(Tensor::from<double>({1, 2, 3}, {3})), ShapeError);
}

// user case R01: values by PyTorch
TEST(Autograd, AnOverwrittenOutputNamesVictimAndCulprit) {
    const Tensor x = leaf({0, 1, 2});
    const Tensor y = exp(x);
    add_(y, Tensor::scalar(1.0, DType::F64));
    const std::string text = messageOf<InPlaceError>([&] { sum(y).backward(); });
    EXPECT_NE(text.find("exp backward: the output f64[3]"), std::string::npos) << text;
    EXPECT_NE(text.find("saved as version 0 is now at version 1: add_ at "
                        "tests/engine/autograd/autograd_test.cpp:"),
              std::string::npos)
        << text;
    EXPECT_FALSE(x.grad().defined());

    sum(exp(x) + 1.0).backward();
    const std::vector<double> g = x.grad().to_vector();
    EXPECT_NEAR(g[0], 1, 1e-12);
    EXPECT_NEAR(g[1], 2.718281828459045, 1e-12);
    EXPECT_NEAR(g[2], 7.38905609893065, 1e-12);
}

TEST(Autograd, InPlaceIsFineWhereNothingWasSaved) {
    const Tensor x = leaf({1, 2, 3});
    const Tensor y = x + 3.0;
    mul_(y, Tensor::scalar(2.0, DType::F64));
    sum(y).backward();
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 2, 2}));
}

TEST(Autograd, AnInPlaceProductKeepsWhatItOverwrites) {
    const Tensor a = leaf({1, 2});
    const Tensor b = leaf({5, 7});
    const Tensor y = a + 1.0;
    mul_(y, b);
    sum(y).backward();
    EXPECT_EQ(a.grad().to_vector(), (std::vector<double>{5, 7}));
    EXPECT_EQ(b.grad().to_vector(), (std::vector<double>{2, 3}));
}

TEST(Autograd, ALeafThatNeedsAGradientIsNotWrittenInPlace) {
    const Tensor x = leaf({1});
    EXPECT_THROW(add_(x, x), AutogradError);
    const NoGradGuard guard;
    EXPECT_NO_THROW(add_(x, x));
}

TEST(Autograd, HooksSeeAndReplaceGradients) {
    const Tensor x = leaf({1, 2});
    const Tensor h = x * 3.0;
    std::vector<double> seen;
    h.register_hook([&](const Tensor& g) {
        seen = g.to_vector();
        return g * 10.0;
    });
    const int removed = h.register_hook([&](const Tensor&) -> Tensor {
        ADD_FAILURE() << "a removed hook ran";
        return {};
    });
    h.remove_hook(removed);
    x.register_hook([](const Tensor& g) { return g + 1.0; });
    sum(h).backward();
    EXPECT_EQ(seen, (std::vector<double>{1, 1}));
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{31, 31}));
}

TEST(Autograd, RetainGradKeepsAnInnerGradient) {
    const Tensor x = leaf({1, 2});
    const Tensor h = x * 3.0;
    h.retain_grad();
    {
        const Tensor gone = x * 4.0;
        gone.retain_grad();
    }
    sum(h * h).backward();
    EXPECT_EQ(h.grad().to_vector(), (std::vector<double>{6, 12}));
}

TEST(Autograd, DetachCutsTheGraphButSharesTheData) {
    const Tensor x = leaf({1, 2});
    const Tensor d = (x * 2.0).detach();
    EXPECT_FALSE(d.requires_grad());
    sum(x * d).backward();
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 4}));
}

TEST(Autograd, IntegersCannotRequireGradients) {
    Tensor i = Tensor::from<std::int64_t>({1, 2}, {2});
    EXPECT_THROW(i.set_requires_grad(true), AutogradError);
}

TEST(Autograd, AGraphOf100000NodesRunsAndDiesWithoutRecursion) {
    const Tensor x = leaf({1});
    {
        Tensor y = x;
        for (int i = 0; i < 100000; ++i) y = y + 1.0;
        sum(y).backward();
        EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{1}));
    }
    {
        Tensor dropped = x;
        for (int i = 0; i < 100000; ++i) dropped = dropped * 1.0;
    }
}

}  // namespace
}  // namespace tapescope::engine
