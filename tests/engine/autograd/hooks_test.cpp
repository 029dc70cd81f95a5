// SPDX-License-Identifier: Apache-2.0
// Hooks on tensors, nodes and modules; anomaly detection.
#include "engine/autograd/anomaly.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/node.h"
#include "engine/errors.h"
#include "engine/nn/linear.h"
#include "engine/nn/module.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "tests/engine/ops/message_of.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

using test::messageOf;
using Values = std::vector<double>;

Tensor leaf(std::initializer_list<double> values) {
    return Tensor::from<double>(values, {static_cast<std::int64_t>(values.size())})
        .set_requires_grad(true);
}

TEST(NodeHooks, RunBeforeAndAfterTheNodeAndMayReplace) {
    const Tensor x = leaf({1, 2});
    const Tensor y = x * 3.0;
    Values before;
    Values after;
    y.grad_fn()->register_prehook([&](std::span<const Tensor> gradOutputs) {
        before = gradOutputs[0].to_vector();
        return std::vector<Tensor>{gradOutputs[0] * 10.0};
    });
    y.grad_fn()->register_hook(
        [&](std::span<const Tensor> gradInputs, std::span<const Tensor> gradOutputs) {
            after = gradOutputs[0].to_vector();
            std::vector<Tensor> changed(gradInputs.begin(), gradInputs.end());
            changed[0] = changed[0] + 1.0;
            return changed;
        });
    const int gone = y.grad_fn()->register_prehook([](std::span<const Tensor>) {
        ADD_FAILURE() << "a removed hook ran";
        return std::vector<Tensor>{};
    });
    y.grad_fn()->removeHook(gone);
    sum(y).backward();
    EXPECT_EQ(before, (Values{1, 1}));
    EXPECT_EQ(after, (Values{10, 10}));
    EXPECT_EQ(x.grad().to_vector(), (Values{31, 31}));
}

TEST(NodeHooks, AWrongNumberOfReplacementsIsRefused) {
    const Tensor x = leaf({1});
    const Tensor y = x * 3.0;
    y.grad_fn()->register_prehook([](std::span<const Tensor> g) {
        return std::vector<Tensor>{g[0], g[0]};
    });
    const std::string text = messageOf<AutogradError>([&] { y.backward(); });
    EXPECT_NE(text.find("mul backward: a pre-hook returned 2 gradients where 1 are due"),
              std::string::npos)
        << text;
}

TEST(PostAccumulateHook, SeesEachAccumulatedGradientAndMayDropIt) {
    const Tensor x = leaf({1, 2});
    std::vector<Values> seen;
    const int id = x.register_post_accumulate_grad_hook([&](const Tensor& t) {
        seen.push_back(t.grad().to_vector());
        t.set_grad({});
    });
    sum(x * 2.0).backward();
    sum(x * 5.0).backward();
    EXPECT_EQ(seen, (std::vector<Values>{{2, 2}, {5, 5}}));
    EXPECT_FALSE(x.grad().defined());
    x.remove_hook(id);
    sum(x * 2.0).backward();
    EXPECT_EQ(seen.size(), 2U);
    EXPECT_THROW((x * 2.0).register_post_accumulate_grad_hook([](const Tensor&) {}), AutogradError);
}

TEST(TensorHook, RunsForGradToo) {
    const Tensor x = leaf({1, 2});
    x.register_hook([](const Tensor& g) { return g * 10.0; });
    const Tensor y = sum(x * 2.0);
    EXPECT_EQ(grad(std::span(&y, 1), std::span(&x, 1))[0].to_vector(), (Values{20, 20}));
}

TEST(Grad, TakesSeveralOutputsAndTheirGradients) {
    const Tensor x = leaf({1, 2});
    const Tensor w = leaf({3, 4});
    const std::vector<Tensor> outputs{x * w, x + w};
    const std::vector<Tensor> weights{Tensor::from<double>({1, 10}, {2}),
                                      Tensor::from<double>({100, 1000}, {2})};
    const std::vector<Tensor> inputs{x, w};
    const std::vector<Tensor> g = grad(outputs, inputs, weights);
    EXPECT_EQ(g[0].to_vector(), (Values{103, 1040}));
    EXPECT_EQ(g[1].to_vector(), (Values{101, 1020}));
}

TEST(Grad, OfAnInnerTensorAndALeafBehindIt) {
    const Tensor x = leaf({3});
    const Tensor h = x * x;
    const Tensor y = h * 5.0;
    const std::vector<Tensor> inputs{h, x};
    const std::vector<Tensor> g = grad(std::span(&y, 1), inputs);
    EXPECT_EQ(g[0].to_vector(), (Values{5}));
    EXPECT_EQ(g[1].to_vector(), (Values{30}));
}

TEST(Backward, InsideABackwardHookDoesNotDisturbTheOuterOne) {
    const Tensor x = leaf({2});
    const Tensor shared = x * x;
    const Tensor y = shared * 3.0;
    Values inner;
    y.register_hook([&](const Tensor&) -> Tensor {
        const EnableGradGuard guard;
        const Tensor again = shared * 1.0;
        inner = grad(std::span(&again, 1), std::span(&x, 1), {}, true)[0].to_vector();
        return {};
    });
    y.backward();
    EXPECT_EQ(inner, (Values{4}));
    EXPECT_EQ(x.grad().to_vector(), (Values{12}));
}

struct Doubler : nn::Module {
    Doubler() : Module("Doubler") {
        weight = register_parameter("weight", Tensor::from<double>({2}, {1}));
    }
    Tensor forward(const Tensor& x) override { return x * weight; }
    Tensor weight;
};

TEST(ModuleHooks, ForwardHooksSeeAndReplaceInputAndOutput) {
    Doubler module;
    Values seenInput;
    Values seenOutput;
    auto before =
        module.register_forward_pre_hook([](nn::Module&, const Tensor& x) { return x + 1.0; });
    auto after = module.register_forward_hook([&](nn::Module& m, const Tensor& x, const Tensor& y) {
        EXPECT_EQ(&m, &module);
        seenInput = x.to_vector();
        seenOutput = y.to_vector();
        return y * 10.0;
    });
    const Tensor x = Tensor::from<double>({3}, {1});
    EXPECT_EQ(module(x).to_vector(), (Values{80}));
    EXPECT_EQ(seenInput, (Values{4}));
    EXPECT_EQ(seenOutput, (Values{8}));
    before.remove();
    after.remove();
    EXPECT_EQ(module(x).to_vector(), (Values{6}));
    after.remove();
}

TEST(ModuleHooks, FullBackwardHooksGetBothGradients) {
    Doubler module;
    Values in;
    Values out;
    auto handle = module.register_full_backward_hook(
        [&](nn::Module&, const Tensor& gradInput, const Tensor& gradOutput) {
            in = gradInput.to_vector();
            out = gradOutput.to_vector();
            return gradInput * 100.0;
        });
    const Tensor x = leaf({3});
    (module(x) * 5.0).backward();
    EXPECT_EQ(in, (Values{10}));
    EXPECT_EQ(out, (Values{5}));
    EXPECT_EQ(x.grad().to_vector(), (Values{1000}));
    EXPECT_EQ(module.weight.grad().to_vector(), (Values{15}));
    handle.remove();
    x.set_grad({});
    (module(x) * 5.0).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{10}));
}

TEST(ModuleHooks, AnInputWithoutGradientHasNone) {
    Doubler module;
    int calls = 0;
    module.register_full_backward_hook(
        [&](nn::Module&, const Tensor& gradInput, const Tensor& gradOutput) -> Tensor {
            ++calls;
            EXPECT_FALSE(gradInput.defined());
            EXPECT_EQ(gradOutput.to_vector(), (Values{5}));
            return {};
        });
    (module(Tensor::from<double>({3}, {1})) * 5.0).backward();
    EXPECT_EQ(calls, 1);
}

// user case R07: values by PyTorch
TEST(Anomaly, NamesTheOperatorThatMadeTheFirstNan) {
    const auto run = [](const Tensor& a, bool safe) {
        const Tensor zero = wrappedNumber(0.0);
        const Tensor branch = exp(safe ? minimum(a, zero) : a);
        const Tensor out = sum(where(lt(a, zero), branch, a * 2.0 + 1.0));
        out.backward();
        return out;
    };
    const auto f32leaf = [](std::initializer_list<float> values) {
        return Tensor::from<float>(values, {2}).set_requires_grad(true);
    };
    const Tensor a = f32leaf({-1, 90});
    EXPECT_NEAR(run(a, false).item(), 181.36787, 1e-4);
    EXPECT_NEAR(a.grad().to_vector()[0], 0.3678795, 1e-6);
    EXPECT_TRUE(std::isnan(a.grad().to_vector()[1]));

    const DetectAnomaly guard;
    const std::string text = messageOf<AutogradError>([&] { (void)run(f32leaf({-1, 90}), false); });
    EXPECT_NE(text.find("exp backward returned NaN in the gradient of input 0, first at [1] of "
                        "f32[2]; the gradient it was given had none; the forward call stands"),
              std::string::npos)
        << text;
    const Tensor fixed = f32leaf({-1, 90});
    (void)run(fixed, true);
    EXPECT_NEAR(fixed.grad().to_vector()[0], 0.3678795, 1e-6);
    EXPECT_EQ(fixed.grad().to_vector()[1], 2);
    EXPECT_NO_THROW((void)run(f32leaf({-1, 5}), false));
}

}  // namespace
}  // namespace tapescope::engine
