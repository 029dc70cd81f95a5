// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/min_max_tree.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

void MinMaxTree::update(std::span<const double> values) {
    const std::size_t n = values.size();
    if (n == m_size) return;
    const auto include = [&values](Node& node, std::uint32_t lo, std::uint32_t hi) {
        if (lo != kNone && (node.min == kNone || values[lo] < values[node.min])) node.min = lo;
        if (hi != kNone && (node.max == kNone || values[hi] > values[node.max])) node.max = hi;
    };
    std::size_t first = m_size / kLeaf;
    if (m_levels.empty()) m_levels.emplace_back();
    m_levels[0].resize(first);
    for (std::size_t begin = first * kLeaf; begin < n; begin += kLeaf) {
        Node node;
        for (std::size_t i = begin; i < std::min(n, begin + kLeaf); ++i) {
            const auto at = static_cast<std::uint32_t>(i);
            if (std::isfinite(values[i])) include(node, at, at);
        }
        m_levels[0].push_back(node);
    }
    for (std::size_t l = 1; m_levels[l - 1].size() > 1; ++l) {
        if (l == m_levels.size()) {
            m_levels.emplace_back();
            first = 0;
        }
        first /= kFan;
        const auto& below = m_levels[l - 1];
        auto& level = m_levels[l];
        level.resize(std::min(first, level.size()));
        for (std::size_t begin = level.size() * kFan; begin < below.size(); begin += kFan) {
            Node node;
            for (std::size_t i = begin; i < std::min(below.size(), begin + kFan); ++i)
                include(node, below[i].min, below[i].max);
            level.push_back(node);
        }
    }
    m_size = n;
}

}  // namespace tapescope::viewers
