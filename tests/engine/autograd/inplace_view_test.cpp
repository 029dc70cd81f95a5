// SPDX-License-Identifier: Apache-2.0
// In-place writes, views and versions. Values by PyTorch 2.
#include "engine/autograd/autograd.h"
#include "engine/autograd/gradcheck.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_inplace.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "tests/engine/ops/message_of.h"

#include <functional>
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
Tensor leaf(std::initializer_list<double> values, const Dims& sizes) {
    return f64(values, sizes).set_requires_grad(true);
}

TEST(InPlaceOnView, TheBaseTakesPartAndTheWrittenPartGoesThroughTheOperator) {
    const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
    const Tensor w = leaf({10, 20}, {2});
    const Tensor base = x * 1.0;
    mul_(select(base, 0, 0), w);
    EXPECT_EQ(base.to_vector(), (Values{10, 40, 3, 4}));
    sum(base).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{10, 20, 1, 1}));
    EXPECT_EQ(w.grad().to_vector(), (Values{1, 2}));
}

TEST(InPlaceOnView, ABaseThatNeededNoGradientGetsOne) {
    const Tensor w = leaf({2, 3}, {2});
    const Tensor base = zeros({3}, {.dtype = DType::F64});
    copy_(narrow(base, 0, 1, 2), w);
    EXPECT_TRUE(base.requires_grad());
    EXPECT_FALSE(base.is_leaf());
    sum(base * f64({1, 10, 100}, {3})).backward();
    EXPECT_EQ(w.grad().to_vector(), (Values{10, 100}));
}

TEST(InPlaceOnView, OtherViewsOfTheBaseSeeItsNewHistory) {
    const Tensor w = leaf({5}, {1});
    const Tensor base = zeros({4}, {.dtype = DType::F64});
    const Tensor early = narrow(base, 0, 0, 2);
    EXPECT_FALSE(early.requires_grad());
    add_(narrow(base, 0, 1, 1), w);
    EXPECT_TRUE(early.requires_grad());
    EXPECT_FALSE(early.is_leaf());
    sum(early * f64({7, 8}, {2})).backward();
    EXPECT_EQ(w.grad().to_vector(), (Values{8}));
}

TEST(InPlaceOnView, AWriteToTheBaseReachesItsViews) {
    const Tensor w = leaf({3}, {1});
    const Tensor base = ones({2}, {.dtype = DType::F64});
    const Tensor view0 = select(base, 0, 0);
    mul_(base, w);
    EXPECT_TRUE(view0.requires_grad());
    (view0 * 4.0).backward();
    EXPECT_EQ(w.grad().to_vector(), (Values{4}));
}

TEST(InPlaceOnView, ViewsOfViewsGoBackToOneBase) {
    const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
    const Tensor base = x * 2.0;
    const Tensor inner = select(transpose(base, 0, 1), 0, 1);  // column 1
    EXPECT_TRUE(same(inner.base(), base));
    mul_(inner, Tensor::scalar(10, DType::F64));
    EXPECT_EQ(base.to_vector(), (Values{2, 40, 6, 8, 100, 12}));
    sum(base).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{2, 20, 2, 2, 20, 2}));
}

TEST(InPlaceOnView, FillingAPartCutsItsGradient) {
    const Tensor x = leaf({1, 2, 3}, {3});
    const Tensor base = x * 3.0;
    zero_(select(base, 0, 1));
    sum(base).backward();
    EXPECT_EQ(x.grad().to_vector(), (Values{3, 0, 3}));
}

TEST(InPlaceOnView, FirstAndSecondDerivativesMatchFiniteDifferences) {
    const auto fn = [](std::span<const Tensor> in) {
        const Tensor base = in[0] * in[0];
        mul_(narrow(base, 0, 1, 2), in[1]);
        add_(select(base, 0, 0), select(base, 0, 1));
        return std::vector<Tensor>{base * base};
    };
    const std::vector<Tensor> inputs{leaf({0.5, -1, 2}, {3}), leaf({1.5, 0.7}, {2})};
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
}

TEST(InPlaceOnView, NothingIsHeldByItself) {
    const std::int64_t before = CachingAllocator::cpu().stats().allocatedBytes;
    {
        const Tensor x = leaf({1, 2}, {2});
        const Tensor base = x * 1.0;
        mul_(select(base, 0, 0), select(base, 0, 1));
        mul_(select(base, 0, 1), sum(base));
    }
    EXPECT_EQ(CachingAllocator::cpu().stats().allocatedBytes, before);
}

TEST(InPlaceOnView, AViewOfALeafIsRefused) {
    const Tensor x = leaf({1, 2}, {2});
    const std::string text = messageOf<AutogradError>([&] { mul_(select(x, 0, 0), x); });
    EXPECT_NE(text.find("a view of a leaf tensor that requires a gradient is written in place"),
              std::string::npos)
        << text;
}

TEST(InPlaceOnView, AViewMadeUnderNoGradIsAmbiguous) {
    const Tensor w = leaf({2}, {1});
    const Tensor base = ones({2}, {.dtype = DType::F64});
    Tensor view0;
    {
        const NoGradGuard guard;
        view0 = narrow(base, 0, 0, 1);
        EXPECT_NO_THROW(add_(view0, w));
    }
    const std::string text = messageOf<AutogradError>([&] { mul_(view0, w); });
    EXPECT_NE(text.find("a view made under NoGradGuard"), std::string::npos) << text;
}

TEST(InPlaceOnView, ADetachedViewIsOnItsOwn) {
    const Tensor w = leaf({2}, {1});
    const Tensor base = ones({2}, {.dtype = DType::F64});
    const Tensor cut = narrow(base, 0, 0, 1).detach();
    mul_(cut, w);
    EXPECT_FALSE(base.requires_grad());
    EXPECT_EQ(base.to_vector(), (Values{2, 1}));
}

TEST(InPlaceOnView, AnOverwrittenSavedViewIsStillAnError) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor base = x * 1.0;
    const Tensor y = sum(select(base, 0, 0) * select(base, 0, 1));
    add_(select(base, 0, 1), Tensor::scalar(1, DType::F64));
    EXPECT_THROW(y.backward(), InPlaceError);
}

TEST(InPlace, ARetainedGradientFollowsTheTensorToItsNewHistory) {
    const Tensor x = leaf({1, 2}, {2});
    const Tensor y = x * 2.0;
    y.retain_grad();
    mul_(y, Tensor::scalar(3, DType::F64));
    sum(y).backward();
    EXPECT_EQ(y.grad().to_vector(), (Values{1, 1}));
    EXPECT_EQ(x.grad().to_vector(), (Values{6, 6}));
    {
        Tensor gone = x * 2.0;
        gone.retain_grad();
        mul_(gone, Tensor::scalar(3, DType::F64));
        const Tensor z = gone * 1.0;
        gone = {};
        EXPECT_NO_THROW(sum(z).backward());
    }
}

TEST(InPlace, DetachInPlaceMakesALeaf) {
    const Tensor x = leaf({1, 2}, {2});
    Tensor y = x * 2.0;
    y.detach_();
    EXPECT_TRUE(y.is_leaf());
    EXPECT_FALSE(y.requires_grad());
    Tensor view0 = select(x * 2.0, 0, 0);
    EXPECT_THROW(view0.detach_(), AutogradError);
}

// user case R06
TEST(InPlace, AnActivationInPlaceGivesTheSameGradient) {
    for (const bool inPlace : {false, true}) {
        const Tensor x = leaf({-1, 2, 3}, {3});
        const Tensor u = x * 2.0;
        const Tensor v = inPlace ? relu_(u) : relu(u);
        sum(v * f64({1, 10, 100}, {3})).backward();
        EXPECT_EQ(x.grad().to_vector(), (Values{0, 20, 200}));
    }
}

TEST(InferenceMode, ItsTensorsStayOutOfEveryGraph) {
    const Tensor w = leaf({2, 3}, {2});
    Tensor made;
    Tensor viewOfNormal;
    {
        const InferenceMode guard;
        EXPECT_FALSE(grad_enabled());
        made = w * 2.0;
        EXPECT_TRUE(made.is_inference());
        EXPECT_TRUE(select(made, 0, 0).is_inference());
        viewOfNormal = narrow(w, 0, 0, 1);
        EXPECT_FALSE(viewOfNormal.is_inference());
        EXPECT_NO_THROW(add_(made, made));
        {
            const InferenceMode off(false);
            EXPECT_TRUE(grad_enabled());
            EXPECT_FALSE((w * 2.0).is_inference());
        }
        EXPECT_TRUE(is_inference_mode_enabled());
    }
    EXPECT_FALSE(is_inference_mode_enabled());
    std::string text = messageOf<AutogradError>([&] { (void)(w * made); });
    EXPECT_NE(text.find("was made in inference mode and cannot be saved for backward"),
              std::string::npos)
        << text;
    EXPECT_EQ((w + made).to_vector(), (Values{10, 15}));  // nothing to save
    text = messageOf<AutogradError>([&] { add_(made, w); });
    EXPECT_NE(text.find("written in place outside it"), std::string::npos) << text;
    EXPECT_THROW(made.set_requires_grad(true), AutogradError);
    Tensor normal = clone(made);
    EXPECT_FALSE(normal.is_inference());
    EXPECT_NO_THROW(normal.set_requires_grad(true));
}

TEST(GradMode, GuardsNestAndTheSwitchLastsToTheEndOfTheGuard) {
    const Tensor x = leaf({1}, {1});
    {
        const NoGradGuard off;
        EXPECT_FALSE((x * 2.0).requires_grad());
        {
            const EnableGradGuard on;
            EXPECT_TRUE((x * 2.0).requires_grad());
            set_grad_enabled(false);
            EXPECT_FALSE((x * 2.0).requires_grad());
        }
        EXPECT_FALSE(grad_enabled());
        set_grad_enabled(true);
    }
    EXPECT_TRUE(grad_enabled());
}

TEST(InPlace, AnOperandThatSharesTheTargetsMemoryKeepsItsValuesForBackward) {
    const auto gradient = [](const std::function<void(const Tensor&)>& write) {
        const Tensor x = full({2}, 3, {.requires_grad = true});
        const Tensor y = x * 1.0;
        write(y);
        sum(y).backward();
        return x.grad().to_vector();
    };
    // d x^2 = 2 x; d (x + x^2) = 1 + 2 x; d (x / x) = 0.
    EXPECT_EQ(gradient([](const Tensor& y) { mul_(y, y); }), (Values{6, 6}));
    EXPECT_EQ(gradient([](const Tensor& y) { mul_(y, view(y, {2})); }), (Values{6, 6}));
    EXPECT_EQ(gradient([](const Tensor& y) { addcmul_(y, y, y); }), (Values{7, 7}));
    EXPECT_EQ(gradient([](const Tensor& y) { div_(y, y); }), (Values{0, 0}));
}

}  // namespace
}  // namespace tapescope::engine
