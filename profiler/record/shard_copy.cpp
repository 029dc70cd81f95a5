// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/shard_copy.h"

#include "profiler/record/allocator_history.h"
#include "profiler/record/open_end.h"

#include <algorithm>
#include <filesystem>

namespace tapescope::profiler::record {
namespace {

using storage::GpuEventKind;
using storage::GpuProcessId;
using storage::Status;

// A chunk of a tape holds at most so many; about 7 MiB of GPU events.
constexpr std::size_t kEventsARead = 65'536;

// Stands for "some value of this key is written under the plain key"; no value of a tape is this.
const std::string kPlainKeyTaken(1, '\0');

std::string times(std::int64_t n, const char* what) { return std::to_string(n) + " " + what; }

bool hasDomain(GpuEventKind kind) {
    return kind == GpuEventKind::NvtxPush || kind == GpuEventKind::NvtxPop ||
           kind == GpuEventKind::NvtxMark;
}

}  // namespace

std::string Source::name() const { return std::filesystem::path(path).filename().string(); }

void ShardCopier::note(const Source& source, const std::string& text) {
    m_report.notes.push_back(source.name() + ": " + text);
}

void ShardCopier::unreadable(const Source& source, const Status& why) {
    ++m_report.damaged;
    note(source, "a part cannot be read and is left out: " + why.message());
    m_writer.lost("damaged parts", 1, source.name() + ": " + why.message());
}

GpuProcessId ShardCopier::processOf(const Source& source, GpuProcessId id) const {
    const auto it = source.ids.find(id);
    return it == source.ids.end() ? 0 : it->second;
}

std::int64_t ShardCopier::offsetOf(const Source& source, GpuProcessId id) const {
    const auto it = m_offsets.find(id);
    return it != m_offsets.end() ? it->second : m_clocks.offsetNs(source.processes.front());
}

storage::NameId ShardCopier::nameOf(storage::NameId id) const {
    return id < m_names.size() ? m_names[id] : 0;
}

void ShardCopier::expects(const std::vector<Source>& sources) {
    std::size_t withCounters = 0;
    for (const Source& source : sources) {
        withCounters += source.counters ? 1 : 0;
        if (!source.allocatorFile) continue;
        for (const storage::GpuProcess& p : source.processes)
            m_allocatorFiles.insert(processOf(source, p.id));
    }
    m_manyCounters = withCounters > 1;
}

void ShardCopier::knows(const std::vector<std::pair<std::string, std::string>>& environment) {
    for (const auto& [key, value] : environment) {
        m_facts.emplace(key, value);
        m_facts.emplace(key, kPlainKeyTaken);
    }
}

Status ShardCopier::copy(Source& source) {
    m_offsets.clear();
    for (const storage::GpuProcess& p : source.processes) m_offsets[p.id] = m_clocks.offsetNs(p);
    if (Status s = source.allocatorFile ? copyAllocatorFile(source) : copyTape(source); !s.ok())
        return s;
    m_report.joined.push_back(source.path);
    return {};
}

Status ShardCopier::copyTape(Source& source) {
    auto opened = storage::TapeReader::open(source.path);
    if (!opened.ok()) {
        unreadable(source, opened.status());
        return {};
    }
    storage::TapeReader& tape = **opened;
    const auto names = tape.names();
    if (!names.ok()) {
        // Without its names its events would carry those of others.
        unreadable(source, names.status());
        return {};
    }
    m_names.clear();
    for (const std::string& name : *names) m_names.push_back(m_writer.name(name));
    copyRows(tape, source);
    if (Status s = copyGpuEvents(tape, source); !s.ok()) return s;
    copyStatuses(tape, source);
    noteOpenEnd(source);
    if (Status s = copySamples(tape, source); !s.ok()) return s;
    if (Status s = copyAllocatorEvents(tape, source); !s.ok()) return s;
    noteWhatIsNotTaken(tape, source);
    return m_writer.flush();
}

void ShardCopier::copyRows(storage::TapeReader& tape, const Source& source) {
    const auto each = [&](const auto& rows, auto&& write) {
        if (!rows.ok()) {
            unreadable(source, rows.status());
            return;
        }
        for (auto row : *rows) {
            row.process = processOf(source, row.process);
            write(std::move(row));
        }
    };
    each(tape.gpuDevices(), [&](auto row) { m_writer.gpuDevice(std::move(row)); });
    each(tape.gpuContexts(), [&](auto row) { m_writer.gpuContext(row); });
    each(tape.gpuStreams(), [&](auto row) { m_writer.gpuStream(row); });
    each(tape.gpuObjectNames(), [&](auto row) { m_writer.gpuObjectName(std::move(row)); });
    if (const auto counts = tape.gpuCounts(); counts.ok()) {
        for (storage::GpuCount row : *counts) {
            if (source.repeated.contains(row.process)) continue;
            row.process = processOf(source, row.process);
            // Counted anew from what is copied: that of a killed process is out of date.
            if (row.name == storage::kGpuCountRecords) {
                if (row.process != 0) m_records.try_emplace(row.process, 0);
            } else {
                m_writer.gpuCount(std::move(row));
            }
        }
    } else {
        unreadable(source, counts.status());
    }
    if (source.onlyRepeats()) return;
    if (const auto log = tape.log(); log.ok()) {
        for (const storage::LogRow& row : *log) m_writer.log(row);
    } else {
        unreadable(source, log.status());
    }
    if (const auto losses = tape.losses(); losses.ok()) {
        for (const storage::LossCount& row : *losses)
            m_writer.lost(row.what, row.count, source.name() + ": " + row.reason);
    } else {
        unreadable(source, losses.status());
    }
    const std::string& host = source.processes.front().host;
    for (const auto& [key, value] : source.info.environment) {
        if (!m_facts.emplace(key, value).second) continue;
        const bool first = m_facts.emplace(key, kPlainKeyTaken).second;
        m_writer.environment(first || host.empty() ? key : key + " (" + host + ")", value);
    }
}

/// After the events: they tell how far a record goes that was not closed.
void ShardCopier::copyStatuses(storage::TapeReader& tape, const Source& source) {
    const auto rows = tape.gpuStatuses();
    if (!rows.ok()) {
        unreadable(source, rows.status());
        return;
    }
    const bool open = source.state != storage::TapeState::Sealed && !source.weak();
    std::set<GpuProcessId> told;
    for (storage::GpuStatus row : *rows) {
        const bool tracing = row.source == kTracingSource;
        if (tracing && source.repeated.contains(row.process)) continue;
        row.timeNs = saturatingAdd(row.timeNs, offsetOf(source, row.process));
        row.process = processOf(source, row.process);
        if (tracing) {
            std::int64_t& last = m_lastNs.try_emplace(row.process, row.timeNs).first->second;
            last = std::max(last, row.timeNs);
            told.insert(row.process);
            if (open) {
                row = openEnded(std::move(row), source.state == storage::TapeState::Live, last);
            } else {
                row = retold(std::move(row));
            }
        }
        // What a process says of itself comes first, and is not overwritten by its launcher.
        if (m_statuses.emplace(row.process, row.source).second) m_writer.gpuStatus(std::move(row));
    }
    if (!open) return;
    for (const storage::GpuProcess& p : source.processes) {
        const GpuProcessId process = processOf(source, p.id);
        if (process == 0 || source.repeated.contains(p.id) || told.contains(process)) continue;
        if (!m_statuses.emplace(process, kTracingSource).second) continue;
        const auto last = m_lastNs.find(process);
        m_writer.gpuStatus(openEnded({process, kTracingSource, "ok", "", "", 0},
                                     source.state == storage::TapeState::Live,
                                     last == m_lastNs.end() ? m_clocks.offsetNs(p) : last->second));
    }
}

void ShardCopier::noteOpenEnd(const Source& source) {
    if (source.state == storage::TapeState::Sealed || source.onlyRepeats()) return;
    const bool live = source.state == storage::TapeState::Live;
    if (live) m_report.live.push_back(source.path);
    if (source.launcher) {
        note(source, live ? "the recorder still runs: what it has written so far is here"
                          : "the recorder itself was killed: what it had written is here");
        return;
    }
    for (const storage::GpuProcess& p : source.processes) {
        if (source.repeated.contains(p.id)) continue;
        if (p.id == 0) {
            note(source, live ? "its process has written nothing yet"
                              : "its process ended before it had written anything");
            continue;
        }
        const std::string who = processText(p);
        const auto last = m_lastNs.find(processOf(source, p.id));
        const std::string until =
            last == m_lastNs.end() ? "" : " until " + secondsText(last->second);
        m_report.notes.push_back(
            who + (live ? " still records: what it has written" + until + " is here"
                        : " ended without closing its record (killed, _exit, exec): what it had "
                          "written" +
                              until + " is here"));
    }
}

Status ShardCopier::copyGpuEvents(storage::TapeReader& tape, const Source& source) {
    if (source.onlyRepeats()) return {};
    std::int64_t strangers = 0;
    const auto intern = [this](std::string_view text) { return m_writer.name(text); };
    for (std::int64_t cursor = 0;;) {
        auto part = tape.gpuEvents(cursor, kEventsARead);
        if (!part.ok()) {
            unreadable(source, part.status());
            break;
        }
        if (part->events.empty()) break;
        cursor = part->cursor;
        if (!source.repeated.empty()) {
            std::erase_if(part->events, [&](const storage::GpuEvent& e) {
                return source.repeated.contains(e.process);
            });
        }
        for (storage::GpuEvent& e : part->events) {
            if ((e.flags & storage::kGpuNoTime) == 0)
                e.startNs = saturatingAdd(e.startNs, offsetOf(source, e.process));
            e.process = processOf(source, e.process);
            if (e.process == 0) {
                ++strangers;
            } else {
                ++m_records[e.process];
            }
            if (e.drawable() && e.process != 0) {
                const std::int64_t end = saturatingAdd(e.startNs, e.durationNs);
                std::int64_t& last = m_lastNs.try_emplace(e.process, end).first->second;
                last = std::max(last, end);
            }
            e.name = nameOf(e.name);
            if (hasDomain(e.kind)) e.x[0] = nameOf(e.x[0]);
            m_totals.add(e, intern);
        }
        m_report.gpuEvents += static_cast<std::int64_t>(part->events.size());
        m_writer.gpuEvents(std::move(part->events));
        // The writer drops events rather than wait: it is given time instead.
        if (Status s = m_writer.flush(); !s.ok()) return s;
    }
    if (strangers > 0) note(source, times(strangers, "events are of no process that it describes"));
    return {};
}

Status ShardCopier::copySamples(storage::TapeReader& tape, const Source& source) {
    const auto counters = tape.gpuCounters();
    if (!counters.ok()) {
        unreadable(source, counters.status());
        return {};
    }
    struct Target {
        std::uint32_t id = 0;
        std::int64_t offset = 0;
    };
    std::unordered_map<std::uint32_t, Target> targets;
    for (storage::GpuCounter row : *counters) {
        Target target{0, offsetOf(source, source.processes.front().id)};
        for (const storage::GpuProcess& p : source.processes) {
            if (p.host == row.host) target.offset = m_clocks.offsetNs(p);
        }
        const auto [it, fresh] =
            m_counters.try_emplace({row.name, row.unit, row.device, row.host},
                                   static_cast<std::uint32_t>(m_counters.size() + 1));
        target.id = it->second;
        targets[row.id] = target;
        row.id = target.id;
        if (fresh) m_writer.gpuCounter(std::move(row));
    }
    for (std::int64_t cursor = 0;;) {
        auto part = tape.counterSamples(cursor, kEventsARead);
        if (!part.ok()) {
            unreadable(source, part.status());
            return {};
        }
        if (part->samples.empty()) return {};
        cursor = part->cursor;
        std::erase_if(part->samples, [&](storage::CounterSample& sample) {
            const auto target = targets.find(sample.counter);
            if (target == targets.end()) return true;  // nobody could say what it measures
            sample.counter = target->second.id;
            sample.timeNs = saturatingAdd(sample.timeNs, target->second.offset);
            // A joined tape and the part that it had them from.
            return m_manyCounters && !m_samples.emplace(sample.counter, sample.timeNs).second;
        });
        m_report.counterSamples += static_cast<std::int64_t>(part->samples.size());
        m_writer.counterSamples(std::move(part->samples));
        if (Status s = m_writer.flush(); !s.ok()) return s;
    }
}

Status ShardCopier::copyAllocatorEvents(storage::TapeReader& tape, const Source& source) {
    // Two tapes that tell of one process had its history from one file.
    const std::set<GpuProcessId> before = m_allocatorTapes;
    for (std::int64_t cursor = 0;;) {
        auto part = tape.allocatorEvents(cursor, kEventsARead);
        if (!part.ok()) {
            unreadable(source, part.status());
            return {};
        }
        if (part->events.empty()) return {};
        cursor = part->cursor;
        std::erase_if(part->events, [&](const storage::AllocatorEvent& e) {
            const GpuProcessId process = processOf(source, e.process);
            return m_allocatorFiles.contains(process) || before.contains(process);
        });
        for (storage::AllocatorEvent& e : part->events) {
            e.timeNs = saturatingAdd(e.timeNs, offsetOf(source, e.process));
            e.process = processOf(source, e.process);
            e.site = nameOf(e.site);
            m_allocatorTapes.insert(e.process);
        }
        m_report.allocatorEvents += static_cast<std::int64_t>(part->events.size());
        m_writer.allocatorEvents(std::move(part->events));
        if (Status s = m_writer.flush(); !s.ok()) return s;
    }
}

/// A tape of `tapescope run` has more than a GPU part; it stays where it is.
void ShardCopier::noteWhatIsNotTaken(storage::TapeReader& tape, const Source& source) {
    if (source.onlyRepeats()) return;
    const auto tags = tape.tags();
    const auto steps = tape.steps();
    const auto events = tape.opEvents(0, 1);
    const bool more = (tags.ok() && !tags->empty()) || (steps.ok() && !steps->empty()) ||
                      (events.ok() && !events->events.empty());
    if (!more) return;
    note(source, "only its GPU part is joined; its curves, graphs and operators stay in it");
    m_writer.lost("models' own recordings", 1,
                  source.name() + ": curves, graphs and operators are not joined");
}

Status ShardCopier::copyAllocatorFile(Source& source) {
    auto opened = AllocatorHistory::open(source.path);
    if (!opened.ok()) {
        unreadable(source, opened.status());
        return {};
    }
    AllocatorHistory& history = **opened;
    const GpuProcessId process = processOf(source, source.processes.front().id);
    const std::int64_t offset = m_clocks.offsetNs(source.processes.front());
    m_names.assign(1, 0);
    for (;;) {
        auto events = history.next(kEventsARead);
        if (events.empty()) break;
        for (std::size_t i = m_names.size(); i < history.sites().size(); ++i)
            m_names.push_back(m_writer.name(history.sites()[i]));
        for (storage::AllocatorEvent& e : events) {
            e.process = process;
            e.timeNs = saturatingAdd(e.timeNs, offset);
            e.site = nameOf(e.site);
        }
        m_report.allocatorEvents += static_cast<std::int64_t>(events.size());
        m_writer.allocatorEvents(std::move(events));
        if (Status s = m_writer.flush(); !s.ok()) return s;
    }
    for (const AllocatorHistory::Loss& loss : history.losses())
        m_writer.lost("allocator events", loss.count, source.name() + ": " + loss.reason);
    if (!history.damage().empty()) {
        note(source, history.damage());
        m_writer.lost("damaged parts", 1, history.damage());
    }
    if (m_statuses.emplace(process, "allocator").second) {
        m_writer.gpuStatus({process, "allocator", "ok", "PyTorch's allocator history is recorded.",
                            history.torchVersion().empty() ? "" : "torch " + history.torchVersion(),
                            offset});
    }
    return m_writer.flush();
}

void ShardCopier::finish() {
    m_writer.gpuSummary(m_totals.rows());
    for (const auto& [process, records] : m_records)
        m_writer.gpuCount({process, storage::kGpuCountRecords, records});
    m_report.processes = m_records.size();
}

}  // namespace tapescope::profiler::record
