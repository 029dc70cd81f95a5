// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/samplers.h"
#include "engine/data/samples.h"
#include "engine/errors.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tapescope::engine::data {

/// A dataset failed at a sample. what() says which and why; the dataset's own exception is nested
/// (std::rethrow_if_nested).
class SampleError : public DataError {
public:
    SampleError(std::int64_t index, const std::string& reason);
    /// -1 where no single sample is to blame (collating, an iterable dataset).
    std::int64_t index() const { return m_index; }

private:
    std::int64_t m_index;
};

using Collate = std::function<Sample(std::span<const Sample>)>;

struct SampleLoaderOptions {
    std::int64_t batch_size = 1;
    bool shuffle = false;
    bool drop_last = false;  ///< leave out a last batch that is not full
    std::int64_t num_workers = 0;
    std::int64_t prefetch_factor = 2;                     ///< batches made ahead for each worker
    std::shared_ptr<const Sampler> sampler{};             ///< instead of shuffle
    std::shared_ptr<const BatchSampler> batch_sampler{};  ///< instead of all of the above
    Collate collate{};                                    ///< none: the dataset's batch()
};

/// Batches of any dataset, made by worker threads ahead of their use. An epoch takes one seed from
/// the Context's generator; order and random numbers inside the dataset follow from it batch by
/// batch, so that every number of workers gives the same batches, bit for bit. Workers run without
/// gradients, each on one thread of its own; an iterable dataset has one at most. Batches come in
/// order; a dataset's exception comes at its batch. Used by one thread.
///   for (const Sample& batch : loader) …    one epoch; leaving early stops the workers
class SampleLoader final {
public:
    /// Throws Error: a size below 1, options that exclude each other, or a null dataset.
    SampleLoader(DatasetPtr dataset, SampleLoaderOptions options);
    SampleLoader(std::shared_ptr<const IterableDataset> dataset, SampleLoaderOptions options);
    ~SampleLoader();
    SampleLoader(const SampleLoader&) = delete;
    SampleLoader& operator=(const SampleLoader&) = delete;

    /// The next batch of the epoch, none at its end; the call after that begins another. Throws
    /// SampleError; the epoch is over then.
    std::optional<Sample> next();
    /// Ends the epoch at once: workers are stopped and joined.
    void stop();
    /// Epochs begun.
    std::int64_t epoch() const { return m_epoch; }

    class Iterator {
    public:
        const Sample& operator*() const { return *m_batch; }
        Iterator& operator++() {
            m_batch = m_loader->next();
            return *this;
        }
        bool operator!=(const Iterator& other) const {
            return m_batch.has_value() != other.m_batch.has_value();
        }

    private:
        friend class SampleLoader;
        SampleLoader* m_loader = nullptr;
        std::optional<Sample> m_batch;
    };
    /// A new epoch, whatever was left of the last one.
    Iterator begin();
    Iterator end() { return {}; }

private:
    class Workers;
    struct Job;
    void startEpoch();

    DatasetPtr m_dataset;
    std::shared_ptr<const IterableDataset> m_iterable;
    SampleLoaderOptions m_options;
    std::shared_ptr<const BatchSampler> m_batches;
    std::shared_ptr<Job> m_job;  // of the running epoch
    std::unique_ptr<Workers> m_workers;
    std::int64_t m_next = 0;
    std::int64_t m_epoch = 0;
};

}  // namespace tapescope::engine::data
