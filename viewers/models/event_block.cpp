// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/event_block.h"

#include <algorithm>

namespace tapescope::viewers {

std::size_t EventBlock::firstEndingAfter(std::int64_t t) const {
    std::size_t low = 0, high = size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (endNs(middle) > t) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void EventBlock::pushTime(std::int64_t startNs, std::int64_t durationNs) {
    if (durationNs >= static_cast<std::int64_t>(kLong)) {
        longDurations.emplace(static_cast<std::uint32_t>(size()), durationNs);
        duration.push_back(kLong);
    } else {
        duration.push_back(static_cast<std::uint32_t>(std::max<std::int64_t>(0, durationNs)));
    }
    start.push_back(startNs);
}

void EventBlock::push(std::int64_t startNs, std::int64_t durationNs, std::uint32_t label,
                      std::uint32_t ordinal) {
    pushTime(startNs, durationNs);
    name.push_back(label);
    gpu.push_back(ordinal);
}

void EventBlock::push(const storage::OpEvent& event) {
    pushTime(event.startNs, event.durationNs);
    name.push_back(event.name);
    phase.push_back(event.phase);
    detail.push_back({event.opId, event.parentId, event.flops, event.bytes,
                      static_cast<std::int32_t>(event.step), event.module, event.site, event.seq,
                      event.kind});
}

void EventBlock::extend(std::size_t from) {
    const std::size_t n = size();
    if (n == 0) return;
    std::size_t first = from / kLeaf;
    if (levels.empty()) levels.emplace_back();
    levels[0].resize(first);
    for (std::size_t begin = first * kLeaf; begin < n; begin += kLeaf) {
        Node node;
        node.beginNs = start[begin];
        for (std::size_t i = begin; i < std::min(n, begin + kLeaf); ++i) {
            const std::int64_t ns = durationNs(i);
            node.endNs = start[i] + ns;
            node.busyNs += ns;
            if (ns >= node.topNs) {
                node.topNs = ns;
                node.top = static_cast<std::uint32_t>(i);
            }
        }
        levels[0].push_back(node);
    }
    for (std::size_t l = 1; levels[l - 1].size() > 1; ++l) {
        if (l == levels.size()) {
            levels.emplace_back();
            first = 0;
        }
        first /= kFan;
        const auto& below = levels[l - 1];
        auto& level = levels[l];
        level.resize(std::min(first, level.size()));
        for (std::size_t begin = level.size() * kFan; begin < below.size(); begin += kFan) {
            Node node;
            for (std::size_t i = begin; i < std::min(below.size(), begin + kFan); ++i) {
                const Node& child = below[i];
                node.beginNs = std::min(node.beginNs, child.beginNs);
                node.endNs = std::max(node.endNs, child.endNs);
                node.busyNs += child.busyNs;
                if (child.topNs >= node.topNs) {
                    node.topNs = child.topNs;
                    node.top = child.top;
                }
            }
            level.push_back(node);
        }
    }
}

}  // namespace tapescope::viewers
