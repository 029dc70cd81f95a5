// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/timeline_model.h"

#include "viewers/models/gpu_view.h"

#include <algorithm>

namespace tapescope::viewers {

std::size_t TimelineRow::firstEndingAfter(std::int64_t t) const {
    const auto found = std::partition_point(blocks.begin(), blocks.end(),
                                            [t](const auto& b) { return b->endNs() <= t; });
    if (found == blocks.end()) return size();
    return static_cast<std::size_t>(found - blocks.begin()) * EventBlock::kCapacity +
           (*found)->firstEndingAfter(t);
}

std::string TimelineData::title(EventRef ref) const {
    if (isGpu(ref)) {
        const GpuLabel* label = gpu ? gpu->label(nameId(ref)) : nullptr;
        return label != nullptr ? label->text : std::string();
    }
    const EventDetail& d = detail(ref);
    if (d.kind == storage::OpEvent::Kind::Step) return "step " + std::to_string(d.step);
    if (d.kind == storage::OpEvent::Kind::Module && structure) {
        const storage::ModuleRow* module = structure->module(d.module);
        if (module != nullptr) return module->path.empty() ? module->type : module->path;
    }
    const std::string name = structure ? structure->name(nameId(ref)) : std::string();
    return name.empty() ? "#" + std::to_string(nameId(ref)) : name;
}

std::optional<EventRef> TimelineData::at(std::size_t row, std::int64_t t) const {
    if (row >= rows.size()) return std::nullopt;
    const std::size_t i = rows[row].firstEndingAfter(t);
    if (i >= rows[row].size() || rows[row].startNs(i) > t) return std::nullopt;
    return EventRef{row, i};
}

std::optional<EventRef> TimelineData::find(const OpRef& op) const {
    // Ids and (step, seq) both ascend along a row: it holds calls of one thread at one nesting
    // level.
    const auto search = [this](const auto& isBefore, const auto& isIt) -> std::optional<EventRef> {
        for (std::size_t r = 0; r < rows.size(); ++r) {
            if (rows[r].kind != RowKind::Operator) continue;
            std::size_t low = 0, high = rows[r].size();
            while (low < high) {
                const std::size_t middle = (low + high) / 2;
                if (isBefore(detail({r, middle}))) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < rows[r].size() && isIt(detail({r, low}))) return EventRef{r, low};
        }
        return std::nullopt;
    };
    if (op.opId != 0)
        return search([&](const EventDetail& d) { return d.opId < op.opId; },
                      [&](const EventDetail& d) { return d.opId == op.opId; });
    if (op.seq < 0 || op.step < 0) return std::nullopt;
    const auto key = [](const EventDetail& d) {
        return std::pair<std::int64_t, std::int64_t>(d.step, d.seq);
    };
    const std::pair<std::int64_t, std::int64_t> wanted(op.step, op.seq);
    return search([&](const EventDetail& d) { return key(d) < wanted; },
                  [&](const EventDetail& d) { return key(d) == wanted; });
}

std::optional<EventRef> TimelineData::findStep(std::int64_t step) const {
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].kind != RowKind::Step) continue;
        std::size_t low = 0, high = rows[r].size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (detail({r, middle}).step < step) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < rows[r].size() && detail({r, low}).step == step) return EventRef{r, low};
    }
    return std::nullopt;
}

}  // namespace tapescope::viewers
