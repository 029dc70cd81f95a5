// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/status.h"
#include "storage/tape/records.h"

#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tapescope::viewers {

class ScalarSeries;
struct TimelineData;

/// What is known of the run itself.
struct RunState {
    storage::RunInfo info;
    storage::TapeState state = storage::TapeState::Live;
    storage::RunOutcome outcome = storage::RunOutcome::Unknown;
    std::string outcomeMessage;
};

/// The tables events refer to, indexed by id.
struct Structure {
    std::vector<std::string> names;           ///< [NameId]
    std::vector<storage::ModuleRow> modules;  ///< as in the tape
    std::vector<storage::SiteRow> sites;
    std::vector<storage::SourceRow> sources;
    std::vector<storage::LaneRow> lanes;
    std::unordered_map<storage::ModuleId, std::size_t> moduleIndex;
    std::unordered_map<storage::SiteId, std::size_t> siteIndex;

    const storage::ModuleRow* module(storage::ModuleId id) const;  ///< null if unknown or 0
    const storage::SiteRow* site(storage::SiteId id) const;
    const storage::SourceRow* source(const std::string& path) const;
    /// "" for an unknown id.
    const std::string& name(storage::NameId id) const;
};

/// The histograms of one tag in order of arrival.
struct HistogramSeries {
    std::string tag;
    std::vector<std::shared_ptr<const storage::Histogram>> items;
};

using ScalarSeriesPtr = std::shared_ptr<const ScalarSeries>;
using HistogramSeriesPtr = std::shared_ptr<const HistogramSeries>;
using GraphPtr = std::shared_ptr<const storage::Graph>;

/// All a window knows of a tape at one moment. Copying is cheap, what is pointed to never changes;
/// a pointer is null until its part was read.
struct TapeSnapshot {
    std::shared_ptr<const RunState> run;
    std::map<std::string, ScalarSeriesPtr> scalars;        ///< by tag
    std::map<std::string, HistogramSeriesPtr> histograms;  ///< by tag
    std::shared_ptr<const Structure> structure;
    std::shared_ptr<const std::vector<storage::StepRow>> steps;
    std::shared_ptr<const std::vector<storage::Graph>>
        graphs;  ///< without nodes; TapeSession::requestGraph() gets them
    std::shared_ptr<const TimelineData> timeline;  ///< operator and memory events
    std::shared_ptr<const std::vector<storage::OpSummary>> opSummary;
    std::shared_ptr<const std::vector<storage::LogRow>> log;
    std::shared_ptr<const std::vector<storage::LossCount>> losses;
    storage::Status status;  ///< why the last poll failed; ok otherwise
    bool loading = true;     ///< false once everything that was in the tape has been read once

    std::int64_t lastStep() const;  ///< -1 if there is none
    std::int64_t lostCount() const;
    /// A tape that will not grow, with a GPU record and nothing that the engine did.
    bool recordsCudaProgram() const;
    /// Why a tape that will not grow has none of something ("modules"): "This tape has no modules:
    /// it records a CUDA program." Empty while it may still come.
    QString whyNo(const QString& things) const;
    /// The graph of a step: of its StepRow, else the incomplete one that began there. 0 if none.
    storage::GraphId graphOfStep(std::int64_t step) const;
    /// The step's graph if step >= 0, else the newest one.
    storage::GraphId graphToShow(std::int64_t step) const;
};

}  // namespace tapescope::viewers
