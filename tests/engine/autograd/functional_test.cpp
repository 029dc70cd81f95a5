// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/functional.h"

#include "engine/autograd/autograd.h"
#include "engine/autograd/gradcheck.h"
#include "engine/errors.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "tests/engine/ops/message_of.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

using test::messageOf;
using Values = std::vector<double>;

Tensor f64(std::initializer_list<double> values, const Dims& sizes) {
    return Tensor::from<double>(values, sizes);
}

/// [x0^2, x0 x1^3]
Tensor pair(const Tensor& x) {
    const Tensor a = select(x, 0, 0);
    const Tensor b = select(x, 0, 1);
    return stack(std::vector<Tensor>{a * a, a * b * b * b});
}
/// x0^2 x1^3
Tensor one(const Tensor& x) {
    const Tensor a = select(x, 0, 0);
    const Tensor b = select(x, 0, 1);
    return a * a * b * b * b;
}

TEST(Functional, JacobianHasARowForEachOutput) {
    const Tensor j = functional::jacobian(pair, f64({2, 3}, {2}));
    EXPECT_EQ(j.sizes(), (Dims{2, 2}));
    EXPECT_EQ(j.to_vector(), (Values{4, 0, 27, 54}));
    EXPECT_FALSE(j.requires_grad());
}

TEST(Functional, JacobianOfSeveralInputsAndOutputs) {
    const std::vector<Tensor> inputs{f64({1, 2}, {2}), f64({3}, {})};
    const auto j = functional::jacobian(
        [](std::span<const Tensor> in) {
            return std::vector<Tensor>{in[0] * in[1], sum(in[0])};
        },
        inputs);
    EXPECT_EQ(j[0][0].to_vector(), (Values{3, 0, 0, 3}));
    EXPECT_EQ(j[0][1].sizes(), (Dims{2}));
    EXPECT_EQ(j[0][1].to_vector(), (Values{1, 2}));
    EXPECT_EQ(j[1][0].to_vector(), (Values{1, 1}));
    EXPECT_EQ(j[1][1].to_vector(), (Values{0}));
    EXPECT_THROW(functional::jacobian(
                     [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * 2.0}; },
                     inputs, {.strict = true}),
                 AutogradError);
}

TEST(Functional, HessianAndItsProducts) {
    const Tensor x = f64({2, 3}, {2});
    // f = a^2 b^3: f_aa = 2 b^3, f_ab = 6 a b^2, f_bb = 6 a^2 b
    EXPECT_EQ(functional::hessian(one, x).to_vector(), (Values{54, 108, 108, 72}));
    const Tensor v = f64({1, 10}, {2});
    EXPECT_EQ(functional::hvp(one, x, v).second.to_vector(), (Values{1134, 828}));
    EXPECT_EQ(functional::vhp(one, x, v).second.to_vector(), (Values{1134, 828}));
    EXPECT_EQ(functional::hvp(one, x, v).first.item(), 108);
    EXPECT_THROW(functional::hessian(pair, x), ShapeError);
}

TEST(Functional, ProductsWithTheJacobian) {
    const Tensor x = f64({2, 3}, {2});
    const auto [out, left] = functional::vjp(pair, x, f64({1, 10}, {2}));
    EXPECT_EQ(out.to_vector(), (Values{4, 54}));
    EXPECT_EQ(left.to_vector(), (Values{274, 540}));
    EXPECT_EQ(functional::jvp(pair, x, f64({1, 10}, {2})).second.to_vector(), (Values{4, 567}));
    EXPECT_EQ(functional::vjp(one, x).second.to_vector(), (Values{108, 108}));
    EXPECT_THROW(functional::vjp(pair, x), ShapeError);
    EXPECT_THROW(functional::jvp(pair, x, f64({1}, {1})), ShapeError);
}

TEST(Functional, TheInputsOwnGraphIsLeftAlone) {
    const Tensor x = f64({2, 3}, {2}).set_requires_grad(true);
    (void)functional::jacobian(pair, x);
    EXPECT_FALSE(x.grad().defined());
    const Tensor j = functional::jacobian(pair, x, {.create_graph = true});
    sum(j).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{29, 63}));  // of 2a + b^3 + 3ab^2
}

TEST(Gradcheck, AgreesWithARightGradientAndNamesAWrongOne) {
    const std::vector<Tensor> inputs{f64({0.3, -0.7, 1.2}, {3}).set_requires_grad(true)};
    const auto right = [](std::span<const Tensor> in) {
        return std::vector<Tensor>{softmax(in[0], 0), tanh(in[0])};
    };
    EXPECT_TRUE(gradcheck(right, inputs));
    EXPECT_TRUE(gradgradcheck(right, inputs));
    const auto wrong = [](std::span<const Tensor> in) {
        return std::vector<Tensor>{in[0] * in[0].detach()};
    };
    const std::string text = messageOf<AutogradError>([&] { gradcheck(wrong, inputs); });
    EXPECT_NE(text.find("gradcheck: output 0 [0] with respect to input 0 [0]: backward says 0.3, "
                        "finite differences 0.6"),
              std::string::npos)
        << text;
    EXPECT_FALSE(gradcheck(wrong, inputs, {.raise_exception = false}));
}

TEST(Gradcheck, RefusesWhatItCannotCheck) {
    const auto fn = [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * 2.0}; };
    const std::vector<Tensor> coarse{ones({2}, {.requires_grad = true})};
    EXPECT_THROW(gradcheck(fn, coarse), DTypeError);
    const std::vector<Tensor> none{f64({1}, {1})};
    EXPECT_THROW(gradcheck(fn, none), AutogradError);
}

}  // namespace
}  // namespace tapescope::engine
