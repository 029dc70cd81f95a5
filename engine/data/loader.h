// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/dataset.h"

#include <cstdint>
#include <vector>

namespace tapescope::engine::data {

struct LoaderOptions {
    std::int64_t batch_size = 1;
    bool shuffle = false;
    bool drop_last = false;  ///< leave out a last batch that is not full
};

/// Batches of a dataset, in a new random order each epoch if asked for, drawn from the Context's
/// generator when the epoch begins. Used by one thread.
///   for (const Batch& batch : loader) …     one epoch
///   Batch batch = loader.next();            endlessly, epoch after epoch
class DataLoader final {
public:
    /// Throws Error if batch_size is below 1 or no batch would be left.
    DataLoader(TensorDataset dataset, LoaderOptions options);

    std::int64_t size() const;  ///< batches an epoch
    const TensorDataset& dataset() const { return m_dataset; }
    /// Epochs begun.
    std::int64_t epoch() const { return m_epoch; }
    Batch next(Site site = {});

    /// Input iterator over one epoch; a second begin() starts another.
    class Iterator {
    public:
        const Batch& operator*() const { return m_batch; }
        Iterator& operator++();
        bool operator!=(const Iterator& other) const { return m_left != other.m_left; }

    private:
        friend class DataLoader;
        DataLoader* m_loader = nullptr;
        Site m_site = Site::none();
        Batch m_batch;
        std::int64_t m_left = 0;
    };
    Iterator begin(Site site = {});
    Iterator end() { return {}; }

private:
    void startEpoch();

    TensorDataset m_dataset;
    LoaderOptions m_options;
    std::vector<std::int64_t> m_order;
    std::int64_t m_next = 0;  // batch of the epoch
    std::int64_t m_epoch = 0;
};

}  // namespace tapescope::engine::data
