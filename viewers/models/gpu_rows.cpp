// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/gpu_rows.h"

#include <algorithm>
#include <tuple>

namespace tapescope::viewers {

namespace {

/// Outer before inner: by start, and the longer first.
bool before(const GpuRows::Item& a, const GpuRows::Item& b) {
    return std::tuple(a.startNs, -a.durationNs, a.ordinal) <
           std::tuple(b.startNs, -b.durationNs, b.ordinal);
}

}  // namespace

void GpuRows::takeBack(std::int64_t fromNs) {
    const auto take = [this](const EventBlock& block) {
        for (std::size_t i = 0; i < block.size(); ++i)
            m_pending.push_back({block.start[i], block.durationNs(i), block.name[i], block.gpu[i]});
    };
    m_lastStart = INT64_MIN;
    for (Row& row : m_rows) {
        if (row.open.size() > 0 && row.open.start.back() >= fromNs) {
            take(row.open);
            row.open = EventBlock();
            row.published = nullptr;
        }
        while (row.open.size() == 0 && !row.full.empty() &&
               row.full.back()->start.back() >= fromNs) {
            take(*row.full.back());
            row.full.pop_back();
        }
        if (row.open.size() > 0) {
            row.endNs = row.open.endNs();
            m_lastStart = std::max(m_lastStart, row.open.start.back());
        } else if (!row.full.empty()) {
            row.endNs = row.full.back()->endNs();
            m_lastStart = std::max(m_lastStart, row.full.back()->start.back());
        } else {
            row.endNs = INT64_MIN;
        }
    }
}

bool GpuRows::place(const Item& item) {
    for (std::size_t d = 0; d < kMaxRows; ++d) {
        if (d == m_rows.size()) m_rows.emplace_back();
        Row& row = m_rows[d];
        if (item.startNs < row.endNs) continue;
        if (row.open.size() == EventBlock::kCapacity) {
            row.open.extend(0);
            row.full.push_back(std::make_shared<const EventBlock>(std::move(row.open)));
            row.open = EventBlock();
        }
        row.open.push(item.startNs, item.durationNs, item.label, item.ordinal);
        row.published = nullptr;
        row.endNs = item.startNs + item.durationNs;
        return true;
    }
    return false;
}

std::vector<GpuRows::Item> GpuRows::settle() {
    std::vector<Item> lost;
    if (!m_relabels.empty()) {
        takeBack(m_relabelFrom);
        for (Item& item : m_pending)
            if (const auto to = m_relabels.find(item.ordinal); to != m_relabels.end())
                item.label = to->second;
        m_relabels.clear();
        m_relabelFrom = INT64_MAX;
    }
    if (m_pending.empty()) return lost;
    const auto first = std::min_element(m_pending.begin(), m_pending.end(), before);
    if (first->startNs <= m_lastStart) takeBack(first->startNs);
    std::sort(m_pending.begin(), m_pending.end(), before);
    for (const Item& item : m_pending)
        if (!place(item)) lost.push_back(item);
    m_lastStart = std::max(m_lastStart, m_pending.back().startNs);
    m_pending.clear();
    while (!m_rows.empty() && m_rows.back().open.size() == 0 && m_rows.back().full.empty())
        m_rows.pop_back();
    return lost;
}

GpuRows::Blocks GpuRows::blocks(std::size_t row) {
    Row& r = m_rows[row];
    if (r.open.size() == 0) return r.full;
    if (!r.published) {
        r.open.extend(0);
        r.published = std::make_shared<const EventBlock>(r.open);
    }
    Blocks blocks = r.full;
    blocks.push_back(r.published);
    return blocks;
}

}  // namespace tapescope::viewers
