// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/dims.h"

#include "engine/errors.h"
#include "engine/text.h"

#include <gtest/gtest.h>

namespace tapescope::engine {
namespace {

TEST(Dims, ARankAboveTheLimitIsRefused) {
    EXPECT_NO_THROW((Dims{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_THROW((Dims{1, 2, 3, 4, 5, 6, 7, 8, 9}), ShapeError);
}

TEST(Dims, NumelRefusesNegativeAndOverflowingShapes) {
    EXPECT_EQ(numelOf({}), 1);
    EXPECT_EQ(numelOf({4, 0, 3}), 0);
    EXPECT_EQ(numelOf({4, 5, 3}), 60);
    EXPECT_THROW((void)numelOf({2, -1}), ShapeError);
    EXPECT_THROW((void)numelOf({std::int64_t{1} << 40, std::int64_t{1} << 40}), ShapeError);
    EXPECT_THROW((void)numelOf({std::int64_t{1} << 62, 4, 0}), ShapeError);
}

TEST(Dims, ContiguousStridesAreRowMajor) {
    EXPECT_EQ(contiguousStrides({2, 3, 4}), (Dims{12, 4, 1}));
    EXPECT_EQ(contiguousStrides({}), Dims{});
}

TEST(Dims, BroadcastingFollowsNumPy) {
    Dims out;
    EXPECT_TRUE(broadcastShapes({2, 1, 4}, {3, 1}, out));
    EXPECT_EQ(out, (Dims{2, 3, 4}));
    EXPECT_TRUE(broadcastShapes({0, 1}, {1, 5}, out));
    EXPECT_EQ(out, (Dims{0, 5}));
    EXPECT_TRUE(broadcastShapes({}, {7}, out));
    EXPECT_EQ(out, (Dims{7}));
    EXPECT_FALSE(broadcastShapes({2, 3}, {4}, out));
}

TEST(NearestNames, OffersWhatWasMeantAndNothingElse) {
    const std::vector<std::string> names{"conv2d", "conv1d", "relu", "max_pool2d"};
    EXPECT_EQ(nearestNames("conv2", names), (std::vector<std::string>{"conv2d"}));
    EXPECT_EQ(nearestNames("Relu", names), (std::vector<std::string>{"relu"}));
    EXPECT_TRUE(nearestNames("transformer", names).empty());
    EXPECT_EQ(didYouMean("conv2", names), "; did you mean conv2d?");
    EXPECT_EQ(didYouMean("", names), "");
}

}  // namespace
}  // namespace tapescope::engine
