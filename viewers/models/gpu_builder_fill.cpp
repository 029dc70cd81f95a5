// SPDX-License-Identifier: GPL-3.0-or-later
// The picture that GpuBuilder makes of what it took in.
#include "viewers/models/gpu_builder.h"
#include "viewers/models/scalar_series.h"

#include <algorithm>

namespace tapescope::viewers {
namespace {

constexpr std::uint32_t kGpuLanes = 1U << 31U;  // engine lanes count from 0

enum class Section : std::uint64_t { Process, Thread, Device, Machine };

std::uint64_t groupKey(Section section, storage::GpuProcessId process, std::uint32_t id) {
    return static_cast<std::uint64_t>(section) << 62U | static_cast<std::uint64_t>(process) << 32U |
           id;
}

std::string threadRowText(RowKind kind) {
    return kind == RowKind::Nvtx   ? "NVTX"
           : kind == RowKind::Api  ? "CUDA calls"
           : kind == RowKind::Wait ? "waits"
                                   : "tracing cost";
}

bool isOfStream(const GpuLaneKey& key) {
    return key.kind == RowKind::Stream || key.kind == RowKind::Event;
}

double limitOf(const storage::GpuCounter& counter) { return counter.unit == "%" ? 100 : 0; }

}  // namespace

const storage::GpuProcess* GpuBuilder::processRow(storage::GpuProcessId id) const {
    const auto row = m_processRows.find(id);
    return row != m_processRows.end() ? &m_tables.processes[row->second] : nullptr;
}

const storage::GpuDevice* GpuBuilder::deviceRow(DeviceKey key) const {
    const auto row = m_deviceRows.find(key);
    return row != m_deviceRows.end() ? &m_tables.devices[row->second] : nullptr;
}

std::string GpuBuilder::objectName(storage::GpuProcessId process, storage::GpuObject object,
                                   std::uint32_t id, std::uint32_t context) const {
    for (const storage::GpuObjectName& n : m_tables.names)
        if (n.process == process && n.object == object && n.id == id &&
            (object != storage::GpuObject::Stream || n.context == context))
            return n.name;
    return {};
}

std::vector<storage::GpuProcessId> GpuBuilder::processes() const {
    std::set<storage::GpuProcessId> ids;
    for (const auto& [key, rows] : m_lanes) ids.insert(key.process);
    for (const auto& [key, memory] : m_memory) ids.insert(key.first);
    for (const auto& [key, busy] : m_busy) ids.insert(key.first);
    return {ids.begin(), ids.end()};
}

void GpuBuilder::addRows(const GpuLaneKey& key, GpuRows& rows, TimelineData& data, GpuView& view,
                         const std::string& label, const std::string& tip) {
    if (rows.rows() == 0) return;
    view.rows[key] = {data.rows.size(), rows.rows()};
    for (std::size_t d = 0; d < rows.rows(); ++d) {
        TimelineRow row;
        row.lane = kGpuLanes | laneNumber(key);
        row.kind = key.kind;
        row.depth = static_cast<int>(d);
        row.blocks = rows.blocks(d);
        row.group = static_cast<std::uint32_t>(data.groups.size() - 1);
        row.label = label;
        row.tip = tip;
        data.events += row.size();
        data.rows.push_back(std::move(row));
    }
}

void GpuBuilder::addQueue(const GpuLaneKey& key, const GpuRows& rows, TimelineData& data) {
    const auto queue = m_queues.find(key);
    if (queue == m_queues.end() || rows.rows() == 0 ||
        queue->second.depth.curve().peak() < kLeastQueue)
        return;
    TimelineChart chart;
    chart.kind = TimelineChart::Kind::Queue;
    chart.group = static_cast<std::uint32_t>(data.groups.size() - 1);
    chart.label = "queue";
    chart.queue = queue->second.depth.curve();
    chart.lane = data.rows.back().lane;
    chart.uncounted = rows.added() - std::min(rows.added(), queue->second.work);
    data.charts.push_back(std::move(chart));
}

void GpuBuilder::addCounter(const storage::GpuCounter& counter, std::uint32_t group,
                            TimelineData& data) {
    const auto samples = m_samples.find(counter.id);
    if (samples == m_samples.end() || !samples->second.curve) return;
    TimelineChart chart;
    chart.kind = TimelineChart::Kind::Counter;
    chart.group = group;
    chart.label = counter.name;
    if (m_outlasting.contains(counter.id)) {
        chart.label = "used (NVML)";
        chart.tip =
            "used on the device (NVML), by whichever processes: it was sampled after the last "
            "process of the record had ended";
    }
    chart.unit = counter.unit;
    chart.curves[0] = samples->second.curve;
    chart.limit = limitOf(counter);
    data.charts.push_back(std::move(chart));
}

void GpuBuilder::fillThreads(storage::GpuProcessId process, int parent, TimelineData& data,
                             GpuView& view) {
    std::map<std::uint32_t, std::vector<GpuLaneKey>> threads;  // kinds come in RowKind's order
    for (const auto& [key, rows] : lanesOf(process))
        if (!isOfStream(key) && rows.rows() > 0) threads[key.thread].push_back(key);
    const storage::GpuProcess* row = processRow(process);
    for (const auto& [thread, keys] : threads) {
        const std::string name = objectName(process, storage::GpuObject::Thread, thread);
        std::string title = thread == 0 ? "unknown thread" : "thread " + std::to_string(thread);
        if (row != nullptr && thread != 0 && row->pid == thread) title = "main thread";
        if (!name.empty()) title = name;
        data.groups.push_back({groupKey(Section::Thread, process, thread), parent, title,
                               "thread " + std::to_string(thread)});
        for (const GpuLaneKey& key : keys)
            addRows(key, m_lanes.at(key), data, view, threadRowText(key.kind), {});
    }
}

std::vector<TimelineChart::OutOfMemory> GpuBuilder::outOfMemory(const Memory& memory,
                                                                const TimelineData& data) const {
    std::vector<TimelineChart::OutOfMemory> out;
    for (const storage::AllocatorEvent& e : memory.outOfMemory)
        out.push_back({e.timeNs, e.sizeBytes, e.deviceFreeBytes,
                       data.structure ? data.structure->name(e.site) : std::string()});
    std::ranges::stable_sort(out, {}, &TimelineChart::OutOfMemory::timeNs);
    return out;
}

void GpuBuilder::fillDevice(DeviceKey device, int parent, TimelineData& data, GpuView& view,
                            std::set<std::uint32_t>& usedCounters) {
    const auto& [process, id] = device;
    const storage::GpuDevice* row = deviceRow(device);
    std::string title = "GPU " + std::to_string(id), tip = title;
    if (row != nullptr && !row->name.empty()) {
        title += " · " + row->name;
        tip += ", " + row->name;
        if (row->multiprocessors != 0)
            tip += ", " + std::to_string(row->multiprocessors) + " multiprocessors";
        if (row->capabilityMajor != 0)
            tip += ", compute capability " + std::to_string(row->capabilityMajor) + "." +
                   std::to_string(row->capabilityMinor);
        if (!row->uuid.empty()) tip += ", " + row->uuid;
    }
    const auto group = static_cast<std::uint32_t>(data.groups.size());
    data.groups.push_back({groupKey(Section::Device, process, id), parent, title, tip});

    if (const auto busy = m_busy.find(device);
        busy != m_busy.end() && !busy->second.blocks.empty()) {
        TimelineChart chart;
        chart.kind = TimelineChart::Kind::Busy;
        chart.group = group;
        chart.label = "busy";
        chart.device = row != nullptr && !row->uuid.empty() ? row->uuid : "#" + std::to_string(id);
        chart.busy.kind = RowKind::Busy;
        chart.busy.blocks = busy->second.blocks;
        chart.limit = 1;
        data.charts.push_back(std::move(chart));
    }
    std::set<std::uint32_t> contexts;
    std::set<GpuLaneKey> streams;
    for (const auto& [lane, rows] : lanesOf(process)) {
        if (!isOfStream(lane) || lane.device != id) continue;
        contexts.insert(lane.context);
        GpuLaneKey stream = lane;
        stream.kind = RowKind::Stream;
        streams.insert(stream);
    }
    for (const GpuLaneKey& key : streams) {
        std::string label = "stream " + std::to_string(key.stream);
        std::string lane =
            "stream " + std::to_string(key.stream) + ", context " + std::to_string(key.context);
        const std::string name =
            objectName(process, storage::GpuObject::Stream, key.stream, key.context);
        if (!name.empty()) {
            label = name;
            lane += ", “" + name + "”";
        }
        for (const storage::GpuContext& c : m_tables.contexts)
            if (c.process == process && c.context == key.context && c.nullStream == key.stream) {
                if (name.empty()) label += " default";
                lane += ", the default stream";
            }
        for (const storage::GpuStream& s : m_tables.streams)
            if (s.process == process && s.context == key.context && s.stream == key.stream &&
                s.priority != 0) {
                label += " p" + std::to_string(s.priority);
                lane += ", priority " + std::to_string(s.priority);
            }
        if (contexts.size() > 1) label = "c" + std::to_string(key.context) + " " + label;
        // Ticks stand on their stream; its name is beside its work.
        GpuLaneKey ticks = key;
        ticks.kind = RowKind::Event;
        const auto work = m_lanes.find(key), events = m_lanes.find(ticks);
        const bool works = work != m_lanes.end() && work->second.rows() > 0;
        if (events != m_lanes.end())
            addRows(ticks, events->second, data, view, works ? std::string() : label, lane);
        if (!works) continue;
        addRows(key, work->second, data, view, label, lane);
        addQueue(key, work->second, data);
    }
    if (const auto memory = m_memory.find(device);
        memory != m_memory.end() && memory->second.curves[2]) {
        TimelineChart chart;
        chart.kind = TimelineChart::Kind::Memory;
        chart.group = group;
        chart.label = "memory";
        chart.unit = "B";
        chart.curves = curvesUntilEnd(device, memory->second);
        if (!memory->second.outOfMemory.empty())
            chart.outOfMemory = std::make_shared<const std::vector<TimelineChart::OutOfMemory>>(
                outOfMemory(memory->second, data));
        if (row != nullptr) chart.limit = static_cast<double>(row->memoryBytes);
        data.charts.push_back(std::move(chart));
        for (const auto& [counter, taken] : memory->second.fedBy)
            if (taken > 0 && !m_outlasting.contains(counter)) usedCounters.insert(counter);
    }
    if (row == nullptr || row->uuid.empty()) return;
    for (const storage::GpuCounter& counter : m_tables.counters)
        if (counter.device == row->uuid && usedCounters.insert(counter.id).second)
            addCounter(counter, group, data);
}

void GpuBuilder::fillProcess(storage::GpuProcessId process, bool folded, bool manyHosts,
                             TimelineData& data, GpuView& view,
                             std::set<std::uint32_t>& usedCounters) {
    const storage::GpuProcess* row = processRow(process);
    const auto parent = static_cast<int>(data.groups.size());
    TimelineGroup group{
        groupKey(Section::Process, process, 0), -1, "process #" + std::to_string(process), {}};
    if (row != nullptr) {
        group.title = profiler::gpuProcessTitle(*row);
        group.tip = row->command + (row->host.empty() ? "" : "\n" + row->host);
        if (manyHosts && !row->host.empty()) group.title += " · " + row->host;
    }
    group.startsFolded = folded;
    data.groups.push_back(std::move(group));
    fillThreads(process, parent, data, view);
    std::set<DeviceKey> devices;
    for (const auto& [key, rows] : lanesOf(process))
        if (isOfStream(key)) devices.insert({process, key.device});
    const DeviceKey first{process, 0};
    for (auto at = m_memory.lower_bound(first); at != m_memory.end() && at->first.first == process;
         ++at)
        if (at->second.curves[2]) devices.insert(at->first);
    for (auto at = m_busy.lower_bound(first); at != m_busy.end() && at->first.first == process;
         ++at)
        devices.insert(at->first);
    for (const DeviceKey& device : devices) fillDevice(device, parent, data, view, usedCounters);
}

void GpuBuilder::fillNotices(GpuView& view, std::int64_t spanNs) const {
    profiler::GpuRecordFacts facts;
    facts.processes = m_tables.processes;
    facts.statuses = m_tables.statuses;
    facts.counts = m_tables.counts;
    facts.doubts = m_activity.doubts();
    for (const auto& [key, memory] : m_memory) facts.unknownFrees += memory.bands.unknownFrees();
    for (const storage::GpuProcess& p : m_tables.processes)
        facts.overheads.push_back({p.id, m_activity.overheadNs(p.id)});
    facts.spanNs = spanNs;
    view.notices = profiler::gpuNotices(facts);
    if (const std::int64_t count = m_timelessRecords - m_recordsAtCalls; count > 0)
        view.notices.push_back({profiler::GpuNotice::Kind::Fact,
                                {},
                                std::to_string(count) +
                                    (count == 1 ? " event record has" : " event records have") +
                                    " neither a time nor a call on the tape, not drawn",
                                {}});
    if (const std::int64_t count = unplaced(); count > 0) {
        // First: two hundred processes may have lost something each, and this changes the picture.
        const std::size_t n = m_unplaced.size();
        view.notices.insert(view.notices.begin(),
                            {profiler::GpuNotice::Kind::Loss,
                             {},
                             std::to_string(count) + (count == 1 ? " event of " : " events of ") +
                                 std::to_string(n) + (n == 1 ? " process" : " processes") +
                                 (count == 1 ? " has no lane" : " have no lane"),
                             "The sums below and the overview count their kernels and copies."});
    }
}

void GpuBuilder::fill(TimelineData& data) {
    if (empty()) return;
    settle();
    auto view = std::make_shared<GpuView>();
    if (!m_publishedLabels)
        m_publishedLabels = std::make_shared<const std::vector<GpuLabel>>(m_labels);
    view->labels = m_publishedLabels;
    view->activity = m_activity.snapshot();
    view->processes = m_tables.processes;
    view->devices = m_tables.devices;
    m_outlasting = outlasting();
    std::set<std::uint32_t> usedCounters;
    std::set<std::string> hosts;
    for (const storage::GpuProcess& p : m_tables.processes) hosts.insert(p.host);
    const auto all = processes();
    for (const storage::GpuProcessId process : all)
        fillProcess(process, all.size() > kOpenProcesses && process != all.front(),
                    hosts.size() > 1, data, *view, usedCounters);
    view->unplaced = m_unplacedWork;
    if (m_openUnplaced && m_openUnplaced->size() > 0)
        view->unplaced.push_back(std::make_shared<const EventBlock>(*m_openUnplaced));
    // What is sampled of devices that no recorded process used, and of the machine.
    std::map<std::string, std::vector<const storage::GpuCounter*>> others;
    for (const storage::GpuCounter& counter : m_tables.counters)
        if (!usedCounters.contains(counter.id) && m_samples.contains(counter.id))
            others[counter.host + "\n" + counter.device].push_back(&counter);
    for (const auto& [place, counters] : others) {
        const storage::GpuCounter& first = *counters.front();
        const std::string title = first.device.empty()       ? "machine " + first.host
                                  : first.deviceName.empty() ? "GPU " + first.device
                                                             : first.deviceName;
        const auto group = static_cast<std::uint32_t>(data.groups.size());
        data.groups.push_back({groupKey(Section::Machine, 0, first.id), -1, title, first.device});
        for (const storage::GpuCounter* counter : counters) addCounter(*counter, group, data);
    }
    for (const storage::GpuCount& count : m_tables.counts)
        if (count.name == storage::kGpuCountRecords && count.count > 0)
            view->expected += static_cast<std::size_t>(count.count);
    if (m_endNs >= m_beginNs) {
        const bool alone = data.beginNs == 0 && data.endNs == 0;
        data.beginNs = alone ? m_beginNs : std::min(data.beginNs, m_beginNs);
        data.endNs = alone ? m_endNs : std::max(data.endNs, m_endNs);
    }
    fillNotices(*view, data.endNs - data.beginNs);
    data.gpu = std::move(view);
}

}  // namespace tapescope::viewers
