// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/checkpoint.h"

#include "engine/amp/autocast.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/saved_hooks.h"
#include "engine/errors.h"
#include "engine/nn/activations.h"
#include "engine/nn/checkpoint.h"
#include "engine/nn/containers.h"
#include "engine/nn/linear.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/op_def.h"
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
std::int64_t allocated() { return CachingAllocator::cpu().stats().allocatedBytes; }

TEST(SavedTensorsHooks, PackGetsWhatIsKeptAndUnpackBringsItBack) {
    const Tensor x = leaf({2, 3});
    int packed = 0;
    int unpacked = 0;
    Tensor y;
    {
        const SavedTensorsHooks hooks(
            [&](const Tensor& t) -> std::any {
                ++packed;
                EXPECT_FALSE(t.requires_grad());
                return t.to_vector();
            },
            [&](const std::any& values) {
                ++unpacked;
                return Tensor::from<double>(std::any_cast<const Values&>(values), {2});
            });
        y = sum(x * x * x);
    }
    EXPECT_EQ(packed, 4);
    EXPECT_EQ(unpacked, 0);
    const Tensor g = grad(std::span(&y, 1), std::span(&x, 1), {}, true, true)[0];
    EXPECT_EQ(g.to_vector(), (Values{12, 27}));
    EXPECT_EQ(unpacked, 4);
    sum(g).backward();  // through what was unpacked
    EXPECT_EQ(x.grad().to_vector(), (Values{12, 18}));
}

TEST(Checkpoint, GivesTheSameValuesAndGradients) {
    const Tensor w = leaf({0.5, -1, 2});
    const auto fn = [&](const Tensor& x) { return tanh(exp(x * w) * x); };
    const Tensor a = leaf({0.1, 0.2, 0.3});
    sum(fn(a)).backward();
    const Values plain = w.grad().to_vector();
    w.set_grad({});
    const Tensor b = leaf({0.1, 0.2, 0.3});
    const Tensor y = checkpoint(fn, b);
    EXPECT_EQ(y.to_vector(), fn(a).to_vector());
    sum(y).backward();
    EXPECT_EQ(b.grad().to_vector(), a.grad().to_vector());
    EXPECT_EQ(w.grad().to_vector(), plain);
}

TEST(Checkpoint, HoldsItsInputsOnly) {
    constexpr std::int64_t kCount = 1 << 16;
    const auto fn = [](const Tensor& x) {
        Tensor y = x;
        for (int i = 0; i < 20; ++i) y = tanh(y);
        return y;
    };
    const Tensor x = rand({kCount}, {.requires_grad = true});
    const std::int64_t before = allocated();
    const auto held = [&](const auto& run) {
        const Tensor y = run();
        return allocated() - before;
    };
    constexpr std::int64_t kBytes = kCount * 4;
    EXPECT_EQ(held([&] { return fn(x); }), 20 * kBytes);
    EXPECT_EQ(held([&] { return checkpoint(fn, x); }), kBytes);
    EXPECT_EQ(allocated(), before);

    // Four parts: backward holds one part's tensors at a time.
    const auto peak = [&](const auto& run) {
        CachingAllocator::cpu().resetPeaks();
        x.set_grad({});
        sum(run()).backward();
        return CachingAllocator::cpu().stats().peakAllocatedBytes - before;
    };
    const std::vector<std::function<Tensor(const Tensor&)>> parts(4, fn);
    const std::int64_t whole = peak([&] { return fn(fn(fn(fn(x)))); });
    const std::int64_t split = peak([&] { return checkpoint_sequential(parts, 4, x); });
    EXPECT_GE(whole, 80 * kBytes);
    EXPECT_LE(split, 30 * kBytes);
}

TEST(Checkpoint, DrawsTheSameRandomNumbersAgain) {
    Context::current().generator().manual_seed(3);
    const Tensor x = ones({64}, {.requires_grad = true});
    const Tensor y = checkpoint([](const Tensor& t) { return dropout(t * 2.0, 0.5, true) * t; }, x);
    const Generator::State after = Context::current().generator().state();
    (void)rand({2});
    const Generator::State later = Context::current().generator().state();
    sum(y).backward();
    EXPECT_EQ(Context::current().generator().state(), later);
    EXPECT_NE(after, later);
    // y = 2 m x^2 with the mask m, so at x = 1 the slope is twice the value, element by element.
    const Values value = y.to_vector();
    const Values slope = x.grad().to_vector();
    for (std::size_t i = 0; i < value.size(); ++i) EXPECT_EQ(slope[i], 2 * value[i]);
}

TEST(Checkpoint, EndsRunningAgainOnceAllIsThere) {
    int begun = 0;
    int finished = 0;
    const auto fn = [&](const Tensor& x) {
        ++begun;
        Tensor y = exp(x) * 2.0;
        ++finished;
        return y + 1.0;
    };
    const Tensor x = leaf({1});
    checkpoint(fn, x).backward();
    EXPECT_EQ(begun, 2);
    EXPECT_EQ(finished, 1);
    checkpoint(fn, x, {.early_stop = false}).backward();
    EXPECT_EQ(begun, 4);
    EXPECT_EQ(finished, 3);
}

TEST(Checkpoint, WorksTwiceWithARetainedGraphAndForSecondDerivatives) {
    const Tensor x = leaf({2});
    const Tensor y = checkpoint([](const Tensor& t) { return t * t * t; }, x);
    y.backward({}, true);
    y.backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{24}));
    const Tensor z = checkpoint([](const Tensor& t) { return t * t * t; }, x);
    const Tensor first = grad(std::span(&z, 1), std::span(&x, 1), {}, true, true)[0];
    EXPECT_EQ(grad(std::span(&first, 1), std::span(&x, 1))[0].to_vector(), (Values{12}));
}

TEST(Checkpoint, Nests) {
    constexpr std::int64_t kCount = 1 << 14;
    const Tensor x = rand({kCount}, {.requires_grad = true});
    const auto inner = [](const Tensor& t) { return tanh(exp(tanh(t))); };
    const auto outer = [&](const Tensor& t) {
        return checkpoint(inner, checkpoint(inner, t * 0.5)) * t;
    };
    sum(outer(x)).backward();
    const Values due = x.grad().to_vector();
    x.set_grad({});
    const std::int64_t before = allocated();
    {
        const Tensor y = checkpoint(outer, x);
        EXPECT_EQ(allocated() - before, kCount * 4);
        sum(y).backward();
    }
    EXPECT_EQ(x.grad().to_vector(), due);
    x.set_grad({});
    EXPECT_EQ(allocated(), before);
}

TEST(Checkpoint, TakesAndReturnsSeveral) {
    const Tensor a = leaf({2});
    const Tensor b = leaf({3});
    const std::vector<Tensor> inputs{a, b};
    const std::vector<Tensor> out = checkpoint(
        [](std::span<const Tensor> in) {
            return std::vector<Tensor>{in[0] * in[1], exp(in[0])};
        },
        inputs);
    (out[0] * 10.0).backward({}, true);
    EXPECT_EQ(a.grad().to_vector(), (Values{30}));
    EXPECT_EQ(b.grad().to_vector(), (Values{20}));
}

TEST(Checkpoint, AnotherShapeTheSecondTimeIsExplained) {
    int run = 0;
    const Tensor x = leaf({1, 2, 3});
    const Tensor y = checkpoint(
        [&](const Tensor& t) {
            const Tensor part = ++run == 1 ? narrow(t, 0, 0, 2) : t;
            return sum(exp(part));
        },
        x);
    const std::string text = messageOf<AutogradError>([&] { y.backward(); });
    EXPECT_NE(text.find("tensor 0 that forward saved is f64[2] from exp at "), std::string::npos)
        << text;
    EXPECT_NE(text.find("running it again gave f64[3] from exp"), std::string::npos) << text;
    EXPECT_NE(text.find("the function must do the same work each time"), std::string::npos);
}

TEST(Checkpoint, FewerTensorsTheSecondTimeIsExplained) {
    int run = 0;
    const Tensor x = leaf({1, 2});
    const Tensor y =
        checkpoint([&](const Tensor& t) { return ++run == 1 ? tanh(exp(t)) : exp(t); }, x);
    const std::string text = messageOf<AutogradError>([&] { sum(y).backward(); });
    EXPECT_NE(text.find("forward saved 2 tensors, running it again only 1: what tanh"),
              std::string::npos)
        << text;
}

TEST(Checkpoint, RunsAgainUnderTheAutocastThatForwardHad) {
    const Tensor x = rand({4, 8}, {.requires_grad = true});
    const Tensor w = rand({8, 8}, {.requires_grad = true});
    Tensor plain;
    Tensor parted;
    std::vector<DType> types;
    const auto fn = [&](const Tensor& t) {
        const Tensor y = tanh(matmul(t, w));
        types.push_back(y.dtype());
        return matmul(y, w);
    };
    {
        const amp::AutocastGuard guard;
        plain = sum(fn(x));
    }
    plain.backward();
    const Values dx = x.grad().to_vector();
    const Values dw = w.grad().to_vector();
    x.set_grad({});
    w.set_grad({});
    {
        const amp::AutocastGuard guard;
        parted = sum(checkpoint(fn, x));
    }
    parted.backward();
    EXPECT_EQ(types, (std::vector<DType>(3, DType::BF16)));
    EXPECT_EQ(x.grad().to_vector(), dx);
    EXPECT_EQ(w.grad().to_vector(), dw);
}

TEST(Checkpoint, WithoutGradientsItIsThePlainCall) {
    int run = 0;
    const NoGradGuard guard;
    const Tensor y = checkpoint(
        [&](const Tensor& t) {
            ++run;
            return exp(t);
        },
        leaf({0}));
    EXPECT_EQ(run, 1);
    EXPECT_FALSE(y.requires_grad());
}

struct SiteListener final : Observer {
    std::vector<std::uint32_t> lines;
    int begins = 0;
    int ends = 0;
    void onOpBegin(const OpCall& c) override {
        ++begins;
        if (c.op->name == "exp") lines.push_back(c.site.line);
    }
    void onOpEnd(const OpCall&) override { ++ends; }
};

TEST(Checkpoint, OperatorsRunAgainKeepTheirPlacesAndAreToldToTheirEnd) {
    Context context;
    const ContextScope scope(context);
    SiteListener listener;
    context.addObserver(listener);
    const Tensor x = leaf({1});
    checkpoint([](const Tensor& t) { return exp(t); }, x).backward();
    context.removeObserver(listener);
    ASSERT_EQ(listener.lines.size(), 2U);
    EXPECT_EQ(listener.lines[0], listener.lines[1]);
    EXPECT_EQ(listener.begins, listener.ends);
}

TEST(CheckpointSequential, IsTheContainerInParts) {
    Context::current().generator().manual_seed(1);
    nn::Sequential net(nn::make<nn::Linear>(4, 8), nn::make<nn::ReLU>(), nn::make<nn::Linear>(8, 8),
                       nn::make<nn::ReLU>(), nn::make<nn::Linear>(8, 2));
    const Tensor x = rand({3, 4});
    sum(net(x)).backward();
    std::vector<Values> due;
    for (const Tensor& p : net.parameters()) due.push_back(p.grad().to_vector());
    for (const std::int64_t segments : {1, 2, 5}) {
        net.zero_grad();
        sum(nn::checkpoint_sequential(net, segments, x)).backward();
        std::size_t i = 0;
        for (const Tensor& p : net.parameters()) EXPECT_EQ(p.grad().to_vector(), due[i++]);
    }
    EXPECT_THROW(nn::checkpoint_sequential(net, 6, x), Error);
    EXPECT_THROW(nn::checkpoint_sequential(net, 0, x), Error);
}

}  // namespace
}  // namespace tapescope::engine
