// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/tape_follower.h"

#include "profiler/analysis/gpu_notices.h"
#include "viewers/models/scalar_series.h"

#include <algorithm>
#include <map>
#include <string>

namespace tapescope::viewers {
namespace {

using storage::Status;

/// Takes a result into `out`, or returns its error.
template <class T>
Status take(storage::Result<T> result, std::shared_ptr<const T>& out) {
    if (!result.ok()) return result.status();
    out = std::make_shared<const T>(std::move(result).value());
    return {};
}

/// The writer's own and what was lost of GPU records before they reached it.
storage::Result<std::vector<storage::LossCount>> allLosses(const storage::TapeReader& tape) {
    auto losses = tape.losses();
    if (!losses.ok()) return losses;
    const auto counts = tape.gpuCounts();
    if (!counts.ok()) return counts.status();
    std::map<std::string, std::int64_t> gpu;  // over all processes
    for (const storage::GpuCount& count : *counts)
        if (count.count > 0 && profiler::countsMissingRecords(count))
            gpu[count.name] += count.count;
    for (const auto& [name, count] : gpu) losses->push_back({"GPU records", count, name});
    return losses;
}

}  // namespace

Status TapeFollower::open() {
    auto reader = storage::TapeReader::open(m_path);
    if (!reader.ok()) return reader.status();
    m_reader = std::move(reader).value();
    return {};
}

Status TapeFollower::readRun() {
    auto info = m_reader->info();
    if (!info.ok()) return info.status();
    auto run = std::make_shared<RunState>();
    run->info = std::move(info).value();
    run->state = m_reader->state();
    run->outcome = m_reader->outcome();
    run->outcomeMessage = m_reader->outcomeMessage();
    m_snapshot.run = std::move(run);
    mark(TapeSession::Run);
    return {};
}

Status TapeFollower::readStructure() {
    const auto old = m_snapshot.structure;
    auto structure = std::make_shared<Structure>();
    const auto into = [](auto result, auto& out) {
        if (!result.ok()) return result.status();
        out = std::move(result).value();
        return Status();
    };
    if (Status s = into(m_reader->names(), structure->names); !s.ok()) return s;
    if (Status s = into(m_reader->modules(), structure->modules); !s.ok()) return s;
    if (Status s = into(m_reader->sites(), structure->sites); !s.ok()) return s;
    if (Status s = into(m_reader->sources(), structure->sources); !s.ok()) return s;
    if (Status s = into(m_reader->lanes(), structure->lanes); !s.ok()) return s;
    // These tables only grow, and soon stop growing.
    if (old && old->names.size() == structure->names.size() &&
        old->modules.size() == structure->modules.size() &&
        old->sites.size() == structure->sites.size() &&
        old->sources.size() == structure->sources.size() &&
        old->lanes.size() == structure->lanes.size())
        return {};
    for (std::size_t i = 0; i < structure->modules.size(); ++i)
        structure->moduleIndex[structure->modules[i].id] = i;
    for (std::size_t i = 0; i < structure->sites.size(); ++i)
        structure->siteIndex[structure->sites[i].id] = i;
    m_snapshot.structure = std::move(structure);
    mark(TapeSession::StructurePart);
    return {};
}

Status TapeFollower::readTags() {
    auto tags = m_reader->tags();
    if (!tags.ok()) return tags.status();
    for (const storage::TagRow& tag : *tags) {
        if (tag.kind == storage::TagKind::Scalar && m_interest.testFlag(TapeSession::Scalars)) {
            std::size_t& read = m_scalarsRead[tag.id.value];
            auto points = m_reader->scalars(tag.id, static_cast<std::int64_t>(read));
            if (!points.ok()) return points.status();
            ScalarSeriesPtr& series = m_snapshot.scalars[tag.name];
            if (points->empty() && series) continue;
            read += points->size();
            series = ScalarSeries::append(series.get(), *points);
            mark(TapeSession::Scalars);
        } else if (tag.kind == storage::TagKind::Histogram &&
                   m_interest.testFlag(TapeSession::Histograms)) {
            const auto [last, isNew] = m_histogramStep.try_emplace(tag.id.value, INT64_MIN);
            auto items = m_reader->histograms(tag.id, isNew ? INT64_MIN : last->second + 1);
            if (!items.ok()) return items.status();
            HistogramSeriesPtr& series = m_snapshot.histograms[tag.name];
            if (items->empty() && series) continue;
            auto grown = series ? std::make_shared<HistogramSeries>(*series)
                                : std::make_shared<HistogramSeries>();
            grown->tag = tag.name;
            for (storage::Histogram& item : *items) {
                last->second = std::max(last->second, item.step);
                grown->items.push_back(std::make_shared<const storage::Histogram>(std::move(item)));
            }
            if (items->empty()) m_histogramStep.erase(last);
            series = std::move(grown);
            mark(TapeSession::Histograms);
        }
    }
    return {};
}

Status TapeFollower::readGpu(const std::stop_token& stop, bool& grown) {
    auto tables = GpuTables::read(*m_reader);
    if (!tables.ok()) return tables.status();
    m_gpu.setTables(std::move(tables).value());
    m_gpu.setSealed(m_reader->state() != storage::TapeState::Live);
    const auto isMore = [](std::int64_t before, std::int64_t after, std::size_t read) {
        return after != before && read >= kEventsPerRound / 2;
    };
    auto events = m_reader->gpuEvents(m_gpuCursor, kEventsPerRound);
    if (!events.ok()) return events.status();
    m_more = m_more || isMore(m_gpuCursor, events->cursor, events->events.size());
    m_gpuCursor = events->cursor;
    if (!events->events.empty()) {
        // Their names may have been written after the structure was read.
        if (Status s = readStructure(); !s.ok()) return s;
        m_gpu.append(events->events, *m_snapshot.structure);
    }
    if (stop.stop_requested()) return {};
    auto samples = m_reader->counterSamples(m_sampleCursor, kEventsPerRound);
    if (!samples.ok()) return samples.status();
    m_more = m_more || isMore(m_sampleCursor, samples->cursor, samples->samples.size());
    m_sampleCursor = samples->cursor;
    m_gpu.append(samples->samples);
    auto allocator = m_reader->allocatorEvents(m_allocatorCursor, kEventsPerRound);
    if (!allocator.ok()) return allocator.status();
    m_more = m_more || isMore(m_allocatorCursor, allocator->cursor, allocator->events.size());
    m_allocatorCursor = allocator->cursor;
    m_gpu.append(allocator->events);
    grown = !events->events.empty() || !samples->samples.empty() || !allocator->events.empty();
    return {};
}

Status TapeFollower::readEvents(const std::stop_token& stop) {
    m_more = false;
    if (m_eventsHeld) return {};
    const std::size_t before = m_builder.events();
    auto ops = m_reader->opEvents(m_opCursor, kEventsPerRound);
    if (!ops.ok()) return ops.status();
    m_more = ops->cursor != m_opCursor && ops->events.size() >= kEventsPerRound / 2;
    m_opCursor = ops->cursor;
    if (!ops->events.empty()) m_builder.append(ops->events);
    if (stop.stop_requested()) return {};
    auto memory = m_reader->memoryEvents(m_memoryCursor, kEventsPerRound);
    if (!memory.ok()) return memory.status();
    m_more = m_more ||
             (memory->cursor != m_memoryCursor && memory->events.size() >= kEventsPerRound / 2);
    const bool grown = m_builder.events() != before || !memory->events.empty();
    m_memoryCursor = memory->cursor;
    m_builder.append(memory->events);
    if (stop.stop_requested()) return {};
    bool gpuGrown = false;
    if (Status s = readGpu(stop, gpuGrown); !s.ok()) return s;
    const bool relabelled =
        m_snapshot.timeline && m_snapshot.timeline->structure != m_snapshot.structure;
    // A status or a count may have changed without an event.
    if (grown || gpuGrown || relabelled || !m_snapshot.timeline || !m_gpu.empty()) {
        m_snapshot.timeline = m_builder.snapshot(m_snapshot.structure, &m_gpu);
        mark(TapeSession::Events);
    }
    return {};
}

TapeSession::Parts TapeFollower::poll(TapeSession::Parts interest, const std::stop_token& stop) {
    m_parts = {};
    const bool widened = (interest & ~m_interest) != 0;
    m_interest = interest;
    const auto finish = [this](const Status& status, bool loading) {
        if (status.message() != m_snapshot.status.message() || loading != m_snapshot.loading)
            mark(TapeSession::State);
        m_snapshot.status = status;
        m_snapshot.loading = loading;
        return m_parts;
    };
    if (!m_reader)
        if (Status s = open(); !s.ok()) return finish(s, true);

    // The writer's death is no commit: its state is looked at each time.
    const auto state = static_cast<std::uint64_t>(m_reader->state());
    const bool changed = m_reader->changed();
    if (state != m_stateSeen || changed) {
        m_stateSeen = state;
        if (Status s = readRun(); !s.ok()) return finish(s, m_snapshot.loading);
    }
    const bool failed = !m_snapshot.status.ok();
    if (!changed && !widened && !m_more && !failed) return finish({}, false);

    const auto wants = [interest](TapeSession::Part part) { return interest.testFlag(part); };
    const auto table = [&](TapeSession::Part part, auto result, auto& out) {
        const bool first = !out;
        const std::size_t before = first ? 0 : out->size();
        Status s = take(std::move(result), out);
        if (s.ok() && (first || out->size() != before || part != TapeSession::Steps)) mark(part);
        return s;
    };
    if (wants(TapeSession::StructurePart) || wants(TapeSession::Events))
        if (Status s = readStructure(); !s.ok()) return finish(s, m_snapshot.loading);
    if (wants(TapeSession::Steps))
        if (Status s = table(TapeSession::Steps, m_reader->steps(), m_snapshot.steps); !s.ok())
            return finish(s, m_snapshot.loading);
    if (Status s = readTags(); !s.ok()) return finish(s, m_snapshot.loading);
    if (wants(TapeSession::Graphs))
        if (Status s = table(TapeSession::Graphs, m_reader->graphs(), m_snapshot.graphs); !s.ok())
            return finish(s, m_snapshot.loading);
    if (wants(TapeSession::Summary))
        if (Status s = table(TapeSession::Summary, m_reader->opSummary(), m_snapshot.opSummary);
            !s.ok())
            return finish(s, m_snapshot.loading);
    if (wants(TapeSession::Log)) {
        if (Status s = table(TapeSession::Log, m_reader->log(), m_snapshot.log); !s.ok())
            return finish(s, m_snapshot.loading);
        if (Status s = table(TapeSession::Log, allLosses(*m_reader), m_snapshot.losses); !s.ok())
            return finish(s, m_snapshot.loading);
    }
    if (wants(TapeSession::Events) && !stop.stop_requested())
        if (Status s = readEvents(stop); !s.ok()) return finish(s, m_snapshot.loading);
    return finish({}, m_snapshot.loading && m_more);
}

storage::Result<GraphPtr> TapeFollower::loadGraph(storage::GraphId id) {
    if (!m_reader) return GraphPtr();
    auto graph = m_reader->graph(id);
    if (graph.ok())
        return GraphPtr(std::make_shared<const storage::Graph>(std::move(graph).value()));
    // A running writer replaces the graph of an unfinished step: it is there at a later round.
    if (m_reader->state() == storage::TapeState::Live) return GraphPtr();
    return graph.status();
}

}  // namespace tapescope::viewers
