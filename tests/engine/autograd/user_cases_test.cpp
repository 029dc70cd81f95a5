// SPDX-License-Identifier: Apache-2.0
// Cases that people are really stuck on (R02 … R35), as far as the engine alone decides them.
// Values by PyTorch or by hand; R01 is in autograd_test.cpp, R06 in inplace_view_test.cpp, R07 in
// hooks_test.cpp.
#include "engine/autograd/autograd.h"
#include "engine/autograd/node.h"
#include "engine/errors.h"
#include "engine/nn/linear.h"
#include "engine/nn/module.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/clip.h"
#include "engine/optim/sgd.h"
#include "tests/engine/ops/message_of.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

using test::messageOf;
using Values = std::vector<double>;

Tensor f32(std::initializer_list<float> values, const Dims& sizes) {
    return Tensor::from<float>(values, sizes);
}
Tensor leaf(float value) { return f32({value}, {}).set_requires_grad(true); }

void expectNear(const Tensor& t, const Values& due, double tolerance = 1e-6) {
    const Values got = t.to_vector();
    ASSERT_EQ(got.size(), due.size());
    for (std::size_t i = 0; i < due.size(); ++i)
        EXPECT_NEAR(got[i], due[i], tolerance * std::max(1.0, std::abs(due[i]))) << "at " << i;
}

struct TwoNetworks {
    Tensor g = leaf(0.5F);
    Tensor d = leaf(2);
    optim::SGD stepD{{d}, {.lr = 0.1}};
    Tensor fake, lossD, lossG;

    void forward() {
        fake = g * 3.0;
        const Tensor dFake = d * fake;
        const Tensor dReal = d * 1.0;
        lossD = square(dReal - 1.0) + square(dFake);
        lossG = square(dFake - 1.0);
    }
};

TEST(UserCaseR02, AStepBetweenForwardAndALaterBackwardIsRefused) {
    TwoNetworks n;
    n.forward();
    EXPECT_EQ(n.d.version(), 0U);
    n.lossD.backward({}, true);
    n.stepD.step();
    EXPECT_EQ(n.d.version(), 1U);
    EXPECT_FLOAT_EQ(static_cast<float>(n.d.item()), 0.9F);
    EXPECT_FLOAT_EQ(static_cast<float>(n.g.grad().item()), 36);
    n.g.set_grad({});
    const std::string text = messageOf<InPlaceError>([&] { n.lossG.backward(); });
    EXPECT_NE(text.find("mul backward: the input f32[]"), std::string::npos) << text;
    EXPECT_NE(text.find("sgd_step_"), std::string::npos) << text;
    EXPECT_FALSE(n.g.grad().defined());  // never the silent 10.8
}

TEST(UserCaseR02, BothBackwardsBeforeTheStepGiveTheRightGradients) {
    TwoNetworks n;
    n.forward();
    n.lossD.backward({}, true);
    EXPECT_FLOAT_EQ(static_cast<float>(n.d.grad().item()), 11);
    n.g.set_grad({});
    n.lossG.backward();
    EXPECT_FLOAT_EQ(static_cast<float>(n.g.grad().item()), 24);
    EXPECT_FLOAT_EQ(static_cast<float>(n.d.grad().item()), 17);  // 6 of them leaked from lossG
}

TEST(UserCaseR02, ASeparateForwardAfterTheStepIsFine) {
    TwoNetworks n;
    n.forward();
    n.lossD.backward();
    n.stepD.step();
    n.forward();
    EXPECT_NO_THROW(n.lossG.backward());
}

std::size_t reachable(const Tensor& root) {
    std::set<const Node*> seen;
    std::vector<const Node*> open{root.grad_fn().get()};
    while (!open.empty()) {
        const Node* node = open.back();
        open.pop_back();
        if (!seen.insert(node).second) continue;
        for (const Edge& edge : node->edges()) {
            if (edge.node) open.push_back(edge.node.get());
        }
    }
    return seen.size();
}

TEST(UserCaseR03, StateThatCarriesItsGraphFailsInTheSecondIteration) {
    const Tensor w = leaf(0.5F);
    Tensor h = f32({0}, {});
    for (int i = 1; i <= 2; ++i) {
        h = tanh(w * h + 1.0);
        const Tensor loss = h * h;
        if (i == 1) {
            EXPECT_NO_THROW(loss.backward());
        } else {
            const std::string text = messageOf<AutogradError>([&] { loss.backward(); });
            EXPECT_NE(text.find("freed by an earlier backward"), std::string::npos) << text;
        }
    }
}

TEST(UserCaseR03, RetainGraphHidesAGraphThatGrowsAndDetachEndsIt) {
    const Values growing{0, 0.3001137, 0.3473709, 0.3527290};
    const Values constant{0, 0.3001137, 0.3167600, 0.3181456};
    for (const bool detach : {false, true}) {
        const Tensor w = leaf(0.5F);
        Tensor h = f32({0}, {});
        for (std::size_t n = 1; n <= 4; ++n) {
            if (detach) h = h.detach();
            h = tanh(w * h + 1.0);
            const Tensor loss = h * h;
            EXPECT_EQ(reachable(loss), detach ? 5 : 3 * n + 2);
            w.set_grad({});
            loss.backward({}, !detach);
            EXPECT_NEAR(w.grad().item(), (detach ? constant : growing)[n - 1], 1e-6);
        }
    }
}

TEST(UserCaseR04, ANonLeafKeepsItsGradientOnlyWhenAsked) {
    for (const bool keep : {false, true}) {
        const Tensor x = f32({1, -2, 3}, {3}).set_requires_grad(true);
        const Tensor v = reshape(x, {3, 1});
        if (keep) v.retain_grad();
        (sum(v * v * v) * 2.0).backward();
        EXPECT_FALSE(v.is_leaf());
        EXPECT_EQ(v.grad().defined(), keep);
        EXPECT_EQ(x.grad().to_vector(), (Values{6, 24, 54}));
        if (keep) {
            EXPECT_EQ(v.grad().to_vector(), (Values{6, 24, 54}));
            EXPECT_EQ(v.grad().sizes(), (Dims{3, 1}));
        }
    }
}

TEST(UserCaseR04, AnIndexCutsThePath) {
    const Tensor w = f32({1, 0, 0, 1}, {2, 2}).set_requires_grad(true);
    const Tensor table = f32({1, 5}, {2, 1}).set_requires_grad(true);
    const Tensor scores = matmul(f32({2, 1, 1, 3}, {2, 2}), w);
    const Tensor index = argmax(scores, 1);
    EXPECT_TRUE(scores.requires_grad());
    EXPECT_FALSE(index.requires_grad());
    const Tensor y = sum(index_select(table, 0, index));
    EXPECT_EQ(y.item(), 6);
    y.backward();
    EXPECT_EQ(table.grad().to_vector(), (Values{1, 1}));
    EXPECT_FALSE(w.grad().defined());
}

struct PlainList : nn::Module {
    PlainList() : Module("PlainList") {
        for (int i = 0; i < 3; ++i) hidden.push_back(std::make_shared<nn::Linear>(8, 8));
        head = register_module<nn::Linear>("head", 8, 3);
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = x;
        for (const auto& layer : hidden) y = layer->call(y);
        return head(y);
    }
    std::vector<std::shared_ptr<nn::Linear>> hidden;
    nn::ModuleRef<nn::Linear> head;
};

TEST(UserCaseR05, LayersInAPlainListAreNotRegistered) {
    const PlainList net;
    std::int64_t registered = 0;
    for (const Tensor& p : net.parameters()) registered += p.numel();
    std::int64_t orphaned = 0;
    int tensors = 0;
    for (const auto& layer : net.hidden) {
        for (const Tensor& p : layer->parameters()) {
            orphaned += p.numel();
            ++tensors;
        }
    }
    EXPECT_EQ(registered, 27);
    EXPECT_EQ(orphaned, 216);
    EXPECT_EQ(tensors, 6);
}

TEST(UserCaseR05, AnUnregisteredWeightIsNeitherSteppedNorZeroed) {
    const Tensor hidden = leaf(2);
    const Tensor head = leaf(3);
    optim::SGD sgd({head}, {.lr = 0.1});
    const Values outputs{6.0, 5.6, 5.2};
    const Values piled{3.0, 5.8, 8.4};
    const Values heads{2.8, 2.6, 2.4};
    for (std::size_t i = 0; i < 3; ++i) {
        sgd.zero_grad();
        const Tensor y = head * hidden * 1.0;
        EXPECT_NEAR(y.item(), outputs[i], 1e-6);
        y.backward();
        EXPECT_NEAR(hidden.grad().item(), piled[i], 1e-5);
        sgd.step();
        EXPECT_EQ(hidden.item(), 2);
        EXPECT_NEAR(head.item(), heads[i], 1e-6);
    }
}

TEST(UserCaseR10, ANormThatOverflowsFloat32ZeroesTheStepAndIsExplained) {
    using Verdict = optim::GradientNorm::Verdict;
    struct Clipped {
        optim::GradientNorm seen;
        double norm;
        Values grads;
    };
    const auto clipped = [](float c) {
        const Tensor p = ones({64}, {.requires_grad = true});
        p.set_grad(full({64}, c));
        const std::vector<std::pair<std::string, Tensor>> named{{"p", p}};
        const optim::GradientNorm seen = optim::explain_gradient_norm(named);
        const double norm = optim::clip_grad_norm_({p}, 1.0).item();
        return Clipped{seen, norm, p.grad().to_vector()};
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();

    const Clipped normal = clipped(1);
    EXPECT_EQ(normal.norm, 8);
    for (const double g : normal.grads) EXPECT_NEAR(g, 0.125, 1e-6);
    EXPECT_EQ(normal.seen.verdict, Verdict::Finite);
    EXPECT_EQ(normal.seen.sentence(), "");

    const Clipped overflow = clipped(3e19F);
    EXPECT_EQ(overflow.norm, kInfinity);
    for (const double g : overflow.grads) EXPECT_EQ(g, 0);
    EXPECT_EQ(overflow.seen.verdict, Verdict::Overflow);
    EXPECT_EQ(overflow.seen.norm, kInfinity);
    EXPECT_NEAR(overflow.seen.wideNorm, 2.4e20, 1e14);
    EXPECT_TRUE(overflow.seen.sentence().starts_with("overflow of the norm: every gradient is "));

    const Clipped infinite = clipped(std::numeric_limits<float>::infinity());
    for (const double g : infinite.grads) EXPECT_TRUE(std::isnan(g));
    EXPECT_EQ(infinite.seen.verdict, Verdict::NonFinite);
    EXPECT_TRUE(infinite.seen.sentence().starts_with("non-finite gradient in p:"));

    const Clipped control = clipped(1e10F);
    EXPECT_NEAR(control.norm, 8e10, 1e5);
    EXPECT_EQ(control.seen.verdict, Verdict::Finite);
    for (const double g : control.grads) EXPECT_NEAR(g, 0.125, 1e-6);
}

TEST(UserCaseR34, EvalOfABatchNormStackIsSmallerByTheBiasOfTheVariance) {
    constexpr std::int64_t kBatch = 32;
    constexpr int kLayers = 12;
    Context::current().generator().manual_seed(5);
    const NoGradGuard guard;
    const Tensor x = randn({kBatch, 3}, {.dtype = DType::F64});
    std::vector<Tensor> means;
    std::vector<Tensor> variances;
    for (int i = 0; i < kLayers; ++i) {
        means.push_back(zeros({3}, {.dtype = DType::F64}));
        variances.push_back(ones({3}, {.dtype = DType::F64}));
    }
    const auto run = [&](int layers, bool training) {
        Tensor y = x;
        for (int i = 0; i < layers; ++i) {
            const auto k = static_cast<std::size_t>(i);
            y = batch_norm(y, {}, {}, means[k], variances[k], training, 0.1, 0);
        }
        return y;
    };
    Tensor train;
    for (int i = 0; i < 400; ++i) train = run(kLayers, true);
    const Tensor one = run(1, true);
    const Values ratio = (run(kLayers, false) / train).to_vector();
    for (const double r : ratio) {
        EXPECT_NEAR(r, 0.8265522, 1e-7);
        EXPECT_NEAR(r, std::pow(31.0 / 32.0, 6), 1e-12);
    }
    for (const double r : (run(1, false) / one).to_vector()) EXPECT_NEAR(r, 0.9842510, 1e-7);
}

TEST(UserCaseR35, SoftmaxTwiceNarrowsWhatTheLossCanReach) {
    const auto loss = [](const Tensor& logits) {
        return cross_entropy(softmax(logits, 1), Tensor::from<std::int64_t>({0}, {1})).item();
    };
    EXPECT_NEAR(loss(zeros({1, 10})), 2.3025851, 1e-6);
    Tensor right = zeros({1, 10});
    right.data<float>()[0] = 1000;
    EXPECT_NEAR(loss(right), 1.4611502, 1e-6);
    Tensor wrong = zeros({1, 10});
    wrong.data<float>()[1] = 1000;
    EXPECT_NEAR(loss(wrong), 2.4611502, 1e-6);
    EXPECT_EQ(cross_entropy(right, Tensor::from<std::int64_t>({0}, {1})).item(), 0);
}

TEST(UserCaseR35, UnitsThatAreNeverAliveGetNoGradient) {
    const Tensor x = f32({0.2F, 0.5F, 0.9F}, {3, 1});
    const Tensor weight = f32({1, -1, 0.5F, -1}, {1, 4}).set_requires_grad(true);
    const Tensor bias = f32({0, 0, -1, -1}, {4}).set_requires_grad(true);
    sum(relu(matmul(x, weight) + bias)).backward();
    EXPECT_EQ(bias.grad().to_vector(), (Values{3, 0, 0, 0}));
    expectNear(weight.grad(), {1.6, 0, 0, 0});
}

TEST(UserCaseR35, AColumnAgainstARowBroadcasts) {
    const Tensor target = f32({1, 2, 4}, {3});
    EXPECT_NEAR(mse_loss(f32({1, 2, 4}, {3, 1}), target).item(), 3.1111112, 1e-6);
    const Tensor column = zeros({3, 1}, {.requires_grad = true});
    mse_loss(column, target).backward();
    expectNear(column.grad(), {-1.5555556, -1.5555556, -1.5555556});
    const Tensor row = zeros({3}, {.requires_grad = true});
    mse_loss(row, target).backward();
    expectNear(row.grad(), {-0.6666667, -1.3333334, -2.6666667});
    const Tensor mean = full({3, 1}, 7.0 / 3);
    EXPECT_NEAR(mse_loss(mean, target).item(), 1.5555556, 1e-6);
}

}  // namespace
}  // namespace tapescope::engine
