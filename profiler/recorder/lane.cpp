// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/lane.h"

#include <algorithm>
#include <utility>

namespace tapescope::profiler {

using storage::OpEvent;

std::ptrdiff_t Lane::find(Kind kind, std::uint64_t key) const {
    for (auto i = static_cast<std::ptrdiff_t>(m_open.size()) - 1; i >= 0; --i) {
        const Frame& f = m_open[static_cast<std::size_t>(i)].frame;
        if (f.kind == kind && f.key == key) return i;
    }
    return -1;
}

void Lane::emit(const Frame& frame, std::int64_t startNs, std::int64_t endNs, double flops,
                std::int64_t bytes) {
    OpEvent e;
    e.startNs = startNs;
    e.durationNs = endNs - startNs;
    e.opId = frame.opId;
    e.parentId = frame.parentId;
    e.step = m_step;
    e.flops = flops;
    e.bytes = bytes;
    e.name = frame.name;
    e.module = frame.module;
    e.site = frame.site;
    e.lane = m_id;
    e.seq = frame.seq;
    e.kind = frame.kind;
    e.phase = frame.phase;
    e.depth = static_cast<std::uint8_t>(std::min<std::size_t>(m_open.size(), 255));
    m_events.push_back(e);
    m_lastEndNs = std::max(m_lastEndNs, endNs);
}

void Lane::endPhase() {
    // It lasted as long as what happened in it; what follows until the next phase is nobody's.
    const Frame frame = m_open.back().frame;
    m_open.pop_back();
    emit(frame, frame.startNs, std::max(frame.startNs, m_lastEndNs), 0, 0);
}

void Lane::unwind(std::size_t index, std::int64_t endNs) {
    while (m_open.size() > index + 1) {
        const Frame frame = m_open.back().frame;
        if (frame.kind == Kind::Phase) {
            endPhase();
            continue;
        }
        m_open.pop_back();
        if (frame.kind != Kind::Operator) emit(frame, frame.startNs, endNs, 0, 0);
    }
}

bool Lane::close(Kind kind, std::uint64_t key, std::int64_t endNs) {
    const std::ptrdiff_t at = find(kind, key);
    if (at < 0) return false;
    unwind(static_cast<std::size_t>(at), endNs);
    const Frame frame = m_open.back().frame;
    m_open.pop_back();
    emit(frame, frame.startNs, endNs, 0, 0);
    return true;
}

bool Lane::closeOp(std::uint64_t opId, const OpResult& result, OperatorTotals& totals,
                   std::size_t totalsIndex) {
    const std::ptrdiff_t at = find(Kind::Operator, opId);
    if (at < 0) return false;
    unwind(static_cast<std::size_t>(at), result.endNs);
    const Open open = m_open.back();
    m_open.pop_back();
    emit(open.frame, result.startNs, result.endNs, result.flops, result.bytes);
    const std::int64_t duration = result.endNs - result.startNs;
    totals.add(totalsIndex, open.frame.phase, duration, duration - open.operatorNs, result.flops,
               result.bytes);
    const auto outer = std::find_if(m_open.rbegin(), m_open.rend(),
                                    [](const Open& o) { return o.frame.kind == Kind::Operator; });
    if (outer != m_open.rend()) outer->operatorNs += duration;
    return true;
}

void Lane::dropOp(std::uint64_t opId) {
    const std::ptrdiff_t at = find(Kind::Operator, opId);
    if (at < 0) return;
    unwind(static_cast<std::size_t>(at), m_lastEndNs);
    m_open.pop_back();
}

void Lane::closeAll(std::int64_t endNs) {
    while (!m_open.empty()) {
        unwind(0, endNs);
        const Frame frame = m_open.back().frame;
        if (frame.kind == Kind::Phase) {
            endPhase();
            continue;
        }
        m_open.pop_back();
        if (frame.kind != Kind::Operator) emit(frame, frame.startNs, endNs, 0, 0);
    }
}

std::vector<OpEvent> Lane::take() {
    std::vector<OpEvent> out;
    out.reserve(kBatch);
    std::swap(out, m_events);
    return out;
}

}  // namespace tapescope::profiler
