// SPDX-License-Identifier: Apache-2.0
#include "engine/data/sample_loader.h"

#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "tests/engine/ops/message_of.h"

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace tapescope::engine::data {
namespace {

using test::messageOf;

/// Sample i is (i as f32[2], i), with noise where asked for.
class Counted final : public Dataset {
public:
    explicit Counted(std::int64_t size, bool noisy = false, std::int64_t bad = -1)
        : m_size(size), m_noisy(noisy), m_bad(bad) {}
    std::int64_t size() const override { return m_size; }
    Sample get(std::int64_t index) const override {
        ++calls;
        if (index == m_bad) throw IndexError("no label for this picture");
        Tensor x = full({2}, static_cast<double>(index));
        if (m_noisy) x = add(x, rand({2}));
        return {x, Tensor::from<std::int64_t>({index}, {})};
    }
    mutable std::atomic<int> calls{0};

private:
    std::int64_t m_size;
    bool m_noisy;
    std::int64_t m_bad;
};

class Squares final : public IterableDataset {
public:
    Stream stream(std::int64_t epoch) const override {
        return [i = std::int64_t{0}, epoch]() mutable -> std::optional<Sample> {
            if (i == 7) return std::nullopt;
            const std::int64_t n = i++;
            return Sample{Tensor::from<std::int64_t>({n * n + 1000 * epoch}, {}), rand({1})};
        };
    }
};

std::vector<double> flatOf(const Sample& batch) {
    std::vector<double> all;
    for (const Tensor& field : batch) {
        for (const double v : field.to_vector()) all.push_back(v);
    }
    return all;
}

class Samples : public ::testing::Test {
protected:
    Context context;
    ContextScope scope{context};
};

TEST_F(Samples, AreTheSameForAnyNumberOfWorkers) {
    const auto epochs = [&](std::int64_t workers) {
        context.generator().manual_seed(5);
        SampleLoader loader(std::make_shared<Counted>(23, true),
                            {.batch_size = 4, .shuffle = true, .num_workers = workers});
        std::vector<double> all;
        for (int epoch = 0; epoch < 2; ++epoch) {
            for (const Sample& batch : loader) {
                for (const double v : flatOf(batch)) all.push_back(v);
            }
        }
        EXPECT_EQ(all.size(), 2U * 23 * 3);
        for (const double v : rand({3}).to_vector()) all.push_back(v);  // the model's own numbers
        return all;
    };
    const std::vector<double> alone = epochs(0);
    EXPECT_EQ(epochs(1), alone);
    EXPECT_EQ(epochs(3), alone);
    EXPECT_NE(std::vector<double>(alone.begin(), alone.begin() + 69),
              std::vector<double>(alone.begin() + 69, alone.begin() + 138));
}

TEST_F(Samples, ComeInOrderAndTheLastBatchMayBeShort) {
    SampleLoader loader(std::make_shared<Counted>(7), {.batch_size = 3, .num_workers = 2});
    std::vector<std::int64_t> sizes;
    std::int64_t next = 0;
    for (const Sample& batch : loader) {
        sizes.push_back(batch[0].size(0));
        EXPECT_EQ(batch[0].storage()->role(), MemoryRole::Input);
        for (const std::int64_t label : batch[1].to_vector<std::int64_t>())
            EXPECT_EQ(label, next++);
    }
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{3, 3, 1}));
    EXPECT_EQ(loader.epoch(), 1);
}

TEST_F(Samples, FailWithTheirNumberAtTheirBatch) {
    for (const std::int64_t workers : {0, 2}) {
        SampleLoader loader(std::make_shared<Counted>(12, false, 7),
                            {.batch_size = 3, .num_workers = workers});
        EXPECT_TRUE(loader.next().has_value());
        EXPECT_TRUE(loader.next().has_value());
        try {
            (void)loader.next();
            FAIL() << "sample 7 was taken";
        } catch (const SampleError& error) {
            EXPECT_EQ(error.index(), 7);
            EXPECT_STREQ(error.what(), "SampleLoader: sample 7 failed: no label for this picture");
            EXPECT_THROW(std::rethrow_if_nested(error), IndexError);
        }
        EXPECT_TRUE(loader.next().has_value());  // another epoch
        EXPECT_EQ(loader.epoch(), 2);
    }
}

TEST_F(Samples, StopWhenTheyAreNoLongerWanted) {
    const auto dataset = std::make_shared<Counted>(100000);
    {
        SampleLoader loader(dataset, {.batch_size = 1, .num_workers = 2, .prefetch_factor = 3});
        for (const Sample& batch : loader) {
            if (batch[1].to_vector()[0] == 5) break;
        }
    }
    EXPECT_LE(dataset->calls, 6 + 2 * 3);  // those ahead, no more
}

TEST_F(Samples, MayBeCollatedByTheUser) {
    const Collate padded = [](std::span<const Sample> samples) {
        std::int64_t total = 0;
        for (const Sample& sample : samples) total += static_cast<std::int64_t>(sample[1].item());
        return Sample{Tensor::from<std::int64_t>({total}, {1})};
    };
    SampleLoader loader(std::make_shared<Counted>(6),
                        {.batch_size = 3, .num_workers = 1, .collate = padded});
    std::vector<double> sums;
    for (const Sample& batch : loader) sums.push_back(batch[0].item());
    EXPECT_EQ(sums, (std::vector<double>{3, 12}));
}

TEST_F(Samples, MayComeFromAStream) {
    const auto read = [&](std::int64_t workers, bool drop) {
        context.generator().manual_seed(8);
        SampleLoader loader(std::make_shared<Squares>(),
                            {.batch_size = 3, .drop_last = drop, .num_workers = workers});
        std::vector<double> all;
        for (int epoch = 0; epoch < 2; ++epoch) {
            for (const Sample& batch : loader) {
                for (const double v : flatOf(batch)) all.push_back(v);
            }
        }
        return all;
    };
    const std::vector<double> whole = read(0, false);
    EXPECT_EQ(whole.size(), 2U * 7 * 2);
    EXPECT_EQ(whole[2], 4);
    EXPECT_EQ(whole[14], 1000);
    EXPECT_EQ(read(4, false), whole);
    EXPECT_EQ(read(1, true).size(), 2U * 6 * 2);
}

TEST_F(Samples, BatchSamplersChooseThem) {
    const auto sampler = std::make_shared<BudgetBatchSampler>(
        std::vector<std::int64_t>{1, 9, 1, 9}, BudgetOptions{.budget = 18, .shuffle = false});
    SampleLoader loader(std::make_shared<Counted>(4), {.batch_sampler = sampler});
    const auto first = loader.next();
    EXPECT_EQ((*first)[1].to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 2}));
    EXPECT_THROW(
        SampleLoader(std::make_shared<Counted>(4), {.batch_size = 2, .batch_sampler = sampler}),
        Error);
}

TEST_F(Samples, ObserversSeeEveryBatchAllocatedOnceAndFreedOnce) {
    struct Balance final : Observer {
        void onMemory(const MemoryEvent& event) override {
            const bool input = event.role == MemoryRole::Input;
            if (event.kind == MemoryEvent::Kind::Alloc) ++live[event.address];
            if (event.kind == MemoryEvent::Kind::Free && input) --live[event.address];
        }
        std::map<std::uintptr_t, int> live;
    } balance;
    context.addObserver(balance);
    {
        SampleLoader loader(std::make_shared<Counted>(40), {.batch_size = 5, .num_workers = 2});
        for (const Sample& batch : loader) EXPECT_EQ(batch.size(), 2U);
    }
    context.removeObserver(balance);
    EXPECT_FALSE(balance.live.empty());
    for (const auto& [address, count] : balance.live) EXPECT_EQ(count, 0);
}

TEST_F(Samples, DatasetsCanBePutTogether) {
    const auto rows = std::make_shared<RowDataset>(
        std::vector<Tensor>{reshape(arange(0, 8), {4, 2}), arange(10, 14)});
    const auto more = std::make_shared<Counted>(3);
    EXPECT_EQ(rows->get(2)[0].to_vector(), (std::vector<double>{4, 5}));
    const std::vector<std::int64_t> two{3, 0};
    EXPECT_EQ(rows->batch(two)[1].to_vector(), (std::vector<double>{13, 10}));
    EXPECT_EQ(rows->Dataset::batch(two)[0].to_vector(), rows->batch(two)[0].to_vector());
    const ConcatDataset both({rows, more});
    EXPECT_EQ(both.size(), 7);
    EXPECT_EQ(both.get(3)[1].item(), 13);
    EXPECT_EQ(both.get(4)[1].item(), 0);
    EXPECT_THROW(both.get(7), IndexError);
    const auto part = std::make_shared<Subset>(rows, std::vector<std::int64_t>{3, 1});
    EXPECT_EQ(part->get(0)[1].item(), 13);
    EXPECT_EQ(part->batch(std::vector<std::int64_t>{1})[1].item(), 11);
    EXPECT_THROW(Subset(rows, {4}), IndexError);
    const MapDataset doubled(part, [](Sample s) { return Sample{mul(s[1], 2)}; });
    EXPECT_EQ(doubled.get(1)[0].item(), 22);
    EXPECT_THROW(RowDataset({zeros({2}), zeros({3})}), ShapeError);
}

TEST_F(Samples, SplitsAreDisjointAndFollowTheGenerator) {
    const auto whole = std::make_shared<Counted>(10);
    const std::vector<double> shares{0.5, 0.25, 0.25};
    Generator a(3);
    const auto parts = random_split(whole, shares, a);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0]->size(), 6);  // 5 and one that rounding left over
    EXPECT_EQ(parts[1]->size(), 2);
    std::set<double> seen;
    for (const auto& part : parts) {
        for (std::int64_t i = 0; i < part->size(); ++i) seen.insert(part->get(i)[1].item());
    }
    EXPECT_EQ(seen.size(), 10U);
    Generator b(3);
    EXPECT_EQ(random_split(whole, shares, b)[1]->get(0)[1].item(), parts[1]->get(0)[1].item());
    const std::vector<std::int64_t> wrong{5, 4};
    EXPECT_THROW(random_split(whole, wrong, a), Error);
    const std::vector<double> short_{0.5, 0.2};
    EXPECT_THROW(random_split(whole, short_, a), Error);
}

TEST_F(Samples, StackOnlyWhatIsAlike) {
    const std::vector<Sample> uneven{{zeros({2})}, {zeros({3})}};
    EXPECT_NE(messageOf<ShapeError>([&] { stackSamples(uneven); }).find("collate"),
              std::string::npos);
    const std::vector<Sample> fields{{zeros({2})}, {zeros({2}), zeros({1})}};
    EXPECT_THROW(stackSamples(fields), ShapeError);
}

TEST_F(Samples, RefuseOptionsThatMakeNoSense) {
    const auto dataset = std::make_shared<Counted>(3);
    EXPECT_THROW(SampleLoader(dataset, {.batch_size = 0}), Error);
    EXPECT_THROW(SampleLoader(dataset, {.num_workers = -1}), Error);
    EXPECT_THROW(SampleLoader(std::shared_ptr<const Dataset>(), {}), Error);
    EXPECT_THROW(SampleLoader(std::make_shared<Squares>(), {.shuffle = true}), Error);
}

}  // namespace
}  // namespace tapescope::engine::data
