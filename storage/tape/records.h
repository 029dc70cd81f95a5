// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tapescope::storage {

/// The rows of a tape as C++ structs. Ids are per tape, from 1; 0 = none. Times: monotonic
/// nanoseconds since the run's start (`…Ns`), or Unix seconds (`wall`). docs/tape.md describes the
/// tables.

struct TagId {
    std::int64_t value = 0;
    friend bool operator==(TagId, TagId) = default;
};
using NameId = std::uint32_t;  ///< interned text: operator names
using ModuleId = std::uint32_t;
using SiteId = std::uint32_t;
using GraphId = std::int64_t;
/// OpEvent::seq of an operator outside any step: it is in no graph.
inline constexpr std::uint32_t kNoSeq = UINT32_MAX;

enum class TagKind : std::uint8_t { Scalar = 1, Histogram = 2 };
struct TagRow {
    TagId id;
    std::string name;
    TagKind kind = TagKind::Scalar;
};

struct ScalarPoint {
    std::int64_t step = 0;
    double wall = 0;   ///< Unix seconds
    double value = 0;  ///< NaN and Inf are kept
};
/// Min/max of a run of points, so that a first paint needs no raw rows.
struct ScalarSummary {
    std::int64_t firstSeq = 0;
    std::int64_t count = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    double firstWall = 0;
    double lastWall = 0;
    double min = 0;  ///< of the finite values; NaN if there is none
    double max = 0;
    double sum = 0;
    std::int64_t nonFinite = 0;
};

/// counts[i] values lie in [edges[i], edges[i+1]); edges.size() == counts.size() + 1.
struct Histogram {
    std::int64_t step = 0;
    double wall = 0;
    std::vector<double> edges;
    std::vector<double> counts;
    double min = 0;
    double max = 0;
    double sum = 0;
    double sumSquares = 0;
    std::int64_t nanCount = 0;
    std::int64_t infCount = 0;
};

enum class Phase : std::uint8_t { Other, Data, Forward, Backward, Optimizer, Evaluate };

/// One operator call (or module call, training step, backward node: see kind) on a lane of the
/// timeline.
struct OpEvent {
    enum class Kind : std::uint8_t { Operator, Module, BackwardNode, Step, Phase };
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;
    std::uint64_t opId = 0;      ///< the engine's call id; 0 for modules and steps
    std::uint64_t parentId = 0;  ///< backward: the forward call
    std::int64_t step = -1;
    double flops = 0;
    std::int64_t bytes = 0;  ///< read + written
    NameId name = 0;
    ModuleId module = 0;
    SiteId site = 0;
    std::uint32_t lane = 0;
    std::uint32_t seq = 0;  ///< operators: index in the step's graph; kNoSeq outside steps
    Kind kind = Kind::Operator;
    Phase phase = Phase::Other;
    std::uint8_t depth = 0;  ///< nesting level in the lane, 0 = outermost
};

enum class LaneKind : std::uint8_t { Thread = 1 };
struct LaneRow {
    std::uint32_t id = 0;
    LaneKind kind = LaneKind::Thread;
    std::string label;
};

enum class MemoryKind : std::uint8_t { Alloc, Free, Role, OutOfMemory };
/// Values as engine::MemoryRole.
enum class MemoryRole : std::uint8_t {
    Unknown,
    Parameter,
    Buffer,
    Gradient,
    OptimizerState,
    Input,
    Activation,
    Saved,
    Temporary
};
struct MemoryEvent {
    std::int64_t timeNs = 0;
    std::uint64_t address = 0;
    std::int64_t sizeBytes = 0;
    std::int64_t allocatedBytes = 0;  ///< after the event
    std::int64_t reservedBytes = 0;
    std::uint64_t opId = 0;
    std::int64_t step = -1;
    MemoryKind kind = MemoryKind::Alloc;
    MemoryRole role = MemoryRole::Unknown;
};

struct ModuleRow {
    ModuleId id = 0;
    ModuleId parent = 0;
    std::string path;  ///< "" for the root
    std::string type;
    std::int64_t parameters = 0;  ///< elements, own only
    std::string details;          ///< "1→32, 3×3, padding 1"; may be empty
};
struct SiteRow {
    SiteId id = 0;
    std::string file;
    std::uint32_t line = 0;
    std::string function;
};
struct SourceRow {
    std::string path;
    std::string text;
};

/// The dynamic graph of a step. Steps with the same structure share one graph (step.graph).
struct GraphEdge {
    std::int32_t fromSeq =
        -1;  ///< producing node of this graph; -1: a leaf (parameter, input, constant)
    std::uint8_t fromOutput = 0;
    std::uint8_t toInput = 0;
    std::string leaf;  ///< name of the leaf ("conv1.weight"), when fromSeq is -1
    std::string type;  ///< "f32[64,1,8,8]"
    friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};
struct GraphNode {
    std::uint32_t seq = 0;  ///< order of execution in the step, from 0
    std::string op;
    ModuleId module = 0;
    SiteId site = 0;
    Phase phase = Phase::Other;
    std::int32_t forwardSeq = -1;  ///< backward: the forward node
    std::string attrs;             ///< "stride=[1, 1], padding=[1, 1]"
    std::string outputs;           ///< "f32[64,32,8,8]", several joined by ", "
    double flops = 0;
    std::int64_t bytes = 0;
    std::vector<GraphEdge> inputs;
    friend bool operator==(const GraphNode&, const GraphNode&) = default;
};
struct Graph {
    GraphId id = 0;
    std::uint64_t signature = 0;
    std::int64_t firstStep = 0;
    bool complete = true;  ///< false: the step is still running (stopped in a debugger) or was cut
    std::vector<GraphNode> nodes;
};

struct StepRow {
    std::int64_t step = 0;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    GraphId graph = 0;
    std::int64_t peakBytes = 0;  ///< highest allocatedBytes in the step
};

/// Per operator name, summed over the whole tape, so that a report needs no event scan.
struct OpSummary {
    std::string name;
    Phase phase = Phase::Other;
    std::int64_t calls = 0;
    std::int64_t totalNs = 0;
    std::int64_t selfNs = 0;  ///< without operators called inside
    std::int64_t minNs = 0;
    std::int64_t maxNs = 0;
    double flops = 0;
    std::int64_t bytes = 0;
};

enum class Severity : std::uint8_t { Info, Warning, Error };
struct LogRow {
    double wall = 0;
    std::int64_t step = -1;
    Severity severity = Severity::Info;
    std::string text;
};

struct RunInfo {
    std::string runId;     ///< unique, made by the writer if empty
    std::string name;      ///< the model's
    std::string command;   ///< as typed
    double startWall = 0;  ///< Unix seconds of time 0
    std::vector<std::pair<std::string, std::string>> config;       ///< settings, seed, steps
    std::vector<std::pair<std::string, std::string>> environment;  ///< host, CPU, threads, versions
};

enum class RunOutcome : std::uint8_t { Unknown, Finished, Stopped, Failed };
enum class TapeState : std::uint8_t {
    Live,    ///< its writer is alive
    Sealed,  ///< complete
    Cut      ///< the writer died: everything up to its last commit is here
};

struct LossCount {
    std::string what;  ///< "operator events", "memory events"
    std::int64_t count = 0;
    std::string reason;
};

}  // namespace tapescope::storage
