// SPDX-License-Identifier: Apache-2.0
#include "engine/data/samples.h"

#include "engine/data/shuffle.h"
#include "engine/errors.h"
#include "engine/nn/number_text.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace tapescope::engine::data {
namespace {

void checkIndex(const char* who, std::int64_t index, std::int64_t size) {
    if (index >= 0 && index < size) return;
    throw IndexError(std::string(who) + ": index " + std::to_string(index) + " is outside its " +
                     std::to_string(size) + " samples");
}

}  // namespace

Sample stackSamples(std::span<const Sample> samples) {
    Sample batch;
    if (samples.empty()) return batch;
    for (std::size_t field = 0; field < samples[0].size(); ++field) {
        std::vector<Tensor> column;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (samples[i].size() != samples[0].size()) {
                throw ShapeError("collate: sample 0 of the batch has " +
                                 std::to_string(samples[0].size()) + " fields, sample " +
                                 std::to_string(i) + " has " + std::to_string(samples[i].size()));
            }
            const Tensor& value = samples[i][field];
            const TensorMeta first = samples[0][field].meta();
            if (value.sizes() != first.sizes || value.dtype() != first.dtype) {
                throw ShapeError("collate: field " + std::to_string(field) + " is " +
                                 first.toString() + " in sample 0 of the batch and " +
                                 value.meta().toString() + " in sample " + std::to_string(i) +
                                 "; pad them, or give the loader a collate function");
            }
            column.push_back(value);
        }
        batch.push_back(stack(column, 0, Site::none()));
    }
    return batch;
}

Sample Dataset::batch(std::span<const std::int64_t> indices) const {
    std::vector<Sample> samples;
    for (const std::int64_t index : indices) samples.push_back(get(index));
    return stackSamples(samples);
}

RowDataset::RowDataset(std::vector<Tensor> columns) : m_columns(std::move(columns)) {
    if (m_columns.empty()) throw ShapeError("RowDataset: it got no tensors");
    for (const Tensor& column : m_columns) {
        if (column.dim() == 0 || column.size(0) != m_columns[0].size(0)) {
            throw ShapeError("RowDataset: " + m_columns[0].meta().toString() + " and " +
                             column.meta().toString() + " must have the same number of rows");
        }
    }
}

std::int64_t RowDataset::size() const { return m_columns[0].size(0); }

Sample RowDataset::get(std::int64_t index) const {
    checkIndex("RowDataset", index, size());
    Sample sample;
    for (const Tensor& column : m_columns) sample.push_back(select(column, 0, index, Site::none()));
    return sample;
}

Sample RowDataset::batch(std::span<const std::int64_t> indices) const {
    const Tensor index = Tensor::from(indices, {static_cast<std::int64_t>(indices.size())});
    Sample rows;
    for (const Tensor& column : m_columns)
        rows.push_back(index_select(column, 0, index, Site::none()));
    return rows;
}

ConcatDataset::ConcatDataset(std::vector<DatasetPtr> parts) : m_parts(std::move(parts)) {
    if (m_parts.empty()) throw Error("ConcatDataset: it needs at least one dataset");
    std::int64_t end = 0;
    for (const DatasetPtr& part : m_parts) {
        if (!part) throw Error("ConcatDataset: a dataset is null");
        m_ends.push_back(end += part->size());
    }
}

Sample ConcatDataset::get(std::int64_t index) const {
    checkIndex("ConcatDataset", index, size());
    const auto at = std::upper_bound(m_ends.begin(), m_ends.end(), index) - m_ends.begin();
    const auto part = static_cast<std::size_t>(at);
    return m_parts[part]->get(part == 0 ? index : index - m_ends[part - 1]);
}

Subset::Subset(DatasetPtr whole, std::vector<std::int64_t> indices)
    : m_whole(std::move(whole)), m_indices(std::move(indices)) {
    if (!m_whole) throw Error("Subset: the dataset is null");
    for (const std::int64_t index : m_indices) checkIndex("Subset", index, m_whole->size());
}

Sample Subset::get(std::int64_t index) const {
    checkIndex("Subset", index, size());
    return m_whole->get(m_indices[static_cast<std::size_t>(index)]);
}

Sample Subset::batch(std::span<const std::int64_t> indices) const {
    std::vector<std::int64_t> inWhole;
    for (const std::int64_t index : indices) {
        checkIndex("Subset", index, size());
        inWhole.push_back(m_indices[static_cast<std::size_t>(index)]);
    }
    return m_whole->batch(inWhole);
}

MapDataset::MapDataset(DatasetPtr whole, Transform transform)
    : m_whole(std::move(whole)), m_transform(std::move(transform)) {
    if (!m_whole || !m_transform) throw Error("MapDataset: the dataset or function is null");
}

std::vector<std::shared_ptr<const Subset>> random_split(const DatasetPtr& dataset,
                                                        std::span<const std::int64_t> lengths,
                                                        Generator& generator) {
    std::int64_t total = 0;
    bool valid = true;
    for (const std::int64_t length : lengths) {
        valid = valid && length >= 0 && length <= dataset->size();
        if (valid) total += length;
    }
    if (!valid || total != dataset->size()) {
        throw Error("random_split: the lengths add up to " + std::to_string(total) +
                    ", but the dataset has " + std::to_string(dataset->size()) + " samples");
    }
    const std::vector<std::int64_t> order = shuffledIndices(total, generator);
    std::vector<std::shared_ptr<const Subset>> parts;
    auto at = order.begin();
    for (const std::int64_t length : lengths) {
        parts.push_back(
            std::make_shared<const Subset>(dataset, std::vector<std::int64_t>(at, at + length)));
        at += length;
    }
    return parts;
}

std::vector<std::shared_ptr<const Subset>> random_split(const DatasetPtr& dataset,
                                                        std::span<const double> fractions,
                                                        Generator& generator) {
    double sum = 0;
    std::vector<std::int64_t> lengths;
    for (const double fraction : fractions) {
        if (!(fraction >= 0 && fraction <= 1))
            throw Error("random_split: a share must lie in [0, 1], but is " +
                        nn::numberText(fraction));
        sum += fraction;
        lengths.push_back(
            static_cast<std::int64_t>(std::floor(static_cast<double>(dataset->size()) * fraction)));
    }
    if (lengths.empty() || std::abs(sum - 1) > 1e-6)
        throw Error("random_split: the shares add up to " + nn::numberText(sum) + ", not 1");
    std::int64_t rest =
        dataset->size() - std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    for (std::size_t i = 0; rest > 0; ++i, --rest) ++lengths[i % lengths.size()];
    return random_split(dataset, lengths, generator);
}

}  // namespace tapescope::engine::data
