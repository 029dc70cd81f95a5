// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/breakpoint_table.h"
#include "engine/debug/debugger.h"
#include "engine/debug/stepping.h"
#include "engine/debug/stop_state.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace tapescope::engine::debug {

/// Three parts: what both sides share under the mutex, the flags that tell the model's thread to
/// look, and what belongs to the model's thread alone. With no flag set a callback costs one load
/// and some counting.
struct Debugger::Impl {
    enum Flag : std::uint32_t {
        kBreakpoints = 1U << 0U,  ///< an enabled breakpoint exists
        kStep = 1U << 1U,         ///< m_stepping is armed
        kPause = 1U << 2U,
        kEntry = 1U << 3U,
        kTerminate = 1U << 4U,
        kWhereverNext = kStep | kPause | kEntry  ///< may stop without a breakpoint
    };

    explicit Impl(StopHandler handler) : onStop(std::move(handler)) {}

    bool flagged(std::uint32_t mask) const {
        return (flags.load(std::memory_order_acquire) & mask) != 0;
    }
    void setFlag(Flag flag, bool on) {
        if (on) {
            flags.fetch_or(flag, std::memory_order_release);
        } else {
            flags.fetch_and(~std::uint32_t{flag}, std::memory_order_release);
        }
    }

    // ---- model's thread
    void opBegin(const OpCall& call);
    void opEnd(const OpCall& call);
    void opError(const OpCall& call, std::string_view message);
    void moduleEnter(const ModuleFrame& frame);
    void moduleExit(const ModuleFrame& frame);
    void backwardBegin(const BackwardFrame& node);

    void throwIfTerminated();
    /// Takes over a table that the control side has replaced.
    void refreshTable();
    /// Counts a hit of each; the ones past their ignore count are a reason to stop.
    void countHits(const Matches& matches, bool lineBegins,
                   std::vector<const BreakpointEntry*>& stopAt);
    int opDepth() const { return static_cast<int>(openOps.size()); }
    /// The call has ended; calls inside it that never said so (a foreign exception) with it.
    void closeOp(std::uint64_t opId);
    /// The index of a call in the running step's graph; -1 outside steps.
    std::int64_t seqOf(std::uint64_t opId) const;
    struct Cause {
        StopReason reason = StopReason::Step;
        std::string description;
        std::vector<int> breakpointIds;
    };
    /// True if there is something to stop for: fills in cause from breakpoints, else from pause,
    /// entry and step.
    bool decide(const std::vector<const BreakpointEntry*>& hits, bool stepEnds, bool anOperator,
                Cause& cause);
    /// Publishes the state, tells the handler and blocks until told to go on; then arms the step
    /// asked for.
    void stop(const Place& place, Stepping::From from, const Depth& depth, Cause cause);

    // ---- shared
    const StopHandler onStop;
    std::atomic<std::uint32_t> flags{0};
    std::atomic<std::uint64_t> generation{0};  ///< of table and program
    std::atomic<bool> stopOnErrors{true};
    mutable std::mutex mutex;
    std::condition_variable wake;
    std::shared_ptr<const BreakpointTable> table = std::make_shared<BreakpointTable>();
    int nextId = 1;
    const nn::Module* root = nullptr;
    std::string programName;
    std::string terminateReason;
    std::shared_ptr<const StopState>
        state;  ///< set while the model stands and was not told to go on
    std::optional<StepMode> resumeMode;

    // ---- model's thread only
    std::shared_ptr<const BreakpointTable> active = table;
    std::uint64_t activeGeneration = 0;
    MatchCache opCache;
    MatchCache moduleCache;
    MatchCache nodeCache;
    LinePass linePass;
    Stepping stepping;
    std::vector<std::uint64_t>
        stepOps;  ///< ids of the running step's calls, ascending: the index is seq
    std::int64_t step = -1;
    bool inStep = false;
    std::vector<std::uint64_t> openOps;  ///< ids of the calls around this point, outermost first
    bool errorShown = false;             ///< the running exception has been a stop already
};

}  // namespace tapescope::engine::debug
