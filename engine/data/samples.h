// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tapescope::engine::data {

/// The tensors of one sample, or of one batch: input, target, mask …
using Sample = std::vector<Tensor>;

/// Samples one on top of the other: field i of the batch stacks the samples' fields i. Throws
/// ShapeError where samples differ in their number of fields, sizes or dtype.
Sample stackSamples(std::span<const Sample> samples);

/// Samples by number. get() and batch() may be called by several threads at once; random numbers
/// come from the current Context's generator, which the loader seeds for each batch.
class Dataset {
public:
    virtual ~Dataset() = default;
    virtual std::int64_t size() const = 0;
    virtual Sample get(std::int64_t index) const = 0;
    /// These samples, collated: stackSamples of get() unless a dataset knows a faster way.
    virtual Sample batch(std::span<const std::int64_t> indices) const;

protected:
    Dataset() = default;
    Dataset(const Dataset&) = default;
    Dataset& operator=(const Dataset&) = default;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

/// Samples without numbers or end: a log, a generator.
class IterableDataset {
public:
    virtual ~IterableDataset() = default;
    /// The next sample, none at the end of an epoch.
    using Stream = std::function<std::optional<Sample>()>;
    /// A new pass over the samples. Used by one thread at a time.
    virtual Stream stream(std::int64_t epoch) const = 0;
};

/// Rows of tensors with the same first size.
class RowDataset final : public Dataset {
public:
    /// Throws ShapeError for no tensors, 0-d ones or a different number of rows.
    explicit RowDataset(std::vector<Tensor> columns);
    std::int64_t size() const override;
    Sample get(std::int64_t index) const override;
    Sample batch(std::span<const std::int64_t> indices) const override;

private:
    std::vector<Tensor> m_columns;
};

/// Several datasets, one behind the other.
class ConcatDataset final : public Dataset {
public:
    /// Throws Error for none, or a null one.
    explicit ConcatDataset(std::vector<DatasetPtr> parts);
    std::int64_t size() const override { return m_ends.back(); }
    Sample get(std::int64_t index) const override;

private:
    std::vector<DatasetPtr> m_parts;
    std::vector<std::int64_t> m_ends;
};

/// Some samples of a dataset.
class Subset final : public Dataset {
public:
    /// Throws IndexError for an index outside the dataset.
    Subset(DatasetPtr whole, std::vector<std::int64_t> indices);
    std::int64_t size() const override { return static_cast<std::int64_t>(m_indices.size()); }
    Sample get(std::int64_t index) const override;
    Sample batch(std::span<const std::int64_t> indices) const override;

private:
    DatasetPtr m_whole;
    std::vector<std::int64_t> m_indices;
};

/// A dataset seen through a function: augmentation.
class MapDataset final : public Dataset {
public:
    using Transform = std::function<Sample(Sample)>;
    MapDataset(DatasetPtr whole, Transform transform);
    std::int64_t size() const override { return m_whole->size(); }
    Sample get(std::int64_t index) const override { return m_transform(m_whole->get(index)); }

private:
    DatasetPtr m_whole;
    Transform m_transform;
};

/// Disjoint random parts of these sizes. Throws Error unless they add up to the dataset.
std::vector<std::shared_ptr<const Subset>> random_split(const DatasetPtr& dataset,
                                                        std::span<const std::int64_t> lengths,
                                                        Generator& generator);
/// The same by shares that add up to 1; what rounding leaves over goes to the first parts, one
/// each.
std::vector<std::shared_ptr<const Subset>> random_split(const DatasetPtr& dataset,
                                                        std::span<const double> fractions,
                                                        Generator& generator);

}  // namespace tapescope::engine::data
