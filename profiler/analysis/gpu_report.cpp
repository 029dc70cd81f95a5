// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/gpu_report.h"

#include "profiler/analysis/gpu_gaps.h"
#include "profiler/analysis/interval_set.h"
#include "profiler/analysis/memory_bands.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tapescope::profiler {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;
using storage::GpuProcessId;
using storage::Result;
using storage::Status;

constexpr std::size_t kEventsARead = 65'536;
// About 100 bytes each: what ordering them may take is bounded.
constexpr std::size_t kMostAllocations = 4'000'000;

std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

void addRow(std::map<std::string, GpuReport::Row>& rows, const std::string& name,
            const storage::GpuSummary& s) {
    GpuReport::Row& row = rows[name];
    const bool fresh = row.count == 0;
    row.name = name;
    row.count = sum(row.count, s.count);
    row.totalNs = sum(row.totalNs, s.totalNs);
    row.minNs = fresh ? s.minNs : std::min(row.minNs, s.minNs);
    row.maxNs = std::max(row.maxNs, s.maxNs);
    row.bytes = sum(row.bytes, s.bytes);
}

std::vector<GpuReport::Row> sorted(const std::map<std::string, GpuReport::Row>& rows) {
    std::vector<GpuReport::Row> out;
    double all = 0;
    for (const auto& [name, row] : rows) all += static_cast<double>(row.totalNs);
    for (const auto& [name, row] : rows) {
        out.push_back(row);
        out.back().share = all > 0 ? static_cast<double>(row.totalNs) / all : 0;
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.totalNs > b.totalNs; });
    return out;
}

/// Devices by what they are, not by what each process calls them.
class Devices {
public:
    Devices(const std::vector<storage::GpuDevice>& rows,
            const std::vector<storage::GpuProcess>& processes) {
        for (const storage::GpuProcess& p : processes) m_hosts[p.id] = p.host;
        for (const storage::GpuDevice& row : rows) {
            Work& work = m_work[keyOf(row)];
            work.device.name = row.name;
            work.device.uuid = row.uuid;
            work.device.host = m_hosts[row.process];
            work.device.index = row.device;
            work.device.memoryBytes = row.memoryBytes;
            ++work.device.processes;
            m_byProcess[{row.process, row.device}] = &work;
        }
    }
    struct Work {
        GpuReport::Device device;
        IntervalSet busy;
    };
    Work& of(GpuProcessId process, std::uint32_t device) {
        Work*& work = m_byProcess[{process, device}];
        if (!work) {
            storage::GpuDevice unknown;
            unknown.process = process;
            unknown.device = device;
            work = &m_work[keyOf(unknown)];
            work->device.name = "device " + std::to_string(device);
            work->device.host = m_hosts[process];
            work->device.index = device;
            work->device.processes = 1;
        }
        return *work;
    }
    std::vector<GpuReport::Device> finish(std::size_t gaps);
    /// Of the devices that finish() has given, with their gaps.
    std::vector<IdleDevice> idle(std::vector<GpuReport::Device>& devices) const;

private:
    using Key = std::tuple<std::string, GpuProcessId, std::uint32_t>;
    static Key keyOf(const storage::GpuDevice& row) {
        return row.uuid.empty() ? Key{"", row.process, row.device} : Key{row.uuid, 0, 0};
    }
    std::map<Key, Work> m_work;
    std::map<std::pair<GpuProcessId, std::uint32_t>, Work*> m_byProcess;
    std::map<GpuProcessId, std::string> m_hosts;
};

std::vector<GpuReport::Device> Devices::finish(std::size_t gaps) {
    std::vector<GpuReport::Device> out;
    for (auto& [key, work] : m_work) {
        GpuReport::Device& d = work.device;
        const auto& pieces = work.busy.pieces();
        d.resolutionNs = work.busy.resolutionNs();
        d.busyNs = work.busy.coveredNs();
        if (!pieces.empty()) {
            d.firstNs = pieces.front().beginNs;
            d.lastNs = pieces.back().endNs;
            const double span = static_cast<double>(d.lastNs) - static_cast<double>(d.firstNs);
            d.busyShare = span > 0 ? static_cast<double>(d.busyNs) / span : 0;
        }
        const auto longer = [](const auto& a, const auto& b) {
            return a.durationNs > b.durationNs;
        };
        for (std::size_t i = 1; i < pieces.size(); ++i) {
            const std::int64_t begin = pieces[i - 1].endNs;
            std::int64_t length = 0;
            if (__builtin_sub_overflow(pieces[i].beginNs, begin, &length)) length = INT64_MAX;
            if (d.gaps.size() == gaps && (gaps == 0 || length <= d.gaps.back().durationNs))
                continue;
            d.gaps.push_back({begin, length, {}, {}, {}, 0});
            std::stable_sort(d.gaps.begin(), d.gaps.end(), longer);
            if (d.gaps.size() > gaps) d.gaps.pop_back();
        }
        out.push_back(std::move(d));
    }
    return out;
}

std::vector<IdleDevice> Devices::idle(std::vector<GpuReport::Device>& devices) const {
    std::vector<IdleDevice> out;
    auto device = devices.begin();
    for (const auto& [key, work] : m_work) {
        IdleDevice& idle = out.emplace_back(IdleDevice{(device++)->gaps, {}});
        for (const auto& [name, owner] : m_byProcess)
            if (owner == &work) idle.names.insert(name);
    }
    return out;
}

/// What each process holds of each device.
using Memory = std::map<std::pair<GpuProcessId, std::uint32_t>, MemoryBands>;

/// The highest sum over the processes of a device. Each one's memory ends with it.
void addMemory(Memory& memory, const std::map<GpuProcessId, std::int64_t>& endNs,
               Devices& devices) {
    std::map<Devices::Work*, std::vector<std::pair<std::int64_t, std::int64_t>>> changes;
    for (auto& [key, bands] : memory) {
        if (const auto end = endNs.find(key.first); end != endNs.end())
            bands.endProcess(end->second);
        auto& all = changes[&devices.of(key.first, key.second)];
        std::int64_t before = 0;
        for (const MemoryLevels& level : bands.levels()) {
            all.emplace_back(level.timeNs, level.total - before);
            before = level.total;
        }
    }
    for (auto& [work, all] : changes) {
        std::sort(all.begin(), all.end());
        std::int64_t now = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            now = sum(now, all[i].second);
            const bool more = i + 1 < all.size() && all[i + 1].first == all[i].first;
            if (more || now <= work->device.peakBytes) continue;
            work->device.peakBytes = now;
            work->device.peakNs = all[i].first;
        }
    }
}

/// The rows of gpu_summary, from the events: those of a tape that was cut are out of date.
class Recount {
public:
    void add(const GpuEvent& e) {
        const bool copies = e.kind == GpuEventKind::Memcpy || e.kind == GpuEventKind::MemcpyPeer;
        const bool memset = e.kind == GpuEventKind::Memset;
        storage::GpuSummary& row = m_rows[{e.kind, copies ? e.x[0] & 15U : e.name}];
        const bool fresh = row.count == 0;
        row.kind = e.kind;
        row.name = e.name;
        ++row.count;
        row.totalNs = sum(row.totalNs, e.durationNs);
        row.minNs = fresh ? e.durationNs : std::min(row.minNs, e.durationNs);
        row.maxNs = std::max(row.maxNs, e.durationNs);
        if (copies || memset)
            row.bytes = sum(row.bytes, static_cast<std::int64_t>(e.u[0] & INT64_MAX));
    }
    /// With the names of directions, which a cut tape may lack, at the end of the names.
    std::vector<storage::GpuSummary> rows(std::vector<std::string>& names) const {
        std::vector<storage::GpuSummary> out;
        for (const auto& [key, row] : m_rows) {
            out.push_back(row);
            if (key.first != GpuEventKind::Memcpy && key.first != GpuEventKind::MemcpyPeer)
                continue;
            out.back().name = static_cast<storage::NameId>(names.size());
            names.emplace_back(
                storage::gpuCopyKindName(static_cast<storage::GpuCopyKind>(key.second)));
        }
        return out;
    }

private:
    std::map<std::pair<GpuEventKind, storage::NameId>, storage::GpuSummary> m_rows;
};

struct Events {
    Memory memory;
    std::map<GpuProcessId, std::int64_t> lastNs;  ///< end of a process's last event
    std::set<GpuProcessId> processes;             ///< that have events
    std::int64_t count = 0;
    Recount recount;
};

void readEvents(storage::TapeReader& tape, bool recount, Devices& devices, Events& out,
                GpuReport& report) {
    std::size_t allocations = 0;
    for (std::int64_t cursor = 0;;) {
        const auto part = tape.gpuEvents(cursor, kEventsARead);
        if (!part.ok()) {
            report.damage.push_back(part.status().message());
            break;
        }
        if (part->events.empty()) break;
        cursor = part->cursor;
        out.count += static_cast<std::int64_t>(part->events.size());
        for (const GpuEvent& e : part->events) {
            out.processes.insert(e.process);
            if (!e.drawable()) continue;
            const std::int64_t end = sum(e.startNs, e.durationNs);
            std::int64_t& last = out.lastNs.try_emplace(e.process, end).first->second;
            last = std::max(last, end);
            if (recount) out.recount.add(e);
            if (storage::runsOnDevice(e.kind)) {
                devices.of(e.process, e.device).busy.add(e.startNs, end);
            } else if (e.kind == GpuEventKind::MemAlloc || e.kind == GpuEventKind::MemFree) {
                const storage::GpuMemory m = storage::gpuMemory(e);
                if (m.memory != storage::GpuMemoryKind::Device) continue;
                if (++allocations > kMostAllocations) {
                    report.memoryKnown = false;
                    continue;
                }
                out.memory[{e.process, e.device}].add(e);
            }
        }
    }
}

void readAllocators(storage::TapeReader& tape, const std::map<GpuProcessId, std::int64_t>& pids,
                    GpuReport& report) {
    using storage::AllocatorAction;
    struct Level {
        GpuReport::Allocator row;
        std::int64_t allocated = 0;
        std::int64_t reserved = 0;
    };
    std::map<std::pair<GpuProcessId, std::uint32_t>, Level> levels;
    for (std::int64_t cursor = 0;;) {
        const auto part = tape.allocatorEvents(cursor, kEventsARead);
        if (!part.ok()) {
            report.damage.push_back(part.status().message());
            break;
        }
        if (part->events.empty()) break;
        cursor = part->cursor;
        for (const storage::AllocatorEvent& e : part->events) {
            Level& level = levels[{e.process, e.device}];
            ++level.row.events;
            switch (e.action) {
                case AllocatorAction::Alloc:
                    level.allocated = sum(level.allocated, e.sizeBytes);
                    break;
                case AllocatorAction::FreeRequested:
                    // What was allocated before the history began is freed from nothing.
                    level.allocated = std::max<std::int64_t>(0, level.allocated - e.sizeBytes);
                    break;
                case AllocatorAction::SegmentAlloc:
                case AllocatorAction::SegmentMap:
                    level.reserved = sum(level.reserved, e.sizeBytes);
                    break;
                case AllocatorAction::SegmentFree:
                case AllocatorAction::SegmentUnmap:
                    level.reserved = std::max<std::int64_t>(0, level.reserved - e.sizeBytes);
                    break;
                case AllocatorAction::OutOfMemory:
                    ++level.row.outOfMemory;
                    break;
                default:
                    break;
            }
            auto& row = level.row;
            row.peakAllocatedBytes = std::max(row.peakAllocatedBytes, level.allocated);
            row.peakReservedBytes = std::max(row.peakReservedBytes, level.reserved);
        }
    }
    for (auto& [key, level] : levels) {
        const auto pid = pids.find(key.first);
        level.row.pid = pid == pids.end() ? 0 : pid->second;
        level.row.device = key.second;
        report.allocators.push_back(level.row);
    }
}

Status addSums(storage::TapeReader& tape, const Recount* recount, GpuReport& report) {
    auto names = tape.names();
    if (!names.ok()) return names.status();
    auto summary = recount ? Result(recount->rows(*names)) : tape.gpuSummary();
    if (!summary.ok()) return summary.status();
    std::map<std::string, GpuReport::Row> kernels;
    std::map<std::string, GpuReport::Row> transfers;
    std::map<std::string, GpuReport::Row> calls;
    for (const storage::GpuSummary& s : *summary) {
        const std::string name = s.name < names->size() ? (*names)[s.name] : "?";
        switch (s.kind) {
            case GpuEventKind::Kernel:
                addRow(kernels, storage::demangled(name), s);
                break;
            case GpuEventKind::Memcpy:
            case GpuEventKind::MemcpyPeer:
                addRow(transfers, name, s);
                break;
            case GpuEventKind::Memset:
                addRow(transfers, "memset", s);
                break;
            case GpuEventKind::RuntimeApi:
            case GpuEventKind::DriverApi:
                addRow(calls, name, s);
                break;
            default:
                break;
        }
    }
    report.kernels = sorted(kernels);
    report.transfers = sorted(transfers);
    report.calls = sorted(calls);
    return {};
}

}  // namespace

Result<GpuReport> makeGpuReport(storage::TapeReader& tape, std::size_t gaps) {
    GpuReport report;
    const auto processes = tape.gpuProcesses();
    if (!processes.ok()) return processes.status();
    const auto states = tape.gpuStatuses();
    if (!states.ok()) return states.status();
    const auto counts = tape.gpuCounts();
    if (!counts.ok()) return counts.status();
    const auto devices = tape.gpuDevices();
    if (!devices.ok()) return devices.status();
    report.present = !processes->empty() || !states->empty();

    std::map<GpuProcessId, std::int64_t> pids;
    std::map<GpuProcessId, std::string> commands;
    for (const storage::GpuProcess& p : *processes) {
        pids[p.id] = p.pid;
        report.processes.push_back({p.pid, p.host, p.rank, p.command, p.clockErrorNs, p.clock});
        commands[p.id] = p.command;
    }
    for (const storage::GpuStatus& s : *states) {
        const auto pid = pids.find(s.process);
        report.states.push_back({pid == pids.end() ? 0 : pid->second, s.source, s.code, s.message,
                                 commands[s.process]});
    }
    std::set<GpuProcessId> used;  // CUDA
    std::map<std::string, std::int64_t> losses;
    for (const storage::GpuCount& c : *counts) {
        if (c.name == storage::kGpuCountRecords) {
            report.records = sum(report.records, c.count);
            used.insert(c.process);
        }
        if (c.name != storage::kGpuCountRecords && c.name != storage::kGpuCountBytes)
            losses[c.name] = sum(losses[c.name], c.count);
    }
    for (const auto& [name, count] : losses)
        if (count != 0) report.losses.push_back({name, count});

    Devices work(*devices, *processes);
    const storage::TapeState state = tape.state();
    const bool closed = state == storage::TapeState::Sealed;
    Events events;
    readEvents(tape, !closed, work, events, report);
    if (!closed) report.records = events.count;
    if (Status s = addSums(tape, closed ? nullptr : &events.recount, report); !s.ok()) return s;
    used.insert(events.processes.begin(), events.processes.end());
    used.erase(0);
    report.processesWithCuda = static_cast<std::int64_t>(used.size());
    for (const storage::GpuStatus& s : *states) {
        if (s.source != "cupti" || s.process == 0) continue;
        if (s.code == "recording") {
            events.lastNs.erase(s.process);  // it holds what it holds
        } else if (const auto last = events.lastNs.find(s.process); last != events.lastNs.end()) {
            last->second = std::max(last->second, s.timeNs);
        }
        if (s.code == "cut" || s.code == "recording" || !closed) ++report.countsOfLastCommit;
    }
    if (state == storage::TapeState::Live) events.lastNs.clear();
    if (report.memoryKnown) addMemory(events.memory, events.lastNs, work);
    report.devices = work.finish(gaps);
    if (Status s = explainGaps(tape, work.idle(report.devices)); !s.ok() && report.damage.empty())
        report.damage.push_back(s.message());
    readAllocators(tape, pids, report);
    return report;
}

}  // namespace tapescope::profiler
