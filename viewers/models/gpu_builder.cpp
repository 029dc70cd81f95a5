// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/gpu_builder.h"

#include "viewers/models/scalar_series.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;

constexpr std::size_t kMaxLabels = 200'000;  // names of a sane run number in the thousands
constexpr std::size_t kMaxDevices = 16'384;  // a process on a device counts as one
// A program may catch each one and go on; nobody looks at more.
constexpr std::size_t kMaxOutOfMemory = 10'000;
constexpr std::size_t kMaxCounters = 1024;
// On a tape that still grows: a process that was quiet for so long, while others went on, is over.
constexpr std::int64_t kQuietNs = 5'000'000'000;
constexpr std::int64_t kLateSampleNs = 1'000'000'000;  // samplers tick once a second or faster
constexpr const char* kMemoryUsed = "memory used";

RowKind rowKindOf(GpuEventKind kind) {
    switch (kind) {
        case GpuEventKind::NvtxPush:
        case GpuEventKind::NvtxMark:
            return RowKind::Nvtx;
        case GpuEventKind::RuntimeApi:
        case GpuEventKind::DriverApi:
            return RowKind::Api;
        case GpuEventKind::Sync:
            return RowKind::Wait;
        case GpuEventKind::Overhead:
            return RowKind::Overhead;
        case GpuEventKind::CudaEventRecord:
            return RowKind::Event;
        default:
            return RowKind::Stream;
    }
}

/// CUPTI's kinds of its own cost: 1, or a number in the upper half.
std::string overheadText(std::uint32_t kind) {
    switch (kind) {
        case 1:
            return "driver compiles";
        case 1U << 16U:
            return "tracing: buffer flush";
        case 2U << 16U:
            return "tracing: instrumentation";
        case 3U << 16U:
            return "tracing: resources";
        case 4U << 16U:
            return "module loading";
        case 5U << 16U:
            return "lazy function loading";
        case 6U << 16U:
            return "command buffer full";
        case 7U << 16U:
            return "tracing: buffer request";
        default:
            return "tracing";
    }
}

std::uint64_t contextKey(storage::GpuProcessId process, std::uint32_t context) {
    return static_cast<std::uint64_t>(process) << 32U | context;
}

bool isStreamWait(const GpuEvent& e) {
    return e.kind == GpuEventKind::Sync && e.stream != storage::kNoGpuId &&
           storage::gpuSyncKind(e) == storage::GpuSyncKind::StreamWaitsEvent;
}

/// Where device work is drawn; none: nowhere. As GpuActivityBuilder, an instant being seen.
std::optional<profiler::Interval> drawnAt(const GpuEvent& e) {
    constexpr std::int64_t kLongest = profiler::GpuActivityBuilder::kLongestNs;
    std::int64_t end = 0;
    if (!e.drawable() || e.durationNs < 0 || e.startNs < -kLongest ||
        __builtin_add_overflow(e.startNs, e.durationNs, &end) || end > kLongest ||
        (e.startNs < 0 && end <= 0))
        return std::nullopt;
    const std::int64_t begin = std::max<std::int64_t>(0, e.startNs);
    return profiler::Interval{begin, std::max(end, begin + 1)};
}

}  // namespace

storage::Result<GpuTables> GpuTables::read(const storage::TapeReader& reader) {
    GpuTables t;
    const auto into = [](auto result, auto& out) {
        if (!result.ok()) return result.status();
        out = std::move(result).value();
        return storage::Status();
    };
    if (auto s = into(reader.gpuProcesses(), t.processes); !s.ok()) return s;
    if (auto s = into(reader.gpuDevices(), t.devices); !s.ok()) return s;
    if (auto s = into(reader.gpuContexts(), t.contexts); !s.ok()) return s;
    if (auto s = into(reader.gpuStreams(), t.streams); !s.ok()) return s;
    if (auto s = into(reader.gpuObjectNames(), t.names); !s.ok()) return s;
    if (auto s = into(reader.gpuStatuses(), t.statuses); !s.ok()) return s;
    if (auto s = into(reader.gpuCounts(), t.counts); !s.ok()) return s;
    if (auto s = into(reader.gpuCounters(), t.counters); !s.ok()) return s;
    return t;
}

GpuLaneKey gpuLaneKey(const GpuEvent& e) {
    GpuLaneKey key;
    key.process = e.process;
    key.kind = rowKindOf(e.kind);
    if (key.kind == RowKind::Stream || key.kind == RowKind::Event) {
        key.device = e.device;
        key.context = e.context;
        key.stream = e.stream;
    } else {
        key.thread = e.thread;
    }
    return key;
}

GpuLaneKey GpuBuilder::laneOf(const GpuEvent& e, profiler::GpuOrdinal ordinal) const {
    GpuLaneKey key = gpuLaneKey(e);
    if (key.kind == RowKind::Wait && key.thread == 0)
        if (const auto call = m_activity.launchOf(ordinal))
            key.thread = m_activity.event(*call).thread;
    return key;
}

bool GpuBuilder::empty() const {
    return m_events == 0 && m_tables.processes.empty() && m_tables.statuses.empty() &&
           m_samples.empty() && m_memory.empty();
}

void GpuBuilder::setText(GpuLabel& label, const std::string& name) const {
    label.full = label.kind == GpuEventKind::Kernel ? storage::demangled(name) : name;
    label.text = label.kind == GpuEventKind::Kernel ? profiler::shortKernelName(label.full) : name;
    if (label.kind == GpuEventKind::Kernel) label.family = profiler::kernelFamily(label.full);
}

std::uint32_t GpuBuilder::colourOf(profiler::GpuOrdinal range) const {
    const GpuEventKind kind = m_activity.event(range).kind;
    if (kind != GpuEventKind::NvtxPush && kind != GpuEventKind::NvtxMark) return 0;
    const auto data = m_activity.activity().nvtxDataOf(range);
    return data ? storage::nvtxColour(m_activity.event(*data)) : 0;
}

void GpuBuilder::colourLate(profiler::GpuOrdinal first, const Structure& structure) {
    for (profiler::GpuOrdinal i = first; i < m_activity.activity().size(); ++i) {
        const GpuEvent& data = m_activity.event(i);
        if (data.kind != GpuEventKind::NvtxData || storage::nvtxColour(data) == 0) continue;
        const auto range = m_activity.activity().nvtxRangeOf(i);
        if (!range || *range >= first) continue;  // its colour was known as it came
        const GpuEvent& e = m_activity.event(*range);
        if (const auto lane = m_lanes.find(gpuLaneKey(e)); lane != m_lanes.end())
            lane->second.relabel(std::max<std::int64_t>(0, e.startNs), *range,
                                 labelOf(e, structure, colourOf(*range)));
    }
}

std::uint32_t GpuBuilder::labelOf(const GpuEvent& e, const Structure& structure,
                                  std::uint32_t colour) {
    const bool named = e.kind == GpuEventKind::Kernel || e.kind == GpuEventKind::NvtxPush ||
                       e.kind == GpuEventKind::NvtxMark || e.kind == GpuEventKind::RuntimeApi ||
                       e.kind == GpuEventKind::DriverApi;
    std::uint64_t sub = e.name;
    if (!named) sub = e.kind == GpuEventKind::GraphLaunch ? e.graph : e.x[0];
    if (e.kind == GpuEventKind::Memset) sub = 0;
    const bool byCallId = named && e.name == 0 && rowKindOf(e.kind) == RowKind::Api;
    if (byCallId) sub = std::uint64_t{1} << 32U | storage::apiCallId(e);
    const LabelKey key{static_cast<std::uint64_t>(e.kind) << 40U | sub, colour};
    if (const auto found = m_labelIds.find(key); found != m_labelIds.end()) return found->second;
    // A rainbow may not take the kernels' names.
    if (colour != 0 && m_labels.size() >= kMaxLabels / 2) return labelOf(e, structure);
    if (m_labels.size() >= kMaxLabels) return 0;

    GpuLabel label;
    label.kind = e.kind;
    label.colour = colour;
    const auto id = static_cast<std::uint32_t>(m_labels.size());
    switch (e.kind) {
        case GpuEventKind::Memcpy:
            label.text =
                "copy " + std::string(storage::gpuCopyKindName(storage::gpuTransfer(e).copyKind));
            break;
        case GpuEventKind::MemcpyPeer:
            label.text = "copy between devices";
            break;
        case GpuEventKind::Memset:
            label.text = "memset";
            break;
        case GpuEventKind::Sync:
            label.text = profiler::gpuSyncText(storage::gpuSyncKind(e));
            break;
        case GpuEventKind::Overhead:
            label.text = overheadText(e.x[0]);
            break;
        case GpuEventKind::CudaEventRecord:
            label.text = "event record";
            break;
        case GpuEventKind::GraphLaunch:
            label.text = "graph " + std::to_string(e.graph);
            break;
        default:
            if (byCallId) {
                label.text = "call " + std::to_string(storage::apiCallId(e));
            } else if (e.name < structure.names.size()) {
                setText(label, structure.names[e.name]);
            } else {
                m_unnamed.emplace_back(id, e.name);
            }
            if (label.text.empty())
                label.text =
                    (e.kind == GpuEventKind::Kernel ? "kernel #" : "#") + std::to_string(e.name);
            break;
    }
    if (label.full.empty()) label.full = label.text;
    m_labels.push_back(std::move(label));
    m_publishedLabels = nullptr;
    m_labelIds.emplace(key, id);
    return id;
}

void GpuBuilder::resolveNames(const Structure& structure) {
    std::erase_if(m_unnamed, [&](const auto& entry) {
        const auto& [label, name] = entry;
        if (name >= structure.names.size()) return false;
        if (!structure.names[name].empty()) setText(m_labels[label], structure.names[name]);
        m_publishedLabels = nullptr;
        return true;
    });
}

std::uint32_t GpuBuilder::laneNumber(const GpuLaneKey& lane) {
    GpuLaneKey key = lane;  // one lane a thread, and a stream has its ticks in its own
    key.kind =
        key.kind == RowKind::Stream || key.kind == RowKind::Event ? RowKind::Stream : RowKind::Api;
    return m_numbers.try_emplace(key, static_cast<std::uint32_t>(m_numbers.size())).first->second;
}

void GpuBuilder::extendRange(std::int64_t beginNs, std::int64_t endNs) {
    m_beginNs = std::min(m_beginNs, beginNs);
    m_endNs = std::max(m_endNs, endNs);
}

void GpuBuilder::setTables(GpuTables tables) {
    m_tables = std::move(tables);
    m_processRows.clear();
    m_deviceRows.clear();
    for (std::size_t i = 0; i < m_tables.processes.size(); ++i)
        m_processRows.try_emplace(m_tables.processes[i].id, i);
    for (std::size_t i = 0; i < m_tables.devices.size(); ++i)
        m_deviceRows.try_emplace({m_tables.devices[i].process, m_tables.devices[i].device}, i);
    for (const storage::GpuContext& c : m_tables.contexts)
        m_contextDevices.try_emplace(contextKey(c.process, c.context), c.device);
}

void GpuBuilder::place(const GpuLaneKey& key, const GpuRows::Item& item) {
    auto lane = m_lanes.find(key);
    if (lane == m_lanes.end()) {
        if (m_lanes.size() >= kMaxLanes) {
            addUnplaced(key, item);
            return;
        }
        lane = m_lanes.try_emplace(key).first;
        laneNumber(key);
    }
    lane->second.add(item);
}

void GpuBuilder::addUnplaced(const GpuLaneKey& key, const GpuRows::Item& item) {
    ++m_unplaced[key.process];
    if (key.kind != RowKind::Stream) return;
    if (!m_openUnplaced) m_openUnplaced = std::make_shared<EventBlock>();
    m_openUnplaced->push(item.startNs, item.durationNs, item.label, item.ordinal);
    if (m_openUnplaced->size() == EventBlock::kCapacity)
        m_unplacedWork.push_back(std::exchange(m_openUnplaced, nullptr));
}

std::int64_t GpuBuilder::unplaced() const {
    std::int64_t count = 0;
    for (const auto& [process, events] : m_unplaced) count += events;
    return count;
}

void GpuBuilder::append(const std::vector<GpuEvent>& events, const Structure& structure) {
    if (m_labels.empty()) m_labels.push_back({"…", "names above the limit", {}, {}, 0});
    resolveNames(structure);
    m_events += events.size();
    const auto first = static_cast<profiler::GpuOrdinal>(m_activity.activity().size());
    for (const profiler::GpuSpan& span : m_activity.append(events)) {
        const GpuEvent& e = m_activity.event(span.event);
        // An instant is a nanosecond long, or it could not be seen or hit.
        const std::int64_t ns = std::max<std::int64_t>(1, span.durationNs);
        const GpuLaneKey key = laneOf(e, span.event);
        const GpuRows::Item item{span.startNs, ns, labelOf(e, structure, colourOf(span.event)),
                                 span.event};
        if (isStreamWait(e)) addTick(item);
        if (key.kind == RowKind::Event) {
            addTick(item);
        } else if (key.kind == RowKind::Wait && key.thread == 0) {
            m_waits.push_back(item);
        } else {
            place(key, item);
        }
        extendRange(span.startNs, span.startNs + ns);
        sawProcess(e.process, span.startNs + ns);
        if (!storage::runsOnDevice(e.kind)) continue;
        m_contextDevices.try_emplace(contextKey(e.process, e.context), e.device);
        const DeviceKey device{e.process, e.device};
        if (m_busy.contains(device) || m_busy.size() < kMaxDevices)
            m_busy[device].pending.push_back({span.startNs, span.startNs + span.durationNs});
    }
    colourLate(first, structure);
    for (const auto& launched : m_launches.append(m_activity.activity(), first)) {
        addLaunched(launched);
        addRecord(launched, structure);
    }
    for (profiler::GpuOrdinal i = first; i < m_activity.activity().size(); ++i)
        if (const GpuEvent& e = m_activity.event(i); e.kind == GpuEventKind::CudaEventRecord)
            m_timelessRecords += e.drawable() ? 0 : 1;
    for (const GpuEvent& e : events) {
        if (e.kind != GpuEventKind::MemAlloc && e.kind != GpuEventKind::MemFree) continue;
        const DeviceKey device{e.process, e.device};
        if (!m_memory.contains(device) && m_memory.size() >= kMaxDevices) continue;
        m_memory[device].bands.add(e);
        if (e.startNs >= 0 && e.startNs <= profiler::GpuActivityBuilder::kLongestNs)
            sawProcess(e.process, e.startNs);
    }
}

void GpuBuilder::addLaunched(const profiler::LaunchJoin::Launched& launched) {
    const GpuEvent& e = m_activity.event(launched.work);
    const auto drawn = drawnAt(e);
    const GpuLaneKey key = gpuLaneKey(e);
    if (!storage::runsOnDevice(e.kind) || !drawn || !m_lanes.contains(key)) return;
    // A kernel that began before its call, by unequal clocks, was launched when it began.
    const auto since = [&](std::int64_t callNs) {
        return std::clamp<std::int64_t>(callNs, 0, drawn->beginNs);
    };
    Queue& queue = m_queues[key];
    queue.depth.add(since(launched.callNs), 1);
    if (launched.before) {
        queue.depth.add(since(*launched.before), -1);
    } else {
        queue.depth.add(drawn->endNs, -1);
        ++queue.work;
    }
}

void GpuBuilder::addRecord(const profiler::LaunchJoin::Launched& launched,
                           const Structure& structure) {
    const GpuEvent& e = m_activity.event(launched.work);
    // Of a time that cannot be, the call's would be a guess.
    if (e.kind != GpuEventKind::CudaEventRecord || (e.flags & storage::kGpuNoTime) == 0 ||
        launched.before || launched.callNs < 0 ||
        launched.callNs > profiler::GpuActivityBuilder::kLongestNs)
        return;
    ++m_recordsAtCalls;
    addTick({launched.callNs, 1, labelOf(e, structure), launched.work});
}

void GpuBuilder::append(const std::vector<storage::AllocatorEvent>& events) {
    for (const storage::AllocatorEvent& e : events) {
        const DeviceKey device{e.process, e.device};
        if (!m_memory.contains(device) && m_memory.size() >= kMaxDevices) continue;
        Memory& memory = m_memory[device];
        memory.bands.add(e);
        if (e.timeNs < 0 || e.timeNs > profiler::GpuActivityBuilder::kLongestNs) continue;
        sawProcess(e.process, e.timeNs);
        if (e.action != storage::AllocatorAction::OutOfMemory ||
            memory.outOfMemory.size() >= kMaxOutOfMemory)
            continue;
        memory.outOfMemory.push_back(e);
        extendRange(e.timeNs, e.timeNs + 1);
    }
}

void GpuBuilder::append(const std::vector<storage::CounterSample>& samples) {
    std::map<std::uint32_t, std::vector<storage::ScalarPoint>> points;
    for (const storage::CounterSample& sample : samples) {
        if (!std::isfinite(sample.value) ||
            std::abs(sample.timeNs) > profiler::GpuActivityBuilder::kLongestNs)
            continue;
        if (!m_samples.contains(sample.counter) && m_samples.size() >= kMaxCounters) continue;
        Samples& s = m_samples[sample.counter];
        s.lastNs = std::max({s.lastNs, sample.timeNs, std::int64_t{0}});
        s.highest = std::max(s.highest, sample.value);
        points[sample.counter].push_back({s.lastNs, static_cast<double>(s.lastNs), sample.value});
        extendRange(s.lastNs, s.lastNs + 1);
    }
    for (const auto& [counter, added] : points) {
        Samples& s = m_samples[counter];
        s.curve = ScalarSeries::append(s.curve.get(), added);
        const auto row = std::find_if(m_tables.counters.begin(), m_tables.counters.end(),
                                      [id = counter](const auto& c) { return c.id == id; });
        if (row == m_tables.counters.end() || row->name != kMemoryUsed) continue;
        for (const storage::ScalarPoint& p : added) s.all.emplace_back(p.step, p.value);
    }
}

void GpuBuilder::settleMemory(DeviceKey device, Memory& memory) {
    const storage::GpuDevice* row = deviceRow(device);
    for (const storage::GpuCounter& counter : m_tables.counters) {
        if (row == nullptr || row->uuid.empty() || counter.device != row->uuid ||
            counter.name != kMemoryUsed)
            continue;
        const auto samples = m_samples.find(counter.id);
        if (samples == m_samples.end()) continue;
        std::size_t& taken = memory.fedBy[counter.id];
        for (; taken < samples->second.all.size(); ++taken) {
            const auto& [t, value] = samples->second.all[taken];
            memory.bands.addUsed(t, static_cast<std::int64_t>(std::clamp(value, 0.0, 1e15)));
        }
    }
    const auto& levels = memory.bands.levels();
    if (memory.bands.changedFrom() < memory.drawn) {
        memory.curves = {};
        memory.drawn = 0;
    }
    if (memory.drawn == levels.size()) return;
    std::array<std::vector<storage::ScalarPoint>, 3> points;
    for (; memory.drawn < levels.size(); ++memory.drawn) {
        const profiler::MemoryLevels& l = levels[memory.drawn];
        const std::array<std::int64_t, 3> values{l.inUse, l.segments, l.total};
        for (std::size_t i = 0; i < 3; ++i)
            points[i].push_back(
                {l.timeNs, static_cast<double>(l.timeNs), static_cast<double>(values[i])});
        extendRange(l.timeNs, l.timeNs + 1);
    }
    for (std::size_t i = memory.bands.hasAllocator() ? 0 : 2; i < 3; ++i)
        memory.curves[i] = ScalarSeries::append(memory.curves[i].get(), points[i]);
    // A history that began later than the driver's allocations: its curves start over, whole.
    if (memory.bands.hasAllocator() && memory.curves[0]->size() != memory.curves[2]->size()) {
        memory.curves = {};
        memory.drawn = 0;
        settleMemory(device, memory);
    }
}

void GpuBuilder::sawProcess(storage::GpuProcessId process, std::int64_t endNs) {
    std::int64_t& last = m_lastNs.try_emplace(process, endNs).first->second;
    last = std::max(last, endNs);
}

std::optional<std::int64_t> GpuBuilder::endOf(storage::GpuProcessId process) const {
    const auto last = m_lastNs.find(process);
    if (last == m_lastNs.end() || last->second >= m_endNs) return std::nullopt;
    if (!m_sealed && m_endNs - last->second < kQuietNs) return std::nullopt;
    return last->second;
}

std::optional<std::int64_t> GpuBuilder::bandEnd(DeviceKey device, Memory& memory) const {
    const auto end = endOf(device.first);
    const auto& levels = memory.bands.levels();
    // What NVML sampled soon after is still the process's; later samples are of others.
    if (!end || levels.empty() || levels.front().timeNs > *end + kLateSampleNs) return std::nullopt;
    return *end + kLateSampleNs;
}

std::set<std::uint32_t> GpuBuilder::outlasting() {
    std::map<std::uint32_t, std::int64_t> until;  // counter -> its bands' last end
    for (auto& [device, memory] : m_memory) {
        const std::int64_t end = bandEnd(device, memory).value_or(INT64_MAX);
        for (const auto& [counter, taken] : memory.fedBy)
            if (taken > 0)
                until[counter] = std::max(end, until.try_emplace(counter, end).first->second);
    }
    std::set<std::uint32_t> out;
    for (const auto& [counter, end] : until)
        if (m_samples.at(counter).lastNs > end) out.insert(counter);
    return out;
}

std::array<ScalarSeriesPtr, 3> GpuBuilder::curvesUntilEnd(DeviceKey device, Memory& memory) const {
    const auto last = bandEnd(device, memory);
    if (!last) return memory.curves;
    const auto& levels = memory.bands.levels();
    std::size_t kept = levels.size();
    while (levels[kept - 1].timeNs > *last) --kept;
    const std::int64_t overNs = std::max(*last - kLateSampleNs, levels[kept - 1].timeNs) + 1;
    std::array<ScalarSeriesPtr, 3> curves;
    for (std::size_t i = 0; i < 3; ++i) {
        if (!memory.curves[i]) continue;
        std::vector<storage::ScalarPoint> points;
        if (kept < levels.size()) {
            for (std::size_t l = 0; l < kept; ++l) {
                const profiler::MemoryLevels& at = levels[l];
                const std::int64_t value = i == 0 ? at.inUse : i == 1 ? at.segments : at.total;
                points.push_back(
                    {at.timeNs, static_cast<double>(at.timeNs), static_cast<double>(value)});
            }
        }
        points.push_back({overNs, static_cast<double>(overNs), 0.0});
        curves[i] =
            ScalarSeries::append(kept < levels.size() ? nullptr : memory.curves[i].get(), points);
    }
    return curves;
}

std::uint32_t GpuBuilder::callingThread(storage::GpuProcessId process) {
    std::uint32_t thread = 0;
    std::size_t most = 0;
    for (const auto& [key, rows] : lanesOf(process)) {
        if (key.kind != RowKind::Api || rows.added() <= most) continue;
        most = rows.added();
        thread = key.thread;
    }
    return thread;
}

void GpuBuilder::placeWaits() {
    std::unordered_map<storage::GpuProcessId, std::uint32_t> threads;
    for (const GpuRows::Item& item : std::exchange(m_waits, {})) {
        const GpuEvent& e = m_activity.event(item.ordinal);
        GpuLaneKey key = laneOf(e, item.ordinal);  // its call may have come since
        if (key.thread == 0) {
            const auto [known, isNew] = threads.try_emplace(e.process);
            if (isNew) known->second = callingThread(e.process);
            key.thread = known->second;
        }
        place(key, item);
    }
}

void GpuBuilder::placeTicks() {
    for (const GpuRows::Item& item : std::exchange(m_ticks, {})) {
        const GpuEvent& e = m_activity.event(item.ordinal);
        GpuLaneKey key;
        key.process = e.process;
        key.kind = RowKind::Event;
        key.context = e.context;
        key.stream = e.stream;
        // Waits do not say their device, nor do records of older CUPTIs.
        const auto device = m_contextDevices.find(contextKey(e.process, e.context));
        key.device = device != m_contextDevices.end() ? device->second : e.device;
        place(key, {item.startNs, 1, item.label, item.ordinal});
    }
}

void GpuBuilder::settle() {
    placeWaits();
    placeTicks();
    for (auto& [key, rows] : m_lanes)
        for (const GpuRows::Item& item : rows.settle()) addUnplaced(key, item);
    for (auto& [key, queue] : m_queues) queue.depth.settle();
    for (auto& [key, busy] : m_busy) {
        if (busy.pending.empty()) continue;
        const std::size_t changed = busy.all.add(std::exchange(busy.pending, {}));
        const auto& intervals = busy.all.intervals();
        busy.blocks.resize(std::min(busy.blocks.size(), changed / EventBlock::kCapacity));
        for (std::size_t at = busy.blocks.size() * EventBlock::kCapacity; at < intervals.size();) {
            auto block = std::make_shared<EventBlock>();
            const std::size_t end = std::min(intervals.size(), at + EventBlock::kCapacity);
            for (; at < end; ++at)
                block->push(intervals[at].beginNs, intervals[at].endNs - intervals[at].beginNs, 0,
                            0);
            block->extend(0);
            busy.blocks.push_back(std::move(block));
        }
    }
    // Memory that only NVML knows of has its band too.
    for (const storage::GpuDevice& device : m_tables.devices) {
        const DeviceKey key{device.process, device.device};
        if (m_memory.contains(key) || m_memory.size() >= kMaxDevices || device.uuid.empty() ||
            !m_busy.contains(key))
            continue;
        for (const storage::GpuCounter& counter : m_tables.counters)
            if (counter.device == device.uuid && counter.name == kMemoryUsed) m_memory[key];
    }
    for (auto& [key, memory] : m_memory) settleMemory(key, memory);
}

}  // namespace tapescope::viewers
