// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/tape_snapshot.h"

#include "viewers/models/timeline_model.h"

#include <QCoreApplication>

#include <algorithm>

namespace tapescope::viewers {

const storage::ModuleRow* Structure::module(storage::ModuleId id) const {
    const auto found = moduleIndex.find(id);
    return found == moduleIndex.end() ? nullptr : &modules[found->second];
}

const storage::SiteRow* Structure::site(storage::SiteId id) const {
    const auto found = siteIndex.find(id);
    return found == siteIndex.end() ? nullptr : &sites[found->second];
}

const storage::SourceRow* Structure::source(const std::string& path) const {
    for (const storage::SourceRow& row : sources)
        if (row.path == path) return &row;
    return nullptr;
}

const std::string& Structure::name(storage::NameId id) const {
    static const std::string kUnknown;
    return id < names.size() ? names[id] : kUnknown;
}

std::int64_t TapeSnapshot::lastStep() const {
    return steps && !steps->empty() ? steps->back().step : -1;
}

std::int64_t TapeSnapshot::lostCount() const {
    std::int64_t sum = 0;
    if (losses)
        for (const storage::LossCount& loss : *losses) sum += loss.count;
    return sum;
}

storage::GraphId TapeSnapshot::graphOfStep(std::int64_t step) const {
    if (steps)
        for (auto row = steps->rbegin(); row != steps->rend(); ++row)
            if (row->step == step) return row->graph;
    if (graphs)
        for (auto graph = graphs->rbegin(); graph != graphs->rend(); ++graph)
            if (graph->firstStep == step) return graph->id;
    return 0;
}

storage::GraphId TapeSnapshot::graphToShow(std::int64_t step) const {
    if (step >= 0) return graphOfStep(step);
    if (graphs && !graphs->empty() && !graphs->back().complete) return graphs->back().id;
    if (steps && !steps->empty() && steps->back().graph != 0) return steps->back().graph;
    return graphs && !graphs->empty() ? graphs->back().id : 0;
}

bool TapeSnapshot::recordsCudaProgram() const {
    return !loading && status.ok() && run && run->state != storage::TapeState::Live && timeline &&
           timeline->gpu && std::ranges::all_of(timeline->rows, [](const TimelineRow& row) {
               return isGpu(row.kind);
           });
}

QString TapeSnapshot::whyNo(const QString& things) const {
    if (loading || !status.ok() || !run || run->state == storage::TapeState::Live) return {};
    const auto tr = [](const char* text) { return QCoreApplication::translate("Tape", text); };
    return (recordsCudaProgram() ? tr("This tape has no %1: it records a CUDA program.")
                                 : tr("This tape has no %1."))
        .arg(things);
}

}  // namespace tapescope::viewers
