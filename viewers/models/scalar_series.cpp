// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/scalar_series.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

ScalarSeriesPtr ScalarSeries::append(const ScalarSeries* before,
                                     std::span<const storage::ScalarPoint> points) {
    auto series = before != nullptr ? std::make_shared<ScalarSeries>(*before)
                                    : std::make_shared<ScalarSeries>();
    std::shared_ptr<ScalarBlock> open;
    if (!series->m_blocks.empty() && series->m_blocks.back()->size() < ScalarBlock::kCapacity &&
        !points.empty()) {
        open = std::make_shared<ScalarBlock>(*series->m_blocks.back());
        series->m_blocks.back() = open;
    }
    const auto close = [&open] {
        if (open) open->tree.update(open->value);
    };
    for (const storage::ScalarPoint& point : points) {
        const auto step = static_cast<double>(point.step);
        const ScalarBlock* last =
            series->m_blocks.empty() ? nullptr : series->m_blocks.back().get();
        const bool falls =
            last != nullptr && (step < last->step.back() || point.wall < last->wall.back());
        if (!open || falls || open->size() == ScalarBlock::kCapacity) {
            close();
            open = std::make_shared<ScalarBlock>();
            open->firstSeq = series->m_size;
            open->restarts = falls;
            series->m_blocks.push_back(open);
        }
        if (!std::isfinite(point.value)) {
            open->nonFinite.push_back(static_cast<std::uint32_t>(open->size()));
            ++series->m_nonFinite;
        }
        open->step.push_back(step);
        open->wall.push_back(point.wall);
        open->value.push_back(point.value);
        ++series->m_size;
    }
    close();
    return series;
}

std::pair<const ScalarBlock*, std::size_t> ScalarSeries::locate(std::size_t seq) const {
    const auto after = std::upper_bound(
        m_blocks.begin(), m_blocks.end(), seq,
        [](std::size_t s, const ScalarBlockPtr& block) { return s < block->firstSeq; });
    const ScalarBlock* block = std::prev(after)->get();
    return {block, seq - block->firstSeq};
}

storage::ScalarPoint ScalarSeries::point(std::size_t seq) const {
    const auto [block, i] = locate(seq);
    return {static_cast<std::int64_t>(block->step[i]), block->wall[i], block->value[i]};
}

std::optional<ScalarSeries::Extent> ScalarSeries::xExtent(XAxis axis) const {
    if (empty()) return std::nullopt;
    Extent extent{x(*m_blocks.front(), 0, axis), x(*m_blocks.front(), 0, axis)};
    for (const ScalarBlockPtr& block : m_blocks) {
        extent.low = std::min(extent.low, x(*block, 0, axis));
        extent.high = std::max(extent.high, x(*block, block->size() - 1, axis));
    }
    return extent;
}

namespace {

/// Smallest i with x(i) >= at.
template <class X>
std::size_t lowerBound(std::size_t n, double at, const X& x) {
    std::size_t low = 0, high = n;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (x(middle) < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace

std::optional<ScalarSeries::Extent> ScalarSeries::valueExtent(XAxis axis, double low,
                                                              double high) const {
    std::optional<Extent> extent;
    const auto include = [&extent](double v) {
        if (!std::isfinite(v)) return;
        if (!extent) {
            extent = Extent{v, v};
        } else {
            extent->low = std::min(extent->low, v);
            extent->high = std::max(extent->high, v);
        }
    };
    for (const ScalarBlockPtr& block : m_blocks) {
        const auto at = [&](std::size_t i) { return x(*block, i, axis); };
        std::size_t i = lowerBound(block->size(), low, at);
        const std::size_t end = lowerBound(block->size(), std::nextafter(high, INFINITY), at);
        while (i < end) {
            // The largest node that starts here and ends inside.
            std::size_t level = 0;
            if (i % MinMaxTree::kLeaf != 0 || i + MinMaxTree::kLeaf > end) {
                include(block->value[i++]);
                continue;
            }
            while (level + 1 < block->tree.levels() && i % MinMaxTree::width(level + 1) == 0 &&
                   i + MinMaxTree::width(level + 1) <= end)
                ++level;
            const MinMaxTree::Node node = block->tree.level(level)[i / MinMaxTree::width(level)];
            if (node.min != MinMaxTree::kNone) {
                include(block->value[node.min]);
                include(block->value[node.max]);
            }
            i += MinMaxTree::width(level);
        }
    }
    return extent;
}

std::optional<std::size_t> ScalarSeries::nearest(XAxis axis, double at) const {
    std::optional<std::size_t> best;
    double distance = INFINITY;
    for (const ScalarBlockPtr& block : m_blocks) {
        const std::size_t i =
            lowerBound(block->size(), at, [&](std::size_t k) { return x(*block, k, axis); });
        for (const std::size_t k : {i - 1, i}) {
            if (k >= block->size()) continue;  // also i - 1 of i = 0
            const double d = std::abs(x(*block, k, axis) - at);
            if (d <= distance) {
                distance = d;
                best = block->firstSeq + k;
            }
        }
    }
    return best;
}

void SmoothedSeries::follow(const ScalarSeries& series, double weight) {
    const auto& blocks = series.blocks();
    bool continues =
        weight == m_weight && series.size() >= m_size && blocks.size() >= m_blocks.size();
    // Full blocks are shared between a series and its continuation; the last one may have been
    // copied.
    for (std::size_t i = 0; continues && i + 1 < m_seen.size(); ++i)
        continues = m_seen[i] == blocks[i].get();
    if (!continues) {
        m_blocks.clear();
        m_weight = weight;
        m_sum = 0;
        m_bias = 1;
        m_size = 0;
    }
    m_seen.resize(blocks.size());
    m_blocks.resize(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        m_seen[b] = blocks[b].get();
        Block& mine = m_blocks[b];
        const auto& values = blocks[b]->value;
        if (mine.value.size() == values.size()) continue;
        mine.value.reserve(values.size());
        for (std::size_t i = mine.value.size(); i < values.size(); ++i) {
            if (!std::isfinite(values[i])) {
                mine.value.push_back(values[i]);
                continue;
            }
            m_sum = m_sum * weight + (1 - weight) * values[i];
            m_bias *= weight;
            mine.value.push_back(m_sum / (1 - m_bias));
        }
        mine.tree.update(mine.value);
    }
    m_size = series.size();
}

double SmoothedSeries::at(const ScalarSeries& series, std::size_t seq) const {
    const auto [block, i] = series.locate(seq);
    const auto found = std::find(m_seen.begin(), m_seen.end(), block);
    return m_blocks[static_cast<std::size_t>(found - m_seen.begin())].value[i];
}

}  // namespace tapescope::viewers
