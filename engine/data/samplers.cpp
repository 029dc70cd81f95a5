// SPDX-License-Identifier: Apache-2.0
#include "engine/data/samplers.h"

#include "engine/data/shuffle.h"
#include "engine/errors.h"
#include "engine/nn/number_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace tapescope::engine::data {
namespace {

/// Uniform in [0, 1), 53 bits.
double unit(Generator& generator) {
    const std::uint64_t high = generator.next32() >> 5U;
    const std::uint64_t low = generator.next32() >> 6U;
    return static_cast<double>(high << 26U | low) * 0x1p-53;
}

Indices counted(std::int64_t count) {
    Indices order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

void requireSamples(const char* who, std::int64_t samples) {
    if (samples >= 1) return;
    throw Error(std::string(who) + ": it needs at least one sample, but got " +
                std::to_string(samples));
}

}  // namespace

SequentialSampler::SequentialSampler(std::int64_t samples) : m_samples(samples) {
    if (samples < 0)
        throw Error("SequentialSampler: the number of samples is negative, " +
                    std::to_string(samples));
}

Indices SequentialSampler::epoch(std::int64_t, Generator&) const { return counted(m_samples); }

RandomSampler::RandomSampler(std::int64_t samples, bool replacement, std::int64_t num_samples)
    : m_samples(samples),
      m_replacement(replacement),
      m_count(num_samples == 0 ? samples : num_samples) {
    requireSamples("RandomSampler", samples);
    requireSamples("RandomSampler", m_count);
}

Indices RandomSampler::epoch(std::int64_t, Generator& generator) const {
    Indices out;
    if (m_replacement) {
        for (std::int64_t i = 0; i < m_count; ++i) {
            const double place = unit(generator) * static_cast<double>(m_samples);
            out.push_back(std::min(static_cast<std::int64_t>(place), m_samples - 1));
        }
        return out;
    }
    while (static_cast<std::int64_t>(out.size()) < m_count) {
        const Indices round = shuffledIndices(m_samples, generator);
        out.insert(out.end(), round.begin(), round.end());
    }
    out.resize(static_cast<std::size_t>(m_count));
    return out;
}

Indices SubsetRandomSampler::epoch(std::int64_t, Generator& generator) const {
    Indices out;
    for (const std::int64_t i : shuffledIndices(size(), generator))
        out.push_back(m_indices[static_cast<std::size_t>(i)]);
    return out;
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, std::int64_t num_samples,
                                             bool replacement)
    : m_weights(std::move(weights)), m_count(num_samples), m_replacement(replacement) {
    requireSamples("WeightedRandomSampler", num_samples);
    std::int64_t positive = 0;
    double total = 0;
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
        if (!(m_weights[i] >= 0) || !std::isfinite(m_weights[i])) {
            throw Error("WeightedRandomSampler: weight " + std::to_string(i) + " is " +
                        nn::numberText(m_weights[i]) + "; weights must be finite and not negative");
        }
        positive += m_weights[i] > 0 ? 1 : 0;
        total += m_weights[i];
    }
    if (positive == 0 || !std::isfinite(total))
        throw Error("WeightedRandomSampler: the weights must have a sum above 0 that is finite");
    if (!replacement && num_samples > positive) {
        throw Error("WeightedRandomSampler: " + std::to_string(num_samples) +
                    " draws without replacement need as many weights above 0, there are " +
                    std::to_string(positive));
    }
}

Indices WeightedRandomSampler::epoch(std::int64_t, Generator& generator) const {
    Indices out;
    if (m_replacement) {
        std::vector<double> sums(m_weights.size());
        std::partial_sum(m_weights.begin(), m_weights.end(), sums.begin());
        for (std::int64_t i = 0; i < m_count; ++i) {
            const double place = unit(generator) * sums.back();
            // Past every sum that is not above it: an index of weight 0 is never met.
            const auto at = std::upper_bound(sums.begin(), sums.end(), place);
            const auto last = static_cast<std::ptrdiff_t>(sums.size()) - 1;
            out.push_back(std::min(at - sums.begin(), last));
        }
        return out;
    }
    // The largest of log(u)/weight (Efraimidis and Spirakis 2006).
    std::vector<std::pair<double, std::int64_t>> keys;
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
        const double u = unit(generator);
        if (m_weights[i] > 0)
            keys.emplace_back(-std::log1p(-u) / m_weights[i], static_cast<std::int64_t>(i));
    }
    std::sort(keys.begin(), keys.end());
    for (std::int64_t i = 0; i < m_count; ++i)
        out.push_back(keys[static_cast<std::size_t>(i)].second);
    return out;
}

DistributedSampler::DistributedSampler(std::int64_t samples, DistributedOptions options)
    : m_samples(samples), m_options(options) {
    requireSamples("DistributedSampler", samples);
    if (options.rank < 0 || options.rank >= options.num_replicas) {
        throw Error("DistributedSampler: rank " + std::to_string(options.rank) +
                    " does not lie in [0, " + std::to_string(options.num_replicas) + ")");
    }
    const std::int64_t replicas = options.num_replicas;
    m_count = options.drop_last ? samples / replicas : (samples + replicas - 1) / replicas;
}

Indices DistributedSampler::epoch(std::int64_t epoch, Generator&) const {
    Generator own(m_options.seed + static_cast<std::uint64_t>(epoch));
    const Indices order = m_options.shuffle ? shuffledIndices(m_samples, own) : counted(m_samples);
    Indices out;
    for (std::int64_t i = 0; i < m_count; ++i) {
        const std::int64_t place = m_options.rank + i * m_options.num_replicas;
        out.push_back(order[static_cast<std::size_t>(place % m_samples)]);  // the first ones twice
    }
    return out;
}

FixedBatchSampler::FixedBatchSampler(std::shared_ptr<const Sampler> sampler,
                                     std::int64_t batch_size, bool drop_last)
    : m_sampler(std::move(sampler)), m_batch(batch_size), m_dropLast(drop_last) {
    if (!m_sampler) throw Error("FixedBatchSampler: the sampler is null");
    if (batch_size < 1) {
        throw Error("FixedBatchSampler: batch_size must be at least 1, but is " +
                    std::to_string(batch_size));
    }
}

std::vector<Indices> FixedBatchSampler::epoch(std::int64_t epoch, Generator& generator) const {
    std::vector<Indices> batches;
    Indices current;
    for (const std::int64_t index : m_sampler->epoch(epoch, generator)) {
        current.push_back(index);
        if (static_cast<std::int64_t>(current.size()) < m_batch) continue;
        batches.push_back(std::move(current));
        current = {};
    }
    if (!current.empty() && !m_dropLast) batches.push_back(std::move(current));
    return batches;
}

BudgetBatchSampler::BudgetBatchSampler(std::vector<std::int64_t> lengths, BudgetOptions options)
    : m_lengths(std::move(lengths)), m_options(options) {
    if (!(options.budget > 0) || !(options.per_token >= 0) || !(options.per_sample >= 0))
        throw Error("BudgetBatchSampler: budget must be above 0 and the costs not negative");
    if (options.max_batch < 0 || options.bucket_size < 0)
        throw Error("BudgetBatchSampler: max_batch and bucket_size must not be negative");
    for (std::size_t i = 0; i < m_lengths.size(); ++i) {
        const std::string who = "BudgetBatchSampler: sample " + std::to_string(i) + " is " +
                                std::to_string(m_lengths[i]) + " long";
        if (m_lengths[i] < 0) throw Error(who + "; a length cannot be negative");
        if (!options.allow_oversize && cost(1, m_lengths[i]) > options.budget) {
            throw Error(who + " and alone costs " + nn::numberText(cost(1, m_lengths[i])) +
                        ", more than the budget of " + nn::numberText(options.budget) +
                        "; cut it, raise the budget, or set allow_oversize");
        }
    }
}

double BudgetBatchSampler::cost(std::int64_t samples, std::int64_t longest) const {
    const auto n = static_cast<double>(samples);
    return n * (static_cast<double>(longest) * m_options.per_token + m_options.per_sample);
}

std::vector<Indices> BudgetBatchSampler::epoch(std::int64_t, Generator& generator) const {
    const auto total = static_cast<std::int64_t>(m_lengths.size());
    Indices order = m_options.shuffle ? shuffledIndices(total, generator) : counted(total);
    const std::int64_t bucket = m_options.bucket_size == 0 ? total : m_options.bucket_size;
    const auto lengthOf = [&](std::int64_t index) {
        return m_lengths[static_cast<std::size_t>(index)];
    };
    std::vector<Indices> batches;
    for (std::int64_t begin = 0; begin < total; begin += bucket) {
        const auto first = order.begin() + begin;
        const auto last = order.begin() + std::min(begin + bucket, total);
        std::stable_sort(first, last,
                         [&](std::int64_t a, std::int64_t b) { return lengthOf(a) < lengthOf(b); });
        Indices current;
        for (auto it = first; it != last; ++it) {
            const auto count = static_cast<std::int64_t>(current.size()) + 1;
            const bool full = m_options.max_batch > 0 && count > m_options.max_batch;
            // Sorted: this sample is the longest so far.
            if (!current.empty() && (full || cost(count, lengthOf(*it)) > m_options.budget)) {
                batches.push_back(std::move(current));
                current = {};
            }
            current.push_back(*it);
        }
        if (!current.empty()) batches.push_back(std::move(current));
    }
    if (!m_options.shuffle) return batches;
    std::vector<Indices> shuffled;
    for (const std::int64_t i :
         shuffledIndices(static_cast<std::int64_t>(batches.size()), generator))
        shuffled.push_back(std::move(batches[static_cast<std::size_t>(i)]));
    return shuffled;
}

}  // namespace tapescope::engine::data
