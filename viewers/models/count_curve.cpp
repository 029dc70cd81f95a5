// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/count_curve.h"

#include <algorithm>

namespace tapescope::viewers {

void CountBlock::Node::add(const Node& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
}

void CountBlock::finish() {
    levels.assign(1, {});
    for (std::size_t begin = 0; begin < size(); begin += kLeaf) {
        Node node;
        for (std::size_t i = begin; i < std::min(size(), begin + kLeaf); ++i)
            node.add({count[i], count[i]});
        levels[0].push_back(node);
    }
    while (levels.back().size() > 1) {
        const auto& below = levels.back();
        std::vector<Node> level;
        for (std::size_t begin = 0; begin < below.size(); begin += kFan) {
            Node node;
            for (std::size_t i = begin; i < std::min(below.size(), begin + kFan); ++i)
                node.add(below[i]);
            level.push_back(node);
        }
        levels.push_back(std::move(level));
    }
}

CountBlock::Node CountBlock::extremes(std::size_t from, std::size_t to) const {
    if (from == 0 && to == size()) return levels.back().front();
    Node out;
    for (std::size_t i = from; i < to;) {
        if (i % kLeaf != 0 || i + kLeaf > to) {
            out.add({count[i], count[i]});
            ++i;
            continue;
        }
        // The largest node that starts here and ends inside.
        std::size_t level = 0, width = kLeaf;
        while (level + 1 < levels.size() && i % (width * kFan) == 0 && i + width * kFan <= to) {
            ++level;
            width *= kFan;
        }
        out.add(levels[level][i / width]);
        i += width;
    }
    return out;
}

std::size_t CountCurve::changes() const {
    return m_blocks.empty()
               ? 0
               : (m_blocks.size() - 1) * CountBlock::kCapacity + m_blocks.back()->size();
}

std::size_t CountCurve::after(std::int64_t t, bool orAt) const {
    const auto isBefore = [t, orAt](std::int64_t time) { return orAt ? time < t : time <= t; };
    const auto block = std::partition_point(
        m_blocks.begin(), m_blocks.end(), [&](const auto& b) { return isBefore(b->time.back()); });
    if (block == m_blocks.end()) return changes();
    const auto& times = (*block)->time;
    return static_cast<std::size_t>(block - m_blocks.begin()) * CountBlock::kCapacity +
           static_cast<std::size_t>(std::partition_point(times.begin(), times.end(), isBefore) -
                                    times.begin());
}

std::uint32_t CountCurve::at(std::int64_t t) const {
    const std::size_t next = after(t, false);
    if (next == 0) return 0;
    return m_blocks[(next - 1) / CountBlock::kCapacity]->count[(next - 1) % CountBlock::kCapacity];
}

CountCurve::Range CountCurve::within(TimeRange range) const {
    const std::uint32_t first = at(range.beginNs);
    CountBlock::Node node{first, first};
    const std::size_t end = after(range.endNs, true);
    for (std::size_t i = after(range.beginNs, false); i < end;) {
        const std::size_t block = i / CountBlock::kCapacity, base = block * CountBlock::kCapacity;
        const std::size_t to = std::min(end - base, m_blocks[block]->size());
        node.add(m_blocks[block]->extremes(i - base, to));
        i = base + to;
    }
    return {node.low, node.high};
}

std::uint32_t CountCurve::peak() const {
    CountBlock::Node node;
    for (const auto& block : m_blocks) node.add(block->levels.back().front());
    return node.high;
}

void CountCurveBuilder::settle() {
    if (m_pending.empty()) return;
    auto added = std::exchange(m_pending, {});
    std::sort(added.begin(), added.end());
    auto& blocks = m_curve.m_blocks;
    std::size_t kept = blocks.size();
    while (kept > 0 && (blocks[kept - 1]->time.back() >= added.front().first ||
                        blocks[kept - 1]->size() < CountBlock::kCapacity))
        --kept;
    const std::vector<std::shared_ptr<const CountBlock>> old(
        blocks.begin() + static_cast<std::ptrdiff_t>(kept), blocks.end());
    blocks.resize(kept);

    std::int64_t level = kept > 0 ? blocks.back()->count.back() : 0;
    std::int64_t oldLevel = level;
    std::shared_ptr<CountBlock> open;
    const auto close = [&] {
        if (!open) return;
        open->finish();
        blocks.push_back(std::exchange(open, nullptr));
    };
    const auto change = [&](std::int64_t t, std::int64_t by) {
        if (by == 0) return;
        level += by;
        if (!open) open = std::make_shared<CountBlock>();
        open->time.push_back(t);
        open->count.push_back(
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(level, 0, UINT32_MAX)));
        if (open->size() == CountBlock::kCapacity) close();
    };
    auto next = added.begin();
    const auto addUntil = [&](std::int64_t t) {  // what was added before t
        while (next != added.end() && next->first < t) {
            const std::int64_t at = next->first;
            std::int64_t by = 0;
            for (; next != added.end() && next->first == at; ++next) by += next->second;
            change(at, by);
        }
    };
    for (const auto& block : old) {
        for (std::size_t i = 0; i < block->size(); ++i) {
            const std::int64_t t = block->time[i];
            addUntil(t);
            std::int64_t by = block->count[i] - oldLevel;
            oldLevel = block->count[i];
            for (; next != added.end() && next->first == t; ++next) by += next->second;
            change(t, by);
        }
    }
    addUntil(INT64_MAX);
    close();
}

}  // namespace tapescope::viewers
