// SPDX-License-Identifier: Apache-2.0
#include "engine/data/loader.h"

#include "engine/data/shuffle.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/op_def.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

namespace tapescope::engine::data {
namespace {

/// Row i is (i, 10·i) with target i.
TensorDataset counted(std::int64_t size) {
    const Tensor index = arange(0, static_cast<double>(size));
    const Tensor column = to(reshape(index, {-1, 1}), DType::F32);
    const std::vector<Tensor> columns{column, mul(column, 10)};
    return {cat(columns, 1), index};
}

std::vector<std::int64_t> epochOf(DataLoader& loader) {
    std::vector<std::int64_t> seen;
    for (const Batch& batch : loader) {
        const std::vector<std::int64_t> targets = batch.target.to_vector<std::int64_t>();
        const std::vector<float> rows = batch.input.to_vector<float>();
        for (std::size_t i = 0; i < targets.size(); ++i) {
            EXPECT_EQ(rows[2 * i], static_cast<float>(targets[i]));
            EXPECT_EQ(rows[2 * i + 1], 10 * static_cast<float>(targets[i]));
        }
        seen.insert(seen.end(), targets.begin(), targets.end());
    }
    return seen;
}

class Loader : public ::testing::Test {
protected:
    Context context;
    ContextScope scope{context};
};

TEST_F(Loader, GoesInOrderWithoutShuffle) {
    DataLoader loader(counted(5), {.batch_size = 2});
    EXPECT_EQ(loader.size(), 3);
    EXPECT_EQ(epochOf(loader), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(epochOf(loader), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST_F(Loader, DropsTheLastBatchIfAsked) {
    DataLoader loader(counted(5), {.batch_size = 2, .drop_last = true});
    EXPECT_EQ(loader.size(), 2);
    EXPECT_EQ(epochOf(loader).size(), 4U);
}

TEST_F(Loader, ShufflesAnewEachEpochAndSeesEverySampleOnce) {
    DataLoader loader(counted(50), {.batch_size = 8, .shuffle = true});
    const auto first = epochOf(loader);
    const auto second = epochOf(loader);
    EXPECT_NE(first, second);
    for (auto order : {first, second}) {
        std::sort(order.begin(), order.end());
        std::vector<std::int64_t> all(50);
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(order, all);
    }
}

TEST_F(Loader, EqualSeedsGiveEqualOrder) {
    const auto twoEpochs = [&](std::uint64_t seed) {
        context.generator().manual_seed(seed);
        DataLoader loader(counted(30), {.batch_size = 7, .shuffle = true});
        auto order = epochOf(loader);
        const auto more = epochOf(loader);
        order.insert(order.end(), more.begin(), more.end());
        return order;
    };
    EXPECT_EQ(twoEpochs(3), twoEpochs(3));
    EXPECT_NE(twoEpochs(3), twoEpochs(4));
}

TEST_F(Loader, NextGoesOnIntoTheNextEpoch) {
    DataLoader loader(counted(4), {.batch_size = 2, .shuffle = true});
    std::multiset<std::int64_t> seen;
    for (int i = 0; i < 4; ++i) {
        const auto [x, y] = loader.next();
        EXPECT_EQ(x.sizes(), (Dims{2, 2}));
        for (const std::int64_t t : y.to_vector<std::int64_t>()) seen.insert(t);
    }
    EXPECT_EQ(loader.epoch(), 2);
    for (std::int64_t t = 0; t < 4; ++t) EXPECT_EQ(seen.count(t), 2U);
}

TEST_F(Loader, BatchesAreInputsOfTheDataPhase) {
    struct Phases final : Observer {
        void onOpEnd(const OpCall& call) override { phases.push_back(call.phase); }
        std::vector<Phase> phases;
    } seen;
    DataLoader loader(counted(4), {.batch_size = 2});
    context.addObserver(seen);
    const Batch batch = loader.next();
    context.removeObserver(seen);
    EXPECT_EQ(seen.phases, (std::vector<Phase>{Phase::Data, Phase::Data}));
    EXPECT_EQ(batch.input.storage()->role(), MemoryRole::Input);
    EXPECT_EQ(batch.target.storage()->role(), MemoryRole::Input);
    EXPECT_EQ(threadState().phase, Phase::Other);
}

TEST_F(Loader, SplitsByTheSeedWithoutOverlap) {
    const TensorDataset all = counted(10);
    context.generator().manual_seed(1);
    const auto [train, held] = random_split(all, 0.8);
    EXPECT_EQ(train.size(), 8);
    EXPECT_EQ(held.size(), 2);
    std::set<std::int64_t> seen;
    for (const TensorDataset* part : {&train, &held}) {
        for (const std::int64_t t : part->target().to_vector<std::int64_t>())
            EXPECT_TRUE(seen.insert(t).second);
    }
    EXPECT_EQ(seen.size(), 10U);
    context.generator().manual_seed(1);
    const auto [again, rest] = random_split(all, 0.8);
    EXPECT_EQ(again.target().to_vector(), train.target().to_vector());
    EXPECT_THROW(random_split(all, 1.0), Error);
    EXPECT_THROW(random_split(all, 0.01), Error);
}

TEST_F(Loader, RefusesWhatGivesNoBatch) {
    EXPECT_THROW(DataLoader(counted(3), {.batch_size = 0}), Error);
    EXPECT_THROW(DataLoader(counted(3), {.batch_size = 4, .drop_last = true}), Error);
    EXPECT_THROW(TensorDataset(zeros({3, 2}), zeros({2})), ShapeError);
    EXPECT_THROW(counted(3).rows(std::vector<std::int64_t>{3}), IndexError);
}

TEST(Shuffle, EveryPositionIsEquallyLikely) {
    Generator generator(11);
    std::vector<int> firstPlace(5);
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i)
        ++firstPlace[static_cast<std::size_t>(shuffledIndices(5, generator)[0])];
    for (const int count : firstPlace) EXPECT_NEAR(count, kDraws / 5, 250);  // 4.4 sigma
    EXPECT_TRUE(shuffledIndices(0, generator).empty());
    EXPECT_THROW(shuffledIndices(std::int64_t{1} << 32U, generator), Error);
}

}  // namespace
}  // namespace tapescope::engine::data
