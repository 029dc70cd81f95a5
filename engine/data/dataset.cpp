// SPDX-License-Identifier: Apache-2.0
#include "engine/data/dataset.h"

#include "engine/data/shuffle.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <string>

namespace tapescope::engine::data {

TensorDataset::TensorDataset(Tensor input, Tensor target)
    : m_input(std::move(input)), m_target(std::move(target)) {
    if (m_input.dim() == 0 || m_target.dim() == 0 || m_input.size(0) != m_target.size(0)) {
        throw ShapeError("TensorDataset: input " + m_input.meta().toString() + " and target " +
                         m_target.meta().toString() + " must have the same number of rows");
    }
    m_input.set_role(MemoryRole::Input);
    m_target.set_role(MemoryRole::Input);
}

Batch TensorDataset::rows(std::span<const std::int64_t> indices, Site site) const {
    const NoGradGuard guard;
    const PhaseScope phase(Phase::Data);
    const Tensor index = Tensor::from(indices, {static_cast<std::int64_t>(indices.size())});
    index.set_role(MemoryRole::Input);
    Batch batch{index_select(m_input, 0, index, site), index_select(m_target, 0, index, site)};
    batch.input.set_role(MemoryRole::Input);
    batch.target.set_role(MemoryRole::Input);
    return batch;
}

std::pair<TensorDataset, TensorDataset> random_split(const TensorDataset& dataset, double fraction,
                                                     Site site) {
    const std::int64_t size = dataset.size();
    const auto first =
        static_cast<std::int64_t>(std::llround(static_cast<double>(size) * fraction));
    if (first < 1 || first >= size) {
        throw Error("random_split: " + std::to_string(size) +
                    " samples cannot be split into two parts with " + std::to_string(first) +
                    " in the first; choose another fraction");
    }
    const std::vector<std::int64_t> order = shuffledIndices(size, Context::current().generator());
    const std::span all(order);
    Batch a = dataset.rows(all.first(static_cast<std::size_t>(first)), site);
    Batch b = dataset.rows(all.subspan(static_cast<std::size_t>(first)), site);
    return {TensorDataset(a.input, a.target), TensorDataset(b.input, b.target)};
}

}  // namespace tapescope::engine::data
