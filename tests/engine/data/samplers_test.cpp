// SPDX-License-Identifier: Apache-2.0
#include "engine/data/samplers.h"

#include "engine/errors.h"
#include "tests/engine/ops/message_of.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

namespace tapescope::engine::data {
namespace {

using test::messageOf;

Indices sorted(Indices list) {
    std::sort(list.begin(), list.end());
    return list;
}
Indices upTo(std::int64_t count) {
    Indices list(static_cast<std::size_t>(count));
    std::iota(list.begin(), list.end(), 0);
    return list;
}
Indices joined(const std::vector<Indices>& batches) {
    Indices all;
    for (const Indices& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
    return all;
}

TEST(Samplers, SequentialAndRandomSeeEverySampleOnce) {
    Generator generator(1);
    EXPECT_EQ(SequentialSampler(4).epoch(0, generator), upTo(4));
    const Indices once = RandomSampler(50).epoch(0, generator);
    EXPECT_NE(once, upTo(50));
    EXPECT_EQ(sorted(once), upTo(50));
    const Indices chosen = SubsetRandomSampler({3, 30, 300, 7}).epoch(0, generator);
    EXPECT_EQ(sorted(chosen), (Indices{3, 7, 30, 300}));
    EXPECT_EQ(RandomSampler(5, false, 12).epoch(0, generator).size(), 12U);
    EXPECT_THROW(RandomSampler(0), Error);
}

TEST(Samplers, ReplacementDrawsUniformly) {
    Generator generator(2);
    std::vector<int> counts(4);
    for (const std::int64_t i : RandomSampler(4, true, 20000).epoch(0, generator))
        ++counts.at(static_cast<std::size_t>(i));
    for (const int count : counts) EXPECT_NEAR(count, 5000, 270);  // 4.4 sigma
}

TEST(Samplers, WeightsAreFollowed) {
    Generator generator(3);
    std::vector<int> counts(4);
    for (const std::int64_t i : WeightedRandomSampler({1, 0, 2, 5}, 16000).epoch(0, generator))
        ++counts.at(static_cast<std::size_t>(i));
    EXPECT_NEAR(counts[0], 2000, 190);
    EXPECT_EQ(counts[1], 0);
    EXPECT_NEAR(counts[2], 4000, 250);
    EXPECT_NEAR(counts[3], 10000, 280);
    // Without replacement every index comes once, the heavy one first most of the time.
    int heavyFirst = 0;
    for (int i = 0; i < 1000; ++i) {
        const Indices drawn = WeightedRandomSampler({1, 0, 2, 5}, 3, false).epoch(0, generator);
        EXPECT_EQ(sorted(drawn), (Indices{0, 2, 3}));
        heavyFirst += drawn[0] == 3 ? 1 : 0;
    }
    EXPECT_NEAR(heavyFirst, 625, 70);
    EXPECT_THROW(WeightedRandomSampler({1, 0}, 2, false), Error);
    EXPECT_THROW(WeightedRandomSampler({1, -1}, 2), Error);
    EXPECT_THROW(WeightedRandomSampler({1, NAN}, 2), Error);
    EXPECT_THROW(WeightedRandomSampler({0, 0}, 2), Error);
}

TEST(Samplers, RanksShareTheSamplesEvenly) {
    Generator unused(0);
    Indices all;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
        const DistributedSampler sampler(10, {.num_replicas = 4, .rank = rank, .seed = 9});
        const Indices own = sampler.epoch(2, unused);
        EXPECT_EQ(own.size(), 3U);
        EXPECT_EQ(own, sampler.epoch(2, unused));
        EXPECT_NE(own, sampler.epoch(3, unused));
        all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_EQ(all.size(), 12U);  // two come twice
    EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), 10U);
    const auto plain = [&](std::int64_t rank, bool drop) {
        return DistributedSampler(
                   7, {.num_replicas = 3, .rank = rank, .shuffle = false, .drop_last = drop})
            .epoch(0, unused);
    };
    EXPECT_EQ(plain(1, false), (Indices{1, 4, 0}));
    EXPECT_EQ(plain(2, true), (Indices{2, 5}));
    EXPECT_EQ(DistributedSampler(1, {.num_replicas = 3, .rank = 2}).epoch(0, unused), Indices{0});
    EXPECT_THROW(DistributedSampler(5, {.num_replicas = 2, .rank = 2}), Error);
}

TEST(BatchSamplers, FixedOnesMayDropTheRest) {
    Generator generator(4);
    const auto order = std::make_shared<SequentialSampler>(5);
    EXPECT_EQ(FixedBatchSampler(order, 2).epoch(0, generator),
              (std::vector<Indices>{{0, 1}, {2, 3}, {4}}));
    EXPECT_EQ(FixedBatchSampler(order, 2, true).epoch(0, generator).size(), 2U);
    EXPECT_THROW(FixedBatchSampler(order, 0), Error);
}

TEST(BatchSamplers, BudgetedOnesPackByPaddedTokens) {
    Generator generator(5);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 300; ++i) lengths.push_back(1 + generator.next32() % 60);
    const auto longestOf = [&](const Indices& batch) {
        std::int64_t longest = 0;
        for (const std::int64_t i : batch)
            longest = std::max(longest, lengths[static_cast<std::size_t>(i)]);
        return longest;
    };
    const BudgetBatchSampler sampler(lengths, {.budget = 256});
    const auto batches = sampler.epoch(0, generator);
    EXPECT_EQ(sorted(joined(batches)), upTo(300));
    std::int64_t padded = 0;
    for (const Indices& batch : batches) {
        const std::int64_t tokens = longestOf(batch) * static_cast<std::int64_t>(batch.size());
        EXPECT_LE(tokens, 256);
        padded += tokens;
    }
    const std::int64_t real = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    EXPECT_LT(static_cast<double>(padded), 1.1 * static_cast<double>(real));

    // Fewer samples a bucket: more padding; and a limit of samples holds.
    const BudgetBatchSampler random(lengths, {.budget = 256, .max_batch = 4, .bucket_size = 20});
    for (const Indices& batch : random.epoch(0, generator)) EXPECT_LE(batch.size(), 4U);

    Generator a(7);
    Generator b(7);
    EXPECT_EQ(sampler.epoch(0, a), sampler.epoch(0, b));
}

TEST(BatchSamplers, BudgetMayBeMemory) {
    Generator generator(6);
    const BudgetBatchSampler sampler(
        {10, 10, 10, 20}, {.budget = 1000, .per_token = 20, .per_sample = 100, .shuffle = false});
    EXPECT_EQ(sampler.epoch(0, generator), (std::vector<Indices>{{0, 1, 2}, {3}}));
    EXPECT_EQ(sampler.cost(3, 10), 900);
    const std::string text = messageOf<Error>([] { BudgetBatchSampler({5, 70}, {.budget = 64}); });
    EXPECT_NE(text.find("sample 1 is 70 long"), std::string::npos) << text;
    const BudgetBatchSampler alone({5, 70}, {.budget = 64, .allow_oversize = true});
    EXPECT_EQ(alone.epoch(0, generator).size(), 2U);
    EXPECT_THROW(BudgetBatchSampler({-1}, {.budget = 1}), Error);
    EXPECT_THROW(BudgetBatchSampler({1}, {.budget = 0}), Error);
}

}  // namespace
}  // namespace tapescope::engine::data
