// SPDX-License-Identifier: Apache-2.0
// Parameter groups, state, closures and clipping.
#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/optim/optim.h"
#include "tests/engine/ops/message_of.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tapescope::engine::optim {
namespace {

using test::messageOf;

Tensor leaf(std::initializer_list<float> values) {
    return Tensor::from<float>(values, {static_cast<std::int64_t>(values.size())})
        .set_requires_grad(true);
}

Tensor withGrad(std::initializer_list<float> values, std::initializer_list<float> grad) {
    const Tensor p = leaf(values);
    p.set_grad(Tensor::from<float>(grad, p.sizes()));
    return p;
}

TEST(ParamGroups, AddedLaterHaveTheirOwnOptions) {
    const Tensor a = withGrad({1}, {1});
    const Tensor b = withGrad({1}, {1});
    RMSprop optimizer({a}, {.lr = 0.1});
    optimizer.add_param_group({{b}, {.lr = 0.2}});
    EXPECT_EQ(optimizer.group_count(), 2U);
    optimizer.step();
    EXPECT_NEAR(a.to_vector<float>()[0], 0, 1e-5);  // 1 - 0.1 · 1/√0.01
    EXPECT_NEAR(b.to_vector<float>()[0], -1, 1e-5);
}

TEST(ParamGroups, RefuseWhatCannotBeOptimised) {
    const Tensor a = leaf({1});
    EXPECT_NE(messageOf<Error>([&] { Adam({a, a}, {}); }).find("parameter 1"), std::string::npos);
    Adam optimizer({a}, {});
    EXPECT_NE(messageOf<Error>([&] {
                  optimizer.add_param_group({{a}, {}});
              }).find("comes twice"),
              std::string::npos);
    EXPECT_NE(messageOf<Error>([&] {
                  optimizer.add_param_group({{Tensor()}, {}});
              }).find("undefined"),
              std::string::npos);
    EXPECT_NE(messageOf<Error>([&] {
                  optimizer.add_param_group({{a * 2}, {}});
              }).find("leaves"),
              std::string::npos);
    EXPECT_THROW(optimizer.add_param_group({{leaf({2})}, {.lr = -1}}), Error);
    EXPECT_EQ(optimizer.group_count(), 1U);
    EXPECT_NE(messageOf<Error>([] { SGD(std::vector<Tensor>{}, {}); }).find("no parameters"),
              std::string::npos);
}

TEST(Options, OfEveryOptimizerAreChecked) {
    const std::vector<Tensor> params{leaf({1})};
    EXPECT_THROW(RMSprop(params, {.alpha = -1}), Error);
    EXPECT_THROW(Adagrad(params, {.lr_decay = -1}), Error);
    EXPECT_THROW(Adadelta(params, {.rho = 1.5}), Error);
    EXPECT_THROW(Adamax(params, {.beta2 = 1}), Error);
    EXPECT_THROW(Rprop(params, {.etaminus = 1.1}), Error);
    EXPECT_THROW(Rprop(params, {.step_size_min = 2, .step_size_max = 1}), Error);
    EXPECT_THROW(NAdam(params, {.momentum_decay = -1}), Error);
    EXPECT_THROW(RAdam(params, {.eps = -1}), Error);
    EXPECT_THROW(Lion(params, {.beta1 = 1}), Error);
    EXPECT_THROW(ASGD(params, {.weight_decay = -1}), Error);
    EXPECT_THROW(LBFGS(params, {.max_iter = 0}), Error);
}

TEST(ZeroGrad, FillsWithZerosWhereAsked) {
    const Tensor a = withGrad({1, 2}, {3, 4});
    const Tensor b = leaf({5});
    SGD optimizer({a, b}, {});
    optimizer.zero_grad(false);
    ASSERT_TRUE(a.grad().defined());
    EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{0, 0}));
    EXPECT_FALSE(b.grad().defined());
}

TEST(Step, WithAClosureEvaluatesItWithGradients) {
    const Tensor x = leaf({3});
    SGD optimizer({x}, {.lr = 0.25});
    const NoGradGuard outside;
    const Tensor loss = optimizer.step([&] {
        optimizer.zero_grad();
        Tensor value = mul(x, x);
        value.backward();
        return value;
    });
    EXPECT_FLOAT_EQ(static_cast<float>(loss.item()), 9.0F);
    EXPECT_FLOAT_EQ(x.to_vector<float>()[0], 1.5F);
}

TEST(Lbfgs, NeedsAClosureAndGoesOnFromASavedState) {
    const auto stepped = [](LBFGS& optimizer, const Tensor& at) {
        optimizer.step([&] {
            optimizer.zero_grad();
            Tensor value = sum(square(square(at - 0.5)));
            value.backward();
            return value;
        });
    };
    const LbfgsOptions options{.lr = 0.3, .max_iter = 2, .history_size = 3};
    const Tensor x = leaf({3, -2});
    const Tensor y = leaf({3, -2});
    LBFGS whole({x}, options);
    LBFGS first({y}, options);
    for (int i = 0; i < 3; ++i) {
        stepped(whole, x);
        stepped(first, y);
    }
    LBFGS second({y}, options);
    second.load_state_dict(first.state_dict());
    EXPECT_EQ(second.iterations(), first.iterations());
    EXPECT_GT(second.iterations(), 2);
    for (int i = 0; i < 3; ++i) {
        stepped(whole, x);
        stepped(second, y);
    }
    EXPECT_EQ(x.to_vector(), y.to_vector());
    EXPECT_NE(messageOf<Error>([&] { whole.step(); }).find("closure"), std::string::npos);
}

TEST(OptimizerStates, AreNumberedOverTheGroupsAndRefusedByAnotherModel) {
    const Tensor a = withGrad({1, 2}, {1, 1});
    const Tensor b = withGrad({1}, {1});
    Adam optimizer({ParamGroup<AdamOptions>{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.2}}});
    optimizer.step();
    const OptimizerState state = optimizer.state_dict();
    EXPECT_EQ(state.tensors.at("state.1.exp_avg").sizes(), (Dims{1}));
    EXPECT_EQ(state.numbers.at("state.0.step"), 1);
    EXPECT_EQ(state.numbers.at("param_groups.1.lr"), 0.2);

    Adam one({leaf({1, 2})}, {});
    EXPECT_NE(messageOf<Error>([&] { one.load_state_dict(state); }).find("2 parameter groups"),
              std::string::npos);
    Adam larger({ParamGroup<AdamOptions>{{leaf({1, 2, 3})}, {}}, {{leaf({1})}, {}}});
    EXPECT_NE(messageOf<Error>([&] { larger.load_state_dict(state); }).find("state.0.exp_avg"),
              std::string::npos);
    EXPECT_EQ(larger.lr(0), AdamOptions{}.lr);  // nothing was loaded
    Adam uneven({ParamGroup<AdamOptions>{{leaf({1, 2}), leaf({4})}, {}}, {{leaf({1})}, {}}});
    EXPECT_NE(messageOf<Error>([&] { uneven.load_state_dict(state); }).find("group 0"),
              std::string::npos);
}

TEST(ClipGradNorm, TakesOtherNorms) {
    const auto clipped = [](double type, double expected) {
        const Tensor a = withGrad({0, 0}, {3, -4});
        const Tensor b = withGrad({0}, {12});
        EXPECT_NEAR(clip_grad_norm_({a, b}, 1, type).item(), expected, 1e-4) << type;
        return b.grad().to_vector<float>()[0];
    };
    EXPECT_NEAR(clipped(2, 13), 12.0 / 13, 1e-5);
    EXPECT_NEAR(clipped(1, 19), 12.0 / 19, 1e-5);
    EXPECT_NEAR(clipped(std::numeric_limits<double>::infinity(), 12), 1, 1e-5);
    EXPECT_NEAR(clipped(3, std::cbrt(27.0 + 64 + 1728)), 12 / std::cbrt(1819.0), 1e-5);
}

TEST(ClipGradNorm, RefusesNanWhereAsked) {
    const Tensor a = withGrad({0}, {std::numeric_limits<float>::quiet_NaN()});
    EXPECT_TRUE(std::isnan(clip_grad_norm_({a}, 1).item()));
    EXPECT_NE(messageOf<Error>([&] { clip_grad_norm_({a}, 1, 2, true); }).find("nan"),
              std::string::npos);
}

TEST(ClipGradValue, ClampsEveryElement) {
    const Tensor a = withGrad({0, 0, 0}, {-3, 0.5F, 7});
    clip_grad_value_({a, leaf({1})}, 2);
    EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{-2, 0.5F, 2}));
    EXPECT_THROW(clip_grad_value_({a}, -1), Error);
}

}  // namespace
}  // namespace tapescope::engine::optim
