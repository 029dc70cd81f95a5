// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/function.h"

#include "engine/autograd/autograd.h"
#include "engine/autograd/gradcheck.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
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

Tensor leaf(std::initializer_list<double> values) {
    return Tensor::from<double>(values, {static_cast<std::int64_t>(values.size())})
        .set_requires_grad(true);
}

/// y = x^by * w, with its gradient written by hand.
struct Power : Function<Power> {
    static Tensor forward(FunctionContext& ctx, const Tensor& x, double by, const Tensor& w) {
        ctx.save_for_backward({x, w});
        ctx.saved_data["by"] = by;
        return pow(x, by) * w;
    }
    static std::vector<Tensor> backward(FunctionContext& ctx, std::vector<Tensor> grads) {
        const std::vector<Tensor> saved = ctx.saved_tensors();
        const double by = std::any_cast<double>(ctx.saved_data["by"]);
        Tensor dx;
        Tensor dw;
        if (ctx.needs_input_grad(0)) dx = grads[0] * saved[1] * pow(saved[0], by - 1) * by;
        if (ctx.needs_input_grad(2)) dw = grads[0] * pow(saved[0], by);
        return {dx, {}, dw};
    }
};

TEST(CustomFunction, ItsBackwardIsUsedAndMayBeDifferentiatedAgain) {
    const Tensor x = leaf({2, 3});
    const Tensor w = leaf({1, 10});
    sum(Power::apply(x, 3.0, w)).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{12, 270}));
    EXPECT_EQ(w.grad().to_vector(), (Values{8, 27}));
    const auto fn = [](std::span<const Tensor> in) {
        return std::vector<Tensor>{Power::apply(in[0], 3.0, in[1])};
    };
    const std::vector<Tensor> inputs{x, w};
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
}

TEST(CustomFunction, OnlyWhatNeedsAGradientIsAskedFor) {
    const Tensor x = Tensor::from<double>({2}, {1});
    const Tensor w = leaf({1});
    Power::apply(x, 2.0, w).backward();
    EXPECT_EQ(w.grad().to_vector(), (Values{4}));
    EXPECT_FALSE(Power::apply(x, 2.0, x).requires_grad());
    const NoGradGuard guard;
    EXPECT_FALSE(Power::apply(x, 2.0, w).requires_grad());
}

/// Keeps its output, not its input.
struct Exponential : Function<Exponential> {
    static constexpr std::string_view name = "my_exp";
    static constexpr bool once_differentiable = true;
    static Tensor forward(FunctionContext& ctx, const Tensor& x) {
        const Tensor y = exp(x);
        ctx.save_for_backward({y});
        return y;
    }
    static std::vector<Tensor> backward(FunctionContext& ctx, std::vector<Tensor> grads) {
        return {grads[0] * ctx.saved_tensors()[0]};
    }
};

TEST(CustomFunction, ASecondDerivativeOfAOnceDifferentiableOneIsRefused) {
    const Tensor x = leaf({0});
    const Tensor y = Exponential::apply(x);
    const Tensor first = grad(std::span(&y, 1), std::span(&x, 1), {}, true, true)[0];
    EXPECT_EQ(first.to_vector(), (Values{1}));
    const std::string text = messageOf<AutogradError>([&] { first.backward(); });
    EXPECT_NE(text.find("my_exp backward: the function is marked once_differentiable"),
              std::string::npos)
        << text;
}

TEST(CustomFunction, WhatItSavedIsCheckedAndFreed) {
    const Tensor x = leaf({0, 1});
    const Tensor y = Exponential::apply(x);
    add_(y, Tensor::scalar(1, DType::F64));
    const std::string text = messageOf<InPlaceError>([&] { sum(y).backward(); });
    EXPECT_NE(text.find("my_exp backward: the output f64[2]"), std::string::npos) << text;

    const Tensor z = Exponential::apply(x);
    sum(z).backward();
    EXPECT_NE(messageOf<AutogradError>([&] { sum(z).backward(); }).find("retain_graph=true"),
              std::string::npos);
    const std::int64_t before = CachingAllocator::cpu().stats().allocatedBytes;
    { const Tensor dropped = Exponential::apply(x); }
    EXPECT_EQ(CachingAllocator::cpu().stats().allocatedBytes, before);
}

struct SplitSign : Function<SplitSign> {
    static std::vector<Tensor> forward(FunctionContext& ctx, const Tensor& x) {
        const Tensor positive = relu(x);
        const Tensor negative = relu(neg(x));
        const Tensor side = sign(x);
        ctx.mark_non_differentiable({side});
        ctx.save_for_backward({x});
        return {positive, negative, side};
    }
    static std::vector<Tensor> backward(FunctionContext& ctx, std::vector<Tensor> grads) {
        const Tensor x = ctx.saved_tensors()[0];
        const Tensor zero = wrappedNumber(0.0);
        return {where(gt(x, zero), grads[0], neg(grads[1]))};
    }
};

TEST(CustomFunction, SeveralOutputsWithAndWithoutGradient) {
    const Tensor x = leaf({-2, 3});
    const std::vector<Tensor> out = SplitSign::apply(x);
    EXPECT_TRUE(out[0].requires_grad());
    EXPECT_FALSE(out[2].requires_grad());
    sum(out[0] * 5.0).backward();  // the other gradient comes as zeros
    EXPECT_EQ(x.grad().to_vector(), (Values{0, 5}));
}

struct ScaleInPlace : Function<ScaleInPlace> {
    static Tensor forward(FunctionContext& ctx, const Tensor& x, double by) {
        mul_(x, Tensor::scalar(by, DType::F64));
        ctx.mark_dirty({x});
        ctx.saved_data["by"] = by;
        return x;
    }
    static std::vector<Tensor> backward(FunctionContext& ctx, std::vector<Tensor> grads) {
        return {grads[0] * std::any_cast<double>(ctx.saved_data["by"]), {}};
    }
};

TEST(CustomFunction, ADirtyInputComesBackWithTheFunctionsHistory) {
    const Tensor x = leaf({1, 2});
    const Tensor h = x * 1.0;
    const Tensor y = ScaleInPlace::apply(h, 4.0);
    EXPECT_TRUE(same(y, h));
    sum(h).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{4, 4}));
    const std::string text = messageOf<AutogradError>([&] { ScaleInPlace::apply(x, 2.0); });
    EXPECT_NE(text.find("a leaf tensor that requires a gradient is marked dirty"),
              std::string::npos)
        << text;
}

struct WrongCount : Function<WrongCount> {
    static Tensor forward(FunctionContext&, const Tensor& a, const Tensor& b) { return a + b; }
    static std::vector<Tensor> backward(FunctionContext&, std::vector<Tensor> grads) {
        return {grads[0]};
    }
};

TEST(CustomFunction, AWrongNumberOfGradientsIsExplained) {
    const Tensor x = leaf({1});
    const std::string text = messageOf<AutogradError>([&] { WrongCount::apply(x, x).backward(); });
    EXPECT_NE(text.find("WrongCount backward: 1 gradients were returned where 2 are due"),
              std::string::npos)
        << text;
}

struct Listener final : Observer {
    std::vector<std::string> lines;
    std::vector<std::uint64_t> ids;
    void onOpBegin(const OpCall& c) override {
        lines.push_back("begin " + std::string(c.op->name));
        if (c.op->name == "Power") ids.push_back(c.id);
        if (c.op->name == "mul" && !c.backward) parentOfMul = c.parentId;
    }
    void onOpEnd(const OpCall& c) override { lines.push_back("end " + std::string(c.op->name)); }
    void onBackwardBegin(const BackwardFrame& f) override {
        lines.push_back("backward " + std::string(f.name));
        backwardOf.push_back(f.forwardId);
    }
    std::uint64_t parentOfMul = 0;
    std::vector<std::uint64_t> backwardOf;
};

TEST(CustomFunction, ObserversSeeOneNamedOperatorAndItsBackward) {
    Context context;
    const ContextScope scope(context);
    const Tensor x = leaf({2});
    Listener listener;
    context.addObserver(listener);
    Power::apply(x, 2.0, x).backward();
    context.removeObserver(listener);
    ASSERT_GE(listener.lines.size(), 7U);
    EXPECT_EQ(listener.lines[0], "begin Power");
    EXPECT_EQ(listener.lines[5], "end Power");
    ASSERT_EQ(listener.ids.size(), 1U);
    EXPECT_EQ(listener.parentOfMul, listener.ids[0]);
    EXPECT_EQ(listener.backwardOf, listener.ids);
}

}  // namespace
}  // namespace tapescope::engine
