// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/gpu_activity.h"

#include <algorithm>

namespace tapescope::profiler {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;

constexpr std::size_t kSearched = 64;  // calls of one correlation id that are looked at

/// Ids of more than 32 bits may share a key: whoever looks one up compares them.
std::uint64_t nvtxKey(const GpuEvent& e) {
    return static_cast<std::uint64_t>(e.process) << 32U |
           static_cast<std::uint32_t>(storage::nvtxId(e));
}

auto startsOf(const std::vector<OrdinalIndex::Entry>& run, std::uint64_t key) {
    return std::lower_bound(run.begin(), run.end(), OrdinalIndex::Entry(key, 0));
}

}  // namespace

void OrdinalIndex::add(std::vector<Entry> batch) {
    if (batch.empty()) return;
    std::sort(batch.begin(), batch.end());
    m_runs.push_back(std::make_shared<const std::vector<Entry>>(std::move(batch)));
    // Each run is at least twice as long as the next: log n runs, each entry moved log n times.
    while (m_runs.size() >= 2 && m_runs[m_runs.size() - 2]->size() < 2 * m_runs.back()->size()) {
        const auto b = m_runs.back();
        m_runs.pop_back();
        const auto a = m_runs.back();
        m_runs.pop_back();
        auto merged = std::make_shared<std::vector<Entry>>();
        merged->reserve(a->size() + b->size());
        std::merge(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*merged));
        m_runs.push_back(std::move(merged));
    }
}

std::vector<GpuOrdinal> OrdinalIndex::find(std::uint64_t key, std::size_t limit) const {
    std::vector<GpuOrdinal> found;
    for (const auto& run : m_runs) {
        std::size_t taken = 0;
        for (auto at = startsOf(*run, key); at != run->end() && at->first == key && taken < limit;
             ++at, ++taken)
            found.push_back(at->second);
    }
    std::sort(found.begin(), found.end());
    if (found.size() > limit) found.resize(limit);
    return found;
}

bool OrdinalIndex::contains(std::uint64_t key) const {
    return std::any_of(m_runs.begin(), m_runs.end(), [key](const auto& run) {
        const auto at = startsOf(*run, key);
        return at != run->end() && at->first == key;
    });
}

std::optional<GpuOrdinal> GpuActivity::launchOf(GpuOrdinal i) const {
    const GpuEvent& e = event(i);
    if (e.correlation == 0 || isCall(e.kind)) return std::nullopt;
    return launchUnder(correlationKey(e), UINT32_MAX);
}

std::optional<GpuOrdinal> GpuActivity::launchUnder(std::uint64_t key, GpuOrdinal end) const {
    std::optional<GpuOrdinal> best;
    const auto rank = [this](GpuOrdinal call) {
        return std::pair(!event(call).drawable(), event(call).startNs);
    };
    for (const GpuOrdinal call : m_calls.find(key, kSearched))
        if (call < end && (!best || rank(call) < rank(*best))) best = call;
    return best;
}

std::vector<GpuOrdinal> GpuActivity::workUnder(std::uint64_t key, GpuOrdinal end) const {
    auto work = m_work.find(key, SIZE_MAX);
    std::erase_if(work, [end](GpuOrdinal i) { return i >= end; });
    return work;
}

std::vector<GpuOrdinal> GpuActivity::workOf(GpuOrdinal call, std::size_t limit) const {
    const GpuEvent& e = event(call);
    if (e.correlation == 0 || !isCall(e.kind)) return {};
    auto work = m_work.find(correlationKey(e), limit);
    std::stable_sort(work.begin(), work.end(), [this](GpuOrdinal a, GpuOrdinal b) {
        return event(a).startNs < event(b).startNs;
    });
    return work;
}

std::optional<GpuActivity::Operator> GpuActivity::operatorOf(GpuOrdinal i) const {
    const GpuEvent& e = event(i);
    if (e.correlation == 0) return std::nullopt;
    std::optional<Operator> best;
    for (const GpuOrdinal external : m_externals.find(correlationKey(e), kSearched)) {
        const GpuEvent& x = event(external);
        const Operator found{storage::externalKind(x), storage::externalId(x)};
        // Our own operator says most, a profiler's user range least.
        if (found.kind == storage::ExternalKind::Engine) return found;
        if (!best || found.kind == storage::ExternalKind::Kineto) best = found;
    }
    return best;
}

std::vector<GpuOrdinal> GpuActivity::callsOf(std::uint64_t engineOpId, std::size_t limit) const {
    std::vector<GpuOrdinal> calls;
    for (const GpuOrdinal external : m_engineOps.find(engineOpId, limit)) {
        const auto found = m_calls.find(correlationKey(event(external)), kSearched);
        calls.insert(calls.end(), found.begin(), found.end());
        if (calls.size() >= limit) break;
    }
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    if (calls.size() > limit) calls.resize(limit);
    return calls;
}

std::optional<GpuOrdinal> GpuActivity::sameNvtxId(GpuOrdinal i, bool data) const {
    const GpuEvent& e = event(i);
    for (const GpuOrdinal other : m_nvtx.find(nvtxKey(e), kSearched)) {
        const GpuEvent& o = event(other);
        if ((o.kind == GpuEventKind::NvtxData) == data && o.process == e.process &&
            storage::nvtxId(o) == storage::nvtxId(e))
            return other;
    }
    return std::nullopt;
}

std::optional<GpuOrdinal> GpuActivity::nvtxDataOf(GpuOrdinal range) const {
    return sameNvtxId(range, true);
}
std::optional<GpuOrdinal> GpuActivity::nvtxRangeOf(GpuOrdinal data) const {
    return sameNvtxId(data, false);
}

GpuOrdinal GpuActivityBuilder::store(const GpuEvent& event) {
    GpuActivity& a = m_activity;
    if (a.m_size % GpuActivity::kChunk == 0) {
        m_open = std::make_shared<std::vector<GpuEvent>>();
        a.m_chunks.push_back(m_open);
    }
    m_open->push_back(event);
    return static_cast<GpuOrdinal>(a.m_size++);
}

std::optional<GpuSpan> GpuActivityBuilder::place(std::int64_t beginNs, std::int64_t endNs,
                                                 GpuOrdinal event) {
    if (endNs < beginNs || beginNs < -kLongestNs || endNs > kLongestNs) {
        ++m_doubts.badTime;
        return std::nullopt;
    }
    if (beginNs < 0) {
        if (endNs <= 0) {
            ++m_doubts.beforeTape;
            return std::nullopt;
        }
        ++m_doubts.clipped;
        beginNs = 0;
    }
    return GpuSpan{beginNs, endNs - beginNs, event};
}

std::vector<GpuSpan> GpuActivityBuilder::append(const std::vector<GpuEvent>& events) {
    std::vector<GpuSpan> spans;
    std::vector<OrdinalIndex::Entry> calls, work, externals, engineOps, nvtx;
    if (m_open && m_shared) {  // a snapshot has it too: it may not change any more
        m_open = std::make_shared<std::vector<GpuEvent>>(*m_open);
        m_activity.m_chunks.back() = m_open;
    }
    m_shared = false;
    for (const GpuEvent& e : events) {
        if (m_activity.m_size >= kMaxEvents) {
            ++m_doubts.notLoaded;
            continue;
        }
        const GpuOrdinal i = store(e);
        const std::uint64_t key = correlationKey(e);
        const bool timed = e.drawable();
        if (e.correlation != 0) {
            if (isCall(e.kind)) calls.emplace_back(key, i);
            if (storage::runsOnDevice(e.kind) || e.kind == GpuEventKind::Sync ||
                e.kind == GpuEventKind::CudaEventRecord)
                work.emplace_back(key, i);
            if (e.kind == GpuEventKind::ExternalId) {
                externals.emplace_back(key, i);
                if (storage::externalKind(e) == storage::ExternalKind::Engine)
                    engineOps.emplace_back(storage::externalId(e), i);
            }
        }
        if (e.kind == GpuEventKind::NvtxPush || e.kind == GpuEventKind::NvtxMark ||
            e.kind == GpuEventKind::NvtxData)
            nvtx.emplace_back(nvtxKey(e), i);
        switch (e.kind) {
            case GpuEventKind::NvtxPush:
            case GpuEventKind::NvtxPop: {
                if (!timed) break;
                const bool isPush = e.kind == GpuEventKind::NvtxPush;
                const RangeKey range{storage::nvtxId(e), e.process};
                const auto other = m_halves.find(range);
                if (other == m_halves.end() || other->second.isPush == isPush) {
                    if (other != m_halves.end() && isPush) ++m_doubts.openRanges;
                    m_halves[range] = {e.startNs, i, isPush};
                    break;
                }
                const Half& half = other->second;
                const auto span = isPush ? place(e.startNs, half.timeNs, i)
                                         : place(half.timeNs, e.startNs, half.event);
                if (span) spans.push_back(*span);
                m_halves.erase(other);
                break;
            }
            case GpuEventKind::Overhead:
                if (timed && e.durationNs > 0 && e.durationNs <= kLongestNs)
                    m_overhead[e.process] += e.durationNs;
                [[fallthrough]];
            case GpuEventKind::Kernel:
            case GpuEventKind::Memcpy:
            case GpuEventKind::MemcpyPeer:
            case GpuEventKind::Memset:
            case GpuEventKind::RuntimeApi:
            case GpuEventKind::DriverApi:
            case GpuEventKind::Sync:
            case GpuEventKind::GraphLaunch:
            case GpuEventKind::CudaEventRecord:
            case GpuEventKind::NvtxMark: {
                if (!timed) break;
                std::int64_t end = 0;
                if (e.durationNs < 0 || __builtin_add_overflow(e.startNs, e.durationNs, &end))
                    end = INT64_MIN;  // impossible: counted by place()
                if (const auto span = place(e.startNs, end, i)) spans.push_back(*span);
                break;
            }
            case GpuEventKind::Unknown:
                ++m_doubts.unknownKind;
                break;
            case GpuEventKind::MemAlloc:
            case GpuEventKind::MemFree:
            case GpuEventKind::PoolCreate:
            case GpuEventKind::PoolDestroy:
            case GpuEventKind::PoolTrim:
            case GpuEventKind::NvtxData:
            case GpuEventKind::ExternalId:
                break;
        }
        // An external id, NVTX data and some event records have no time of their own.
        if (!timed && e.kind != GpuEventKind::ExternalId && e.kind != GpuEventKind::NvtxData &&
            e.kind != GpuEventKind::CudaEventRecord)
            ++((e.flags & storage::kGpuBadTime) != 0 ? m_doubts.badTime : m_doubts.noTime);
        if (timed && (e.flags & storage::kGpuClockStepped) != 0) ++m_doubts.clockStepped;
    }
    for (const auto& [key, i] : calls) {
        const auto orphan = m_orphans.find(key);
        if (orphan == m_orphans.end()) continue;
        m_doubts.withoutLaunch -= orphan->second;
        m_orphans.erase(orphan);
    }
    m_activity.m_calls.add(std::move(calls));
    for (const auto& [key, i] : work) {
        if (!storage::runsOnDevice(event(i).kind) || m_activity.m_calls.contains(key)) continue;
        ++m_orphans[key];
        ++m_doubts.withoutLaunch;
    }
    m_activity.m_work.add(std::move(work));
    m_activity.m_externals.add(std::move(externals));
    m_activity.m_engineOps.add(std::move(engineOps));
    m_activity.m_nvtx.add(std::move(nvtx));
    return spans;
}

GpuActivity GpuActivityBuilder::snapshot() {
    m_shared = true;
    return m_activity;
}

GpuDoubts GpuActivityBuilder::doubts() const {
    GpuDoubts doubts = m_doubts;
    for (const auto& [key, half] : m_halves) doubts.openRanges += half.isPush ? 1 : 0;
    return doubts;
}

std::int64_t GpuActivityBuilder::overheadNs(storage::GpuProcessId process) const {
    const auto found = m_overhead.find(process);
    return found == m_overhead.end() ? 0 : found->second;
}

}  // namespace tapescope::profiler
