// SPDX-License-Identifier: Apache-2.0
// Numbers at the ends of their range, where a size or an index would overflow.
#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/indexing.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_math.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <gtest/gtest.h>
#include <limits>

namespace tapescope::engine {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(ExtremeArguments, AScaleNearZeroReadsTheLastElement) {
    const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 1, 2, 2});
    for (const char* row : {"upsample_nearest2d", "_upsample_nearest_exact2d"}) {
        const Tensor* inputs[] = {&x};
        const Attrs attrs(Dims{2, 2}, false, false, 0.0, 1e-300, 1e-300);
        const Tensor y = call(row, inputs, attrs)[0];
        EXPECT_EQ(y.to_vector().back(), 4) << row;
    }
}

TEST(ExtremeArguments, AWindowBeyondAnyMemoryIsRefused) {
    const Tensor x = ones({1, 1, 8});
    const auto text = [&](const PoolParams& params) {
        return test::messageOf<ShapeError>([&] { max_pool1d(x, params); });
    };
    EXPECT_EQ(text({.kernel = {2}, .stride = {kMost}}),
              "max_pool1d: stride [9223372036854775807] must be at most 1099511627776");
    EXPECT_EQ(text({.kernel = {2}, .stride = {1}, .dilation = {kMost}}),
              "max_pool1d: dilation [9223372036854775807] must be at most 1099511627776");
}

TEST(ExtremeArguments, ACorrectionMayBeAnyNumber) {
    const Tensor x = Tensor::from<float>({1, 2, 3}, {3}).set_requires_grad(true);
    const Tensor y = var(x, {}, kLeast, false);
    EXPECT_NEAR(y.item(), 2.0 / 9.2233720368547758e18, 1e-24);
    y.backward();
    EXPECT_NEAR(x.grad().to_vector()[2], 2.0 / 9.2233720368547758e18, 1e-24);
}

TEST(ExtremeArguments, DrawingForNoElementIsNoDivision) {
    EXPECT_EQ(bernoulli(zeros({0, 3})).numel(), 0);
    EXPECT_EQ(bernoulli(transpose(zeros({2, 0, 3}), 0, 2)).numel(), 0);
}

TEST(ExtremeArguments, AScatterReadsNoFurtherThanItsSource) {
    const Tensor index = Tensor::from<std::int64_t>({0, 1, 2}, {3});
    const Tensor x = zeros({4});
    EXPECT_EQ(test::messageOf<ShapeError>([&] { scatter(x, 0, index, full({}, 1)); }),
              "scatter: index [3] is larger than source [] in dimension 0");
    EXPECT_EQ(test::messageOf<ShapeError>([&] { scatter_add(x, 0, index, full({}, 1)); }),
              "scatter_add: index [3] is larger than source [] in dimension 0");
}

TEST(ExtremeArguments, AnOrderWithoutEndIsRefused) {
    EXPECT_EQ(test::messageOf<Error>([&] { polygamma(kMost, ones({2})); }),
              "polygamma: the order n = 9223372036854775807 must be at most 1152921504606846976");
}

TEST(ExtremeArguments, MoreMemoryThanTheMachineHasIsRefusedAtOnce) {
    EXPECT_THROW(zeros({std::int64_t{1} << 42}), OutOfMemoryError);
    EXPECT_THROW(contiguous(expand(zeros({1}), {std::int64_t{1} << 42})), OutOfMemoryError);
}

}  // namespace
}  // namespace tapescope::engine
