// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tapescope::profiler {

using GpuOrdinal = std::uint32_t;  ///< of an event of a GpuActivity, in the order it was read

/// Many values under 64-bit keys, grown by batches. A copy is cheap and never changes. Lookup:
/// O(log² n).
class OrdinalIndex final {
public:
    using Entry = std::pair<std::uint64_t, GpuOrdinal>;
    void add(std::vector<Entry> batch);
    /// The first `limit` ordinals under the key, ascending.
    std::vector<GpuOrdinal> find(std::uint64_t key, std::size_t limit) const;
    bool contains(std::uint64_t key) const;

private:
    std::vector<std::shared_ptr<const std::vector<Entry>>>
        m_runs;  ///< each sorted; long ones first
};

/// Everything a tape says that GPUs and the calls around them did, and how it hangs together:
/// launch call ↔ device work by correlation id (a graph's kernels carry the id of its launch),
/// operators by external ids. Immutable, cheap to copy; any thread.
class GpuActivity final {
public:
    static constexpr std::size_t kChunk = 1U << 16U;

    std::size_t size() const { return m_size; }
    const storage::GpuEvent& event(GpuOrdinal i) const {
        return (*m_chunks[i / kChunk])[i % kChunk];
    }

    /// The call that launched device work or made a wait; the outermost if a runtime call made a
    /// driver call. None: not recorded.
    std::optional<GpuOrdinal> launchOf(GpuOrdinal i) const;
    /// Device work, waits and event records of a call, by start; at most `limit`.
    std::vector<GpuOrdinal> workOf(GpuOrdinal call, std::size_t limit) const;
    /// The same by correlationKey(), of what was read before `end`: the outermost call, one with a
    /// time if there is any; work in the order of reading.
    std::optional<GpuOrdinal> launchUnder(std::uint64_t key, GpuOrdinal end) const;
    std::vector<GpuOrdinal> workUnder(std::uint64_t key, GpuOrdinal end) const;
    /// The id of the operator around a call or its work; none if nobody said.
    struct Operator {
        storage::ExternalKind kind = storage::ExternalKind::Engine;
        std::uint64_t id = 0;
        friend bool operator==(const Operator&, const Operator&) = default;
    };
    std::optional<Operator> operatorOf(GpuOrdinal i) const;
    /// Calls that an engine operator made, in order of reading; at most `limit`.
    std::vector<GpuOrdinal> callsOf(std::uint64_t engineOpId, std::size_t limit) const;
    /// What was said of an NVTX range (its push) or mark; and of which of them something was said.
    std::optional<GpuOrdinal> nvtxDataOf(GpuOrdinal range) const;
    std::optional<GpuOrdinal> nvtxRangeOf(GpuOrdinal data) const;

private:
    friend class GpuActivityBuilder;
    std::optional<GpuOrdinal> sameNvtxId(GpuOrdinal i, bool data) const;
    std::vector<std::shared_ptr<const std::vector<storage::GpuEvent>>> m_chunks;
    std::size_t m_size = 0;
    OrdinalIndex m_calls;      ///< by process and correlation
    OrdinalIndex m_work;       ///< device work, waits and event records, the same
    OrdinalIndex m_externals;  ///< the same
    OrdinalIndex m_engineOps;  ///< ExternalId events by engine operator id
    OrdinalIndex m_nvtx;       ///< pushes, marks and data by process and id
};

/// Something with a place on the time axis.
struct GpuSpan {
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;
    GpuOrdinal event = 0;
    friend bool operator==(const GpuSpan&, const GpuSpan&) = default;
};

/// What is on a tape but not in the picture, or in doubt.
struct GpuDoubts {
    std::int64_t noTime = 0;        ///< flagged so by the collector
    std::int64_t badTime = 0;       ///< flagged, or impossible here
    std::int64_t beforeTape = 0;    ///< over before the tape's time 0
    std::int64_t clipped = 0;       ///< begun before it: drawn from 0
    std::int64_t clockStepped = 0;  ///< drawn, but its place is uncertain
    std::int64_t unknownKind = 0;
    std::int64_t withoutLaunch = 0;  ///< device work whose launch call is not on the tape
    std::int64_t openRanges = 0;     ///< NVTX pushes without their pop
    std::int64_t notLoaded = 0;      ///< above GpuActivityBuilder::kMaxEvents
    friend bool operator==(const GpuDoubts&, const GpuDoubts&) = default;
};

/// Takes in what is read from a tape, in any order. One thread.
class GpuActivityBuilder final {
public:
    /// 100 bytes each: a file from anywhere may not fill the memory.
    static constexpr std::size_t kMaxEvents = 24'000'000;
    /// Later and longer than any run: a fault.
    static constexpr std::int64_t kLongestNs = std::int64_t{1} << 55U;  // 417 days

    /// Returns what got a place by this: events as they are, NVTX ranges once both ends are there.
    std::vector<GpuSpan> append(const std::vector<storage::GpuEvent>& events);
    GpuActivity snapshot();
    /// What was appended so far; changes with the next append().
    const GpuActivity& activity() const { return m_activity; }
    const storage::GpuEvent& event(GpuOrdinal i) const { return m_activity.event(i); }
    /// As GpuActivity::launchOf(), on what was appended so far.
    std::optional<GpuOrdinal> launchOf(GpuOrdinal i) const { return m_activity.launchOf(i); }
    GpuDoubts doubts() const;
    /// Time that the tracing itself took, by its own account.
    std::int64_t overheadNs(storage::GpuProcessId process) const;

private:
    struct RangeKey {
        std::uint64_t id = 0;
        storage::GpuProcessId process = 0;
        friend bool operator==(const RangeKey&, const RangeKey&) = default;
    };
    struct RangeHash {
        std::size_t operator()(const RangeKey& k) const noexcept {
            return static_cast<std::size_t>((k.id + k.process) * 0x9E3779B97F4A7C15ULL);
        }
    };
    struct Half {
        std::int64_t timeNs = 0;
        GpuOrdinal event = 0;
        bool isPush = false;
    };
    GpuOrdinal store(const storage::GpuEvent& event);
    std::optional<GpuSpan> place(std::int64_t beginNs, std::int64_t endNs, GpuOrdinal event);

    GpuActivity m_activity;
    std::shared_ptr<std::vector<storage::GpuEvent>> m_open;  ///< last chunk of m_activity
    bool m_shared = false;                                   ///< a snapshot has m_open too
    std::unordered_map<RangeKey, Half, RangeHash> m_halves;
    std::unordered_map<std::uint64_t, std::int64_t>
        m_orphans;  ///< correlation -> work without call
    std::unordered_map<storage::GpuProcessId, std::int64_t> m_overhead;
    GpuDoubts m_doubts;
};

inline bool isCall(storage::GpuEventKind kind) {
    return kind == storage::GpuEventKind::RuntimeApi || kind == storage::GpuEventKind::DriverApi;
}

/// Correlation ids mean something only together with their process.
inline std::uint64_t correlationKey(const storage::GpuEvent& e) {
    return static_cast<std::uint64_t>(e.process) << 32U | e.correlation;
}

}  // namespace tapescope::profiler
