// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/analysis/gpu_activity.h"
#include "profiler/analysis/interval_union.h"
#include "profiler/analysis/launch_join.h"
#include "profiler/analysis/memory_bands.h"
#include "storage/tape/reader.h"
#include "viewers/models/gpu_rows.h"
#include "viewers/models/gpu_view.h"
#include "viewers/models/timeline_model.h"

#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tapescope::viewers {

/// The small GPU tables of a tape.
struct GpuTables {
    std::vector<storage::GpuProcess> processes;
    std::vector<storage::GpuDevice> devices;
    std::vector<storage::GpuContext> contexts;
    std::vector<storage::GpuStream> streams;
    std::vector<storage::GpuObjectName> names;
    std::vector<storage::GpuStatus> statuses;
    std::vector<storage::GpuCount> counts;
    std::vector<storage::GpuCounter> counters;

    static storage::Result<GpuTables> read(const storage::TapeReader& reader);
};

/// Lays out what a tape says of GPUs: a lane for each stream and for each thread that made calls,
/// under their device and process; busy time, memory and sampled counters as charts. Events in any
/// order. One thread at a time.
class GpuBuilder final {
public:
    /// A launcher's thousand short processes have five each; more would be a fault of ids. What
    /// finds no lane is counted, and is in the sums.
    static constexpr std::size_t kMaxLanes = 8192;
    /// Of more processes than that only the first starts open.
    static constexpr std::size_t kOpenProcesses = 16;
    /// A stream that never had more than one launch ahead has no queue to show.
    static constexpr std::uint32_t kLeastQueue = 2;

    void setTables(GpuTables tables);
    /// No more events come: what is over is over.
    void setSealed(bool sealed) { m_sealed = sealed; }
    void append(const std::vector<storage::GpuEvent>& events, const Structure& structure);
    void append(const std::vector<storage::CounterSample>& samples);
    void append(const std::vector<storage::AllocatorEvent>& events);
    /// The tape says nothing of GPUs, not even why.
    bool empty() const;
    std::size_t events() const { return m_events; }

    /// Adds rows, groups, charts and the view of GPUs to a snapshot that holds the engine's part.
    void fill(TimelineData& data);

private:
    using DeviceKey = std::pair<storage::GpuProcessId, std::uint32_t>;
    struct Busy {
        profiler::IntervalUnion all;
        std::vector<profiler::Interval> pending;
        GpuRows::Blocks blocks;
    };
    struct Memory {
        profiler::MemoryBands bands;
        std::array<ScalarSeriesPtr, 3> curves{};
        std::size_t drawn = 0;                       ///< levels in the curves
        std::map<std::uint32_t, std::size_t> fedBy;  ///< counter -> samples taken from it
        std::vector<storage::AllocatorEvent> outOfMemory;
    };
    struct Samples {
        ScalarSeriesPtr curve;
        std::vector<std::pair<std::int64_t, double>> all;  ///< of "memory used" only
        std::int64_t lastNs = 0;
        double highest = 0;
    };

    struct Queue {
        CountCurveBuilder depth;
        std::size_t work = 0;  ///< counted
    };

    /// colour: what NVTX said, 0 else.
    std::uint32_t labelOf(const storage::GpuEvent& event, const Structure& structure,
                          std::uint32_t colour = 0);
    std::uint32_t colourOf(profiler::GpuOrdinal range) const;
    void colourLate(profiler::GpuOrdinal first, const Structure& structure);
    std::string nameOf(storage::NameId id, const Structure& structure, std::uint32_t label);
    void resolveNames(const Structure& structure);
    void setText(GpuLabel& label, const std::string& name) const;
    GpuLaneKey laneOf(const storage::GpuEvent& event, profiler::GpuOrdinal ordinal) const;
    std::uint32_t laneNumber(const GpuLaneKey& key);
    void placeWaits();
    void placeTicks();
    void addRecord(const profiler::LaunchJoin::Launched& launched, const Structure& structure);
    std::uint32_t callingThread(storage::GpuProcessId process);
    void place(const GpuLaneKey& key, const GpuRows::Item& item);
    void addUnplaced(const GpuLaneKey& key, const GpuRows::Item& item);
    void addLaunched(const profiler::LaunchJoin::Launched& launched);
    void addTick(const GpuRows::Item& item) { m_ticks.push_back(item); }
    std::int64_t unplaced() const;
    void extendRange(std::int64_t beginNs, std::int64_t endNs);

    void settle();
    void settleMemory(DeviceKey device, Memory& memory);
    void sawProcess(storage::GpuProcessId process, std::int64_t endNs);
    /// When a process was over; none: it may go on, or lasts as long as the tape.
    std::optional<std::int64_t> endOf(storage::GpuProcessId process) const;
    /// The last time at which NVML's samples are a process's band; none: all are.
    std::optional<std::int64_t> bandEnd(DeviceKey device, Memory& memory) const;
    /// Counters of memory used with samples of when the bands of all processes were over.
    std::set<std::uint32_t> outlasting();
    std::array<ScalarSeriesPtr, 3> curvesUntilEnd(DeviceKey device, Memory& memory) const;
    std::vector<TimelineChart::OutOfMemory> outOfMemory(const Memory& memory,
                                                        const TimelineData& data) const;
    std::vector<storage::GpuProcessId> processes() const;
    /// The lanes of a process, as pairs of key and rows.
    auto lanesOf(storage::GpuProcessId process) {
        const auto first = m_lanes.lower_bound(GpuLaneKey{.process = process});
        return std::ranges::subrange(
            first, process < UINT32_MAX ? m_lanes.lower_bound(GpuLaneKey{.process = process + 1})
                                        : m_lanes.end());
    }
    void fillProcess(storage::GpuProcessId process, bool folded, bool manyHosts, TimelineData& data,
                     GpuView& view, std::set<std::uint32_t>& usedCounters);
    void fillThreads(storage::GpuProcessId process, int parent, TimelineData& data, GpuView& view);
    void fillDevice(DeviceKey key, int parent, TimelineData& data, GpuView& view,
                    std::set<std::uint32_t>& usedCounters);
    void addRows(const GpuLaneKey& key, GpuRows& rows, TimelineData& data, GpuView& view,
                 const std::string& label, const std::string& tip);
    void addQueue(const GpuLaneKey& key, const GpuRows& rows, TimelineData& data);
    void addCounter(const storage::GpuCounter& counter, std::uint32_t group, TimelineData& data);
    const storage::GpuProcess* processRow(storage::GpuProcessId id) const;
    const storage::GpuDevice* deviceRow(DeviceKey key) const;
    std::string objectName(storage::GpuProcessId process, storage::GpuObject object,
                           std::uint32_t id, std::uint32_t context = 0) const;
    void fillNotices(GpuView& view, std::int64_t spanNs) const;

    GpuTables m_tables;
    profiler::GpuActivityBuilder m_activity;
    profiler::LaunchJoin m_launches;
    std::map<GpuLaneKey, GpuRows> m_lanes;
    std::map<GpuLaneKey, Queue> m_queues;                               ///< of streams
    std::vector<GpuRows::Item> m_waits;                                 ///< no thread is known yet
    std::vector<GpuRows::Item> m_ticks;                                 ///< no device is known yet
    std::unordered_map<std::uint64_t, std::uint32_t> m_contextDevices;  ///< by contextKey()
    std::int64_t m_timelessRecords = 0;                                 ///< of CUDA events
    std::int64_t m_recordsAtCalls = 0;              ///< of them, drawn where their call began
    std::map<GpuLaneKey, std::uint32_t> m_numbers;  ///< TimelineRow::lane; threads have one
    std::map<DeviceKey, Busy> m_busy;
    std::map<DeviceKey, Memory> m_memory;
    std::map<std::uint32_t, Samples> m_samples;
    std::vector<GpuLabel> m_labels;
    std::shared_ptr<const std::vector<GpuLabel>> m_publishedLabels;
    struct LabelKey {
        std::uint64_t what = 0;  ///< the kind and what names it
        std::uint32_t colour = 0;
        friend bool operator==(const LabelKey&, const LabelKey&) = default;
    };
    struct LabelHash {
        std::size_t operator()(const LabelKey& k) const noexcept {
            return static_cast<std::size_t>((k.what ^ static_cast<std::uint64_t>(k.colour) << 29U) *
                                            0x9E3779B97F4A7C15ULL);
        }
    };
    std::unordered_map<LabelKey, std::uint32_t, LabelHash> m_labelIds;
    std::vector<std::pair<std::uint32_t, storage::NameId>> m_unnamed;
    std::int64_t m_beginNs = INT64_MAX;
    std::int64_t m_endNs = INT64_MIN;
    std::unordered_map<storage::GpuProcessId, std::int64_t> m_lastNs;  ///< end of the last event
    std::set<std::uint32_t> m_outlasting;
    bool m_sealed = false;
    std::size_t m_events = 0;
    std::map<storage::GpuProcessId, std::int64_t> m_unplaced;  ///< events without a lane or row
    GpuRows::Blocks m_unplacedWork;                            ///< of them, what ran on a device
    std::shared_ptr<EventBlock> m_openUnplaced;                ///< next block of m_unplacedWork
    std::unordered_map<storage::GpuProcessId, std::size_t> m_processRows;  ///< in m_tables
    std::map<DeviceKey, std::size_t> m_deviceRows;                         ///< the same
};

/// The lane an event belongs to; waits may have no thread of their own.
GpuLaneKey gpuLaneKey(const storage::GpuEvent& event);

}  // namespace tapescope::viewers
