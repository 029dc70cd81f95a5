// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/einsum_path.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tapescope::engine {

namespace {

constexpr std::size_t kExhaustive = 6;

double volume(LabelSet labels, std::span<const std::int64_t> sizes) {
    double product = 1;
    for (LabelSet rest = labels; rest != 0; rest &= rest - 1)
        product *= static_cast<double>(sizes[static_cast<std::size_t>(std::countr_zero(rest))]);
    return product;
}

/// The cheapest order over subsets of operands: bit i of a subset is operand i.
class Exhaustive {
public:
    Exhaustive(std::span<const LabelSet> operands, LabelSet output,
               std::span<const std::int64_t> sizes)
        : m_operands(operands), m_best(std::size_t{1} << operands.size()) {
        const std::size_t all = m_best.size() - 1;
        for (std::size_t subset = 1; subset <= all; ++subset) {
            Best& best = m_best[subset];
            LabelSet inside = 0;
            LabelSet outside = output;
            for (std::size_t i = 0; i < operands.size(); ++i)
                (subset >> i & 1U ? inside : outside) |= operands[i];
            if (std::has_single_bit(subset)) {
                // As given: labels that only it has are summed when it meets another.
                best = {inside, 0, 0};
                continue;
            }
            best.cost = std::numeric_limits<double>::infinity();
            best.labels = inside & outside;
            for (std::size_t half = (subset - 1) & subset; half != 0; half = (half - 1) & subset)
                weigh(subset, half, sizes);
        }
    }

    std::vector<ContractionPair> path() const {
        std::vector<std::size_t> list;
        for (std::size_t i = 0; i < m_operands.size(); ++i) list.push_back(std::size_t{1} << i);
        std::vector<ContractionPair> pairs;
        append(m_best.size() - 1, list, pairs);
        return pairs;
    }

private:
    struct Best {
        LabelSet labels = 0;
        double cost = 0;
        std::size_t half = 0;
    };

    void weigh(std::size_t subset, std::size_t half, std::span<const std::int64_t> sizes) {
        const Best& a = m_best[half];
        const Best& b = m_best[subset ^ half];
        const double cost = a.cost + b.cost + volume(a.labels | b.labels, sizes);
        Best& best = m_best[subset];
        if (cost < best.cost) {
            best.cost = cost;
            best.half = half;
        }
    }

    void append(std::size_t subset, std::vector<std::size_t>& list,
                std::vector<ContractionPair>& pairs) const {
        if (std::has_single_bit(subset)) return;
        const std::size_t half = m_best[subset].half;
        append(half, list, pairs);
        append(subset ^ half, list, pairs);
        std::size_t first = 0;
        std::size_t second = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == half) first = i;
            if (list[i] == (subset ^ half)) second = i;
        }
        pairs.emplace_back(first, second);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::max(first, second)));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::min(first, second)));
        list.push_back(subset);
    }

    std::span<const LabelSet> m_operands;
    std::vector<Best> m_best;
};

std::vector<ContractionPair> greedy(std::vector<LabelSet> operands, LabelSet output,
                                    std::span<const std::int64_t> sizes) {
    std::vector<ContractionPair> pairs;
    while (operands.size() > 1) {
        ContractionPair best{0, 1};
        LabelSet bestLabels = 0;
        double bestGrowth = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < operands.size(); ++i) {
            for (std::size_t j = i + 1; j < operands.size(); ++j) {
                LabelSet others = output;
                for (std::size_t k = 0; k < operands.size(); ++k)
                    if (k != i && k != j) others |= operands[k];
                const LabelSet kept = (operands[i] | operands[j]) & others;
                const double growth =
                    volume(kept, sizes) - volume(operands[i], sizes) - volume(operands[j], sizes);
                if (growth < bestGrowth) {
                    bestGrowth = growth;
                    best = {i, j};
                    bestLabels = kept;
                }
            }
        }
        pairs.push_back(best);
        operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(best.second));
        operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(best.first));
        operands.push_back(bestLabels);
    }
    return pairs;
}

}  // namespace

std::vector<ContractionPair> contractionPath(std::span<const LabelSet> operands, LabelSet output,
                                             std::span<const std::int64_t> sizes) {
    if (operands.size() <= 1) return {};
    if (operands.size() <= kExhaustive) return Exhaustive(operands, output, sizes).path();
    return greedy({operands.begin(), operands.end()}, output, sizes);
}

}  // namespace tapescope::engine
