// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/run_report.h"

#include "engine/observe/observer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tapescope::profiler {
namespace {

using storage::Result;
using storage::Status;

/// The value below which the share q of the sorted values lies (nearest rank).
double quantile(const std::vector<double>& sorted, double q) {
    if (sorted.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

Status addSteps(storage::TapeReader& tape, RunReport& report) {
    const auto steps = tape.steps();
    if (!steps.ok()) return steps.status();
    std::vector<double> durations;
    for (const storage::StepRow& step : *steps) {
        if (step.peakBytes > report.peakBytes) {
            report.peakBytes = step.peakBytes;
            report.peakStep = step.step;
        }
        if (step.endNs > step.startNs)
            durations.push_back(static_cast<double>(step.endNs - step.startNs));
    }
    report.steps = static_cast<std::int64_t>(durations.size());
    if (durations.empty()) return {};
    report.firstStepNs = durations.front();
    report.meanStepNs = std::accumulate(durations.begin(), durations.end(), 0.0) /
                        static_cast<double>(durations.size());
    std::sort(durations.begin(), durations.end());
    report.medianStepNs = quantile(durations, 0.5);
    report.p95StepNs = quantile(durations, 0.95);
    return {};
}

Status addOperators(storage::TapeReader& tape, RunReport& report) {
    const auto summary = tape.opSummary();
    if (!summary.ok()) return summary.status();
    double allSelf = 0;
    for (const storage::OpSummary& row : *summary) allSelf += static_cast<double>(row.selfNs);
    for (const storage::OpSummary& row : *summary) {
        RunReport::Operator op;
        op.name = row.name;
        op.phase = engine::phaseName(static_cast<engine::Phase>(row.phase));
        op.calls = row.calls;
        op.totalNs = row.totalNs;
        op.selfNs = row.selfNs;
        op.selfShare = allSelf > 0 ? static_cast<double>(row.selfNs) / allSelf : 0;
        op.gflops = row.totalNs > 0 ? row.flops / static_cast<double>(row.totalNs) : 0;
        report.operators.push_back(std::move(op));
    }
    std::stable_sort(report.operators.begin(), report.operators.end(),
                     [](const auto& a, const auto& b) { return a.selfNs > b.selfNs; });
    return {};
}

Status addScalars(storage::TapeReader& tape, RunReport& report) {
    const auto tags = tape.tags();
    if (!tags.ok()) return tags.status();
    for (const storage::TagRow& tag : *tags) {
        if (tag.kind != storage::TagKind::Scalar) continue;
        const auto points = tape.scalars(tag.id);
        if (!points.ok()) return points.status();
        if (points->empty()) continue;
        report.scalars.push_back({tag.name, points->back().step, points->back().value,
                                  static_cast<std::int64_t>(points->size())});
    }
    return {};
}

/// Reads every event and graph once: the summaries do not show that some can no longer be read.
void findDamage(storage::TapeReader& tape, RunReport& report) {
    constexpr std::size_t kEventsARead = 50'000;
    const auto readAll = [&](const auto& read) {
        for (std::int64_t cursor = 0;;) {
            const auto part = read(cursor);
            if (!part.ok()) {
                report.damage.push_back(part.status().message());
                return;
            }
            if (part->cursor == cursor) return;
            cursor = part->cursor;
        }
    };
    readAll([&](std::int64_t cursor) { return tape.opEvents(cursor, kEventsARead); });
    readAll([&](std::int64_t cursor) { return tape.memoryEvents(cursor, kEventsARead); });
    if (report.state == storage::TapeState::Live) return;  // its last graph may be replaced now
    std::set<storage::GraphId> ids;
    if (const auto graphs = tape.graphs(); graphs.ok()) {
        for (const storage::Graph& graph : *graphs) ids.insert(graph.id);
    }
    if (const auto steps = tape.steps(); steps.ok()) {
        for (const storage::StepRow& step : *steps) {
            if (step.graph != 0) ids.insert(step.graph);
        }
    }
    for (const storage::GraphId id : ids) {
        if (const auto graph = tape.graph(id); !graph.ok())
            report.damage.push_back(graph.status().message());
    }
}

}  // namespace

std::string_view stateName(storage::TapeState state) {
    switch (state) {
        case storage::TapeState::Live:
            return "live";
        case storage::TapeState::Sealed:
            return "complete";
        case storage::TapeState::Cut:
            return "cut";
    }
    return "?";
}

std::string_view outcomeName(storage::RunOutcome outcome) {
    switch (outcome) {
        case storage::RunOutcome::Unknown:
            return "unknown";
        case storage::RunOutcome::Finished:
            return "finished";
        case storage::RunOutcome::Stopped:
            return "stopped";
        case storage::RunOutcome::Failed:
            return "failed";
    }
    return "?";
}

Result<RunReport> makeRunReport(storage::TapeReader& tape) {
    RunReport report;
    auto info = tape.info();
    if (!info.ok()) return info.status();
    report.info = std::move(info).value();
    report.state = tape.state();
    report.outcome = tape.outcome();
    report.outcomeMessage = tape.outcomeMessage();
    for (const auto add : {addSteps, addOperators, addScalars}) {
        if (Status status = add(tape, report); !status.ok()) return status;
    }
    const auto graphs = tape.graphs();
    if (!graphs.ok()) return graphs.status();
    report.graphs = static_cast<std::int64_t>(graphs->size());
    auto losses = tape.losses();
    if (!losses.ok()) return losses.status();
    report.losses = std::move(losses).value();
    auto log = tape.log();
    if (!log.ok()) return log.status();
    findDamage(tape, report);
    for (storage::LogRow& row : *log) {
        if (row.severity != storage::Severity::Info) report.problems.push_back(std::move(row));
    }
    return report;
}

}  // namespace tapescope::profiler
