// SPDX-License-Identifier: Apache-2.0
#include "engine/data/loader.h"

#include "engine/data/shuffle.h"
#include "engine/errors.h"
#include "engine/observe/context.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace tapescope::engine::data {

DataLoader::DataLoader(TensorDataset dataset, LoaderOptions options)
    : m_dataset(std::move(dataset)), m_options(options) {
    if (options.batch_size < 1) {
        throw Error("DataLoader: batch_size must be at least 1, but is " +
                    std::to_string(options.batch_size));
    }
    if (size() == 0) {
        throw Error("DataLoader: " + std::to_string(m_dataset.size()) +
                    " samples give no batch of " + std::to_string(options.batch_size) +
                    "; choose a smaller batch");
    }
}

std::int64_t DataLoader::size() const {
    const std::int64_t samples = m_dataset.size();
    const std::int64_t full = samples / m_options.batch_size;
    return full + (!m_options.drop_last && samples % m_options.batch_size != 0 ? 1 : 0);
}

void DataLoader::startEpoch() {
    if (m_options.shuffle) {
        m_order = shuffledIndices(m_dataset.size(), Context::current().generator());
    } else if (m_order.empty()) {
        m_order.resize(static_cast<std::size_t>(m_dataset.size()));
        std::iota(m_order.begin(), m_order.end(), 0);
    }
    m_next = 0;
    ++m_epoch;
}

Batch DataLoader::next(Site site) {
    if (m_epoch == 0 || m_next == size()) startEpoch();
    const std::int64_t begin = m_next++ * m_options.batch_size;
    const std::int64_t count = std::min(m_options.batch_size, m_dataset.size() - begin);
    return m_dataset.rows(std::span(m_order).subspan(static_cast<std::size_t>(begin),
                                                     static_cast<std::size_t>(count)),
                          site);
}

DataLoader::Iterator DataLoader::begin(Site site) {
    startEpoch();
    Iterator it;
    it.m_loader = this;
    it.m_site = site;
    it.m_left = size();
    it.m_batch = next(site);
    return it;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
    m_batch = --m_left > 0 ? m_loader->next(m_site) : Batch{};
    return *this;
}

}  // namespace tapescope::engine::data
