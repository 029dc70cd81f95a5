// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tapescope::engine::data {

using Indices = std::vector<std::int64_t>;

/// Which samples an epoch has, in which order. The same generator state and epoch give the same
/// indices on every machine.
class Sampler {
public:
    virtual ~Sampler() = default;
    virtual std::int64_t size() const = 0;
    virtual Indices epoch(std::int64_t epoch, Generator& generator) const = 0;
};

/// 0, 1, 2 …
class SequentialSampler final : public Sampler {
public:
    explicit SequentialSampler(std::int64_t samples);
    std::int64_t size() const override { return m_samples; }
    Indices epoch(std::int64_t epoch, Generator& generator) const override;

private:
    std::int64_t m_samples;
};

/// Every sample once in random order, or draws with replacement.
class RandomSampler final : public Sampler {
public:
    /// num_samples 0: as many as there are. Throws Error for no samples.
    explicit RandomSampler(std::int64_t samples, bool replacement = false,
                           std::int64_t num_samples = 0);
    std::int64_t size() const override { return m_count; }
    Indices epoch(std::int64_t epoch, Generator& generator) const override;

private:
    std::int64_t m_samples;
    bool m_replacement;
    std::int64_t m_count;
};

/// These indices in random order.
class SubsetRandomSampler final : public Sampler {
public:
    explicit SubsetRandomSampler(Indices indices) : m_indices(std::move(indices)) {}
    std::int64_t size() const override { return static_cast<std::int64_t>(m_indices.size()); }
    Indices epoch(std::int64_t epoch, Generator& generator) const override;

private:
    Indices m_indices;
};

/// Index i with a probability in proportion to weights[i].
class WeightedRandomSampler final : public Sampler {
public:
    /// Throws Error: a weight that is negative or not finite, all of them 0, or without replacement
    /// more draws than there are weights above 0.
    WeightedRandomSampler(std::vector<double> weights, std::int64_t num_samples,
                          bool replacement = true);
    std::int64_t size() const override { return m_count; }
    Indices epoch(std::int64_t epoch, Generator& generator) const override;

private:
    std::vector<double> m_weights;
    std::int64_t m_count;
    bool m_replacement;
};

struct DistributedOptions {
    std::int64_t num_replicas = 1;
    std::int64_t rank = 0;
    bool shuffle = true;
    std::uint64_t seed = 0;  ///< the same on every rank
    bool drop_last = false;  ///< leave samples out rather than take some twice
};

/// This rank's share: every num_replicas-th sample of one order that all ranks agree on, drawn from
/// seed and epoch; every rank gets equally many. Source: torch.utils.data.DistributedSampler.
class DistributedSampler final : public Sampler {
public:
    /// Throws Error unless 0 <= rank < num_replicas.
    DistributedSampler(std::int64_t samples, DistributedOptions options);
    std::int64_t size() const override { return m_count; }
    /// Does not touch the generator.
    Indices epoch(std::int64_t epoch, Generator& generator) const override;

private:
    std::int64_t m_samples;
    DistributedOptions m_options;
    std::int64_t m_count;
};

/// The batches of an epoch.
class BatchSampler {
public:
    virtual ~BatchSampler() = default;
    virtual std::vector<Indices> epoch(std::int64_t epoch, Generator& generator) const = 0;
};

/// batch_size samples of a sampler at a time. PyTorch's BatchSampler.
class FixedBatchSampler final : public BatchSampler {
public:
    /// Throws Error if batch_size is below 1.
    FixedBatchSampler(std::shared_ptr<const Sampler> sampler, std::int64_t batch_size,
                      bool drop_last = false);
    std::vector<Indices> epoch(std::int64_t epoch, Generator& generator) const override;

private:
    std::shared_ptr<const Sampler> m_sampler;
    std::int64_t m_batch;
    bool m_dropLast;
};

struct BudgetOptions {
    /// Largest cost of a batch. A batch of n samples, the longest of them l long, costs
    /// n · l · per_token + n · per_sample: with the defaults its number of tokens after padding.
    double budget = 0;
    double per_token = 1;  ///< bytes, if budget is a memory budget
    double per_sample = 0;
    std::int64_t max_batch = 0;  ///< samples; 0: no limit
    /// Samples among which those of like length are put together; 0: all. Fewer: more padding, an
    /// order that is more random.
    std::int64_t bucket_size = 0;
    bool shuffle = true;
    /// A sample that alone exceeds the budget makes a batch of its own; else it is an error.
    bool allow_oversize = false;
};

/// Batches that fill a budget of tokens or memory: samples of like length come together, so that
/// little is padding and no batch is larger than the machine.
class BudgetBatchSampler final : public BatchSampler {
public:
    /// Throws Error: a budget that is not above 0, a negative length, or (unless allow_oversize) a
    /// sample beyond the budget, with its index and length.
    BudgetBatchSampler(std::vector<std::int64_t> lengths, BudgetOptions options);
    std::vector<Indices> epoch(std::int64_t epoch, Generator& generator) const override;
    double cost(std::int64_t samples, std::int64_t longest) const;

private:
    std::vector<std::int64_t> m_lengths;
    BudgetOptions m_options;
};

}  // namespace tapescope::engine::data
