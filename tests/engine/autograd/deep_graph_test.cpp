// SPDX-License-Identifier: Apache-2.0
// Chains of 100,000 nodes: no recursion anywhere, and no node dearer than in a short chain.
#include "engine/autograd/autograd.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <pthread.h>
#include <vector>

namespace tapescope::engine {
namespace {

constexpr int kDepth = 100000;

Tensor leaf(double value) { return Tensor::from<double>({value}, {1}).set_requires_grad(true); }

/// fn on a thread with a stack of 128 KiB.
void onSmallStack(const std::function<void()>& fn) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{128} << 10U), 0);
    pthread_t thread{};
    auto* copy = new std::function<void()>(fn);
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void* p) -> void* {
                      auto* run = static_cast<std::function<void()>*>(p);
                      (*run)();
                      delete run;
                      return nullptr;
                  },
                  copy),
              0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

TEST(DeepGraph, ForwardBackwardAndDestructionNeedNoStack) {
    onSmallStack([] {
        const Tensor x = leaf(1);
        {
            Tensor y = x;
            for (int i = 0; i < kDepth; ++i) y = y * x;
            y.backward();
            EXPECT_EQ(x.grad().item(), kDepth + 1);
        }
        Tensor dropped = x;
        for (int i = 0; i < kDepth; ++i) dropped = dropped * x;
        dropped = {};
        Tensor y = x;
        for (int i = 0; i < kDepth; ++i) y = exp(y * 0.0);
        const Tensor total = sum(y);
        EXPECT_EQ(grad(std::span(&total, 1), std::span(&x, 1))[0].item(), 0);
    });
}

TEST(DeepGraph, ViewsOfViewsAndWritesInPlaceNeedNoStackEither) {
    onSmallStack([] {
        const Tensor x = leaf(1);
        Tensor view0 = x * 1.0;
        for (int i = 0; i < kDepth; ++i) view0 = view(view0, {1});
        sum(view0).backward();
        EXPECT_EQ(x.grad().item(), 1);
        view0 = {};
        const Tensor y = x * 1.0;
        for (int i = 0; i < kDepth; ++i) add_(y, x);
        y.backward();
        EXPECT_EQ(x.grad().item(), kDepth + 2);
    });
}

TEST(DeepGraph, SecondDerivativesOfAChain) {
    onSmallStack([] {
        constexpr int kShort = 5000;  // the graph of the gradient holds several nodes for each
        const Tensor x = leaf(1);
        Tensor y = x;
        for (int i = 0; i < kShort; ++i) y = y * x;
        const Tensor first = grad(std::span(&y, 1), std::span(&x, 1), {}, true, true)[0];
        EXPECT_EQ(grad(std::span(&first, 1), std::span(&x, 1))[0].item(),
                  double(kShort) * (kShort + 1));
    });
}

double cpuSeconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// CPU time a node of forward, backward and destruction, the best of a few.
double perNode(int depth) {
    const Tensor x = leaf(1);
    double best = 1e9;
    for (int run = 0; run < 5; ++run) {
        const double start = cpuSeconds();
        {
            Tensor y = x;
            for (int i = 0; i < depth; ++i) y = y * x;
            y.backward();
        }
        x.set_grad({});
        best = std::min(best, (cpuSeconds() - start) / depth);
    }
    return best;
}

TEST(DeepGraph, ANodeCostsNotManyTimesMoreThanInAShortChain) {
    // The long chain does not fit the caches; a cost that grew with the depth would be a factor
    // 100.
    EXPECT_LT(perNode(kDepth), 10 * perNode(1000));
}

}  // namespace
}  // namespace tapescope::engine
