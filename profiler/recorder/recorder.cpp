// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/recorder.h"

#include "engine/observe/context.h"
#include "profiler/recorder/identities.h"
#include "profiler/recorder/lane.h"
#include "profiler/recorder/operator_totals.h"
#include "profiler/recorder/step_graph.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tapescope::profiler {
namespace {

using engine::OpCall;
using Kind = storage::OpEvent::Kind;

// A report of a run that was cut needs recent totals; between commits they need not be newer than
// this.
constexpr std::int64_t kTotalsEveryNs = 1'000'000'000;
constexpr std::size_t kMemoryBatch = 4096;

// The tape's enums are the engine's, value by value.
static_assert(static_cast<int>(storage::Phase::Evaluate) ==
              static_cast<int>(engine::Phase::Evaluate));
static_assert(static_cast<int>(storage::MemoryRole::Temporary) ==
              static_cast<int>(engine::MemoryRole::Temporary));
static_assert(static_cast<int>(storage::MemoryKind::OutOfMemory) ==
              static_cast<int>(engine::MemoryEvent::Kind::OutOfMemory));

double wallNow() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

template <class T>
std::uint64_t keyOf(const T* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

struct Recorder::Impl {
    storage::TapeWriter& writer;
    const RecorderOptions options;
    const std::int64_t originNs;  ///< engine::nowNs() at the tape's time 0

    // One lock for everything: callbacks come from the model's thread, and now and then from a
    // loader's.
    std::mutex mutex;
    Identities identities;
    StepGraph graph;
    OperatorTotals totals;
    std::map<std::uint32_t, Lane> lanes;  // by the engine's thread number
    Lane* lastLane = nullptr;
    std::uint32_t lastThread = 0;
    std::vector<storage::MemoryEvent> memory;
    std::array<storage::NameId, 6> phaseNames{};
    storage::NameId stepName = 0;

    bool inStep = false;
    std::int64_t step = -1;
    std::int64_t stepStartNs = 0;
    std::uint32_t nextSeq = 0;
    std::int64_t allocatedBytes = 0;
    std::int64_t peakBytes = 0;
    std::int64_t totalsWrittenNs = 0;

    storage::GraphId nextGraph = 1;
    storage::GraphId partialGraph =
        0;  ///< id under which the running step's graph is on the tape, or 0
    std::unordered_map<std::uint64_t, storage::GraphId> graphBySignature;

    Impl(storage::TapeWriter& writer_, RecorderOptions options_)
        : writer(writer_),
          options(options_),
          originNs(engine::nowNs() -
                   static_cast<std::int64_t>((wallNow() - writer_.startWall()) * 1e9)),
          identities(writer_),
          graph(identities) {
        memory.reserve(kMemoryBatch);
        for (std::size_t i = 0; i < phaseNames.size(); ++i) {
            phaseNames[i] = writer.name(engine::phaseName(static_cast<engine::Phase>(i)));
        }
        stepName = writer.name("step");
    }

    std::int64_t now() const { return engine::nowNs() - originNs; }

    Lane& lane(std::uint32_t thread) {
        if (lastLane != nullptr && lastThread == thread) return *lastLane;
        const auto [at, isNew] = lanes.try_emplace(thread, thread + 1);
        if (isNew) {
            const std::string label =
                lanes.size() == 1 ? "model thread" : "thread " + std::to_string(thread);
            writer.lane({thread + 1, storage::LaneKind::Thread, label});
            if (inStep) at->second.setStep(step);
        }
        lastThread = thread;
        lastLane = &at->second;
        return at->second;
    }
    void enterPhase(Lane& to, engine::Phase phase) {
        to.enterPhase(static_cast<storage::Phase>(phase),
                      phaseNames[static_cast<std::size_t>(phase)], [this] { return now(); });
    }
    void handOver(Lane& from) {
        if (from.pending() == 0) return;
        std::vector<storage::OpEvent> events = from.take();
        if (options.opEvents) writer.opEvents(std::move(events));
    }
    void handOverIfFull(Lane& from) {
        if (from.pending() >= Lane::kBatch) handOver(from);
    }
    void handOverMemory() {
        if (memory.empty()) return;
        std::vector<storage::MemoryEvent> events;
        events.reserve(kMemoryBatch);
        std::swap(events, memory);
        writer.memoryEvents(std::move(events));
    }
    void handOverAll() {
        for (auto& [thread, from] : lanes) handOver(from);
        handOverMemory();
    }
    void writeTotals() {
        writer.opSummary(totals.rows());
        totalsWrittenNs = now();
    }
    void writePartialGraph() {
        if (!options.graphs || !inStep || graph.size() == 0) return;
        if (partialGraph == 0) partialGraph = nextGraph++;
        storage::Graph g = graph.toGraph(false);
        g.id = partialGraph;
        g.firstStep = step;
        writer.graph(std::move(g));
    }
    /// The id of the finished step's graph; written if no step before had one like it.
    storage::GraphId finishGraph() {
        const storage::GraphId partial = std::exchange(partialGraph, 0);
        if (!options.graphs || graph.size() == 0) return 0;
        const auto known = graphBySignature.find(graph.signature());
        if (known != graphBySignature.end()) {
            if (partial != 0) writer.dropGraph(partial);
            return known->second;
        }
        storage::Graph g = graph.toGraph(true);
        g.id = partial != 0 ? partial : nextGraph++;
        g.firstStep = step;
        graphBySignature.emplace(g.signature, g.id);
        const storage::GraphId id = g.id;
        writer.graph(std::move(g));
        return id;
    }
    void beginStep(std::int64_t newStep, std::uint32_t thread) {
        Lane& on = lane(thread);
        const std::int64_t at = now();
        on.closeAll(at);  // the evaluation between steps, or what an abandoned step left open
        writePartialGraph();
        partialGraph = 0;
        step = newStep;
        inStep = true;
        stepStartNs = at;
        nextSeq = 0;
        peakBytes = allocatedBytes;
        graph.beginStep();
        for (auto& [number, each] : lanes) each.setStep(step);
        Lane::Frame frame;
        frame.kind = Kind::Step;
        frame.key = static_cast<std::uint64_t>(step);
        frame.name = stepName;
        frame.startNs = at;
        on.open(frame);
    }
    void endStep(std::uint32_t thread) {
        if (!inStep) return;
        const std::int64_t at = now();
        lane(thread).close(Kind::Step, static_cast<std::uint64_t>(step), at);
        inStep = false;
        for (auto& [number, each] : lanes) each.setStep(-1);
        handOverAll();
        writer.step({step, stepStartNs, at, finishGraph(), peakBytes});
        if (at - totalsWrittenNs >= kTotalsEveryNs) writeTotals();
    }
};

Recorder::Recorder(storage::TapeWriter& writer, RecorderOptions options)
    : m_impl(std::make_unique<Impl>(writer, options)) {}
Recorder::~Recorder() = default;

void Recorder::describeModel(const engine::nn::Module& root) {
    const std::lock_guard lock(m_impl->mutex);
    m_impl->identities.describe(root);
    m_impl->graph.describe(root);
}

void Recorder::describeSources(std::vector<storage::SourceRow> sources) {
    for (storage::SourceRow& source : sources) m_impl->writer.source(std::move(source));
}

storage::Status Recorder::flush() {
    {
        const std::lock_guard lock(m_impl->mutex);
        m_impl->handOverAll();
        m_impl->writePartialGraph();
        m_impl->writeTotals();
    }
    return m_impl->writer.flush();
}

void Recorder::finish() {
    const std::lock_guard lock(m_impl->mutex);
    const std::int64_t at = m_impl->now();
    for (auto& [thread, lane] : m_impl->lanes) lane.closeAll(at);
    m_impl->writePartialGraph();  // of a step that did not end
    m_impl->inStep = false;
    m_impl->handOverAll();
    m_impl->writeTotals();
}

void Recorder::onOpBegin(const OpCall& call) {
    Impl& m = *m_impl;
    const std::lock_guard lock(m.mutex);
    const OpIdentity& op = m.identities.of(*call.op);
    Lane& lane = m.lane(call.thread);
    m.enterPhase(lane, call.phase);
    Lane::Frame frame;
    frame.kind = Kind::Operator;
    frame.key = frame.opId = call.id;
    frame.parentId = call.parentId;
    frame.name = op.name;
    frame.module = m.identities.of(call.module).id;
    frame.site = m.identities.of(call.site).id;
    frame.phase = static_cast<storage::Phase>(call.phase);
    frame.seq = m.inStep ? m.nextSeq++ : storage::kNoSeq;
    lane.open(frame);
    if (m.inStep && m.options.graphs) m.graph.opBegin(call);
}

void Recorder::onOpEnd(const OpCall& call) {
    Impl& m = *m_impl;
    const std::lock_guard lock(m.mutex);
    Lane& lane = m.lane(call.thread);
    const OpIdentity& op = m.identities.of(*call.op);
    m.totals.setName(op.index, call.op->name);
    lane.closeOp(call.id,
                 {call.startNs - m.originNs, call.endNs - m.originNs, call.cost.flops,
                  call.cost.bytesRead + call.cost.bytesWritten},
                 m.totals, op.index);
    if (m.inStep && m.options.graphs) m.graph.opEnd(call);
    m.handOverIfFull(lane);
}

void Recorder::onOpError(const OpCall& call, std::string_view message) {
    Impl& m = *m_impl;
    const std::lock_guard lock(m.mutex);
    m.lane(call.thread).dropOp(call.id);
    m.writer.log(
        {wallNow(), m.inStep ? m.step : -1, storage::Severity::Error, std::string(message)});
}

void Recorder::onModuleEnter(const engine::ModuleFrame& frame) {
    Impl& m = *m_impl;
    const engine::ThreadState& thread = engine::threadState();
    const std::lock_guard lock(m.mutex);
    Lane& lane = m.lane(thread.thread);
    m.enterPhase(lane, thread.phase);
    const ModuleIdentity& module = m.identities.of(&frame);
    Lane::Frame open;
    open.kind = Kind::Module;
    open.key = keyOf(&frame);
    open.name = module.typeName;
    open.module = module.id;
    open.site = m.identities.of(frame.site).id;
    open.phase = static_cast<storage::Phase>(thread.phase);
    open.startNs = m.now();
    lane.open(open);
}

void Recorder::onModuleExit(const engine::ModuleFrame& frame) {
    Impl& m = *m_impl;
    const std::lock_guard lock(m.mutex);
    Lane& lane = m.lane(engine::threadState().thread);
    lane.close(Kind::Module, keyOf(&frame), m.now());
    m.handOverIfFull(lane);
}

void Recorder::onBackwardBegin(const engine::BackwardFrame& frame) {
    Impl& m = *m_impl;
    const engine::ThreadState& thread = engine::threadState();
    const std::lock_guard lock(m.mutex);
    Lane& lane = m.lane(thread.thread);
    m.enterPhase(lane, thread.phase);
    Lane::Frame open;
    open.kind = Kind::BackwardNode;
    open.key = keyOf(&frame);
    open.parentId = frame.forwardId;
    open.name =
        frame.op != nullptr ? m.identities.of(*frame.op).name : m.identities.name(frame.name);
    open.module = m.identities.of(frame.module).id;
    open.site = m.identities.of(frame.site).id;
    open.phase = static_cast<storage::Phase>(thread.phase);
    open.startNs = m.now();
    lane.open(open);
}

void Recorder::onBackwardEnd(const engine::BackwardFrame& frame, std::span<const engine::Tensor>) {
    Impl& m = *m_impl;
    const std::lock_guard lock(m.mutex);
    Lane& lane = m.lane(engine::threadState().thread);
    lane.close(Kind::BackwardNode, keyOf(&frame), m.now());
    m.handOverIfFull(lane);
}

void Recorder::onStepBegin(std::int64_t step) {
    const std::lock_guard lock(m_impl->mutex);
    m_impl->beginStep(step, engine::threadState().thread);
}

void Recorder::onStepEnd(std::int64_t) {
    const std::lock_guard lock(m_impl->mutex);
    m_impl->endStep(engine::threadState().thread);
}

void Recorder::onMemory(const engine::MemoryEvent& event) {
    Impl& m = *m_impl;
    const std::lock_guard lock(m.mutex);
    m.allocatedBytes = event.allocatedBytes;
    m.peakBytes = std::max(m.peakBytes, event.allocatedBytes);
    if (event.kind == engine::MemoryEvent::Kind::Free) m.graph.memoryFreed(event.address);
    if (!m.options.memoryEvents) return;
    storage::MemoryEvent out;
    out.timeNs = event.timeNs - m.originNs;
    out.address = event.address;
    out.sizeBytes = event.sizeBytes;
    out.allocatedBytes = event.allocatedBytes;
    out.reservedBytes = event.reservedBytes;
    out.opId = event.opId;
    out.step = m.inStep ? m.step : -1;
    out.kind = static_cast<storage::MemoryKind>(event.kind);
    out.role = static_cast<storage::MemoryRole>(event.role);
    m.memory.push_back(out);
    if (m.memory.size() >= kMemoryBatch) m.handOverMemory();
}

}  // namespace tapescope::profiler
