// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <utility>

namespace tapescope::engine::data {

/// Some samples with their targets: auto [x, y] = loader.next().
struct Batch {
    Tensor input;
    Tensor target;
};

/// Samples in memory: rows of two tensors. The memory is marked MemoryRole::Input.
class TensorDataset final {
public:
    /// Throws ShapeError for 0-d tensors or a different number of rows.
    TensorDataset(Tensor input, Tensor target);
    std::int64_t size() const { return m_input.size(0); }
    const Tensor& input() const { return m_input; }
    const Tensor& target() const { return m_target; }
    /// The rows `indices`, copied, in Phase::Data. Throws IndexError.
    Batch rows(std::span<const std::int64_t> indices, Site site = {}) const;

private:
    Tensor m_input;
    Tensor m_target;
};

/// A shuffled split by the Context's generator: the first part gets round(size · fraction) samples.
/// Throws Error unless both parts have at least one.
std::pair<TensorDataset, TensorDataset> random_split(const TensorDataset& dataset, double fraction,
                                                     Site site = {});

}  // namespace tapescope::engine::data
