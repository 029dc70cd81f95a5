// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/op_def.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"
#include "engine/optim/clip.h"
#include "engine/optim/lr_scheduler.h"
#include "engine/optim/sgd.h"
#include "engine/optim/steps.h"

#include <gtest/gtest.h>
#include <limits>

namespace tapescope::engine::optim {
namespace {

Tensor leaf(std::initializer_list<float> values) {
    return Tensor::from<float>(values, {static_cast<std::int64_t>(values.size())})
        .set_requires_grad(true);
}

struct CallNames final : Observer {
    void onOpEnd(const OpCall& call) override {
        names.emplace_back(call.op->name);
        phases.push_back(call.phase);
        lines.push_back(call.site.line);
    }
    void onMemory(const MemoryEvent& event) override {
        if (event.kind == MemoryEvent::Kind::Role && event.role == MemoryRole::OptimizerState)
            ++stateBlocks;
    }
    std::vector<std::string> names;
    std::vector<Phase> phases;
    std::vector<std::uint32_t> lines;
    int stateBlocks = 0;
};

TEST(Sgd, HandValueOfOneStep) {
    const Tensor p = leaf({1, -2});
    p.set_grad(Tensor::from<float>({0.5F, 4}, {2}));
    SGD({p}, {.lr = 0.1}).step();
    EXPECT_FLOAT_EQ(p.to_vector<float>()[0], 0.95F);
    EXPECT_FLOAT_EQ(p.to_vector<float>()[1], -2.4F);
}

TEST(Optimizer, PassesOverParametersWithoutAGradient) {
    const Tensor with = leaf({1});
    const Tensor without = leaf({7});
    with.set_grad(Tensor::from<float>({1}, {1}));
    Adam optimizer({with, without}, {.lr = 0.5});
    optimizer.step();
    EXPECT_FLOAT_EQ(with.to_vector<float>()[0], 0.5F);
    EXPECT_EQ(without.to_vector<float>()[0], 7.0F);
}

TEST(Optimizer, ZeroGradDropsTheGradients) {
    const Tensor p = leaf({1});
    p.set_grad(Tensor::from<float>({1}, {1}));
    SGD optimizer({p}, {.lr = 1});
    optimizer.zero_grad();
    EXPECT_FALSE(p.grad().defined());
}

TEST(Optimizer, GroupsKeepTheirOwnOptions) {
    const Tensor a = leaf({1});
    const Tensor b = leaf({1});
    SGD optimizer(
        {ParamGroup<SgdOptions>{{a}, {.lr = 0.1}}, ParamGroup<SgdOptions>{{b}, {.lr = 0.01}}});
    for (const Tensor& p : {a, b}) p.set_grad(Tensor::from<float>({1}, {1}));
    optimizer.step();
    EXPECT_FLOAT_EQ(a.to_vector<float>()[0], 0.9F);
    EXPECT_FLOAT_EQ(b.to_vector<float>()[0], 0.99F);
    StepLR schedule(optimizer, 1, 0.5);
    schedule.step();
    EXPECT_DOUBLE_EQ(optimizer.lr(0), 0.05);
    EXPECT_DOUBLE_EQ(optimizer.lr(1), 0.005);
}

TEST(Optimizer, IsOneRowAParameterInTheOptimizerPhaseAtTheUsersLine) {
    Context context;
    const ContextScope scope(context);
    const Tensor p = leaf({1, 2});
    p.set_grad(Tensor::from<float>({1, 1}, {2}));
    AdamW optimizer({p}, {.lr = 0.1});
    CallNames seen;
    context.addObserver(seen);
    optimizer.step();
    const auto first = static_cast<std::uint32_t>(__LINE__ - 1);
    const std::vector<std::string> fresh = seen.names;
    optimizer.step();
    context.removeObserver(seen);
    ASSERT_EQ(fresh.back(), "adam_step_");
    // The second step makes no state: the update is its only operator.
    ASSERT_EQ(seen.names.size(), fresh.size() + 1);
    EXPECT_EQ(seen.names.back(), "adam_step_");
    for (const Phase phase : seen.phases) EXPECT_EQ(phase, Phase::Optimizer);
    EXPECT_EQ(seen.lines.front(), first);
    EXPECT_EQ(seen.stateBlocks, 2);
}

TEST(Optimizer, UpdatesLeavesOfAGraphAndRaisesTheirVersion) {
    const Tensor p = leaf({2});
    mul(p, p).backward();
    const std::uint32_t before = p.version();
    SGD({p}, {.lr = 0.25, .momentum = 0.9}).step();
    EXPECT_FLOAT_EQ(p.to_vector<float>()[0], 1.0F);
    EXPECT_GT(p.version(), before);
    EXPECT_TRUE(p.requires_grad());
    EXPECT_TRUE(p.is_leaf());
}

TEST(Optimizer, TakesGradientsThatAreNotContiguous) {
    Tensor p = Tensor::from<float>({1, 2, 3, 4}, {2, 2}).set_requires_grad(true);
    p.set_grad(transpose(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), 0, 1));
    SGD({p}, {.lr = 1}).step();
    EXPECT_EQ(p.to_vector<float>(), (std::vector<float>{0, -1, 1, 0}));
}

TEST(Optimizer, RefusesOptionsPyTorchRefuses) {
    const std::vector<Tensor> params{leaf({1})};
    EXPECT_THROW(SGD(params, {.lr = -1}), Error);
    EXPECT_THROW(SGD(params, {.lr = std::numeric_limits<double>::quiet_NaN()}), Error);
    EXPECT_THROW(SGD(params, {.momentum = -0.1}), Error);
    EXPECT_THROW(SGD(params, {.nesterov = true}), Error);
    EXPECT_THROW(SGD(params, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), Error);
    EXPECT_THROW(Adam(params, {.beta1 = 1}), Error);
    EXPECT_THROW(Adam(params, {.eps = -1e-8}), Error);
    SGD optimizer(params, {});
    EXPECT_THROW(StepLR(optimizer, 0), Error);
    EXPECT_THROW(CosineAnnealingLR(optimizer, 0), Error);
    EXPECT_THROW(LinearLR(optimizer, 0), Error);
    EXPECT_THROW(clip_grad_norm_(params, 0), Error);
}

TEST(StepOperators, NameBothShapesWhereTheyDisagree) {
    const Tensor p = zeros({2, 3});
    const Tensor g = zeros({3, 2});
    try {
        sgd_step_(p, g, {}, {.lr = 1});
        FAIL() << "shapes that disagree were taken";
    } catch (const ShapeError& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("sgd_step_"), std::string::npos) << text;
        EXPECT_NE(text.find("[3,2]"), std::string::npos) << text;
        EXPECT_NE(text.find("[2,3]"), std::string::npos) << text;
    }
    EXPECT_THROW(adam_step_(p, p, p, zeros({2, 3}, {.dtype = DType::F64}), {}), ShapeError);
    EXPECT_THROW(
        sgd_step_(zeros({2}, {.dtype = DType::I64}), zeros({2}, {.dtype = DType::I64}), {}, {}),
        DTypeError);
}

TEST(ClipGradNorm, LeavesSmallGradientsAlone) {
    const Tensor p = leaf({0, 0});
    p.set_grad(Tensor::from<float>({3, 4}, {2}));
    EXPECT_FLOAT_EQ(static_cast<float>(clip_grad_norm_({p}, 100).item()), 5.0F);
    EXPECT_EQ(p.grad().to_vector<float>(), (std::vector<float>{3, 4}));
    EXPECT_EQ(clip_grad_norm_({leaf({1})}, 1).item(), 0);
}

}  // namespace
}  // namespace tapescope::engine::optim
