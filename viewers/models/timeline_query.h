// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/timeline_model.h"

#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace tapescope::viewers {

/// Questions to a timeline that look at many events. Pure functions; any thread.

/// Operators overlapping a range, per name and phase, longest total first; on a timeline without
/// operators, kernels and copies. Times count only inside
/// the range; selfNs is without operators called inside. Stops early (with what it has) when asked
/// to.
/// mediansNs: gets the medians of the events' whole durations, one a row, of kernels and copies.
std::vector<storage::OpSummary> aggregate(const TimelineData& data, TimeRange range,
                                          std::stop_token stop = {},
                                          std::vector<double>* mediansNs = nullptr);

/// What a search matches: NameIds whose text contains it (ASCII case ignored), and modules whose
/// path does.
struct NameMatch {
    std::vector<bool> names;
    std::vector<bool> labels;   ///< [GpuLabel]
    std::vector<bool> modules;  ///< [ModuleId]
    bool any = false;
    bool matches(const EventBlock& block, std::size_t i) const {
        if (block.isGpu()) return block.name[i] < labels.size() && labels[block.name[i]];
        const EventDetail& d = block.detail[i];
        if (d.kind == storage::OpEvent::Kind::Module)
            return d.module < modules.size() && modules[d.module];
        return block.name[i] < names.size() && names[block.name[i]];
    }
};
NameMatch matchNames(const Structure& structure, std::string_view text,
                     const GpuView* gpu = nullptr);

/// The next match starting after (or before) an event in time order over all rows but steps and
/// phases; without `from`, the first (last). None: there is none on that side.
std::optional<EventRef> findMatch(const TimelineData& data, const NameMatch& match,
                                  std::optional<EventRef> from, bool forward);
std::size_t countMatches(const TimelineData& data, const NameMatch& match,
                         std::stop_token stop = {});

}  // namespace tapescope::viewers
