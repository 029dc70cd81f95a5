// SPDX-License-Identifier: Apache-2.0
// The model's side of the debugger: what each event may stop for, and the stop itself.
#include "engine/debug/breakpoint_match.h"
#include "engine/debug/debugger_impl.h"
#include "engine/errors.h"

#include <algorithm>

namespace tapescope::engine::debug {

void Debugger::Impl::throwIfTerminated() {
    if (!flagged(kTerminate)) return;
    std::string reason;
    {
        const std::lock_guard lock(mutex);
        reason = terminateReason;
    }
    throw Interrupted(reason);
}

void Debugger::Impl::refreshTable() {
    if (generation.load(std::memory_order_acquire) == activeGeneration) return;
    const std::lock_guard lock(mutex);
    activeGeneration = generation.load(std::memory_order_relaxed);
    active = table;
    opCache.clear();
    moduleCache.clear();
    nodeCache.clear();
}

void Debugger::Impl::countHits(const Matches& matches, bool lineBegins,
                               std::vector<const BreakpointEntry*>& stopAt) {
    for (const BreakpointEntry* entry : matches) {
        if (entry->definition.kind == BreakpointKind::Line && !lineBegins) continue;
        const int hits = entry->hits->fetch_add(1, std::memory_order_relaxed) + 1;
        if (hits > entry->definition.ignoreCount) stopAt.push_back(entry);
    }
}

void Debugger::Impl::closeOp(std::uint64_t opId) {
    // A call refused by its shape rule ends without having begun.
    const auto at = std::find(openOps.rbegin(), openOps.rend(), opId);
    if (at != openOps.rend()) openOps.erase(at.base() - 1, openOps.end());
}

std::int64_t Debugger::Impl::seqOf(std::uint64_t opId) const {
    const auto at = std::lower_bound(stepOps.begin(), stepOps.end(), opId);
    return at != stepOps.end() && *at == opId ? at - stepOps.begin() : -1;
}

bool Debugger::Impl::decide(const std::vector<const BreakpointEntry*>& hits, bool stepEnds,
                            bool anOperator, Cause& cause) {
    if (!hits.empty()) {
        cause.reason = StopReason::Breakpoint;
        cause.description = "break on ";
        for (const BreakpointEntry* entry : hits) {
            if (entry != hits.front()) cause.description += " and ";
            cause.description += entry->definition.text + " (hit " +
                                 std::to_string(entry->hits->load(std::memory_order_relaxed)) + ")";
            cause.breakpointIds.push_back(entry->definition.id);
        }
        return true;
    }
    if (anOperator && flagged(kEntry)) {
        cause = {StopReason::Entry, "before the first operator", {}};
        return true;
    }
    if (anOperator && flagged(kPause)) {
        cause = {StopReason::Pause, "paused", {}};
        return true;
    }
    if (stepEnds) cause = {StopReason::Step, "step", {}};
    return stepEnds;
}

void Debugger::Impl::opBegin(const OpCall& call) {
    if (inStep) stepOps.push_back(call.id);
    const int depthOutside = opDepth();
    openOps.push_back(call.id);
    errorShown = false;
    const std::uint32_t asked = flags.load(std::memory_order_acquire);
    if (asked == 0) return;

    if ((asked & kTerminate) != 0) throwIfTerminated();
    std::vector<const BreakpointEntry*> hits;
    if ((asked & kBreakpoints) != 0) {
        refreshTable();
        const bool useSite = active->lines && !call.backward;
        const Matches& matches =
            opCache.find({call.op, call.module, useSite ? call.site.file : nullptr,
                          useSite ? call.site.line : 0},
                         [&] {
                             Matches found;
                             for (const BreakpointEntry& entry : active->entries) {
                                 const Breakpoint& breakpoint = entry.definition;
                                 if (!breakpoint.enabled) continue;
                                 if (matchesOperator(breakpoint, call.op->name, call.module) ||
                                     (useSite && matchesLine(breakpoint, call.site))) {
                                     found.push_back(&entry);
                                 }
                             }
                             return found;
                         });
        const bool lineBegins =
            useSite && linePass.enter(lineScope(call.module, call.site), call.site, call.op);
        if (!matches.empty()) countHits(matches, lineBegins, hits);
    }
    if (hits.empty() && (asked & kWhereverNext) == 0) return;
    const Depth depth{backwardDepth(call.backward), moduleDepth(call.module), depthOutside,
                      call.site.known()};
    Cause cause;
    if (decide(hits, stepping.endsAtOp(depth), true, cause)) {
        stop({&call, call.backward, call.module}, Stepping::From::BeforeOp, depth,
             std::move(cause));
    }
}

void Debugger::Impl::opEnd(const OpCall& call) {
    closeOp(call.id);
    if (!flagged(kStep | kTerminate)) return;
    throwIfTerminated();
    if (!stepping.endsBehindOp(call.id)) return;
    const Depth depth{backwardDepth(call.backward), moduleDepth(call.module), opDepth()};
    stop({&call, call.backward, call.module}, Stepping::From::AfterOp, depth,
         {StopReason::Step,
          "behind " + operatorTitle(call.module ? call.module->path : "", call.op->name),
          {}});
}

void Debugger::Impl::opError(const OpCall& call, std::string_view message) {
    closeOp(call.id);
    // A composite reports its inner operator's error once more; a run being ended has no error to
    // show.
    if (errorShown || flagged(kTerminate) || !stopOnErrors.load(std::memory_order_relaxed)) return;
    errorShown = true;
    const Depth depth{backwardDepth(call.backward), moduleDepth(call.module), opDepth()};
    stop({&call, call.backward, call.module}, Stepping::From::BeforeOp, depth,
         {StopReason::Exception, std::string(message), {}});
}

void Debugger::Impl::moduleEnter(const ModuleFrame& frame) {
    const std::uint32_t asked = flags.load(std::memory_order_acquire);
    if (asked == 0) return;
    if ((asked & kTerminate) != 0) throwIfTerminated();
    const BackwardFrame* backward = threadState().backward;
    std::vector<const BreakpointEntry*> hits;
    if ((asked & kBreakpoints) != 0) {
        refreshTable();
        const bool useSite = active->lines && !backward;
        const Matches& matches = moduleCache.find({nullptr, &frame, nullptr, useSite}, [&] {
            Matches found;
            for (const BreakpointEntry& entry : active->entries) {
                const Breakpoint& breakpoint = entry.definition;
                if (!breakpoint.enabled) continue;
                if (matchesModule(breakpoint, frame) ||
                    (useSite && matchesLine(breakpoint, frame.site))) {
                    found.push_back(&entry);
                }
            }
            return found;
        });
        const bool lineBegins =
            useSite && linePass.enter(lineScope(frame.parent, frame.site), frame.site, &frame);
        if (!matches.empty()) countHits(matches, lineBegins, hits);
    }
    if (hits.empty() && (asked & kWhereverNext) == 0) return;
    const Depth depth{backwardDepth(backward), moduleDepth(frame.parent), opDepth()};
    Cause cause;
    if (decide(hits, stepping.endsAtModule(depth), false, cause)) {
        stop({nullptr, backward, &frame}, Stepping::From::ModuleEntry, depth, std::move(cause));
    }
}

void Debugger::Impl::moduleExit(const ModuleFrame& frame) {
    if (flagged(kStep)) stepping.moduleExited(&frame);
}

void Debugger::Impl::backwardBegin(const BackwardFrame& node) {
    const std::uint32_t asked = flags.load(std::memory_order_acquire);
    if (asked == 0) return;
    if ((asked & kTerminate) != 0) throwIfTerminated();
    std::vector<const BreakpointEntry*> hits;
    if ((asked & kBreakpoints) != 0) {
        refreshTable();
        const std::string_view name = node.op ? node.op->name : node.name;
        const auto compute = [&] {
            Matches found;
            for (const BreakpointEntry& entry : active->entries) {
                if (entry.definition.enabled &&
                    matchesBackward(entry.definition, name, node.module)) {
                    found.push_back(&entry);
                }
            }
            return found;
        };
        // A custom function has no row whose address could stand for it.
        if (node.op) {
            countHits(nodeCache.find({node.op, node.module, nullptr, 0}, compute), false, hits);
        } else {
            countHits(compute(), false, hits);
        }
    }
    if (hits.empty() && (asked & kWhereverNext) == 0) return;
    const Depth depth{backwardDepth(&node), moduleDepth(node.module), opDepth()};
    Cause cause;
    if (decide(hits, stepping.endsAtNode(depth), false, cause)) {
        stop({nullptr, &node, nullptr}, Stepping::From::NodeEntry, depth, std::move(cause));
    }
}

void Debugger::Impl::stop(const Place& place, Stepping::From from, const Depth& depth,
                          Cause cause) {
    stepping.cancel();
    // A pause asked for while another reason stops the model is served by this stop.
    flags.fetch_and(~std::uint32_t{kStep | kPause | kEntry}, std::memory_order_acq_rel);

    Program program;
    program.step = step;
    {
        const std::lock_guard lock(mutex);
        program.root = root;
        program.name = programName;
    }
    StopState snapshot;
    snapshot.reason = cause.reason;
    snapshot.description = std::move(cause.description);
    snapshot.breakpointIds = std::move(cause.breakpointIds);
    snapshot.frames = buildFrames(place, program);
    snapshot.step = program.step;
    snapshot.afterOp = from == Stepping::From::AfterOp;
    if (place.call) {
        snapshot.phase = place.call->phase;
        snapshot.opId = place.call->id;
        snapshot.seq = seqOf(place.call->id);
    } else {
        snapshot.phase = threadState().phase;
    }
    if (place.backward) {
        snapshot.forwardSeq = seqOf(place.backward->forwardId);
        if (!place.call) snapshot.opId = place.backward->forwardId;
    }

    auto shared = std::make_shared<const StopState>(std::move(snapshot));
    {
        const std::lock_guard lock(mutex);
        state = shared;
        resumeMode.reset();
    }
    onStop(*shared);

    StepMode mode = StepMode::Continue;
    std::shared_ptr<const StopState>
        unclaimed;  // still published when the run is terminated out of the stop
    {
        std::unique_lock lock(mutex);
        wake.wait(lock, [this] { return resumeMode.has_value() || flagged(kTerminate); });
        mode = resumeMode.value_or(StepMode::Continue);
        resumeMode.reset();
        unclaimed = std::move(state);
        state = nullptr;
    }
    unclaimed.reset();
    shared.reset();
    // Behind an error the exception is on its way already: it must not be replaced.
    if (cause.reason == StopReason::Exception) return;
    throwIfTerminated();
    if (mode == StepMode::Continue) return;
    const std::uint64_t opId = place.call ? place.call->id : 0;
    stepping.arm(mode, from, depth, opId, place.module);
    setFlag(kStep, true);
}

}  // namespace tapescope::engine::debug
