// SPDX-License-Identifier: Apache-2.0
#include "engine/amp/grad_scaler.h"

#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"
#include "engine/optim/adaptive.h"
#include "engine/optim/lr_scheduler.h"
#include "engine/optim/momentum.h"
#include "engine/optim/sgd.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tapescope::engine::amp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor parameter(double value) { return full({3}, value, {.requires_grad = true}); }

std::string errorOf(const auto& fn) {
    try {
        fn();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(GradScaler, StepsWithUnscaledGradients) {
    const Tensor w = parameter(1.0);
    optim::SGD sgd({w}, {.lr = 0.5});
    GradScaler scaler({.init_scale = 1024});
    const Tensor scaled = scaler.scale(sum(mul(w, w)));
    EXPECT_EQ(scaled.item(), 3 * 1024);
    scaled.backward();
    EXPECT_EQ(w.grad().to_vector(), (std::vector<double>{2048, 2048, 2048}));
    scaler.unscale_(sgd);
    EXPECT_EQ(w.grad().to_vector(), (std::vector<double>{2, 2, 2}));
    EXPECT_TRUE(scaler.step(sgd));
    scaler.update();
    EXPECT_EQ(w.to_vector(), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(scaler.get_scale(), 1024);
    EXPECT_EQ(scaler.growth_tracker(), 1);
}

TEST(GradScaler, PassesOverAStepWithInfOrNanAndBacksOff) {
    for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
        const Tensor w = parameter(1.0);
        optim::Adam adam({w}, {.lr = 0.1});
        GradScaler scaler({.init_scale = 8, .backoff_factor = 0.25});
        scaler.scale(sum(w)).backward();
        w.grad().data<float>()[1] = static_cast<float>(bad);
        EXPECT_FALSE(scaler.step(adam));
        EXPECT_TRUE(scaler.found_inf(adam));
        scaler.update();
        EXPECT_EQ(w.to_vector(), (std::vector<double>{1, 1, 1}));
        EXPECT_EQ(scaler.get_scale(), 2);
        EXPECT_EQ(scaler.growth_tracker(), 0);
        EXPECT_FALSE(scaler.found_inf(adam));
    }
}

TEST(GradScaler, GrowsAfterAnIntervalWithoutOverflowAndNeverToInfinity) {
    const Tensor w = parameter(1.0);
    optim::SGD sgd({w}, {.lr = 0.0});
    GradScaler scaler({.init_scale = 2, .growth_factor = 4, .growth_interval = 2});
    std::vector<double> scales;
    for (int i = 0; i < 5; ++i) {
        sgd.zero_grad();
        scaler.scale(sum(w)).backward();
        scaler.step(sgd);
        scaler.update();
        scales.push_back(scaler.get_scale());
    }
    EXPECT_EQ(scales, (std::vector<double>{2, 8, 8, 32, 32}));
    // A number sets it; beyond float32 it does not grow.
    scaler.update(3e38);
    scaler.set_growth_interval(1);
    sgd.zero_grad();
    scaler.scale(sum(mul(w, 0.0))).backward();
    scaler.step(sgd);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), static_cast<double>(3e38F));
}

TEST(GradScaler, RefusesCallsOutOfOrderWithPyTorchsSentences) {
    const Tensor w = parameter(1.0);
    optim::SGD sgd({w}, {.lr = 0.1});
    GradScaler scaler;
    const std::string none =
        " but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
        "outputs) earlier in the iteration.";
    EXPECT_EQ(errorOf([&] { scaler.unscale_(sgd); }), "Attempted unscale_" + none);
    EXPECT_EQ(errorOf([&] { scaler.step(sgd); }), "Attempted step" + none);
    EXPECT_EQ(errorOf([&] { scaler.update(); }), "Attempted update" + none);
    const Tensor loss = scaler.scale(sum(w));
    EXPECT_EQ(errorOf([&] { scaler.step(sgd); }),
              "No inf checks were recorded for this optimizer.");
    EXPECT_EQ(errorOf([&] { scaler.update(); }), "No inf checks were recorded prior to update.");
    GradScaler other;
    other.scale(sum(w)).backward();
    other.unscale_(sgd);
    EXPECT_EQ(errorOf([&] { other.unscale_(sgd); }),
              "unscale_() has already been called on this optimizer since the last update().");
    other.step(sgd);
    EXPECT_EQ(errorOf([&] { other.step(sgd); }),
              "step() has already been called since the last update().");
    EXPECT_EQ(errorOf([&] { other.unscale_(sgd); }), "unscale_() is being called after step().");
    other.update();
    EXPECT_TRUE(other.step(sgd));
    EXPECT_EQ(errorOf([] { GradScaler({.growth_factor = 1.0}); }),
              "The growth factor must be > 1.0.");
    EXPECT_EQ(errorOf([] { GradScaler({.backoff_factor = 1.0}); }),
              "The backoff factor must be < 1.0.");
}

TEST(GradScaler, RefusesFloat16Parameters) {
    const Tensor w = full({2}, 1, {.dtype = DType::F16, .requires_grad = true});
    optim::SGD sgd({w}, {.lr = 0.1});
    GradScaler scaler({.init_scale = 2});
    scaler.scale(sum(w)).backward();
    EXPECT_EQ(errorOf([&] { scaler.step(sgd); }), "Attempting to unscale FP16 gradients.");
}

TEST(GradScaler, UnscalesBFloat16ParametersAndSeveralOptimizers) {
    const Tensor a = full({2}, 1, {.dtype = DType::BF16, .requires_grad = true});
    const Tensor b = parameter(1.0);
    optim::SGD first({a}, {.lr = 1.0});
    optim::SGD second({b}, {.lr = 1.0});
    GradScaler scaler({.init_scale = 16});
    const std::vector<Tensor> losses = scaler.scale(std::vector<Tensor>{sum(a), sum(b)});
    for (const Tensor& loss : losses) loss.backward();
    b.grad().data<float>()[0] = INFINITY;
    EXPECT_TRUE(scaler.step(first));
    EXPECT_FALSE(scaler.step(second));
    scaler.update();
    EXPECT_EQ(a.to_vector(), (std::vector<double>{0, 0}));
    EXPECT_EQ(b.to_vector(), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(scaler.get_scale(), 8);
}

TEST(GradScaler, DisabledOnlyPassesThrough) {
    const Tensor w = parameter(1.0);
    optim::SGD sgd({w}, {.lr = 0.5});
    GradScaler scaler({.enabled = false});
    const Tensor loss = sum(w);
    EXPECT_TRUE(same(scaler.scale(loss), loss));
    loss.backward();
    scaler.unscale_(sgd);
    EXPECT_TRUE(scaler.step(sgd));
    scaler.update();
    EXPECT_EQ(w.to_vector(), (std::vector<double>{0.5, 0.5, 0.5}));
    EXPECT_EQ(scaler.get_scale(), 1);
    EXPECT_FALSE(scaler.state_dict());
    scaler.load_state_dict({});
}

TEST(GradScaler, RestoresItsState) {
    GradScaler scaler({.init_scale = 4, .growth_factor = 3, .backoff_factor = 0.1});
    const Tensor w = parameter(1.0);
    optim::SGD sgd({w}, {.lr = 0.0});
    scaler.scale(sum(w)).backward();
    scaler.step(sgd);
    scaler.update();
    const auto state = scaler.state_dict();
    ASSERT_TRUE(state);
    EXPECT_EQ(*state, (GradScaler::State{4, 3, 0.1, 2000, 1}));
    GradScaler restored;
    restored.load_state_dict(state);
    EXPECT_EQ(restored.state_dict(), state);
    EXPECT_EQ(errorOf([&] { restored.load_state_dict({}); }),
              "The source state dict is empty, possibly because it was saved from a disabled "
              "instance of GradScaler.");
}

template <class T>
class GradScalerWith : public testing::Test {};
using Optimizers = testing::Types<optim::SGD, optim::Adam, optim::AdamW, optim::RMSprop,
                                  optim::Adagrad, optim::Adadelta, optim::Adamax, optim::Rprop,
                                  optim::NAdam, optim::RAdam, optim::Lion, optim::ASGD>;
TYPED_TEST_SUITE(GradScalerWith, Optimizers);

/// w after four iterations of which the second overflows if `overflow`; scale 1 for none.
template <class T>
std::vector<double> trained(double scale, bool overflow, bool skipped) {
    const Tensor w = Tensor::from<float>({1.0F, -2.0F, 0.5F}, {3}).set_requires_grad(true);
    T optimizer({w}, {.lr = 0.0625});
    GradScaler scaler({.init_scale = scale, .backoff_factor = 0.5});
    for (int i = 0; i < 4; ++i) {
        if (i == 1 && skipped) continue;
        optimizer.zero_grad();
        scaler.scale(sum(mul(square(w), 0.5))).backward();
        if (i == 1 && overflow) w.grad().template data<float>()[2] = INFINITY;
        EXPECT_EQ(scaler.step(optimizer), !(i == 1 && overflow));
        scaler.update();
    }
    return w.to_vector();
}
TYPED_TEST(GradScalerWith, TheOptimizerStepsAsWithoutScalingAndNotAtAllOnOverflow) {
    // Powers of two scale and unscale without rounding.
    const std::vector<double> plain = trained<TypeParam>(1, false, false);
    EXPECT_NE(plain, (std::vector<double>{1, -2, 0.5}));
    EXPECT_EQ(trained<TypeParam>(65536, false, false), plain);
    EXPECT_EQ(trained<TypeParam>(65536, true, false), trained<TypeParam>(1, false, true));
}

/// User case R11: the true gradient of w is 2, stored as float16 after scaling.
struct SkippedSteps {
    std::vector<double> scales;
    std::vector<bool> stepped;
    double firstChange = 0;
    std::int64_t drift = 0;
};
SkippedSteps runSkippedSteps(bool scheduleAlways) {
    SkippedSteps result;
    const Tensor w = full({}, 1, {.requires_grad = true});
    optim::SGD sgd({w}, {.lr = 0.1});
    optim::StepLR schedule(sgd, 1, 0.5);
    GradScaler scaler;
    std::int64_t steps = 0;
    for (int i = 0; i < 3; ++i) {
        result.scales.push_back(scaler.get_scale());
        sgd.zero_grad();
        scaler.scale(mul(to(w, DType::F16), 2.0)).backward();
        const double before = w.item();
        const bool stepped = scaler.step(sgd);
        scaler.update();
        result.stepped.push_back(stepped);
        if (stepped && ++steps == 1) result.firstChange = w.item() - before;
        if (stepped || scheduleAlways) schedule.step();
    }
    result.scales.push_back(scaler.get_scale());
    result.drift = schedule.last_epoch() - steps;
    return result;
}
TEST(UserCaseR11, SkippedStepsLetTheScheduleRunAhead) {
    EXPECT_EQ(to(Tensor::scalar(65519), DType::F16).item(), 65504);
    EXPECT_EQ(to(Tensor::scalar(65520), DType::F16).item(), kInfinity);
    const SkippedSteps naive = runSkippedSteps(true);
    EXPECT_EQ(naive.scales, (std::vector<double>{65536, 32768, 16384, 16384}));
    EXPECT_EQ(naive.stepped, (std::vector<bool>{false, false, true}));
    EXPECT_NEAR(naive.firstChange, -0.05, 1e-7);
    EXPECT_EQ(naive.drift, 2);
    const SkippedSteps correct = runSkippedSteps(false);
    EXPECT_EQ(correct.scales, naive.scales);
    EXPECT_EQ(correct.stepped, naive.stepped);
    EXPECT_NEAR(correct.firstChange, -0.2, 1e-7);
    EXPECT_EQ(correct.drift, 0);
}

TEST(UserCaseR12, BFloat16WeightsSwallowEveryUpdate) {
    const Tensor step = to(Tensor::scalar(0.001), DType::BF16);
    Tensor w = to(Tensor::scalar(1), DType::BF16);
    Tensor twin = Tensor::scalar(1);
    int lost = 0;
    for (int i = 0; i < 1000; ++i) {
        const Tensor next = sub(w, step);
        lost += next.item() == w.item() ? 1 : 0;
        w = next;
        twin = sub(twin, Tensor::scalar(0.001));
    }
    EXPECT_EQ(w.item(), 1.0);
    EXPECT_EQ(lost, 1000);
    EXPECT_NEAR(twin.item(), 0, 1e-4);
    const auto after = [](double update) {
        return sub(to(Tensor::scalar(1), DType::BF16), to(Tensor::scalar(update), DType::BF16))
            .item();
    };
    EXPECT_EQ(after(0.00196), 1.0);  // rounds to 2^-9, a tie
    EXPECT_EQ(after(0.002), 0.99609375);
    EXPECT_EQ(to(Tensor::scalar(0.00196), DType::BF16).item(), 0x1p-9);
}

}  // namespace
}  // namespace tapescope::engine::amp
