// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/recorder/operator_totals.h"
#include "storage/tape/records.h"

#include <cstdint>
#include <vector>

namespace tapescope::profiler {

/// The timeline of one thread: what is open now, outermost first, and the events of what is over.
/// Phases are not told by the engine; they are the runs of equal phase among what happens directly
/// in a step (or outside any). Times are the tape's. Not thread-safe: the Recorder locks.
class Lane final {
public:
    using Kind = storage::OpEvent::Kind;
    /// What identifies an open frame at its end: an operator's id, or the address of a module's or
    /// backward frame.
    struct Frame {
        Kind kind = Kind::Operator;
        std::uint64_t key = 0;
        std::uint64_t opId = 0;
        std::uint64_t parentId = 0;
        storage::NameId name = 0;
        storage::ModuleId module = 0;
        storage::SiteId site = 0;
        storage::Phase phase = storage::Phase::Other;
        std::uint32_t seq = 0;
        std::int64_t startNs = 0;
    };
    /// Measured by the engine, known at the end of an operator only.
    struct OpResult {
        std::int64_t startNs = 0;
        std::int64_t endNs = 0;
        double flops = 0;
        std::int64_t bytes = 0;
    };

    explicit Lane(std::uint32_t id) : m_id(id) { m_events.reserve(kBatch); }
    static constexpr std::size_t kBatch = 4096;

    std::uint32_t id() const { return m_id; }
    void setStep(std::int64_t step) { m_step = step; }

    /// Call before open() of anything but a step: ends the phase that is over and begins the new
    /// one. now() is asked only if one begins.
    template <class Now>
    void enterPhase(storage::Phase phase, storage::NameId name, Now&& now) {
        const bool inPhase = !m_open.empty() && m_open.back().frame.kind == Kind::Phase;
        if (!inPhase && !atTop()) return;
        if (inPhase && m_open.back().frame.phase == phase) return;
        if (inPhase) endPhase();
        if (phase == storage::Phase::Other) return;
        Frame frame;
        frame.kind = Kind::Phase;
        frame.phase = phase;
        frame.name = name;
        frame.startNs = now();
        m_open.push_back({frame, 0});
    }
    void open(const Frame& frame) { m_open.push_back({frame, 0}); }
    /// Ends the frame and whatever an exception left open inside it. False if it is not open.
    bool close(Kind kind, std::uint64_t key, std::int64_t endNs);
    bool closeOp(std::uint64_t opId, const OpResult& result, OperatorTotals& totals,
                 std::size_t totalsIndex);
    /// An operator that threw leaves no event.
    void dropOp(std::uint64_t opId);
    /// Ends everything that is open: the run, or an abandoned step, is over.
    void closeAll(std::int64_t endNs);

    std::vector<storage::OpEvent> take();
    std::size_t pending() const { return m_events.size(); }

private:
    struct Open {
        Frame frame;
        std::int64_t operatorNs = 0;  ///< spent in operators directly inside this one
    };
    bool atTop() const { return m_open.empty() || m_open.back().frame.kind == Kind::Step; }
    void endPhase();
    void emit(const Frame& frame, std::int64_t startNs, std::int64_t endNs, double flops,
              std::int64_t bytes);
    /// Pops down to, and not including, index; modules and backward nodes get their events.
    void unwind(std::size_t index, std::int64_t endNs);
    std::ptrdiff_t find(Kind kind, std::uint64_t key) const;

    std::uint32_t m_id;
    std::int64_t m_step = -1;
    std::int64_t m_lastEndNs = 0;
    std::vector<Open> m_open;
    std::vector<storage::OpEvent> m_events;
};

}  // namespace tapescope::profiler
