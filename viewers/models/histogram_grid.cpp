// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/histogram_grid.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

std::vector<double> rebin(const storage::Histogram& histogram, double low, double high, int rows) {
    std::vector<double> out(static_cast<std::size_t>(rows), 0.0);
    const double width = (high - low) / rows;
    if (width <= 0) return out;
    for (std::size_t b = 0; b < histogram.counts.size(); ++b) {
        const double count = histogram.counts[b];
        if (count <= 0) continue;
        const double from = histogram.edges[b], to = histogram.edges[b + 1];
        if (to < low || from > high) continue;
        if (to <= from) {  // all values equal: one row takes them
            const int row = std::clamp(static_cast<int>((from - low) / width), 0, rows - 1);
            out[static_cast<std::size_t>(row)] += count / width;
            continue;
        }
        const int first =
            std::clamp(static_cast<int>(std::floor((from - low) / width)), 0, rows - 1);
        const int last = std::clamp(static_cast<int>(std::floor((to - low) / width)), 0, rows - 1);
        for (int row = first; row <= last; ++row) {
            const double rowLow = low + row * width;
            const double overlap = std::min(to, rowLow + width) - std::max(from, rowLow);
            if (overlap > 0)
                out[static_cast<std::size_t>(row)] += count * overlap / (to - from) / width;
        }
    }
    return out;
}

ValueRange massRange(const std::vector<const storage::Histogram*>& histograms, double tail) {
    ValueRange range{INFINITY, -INFINITY};
    for (const storage::Histogram* h : histograms) {
        double total = 0;
        for (const double count : h->counts) total += count;
        if (total <= 0) continue;
        double below = 0;
        bool started = false;
        for (std::size_t b = 0; b < h->counts.size(); ++b) {
            const double before = below;
            below += h->counts[b];
            if (h->counts[b] <= 0 || below <= total * tail) continue;
            if (before >= total * (1 - tail)) break;
            if (!started) range.low = std::min(range.low, h->edges[b]);
            started = true;
            range.high = std::max(range.high, h->edges[b + 1]);
        }
    }
    if (range.low > range.high) return {};
    if (range.low == range.high) {
        const double pad = range.low == 0 ? 1 : std::abs(range.low) * 0.1;
        return {range.low - pad, range.high + pad};
    }
    return range;
}

}  // namespace tapescope::viewers
