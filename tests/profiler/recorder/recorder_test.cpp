// SPDX-License-Identifier: Apache-2.0
// The recorder, driven call by call with times of our choosing.
#include "profiler/recorder/recorder.h"

#include "engine/observe/context.h"
#include "engine/ops/op_def.h"
#include "tests/storage/tape/tape_support.h"

#include <algorithm>

namespace tapescope::profiler {
namespace {

using engine::Attrs;
using engine::BackwardFrame;
using engine::Dims;
using engine::DType;
using engine::ModuleFrame;
using engine::OpCall;
using engine::OpDef;
using engine::Site;
using engine::Tensor;
using storage::get;
using storage::OpEvent;
using storage::TempDir;
using Kind = OpEvent::Kind;

OpDef row(std::string_view name) {
    OpDef op;
    op.name = name;
    return op;
}
const OpDef kMatmul = row("matmul");
const OpDef kRelu = row("relu");
const OpDef kAddInPlace = row("add_");
constexpr engine::AttrDef kScaleAttrs[] = {{"axis", engine::AttrKind::Int},
                                           {"by", engine::AttrKind::Float}};
OpDef scaleRow() {
    OpDef op = row("scale");
    op.attrs = kScaleAttrs;
    return op;
}
const OpDef kScale = scaleRow();
OpDef viewRow() {
    OpDef op = row("view");
    op.view = [](const engine::OpArgs& args) { return args[0].detach(); };
    return op;
}
const OpDef kView = viewRow();

class RecorderTest : public testing::Test {
protected:
    void SetUp() override {
        writer = storage::newTape(path);
        recorder = std::make_unique<Recorder>(*writer, options);
        base = engine::nowNs();
    }
    storage::TapeReader& reader() {
        recorder->finish();
        EXPECT_OK(writer->flush());
        m_reader = get(storage::TapeReader::open(path));
        return *m_reader;
    }

    /// A call that is running: begun, not ended.
    struct Running {
        OpCall call;
        std::vector<const Tensor*> inputs;
        std::vector<Tensor> outputs;
        Attrs attrs;
    };
    std::unique_ptr<Running> begin(const OpDef& op, std::vector<const Tensor*> inputs,
                                   Attrs attrs = {}) {
        auto running = std::make_unique<Running>();
        running->inputs = std::move(inputs);
        running->attrs = attrs;
        OpCall& call = running->call;
        call.op = &op;
        call.id = nextId++;
        call.parentId = backward != nullptr ? backward->forwardId : 0;
        call.inputs = running->inputs;
        call.attrs = &running->attrs;
        call.site = site;
        call.module = module;
        call.backward = backward;
        call.phase = phase;
        recorder->onOpBegin(call);
        return running;
    }
    /// Ends it; times are nanoseconds from the test's begin.
    void end(Running& running, std::vector<Tensor> outputs, std::int64_t startNs,
             std::int64_t endNs) {
        running.outputs = std::move(outputs);
        running.call.outputs = running.outputs;
        running.call.startNs = base + startNs;
        running.call.endNs = base + endNs;
        running.call.cost = {10, 300, 20};
        recorder->onOpEnd(running.call);
    }
    std::uint64_t run(const OpDef& op, std::vector<const Tensor*> inputs,
                      std::vector<Tensor> outputs, Attrs attrs = {}) {
        const auto running = begin(op, std::move(inputs), attrs);
        end(*running, std::move(outputs), 0, 10);
        return running->call.id;
    }
    std::vector<OpEvent> events(Kind kind) {
        std::vector<OpEvent> out;
        for (const OpEvent& e : get(reader().opEvents()).events) {
            if (e.kind == kind) out.push_back(e);
        }
        return out;
    }

    TempDir dir;
    std::string path = dir.file("run.tape");
    RecorderOptions options;
    std::unique_ptr<storage::TapeWriter> writer;
    std::unique_ptr<Recorder> recorder;
    std::int64_t base = 0;
    std::uint64_t nextId = 1;
    Site site{"net.cpp", "forward", 12};
    const ModuleFrame* module = nullptr;
    const BackwardFrame* backward = nullptr;
    engine::Phase phase = engine::Phase::Other;

private:
    std::unique_ptr<storage::TapeReader> m_reader;
};

TEST_F(RecorderTest, AnOperatorEventHoldsEverythingOfTheCall) {
    const Tensor x = Tensor::empty({2, 3});
    recorder->onStepBegin(7);
    run(kRelu, {&x}, {x});
    const auto second = begin(kMatmul, {&x, &x});
    end(*second, {x}, 1000, 1250);
    recorder->onStepEnd(7);
    const auto ops = events(Kind::Operator);
    ASSERT_EQ(ops.size(), 2U);
    const OpEvent& e = ops[1];
    EXPECT_EQ(e.startNs - ops[0].startNs, 1000);
    EXPECT_EQ(e.durationNs, 250);
    EXPECT_EQ(e.opId, 2U);
    EXPECT_EQ(e.step, 7);
    EXPECT_EQ(e.seq, 1U);
    EXPECT_EQ(e.flops, 10);
    EXPECT_EQ(e.bytes, 320);
    EXPECT_EQ(e.depth, 1);  // inside the step
    EXPECT_EQ(get(reader().names()).at(e.name), "matmul");
    const auto sites = get(reader().sites());
    ASSERT_EQ(sites.size(), 1U);
    EXPECT_EQ(e.site, sites[0].id);
    EXPECT_EQ(sites[0].line, 12U);
    ASSERT_EQ(get(reader().lanes()).size(), 1U);
    EXPECT_EQ(e.lane, get(reader().lanes())[0].id);
    // Times count from the run's start, which was a moment ago.
    EXPECT_GE(e.startNs, 0);
    EXPECT_LT(e.startNs, 60'000'000'000);
}

TEST_F(RecorderTest, SitesOfOneLineAreOneWhereverTheirTextLies) {
    const std::string copy = "net.cpp";
    const Tensor x = Tensor::empty({1});
    run(kRelu, {&x}, {x});
    site = Site(copy.c_str(), "forward", 12);
    run(kRelu, {&x}, {x});
    site = Site(copy.c_str(), "forward", 13);
    run(kRelu, {&x}, {x});
    site = Site::none();
    run(kRelu, {&x}, {x});
    const auto ops = events(Kind::Operator);
    EXPECT_EQ(ops[0].site, ops[1].site);
    EXPECT_NE(ops[0].site, ops[2].site);
    EXPECT_EQ(ops[3].site, 0U);
    EXPECT_EQ(get(reader().sites()).size(), 2U);
}

TEST_F(RecorderTest, ModulesAndPhasesNestAroundOperators) {
    const ModuleFrame outer{nullptr, "net", "Net", Site("main.cpp", "main", 3), 0};
    const ModuleFrame inner{&outer, "net.fc", "Linear", Site("net.cpp", "forward", 5), 1};
    const Tensor x = Tensor::empty({1});
    recorder->onStepBegin(0);
    {
        const engine::PhaseScope forward(engine::Phase::Forward);
        phase = engine::Phase::Forward;
        recorder->onModuleEnter(outer);
        recorder->onModuleEnter(inner);
        module = &inner;
        run(kMatmul, {&x}, {x});
        recorder->onModuleExit(inner);
        module = &outer;
        run(kRelu, {&x}, {x});
        recorder->onModuleExit(outer);
    }
    module = nullptr;
    phase = engine::Phase::Optimizer;
    run(kAddInPlace, {&x}, {x});
    recorder->onStepEnd(0);

    const auto all = get(reader().opEvents()).events;
    std::vector<std::string> lines;
    const auto names = get(reader().names());
    for (const OpEvent& e : all) lines.push_back(std::string(e.depth * 2, ' ') + names.at(e.name));
    // In the order of their ends.
    EXPECT_EQ(lines,
              (std::vector<std::string>{"        matmul", "      Linear", "      relu", "    Net",
                                        "  forward", "    add_", "  optimizer", "step"}));
    for (std::size_t i = 1; i < all.size(); ++i) {
        EXPECT_EQ(all[i].step, 0);
    }
    const auto modules = get(reader().modules());
    ASSERT_EQ(modules.size(), 2U);
    EXPECT_EQ(modules[1].path, "net.fc");
    EXPECT_EQ(modules[1].parent, modules[0].id);
    EXPECT_EQ(all[0].module, modules[1].id);
    EXPECT_EQ(all[2].module, modules[0].id);
    EXPECT_EQ(all[1].kind, Kind::Module);
    EXPECT_EQ(all[1].phase, storage::Phase::Forward);
    EXPECT_EQ(all[5].phase, storage::Phase::Optimizer);
}

TEST_F(RecorderTest, SelfTimeLeavesOutOperatorsInside) {
    const Tensor x = Tensor::empty({1});
    const auto outer = begin(kScale, {&x}, Attrs(std::int64_t{1}, 2.0));
    const auto middle = begin(kMatmul, {&x});
    const auto inner = begin(kRelu, {&x});
    end(*inner, {x}, 30, 40);
    end(*middle, {x}, 20, 70);
    const auto sibling = begin(kRelu, {&x});
    end(*sibling, {x}, 80, 85);
    end(*outer, {x}, 0, 100);
    auto rows = get(reader().opSummary());
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].name, "matmul");
    EXPECT_EQ(rows[0].totalNs, 50);
    EXPECT_EQ(rows[0].selfNs, 40);
    EXPECT_EQ(rows[1].name, "relu");
    EXPECT_EQ(rows[1].calls, 2);
    EXPECT_EQ(rows[1].totalNs, 15);
    EXPECT_EQ(rows[1].selfNs, 15);
    EXPECT_EQ(rows[1].minNs, 5);
    EXPECT_EQ(rows[1].maxNs, 10);
    EXPECT_EQ(rows[1].flops, 20);
    EXPECT_EQ(rows[1].bytes, 640);
    EXPECT_EQ(rows[2].totalNs, 100);
    EXPECT_EQ(rows[2].selfNs, 100 - 50 - 5);
}

TEST_F(RecorderTest, TheGraphLinksTensorsToWhoMadeThem) {
    const Tensor x = Tensor::empty({64, 8}, DType::F32, engine::MemoryRole::Input);
    const Tensor labels = Tensor::empty({64}, DType::I64, engine::MemoryRole::Input);
    const Tensor number = Tensor::scalar(2);
    const Tensor a = Tensor::empty({64, 4});
    const Tensor b = Tensor::empty({64, 4});
    const Tensor undefined;
    recorder->onStepBegin(3);
    phase = engine::Phase::Forward;
    run(kMatmul, {&x, &undefined, &labels}, {a});              // 0
    run(kRelu, {&a}, {b});                                     // 1
    run(kAddInPlace, {&b, &number}, {b});                      // 2: b is its own from here on
    run(kMatmul, {&b, &a, &x}, {Tensor::empty({64, 4})}, {});  // 3
    recorder->onStepEnd(3);
    const auto graphs = get(reader().graphs());
    ASSERT_EQ(graphs.size(), 1U);
    EXPECT_TRUE(graphs[0].complete);
    EXPECT_EQ(graphs[0].firstStep, 3);
    EXPECT_EQ(get(reader().steps()).at(0).graph, graphs[0].id);
    const auto nodes = get(reader().graph(graphs[0].id)).nodes;
    ASSERT_EQ(nodes.size(), 4U);
    using Edges = std::vector<storage::GraphEdge>;
    EXPECT_EQ(nodes[0].inputs,
              (Edges{{-1, 0, 0, "input", "f32[64,8]"}, {-1, 0, 2, "input 2", "i64[64]"}}));
    EXPECT_EQ(nodes[0].outputs, "f32[64,4]");
    EXPECT_EQ(nodes[0].phase, storage::Phase::Forward);
    EXPECT_EQ(nodes[0].flops, 10);
    EXPECT_EQ(nodes[0].bytes, 320);
    EXPECT_EQ(nodes[1].inputs, (Edges{{0, 0, 0, "", "f32[64,4]"}}));
    EXPECT_EQ(nodes[2].inputs, (Edges{{1, 0, 0, "", "f32[64,4]"},
                                      {-1, 0, 1, "constant", number.meta().toString()}}));
    EXPECT_EQ(nodes[3].inputs, (Edges{{2, 0, 0, "", "f32[64,4]"},
                                      {0, 0, 1, "", "f32[64,4]"},
                                      {-1, 0, 2, "input", "f32[64,8]"}}));
}

TEST_F(RecorderTest, ADetachedTensorIsTracedByItsMemoryUntilThatIsFreed) {
    Tensor made = Tensor::empty({16, 16});
    recorder->onStepBegin(0);
    run(kRelu, {}, {made});  // 0
    const Tensor detached = made.detach();
    run(kRelu, {&detached}, {Tensor::empty({2})});  // 1
    engine::MemoryEvent freed;
    freed.kind = engine::MemoryEvent::Kind::Free;
    freed.address = reinterpret_cast<std::uintptr_t>(made.storage()->data());
    recorder->onMemory(freed);
    const Tensor other = made.detach();  // stands for a tensor that was given the same memory
    run(kRelu, {&other}, {Tensor::empty({2})});  // 2
    recorder->onStepEnd(0);
    const auto nodes = get(reader().graph(1)).nodes;
    EXPECT_EQ(nodes.at(1).inputs.at(0).fromSeq, 0);
    EXPECT_EQ(nodes.at(2).inputs.at(0).fromSeq, -1);
    EXPECT_EQ(nodes.at(2).inputs.at(0).leaf, "input");
}

TEST_F(RecorderTest, BackwardNodesPointToTheirForwardCall) {
    const Tensor x = Tensor::empty({4});
    const ModuleFrame fc{nullptr, "fc", "Linear", Site("net.cpp", "forward", 5), 0};
    recorder->onStepBegin(0);
    run(kRelu, {&x}, {x});
    const std::uint64_t forward = run(kMatmul, {&x}, {x});
    BackwardFrame frame;
    frame.op = &kMatmul;
    frame.name = "matmul";
    frame.forwardId = forward;
    frame.site = site;
    frame.module = &fc;
    backward = &frame;
    module = &fc;
    phase = engine::Phase::Backward;
    const engine::PhaseScope scope(engine::Phase::Backward);
    recorder->onBackwardBegin(frame);
    run(kScale, {&x}, {x}, Attrs(std::int64_t{1}, 0.5));
    recorder->onBackwardEnd(frame, {});
    recorder->onStepEnd(0);
    const auto nodes = get(reader().graph(1)).nodes;
    EXPECT_EQ(nodes.at(2).forwardSeq, 1);
    EXPECT_EQ(nodes.at(2).attrs, "axis=1, by=0.5");
    EXPECT_EQ(nodes.at(1).forwardSeq, -1);
    const auto frames = events(Kind::BackwardNode);
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_EQ(frames[0].parentId, forward);
    EXPECT_EQ(get(reader().names()).at(frames[0].name), "matmul");
    EXPECT_EQ(frames[0].phase, storage::Phase::Backward);
    EXPECT_EQ(frames[0].module, get(reader().modules()).at(0).id);
}

TEST_F(RecorderTest, StepsOfOneStructureShareAGraph) {
    const auto step = [this](std::int64_t number, std::int64_t rows, double by, std::int64_t axis,
                             std::uint32_t line) {
        const Tensor x = Tensor::empty({rows, 2});
        site = Site("net.cpp", "forward", line);
        recorder->onStepBegin(number);
        run(kScale, {&x}, {Tensor::empty({rows, 2})}, Attrs(axis, by));
        recorder->onStepEnd(number);
    };
    step(0, 8, 0.1, 0, 4);
    step(1, 8, 0.2, 0, 4);  // another learning rate is no other structure
    step(2, 9, 0.1, 0, 4);  // another shape
    step(3, 8, 0.1, 1, 4);  // another axis
    step(4, 8, 0.1, 0, 5);  // another line
    step(5, 8, 0.3, 0, 4);
    recorder->onStepBegin(6);  // nothing happens
    recorder->onStepEnd(6);
    std::vector<storage::GraphId> graphs;
    for (const auto& row : get(reader().steps())) graphs.push_back(row.graph);
    EXPECT_EQ(graphs, (std::vector<storage::GraphId>{1, 1, 2, 3, 4, 1, 0}));
    EXPECT_EQ(get(reader().graphs()).size(), 4U);
    EXPECT_EQ(get(reader().graph(1)).nodes.at(0).attrs, "axis=0, by=0.1");
}

TEST_F(RecorderTest, AFlushInTheMiddleShowsTheRunningStep) {
    const Tensor x = Tensor::empty({2});
    const auto live = get(storage::TapeReader::open(path));
    const auto oneStep = [&](std::int64_t number, bool stopInside) {
        recorder->onStepBegin(number);
        run(kRelu, {&x}, {Tensor::empty({2})});
        const auto current = begin(kMatmul, {&x});
        if (stopInside) {
            EXPECT_OK(recorder->flush());
        }
        end(*current, {Tensor::empty({3})}, 0, 5);
        if (stopInside) {
            EXPECT_OK(recorder->flush());
        }
        recorder->onStepEnd(number);
    };
    recorder->onStepBegin(0);
    run(kRelu, {&x}, {Tensor::empty({2})});
    const auto current = begin(kMatmul, {&x});
    ASSERT_OK(recorder->flush());  // the debugger stands before matmul
    auto partial = get(live->graph(1));
    EXPECT_FALSE(partial.complete);
    ASSERT_EQ(partial.nodes.size(), 2U);
    EXPECT_EQ(partial.nodes[1].op, "matmul");
    EXPECT_EQ(partial.nodes[1].outputs, "");
    EXPECT_EQ(get(live->opEvents()).events.size(), 1U);
    EXPECT_EQ(get(live->opSummary()).size(), 1U);
    end(*current, {Tensor::empty({3})}, 0, 5);
    ASSERT_OK(recorder->flush());  // and behind it
    partial = get(live->graph(1));
    EXPECT_EQ(partial.nodes[1].outputs, "f32[3]");
    recorder->onStepEnd(0);
    ASSERT_OK(writer->flush());
    EXPECT_TRUE(get(live->graph(1)).complete);

    oneStep(1, true);  // the same structure: its partial graph goes away again
    ASSERT_OK(writer->flush());
    const auto graphs = get(live->graphs());
    ASSERT_EQ(graphs.size(), 1U);
    EXPECT_EQ(get(live->steps()).at(1).graph, 1);
    oneStep(2, false);
    EXPECT_EQ(get(reader().steps()).at(2).graph, 1);
}

TEST_F(RecorderTest, AnErrorIsLoggedAndTheUnfinishedStepKept) {
    const Tensor x = Tensor::empty({2});
    const ModuleFrame net{nullptr, "", "Net", Site::none(), 0};
    recorder->onStepBegin(4);
    recorder->onModuleEnter(net);
    run(kRelu, {&x}, {x});
    const auto failing = begin(kMatmul, {&x});
    recorder->onOpError(failing->call, "matmul: inner sizes differ: [2] x [3]");
    recorder->onModuleExit(net);
    // No onStepEnd: the run is over.
    const auto log = get(reader().log());
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].severity, storage::Severity::Error);
    EXPECT_EQ(log[0].step, 4);
    EXPECT_EQ(log[0].text, "matmul: inner sizes differ: [2] x [3]");
    EXPECT_GT(log[0].wall, 1.6e9);
    EXPECT_EQ(events(Kind::Operator).size(), 1U);
    EXPECT_EQ(events(Kind::Module).size(), 1U);
    EXPECT_EQ(events(Kind::Step).size(), 1U);
    const auto graph = get(reader().graph(1));
    EXPECT_FALSE(graph.complete);
    EXPECT_EQ(graph.firstStep, 4);
    EXPECT_EQ(graph.nodes.size(), 2U);
    EXPECT_TRUE(get(reader().steps()).empty());
}

TEST_F(RecorderTest, AnErrorOfACallThatNeverBeganIsOnlyLogged) {
    const Tensor x = Tensor::empty({2});
    recorder->onStepBegin(0);
    const auto outer = begin(kScale, {&x}, Attrs(std::int64_t{1}, 2.0));
    OpCall refused = outer->call;
    refused.id = 99;
    recorder->onOpError(refused, "no");
    end(*outer, {x}, 0, 10);
    recorder->onStepEnd(0);
    EXPECT_EQ(events(Kind::Operator).size(), 1U);
    EXPECT_EQ(get(reader().log()).size(), 1U);
    EXPECT_EQ(get(reader().graph(1)).nodes.size(), 1U);
}

TEST_F(RecorderTest, FramesLeftOpenByAnExceptionEndWithTheirParent) {
    const Tensor x = Tensor::empty({2});
    const ModuleFrame net{nullptr, "", "Net", Site::none(), 0};
    BackwardFrame frame;
    frame.name = "custom";
    recorder->onStepBegin(0);
    recorder->onModuleEnter(net);
    recorder->onBackwardBegin(frame);
    begin(kRelu, {&x});  // interrupted: neither end nor error
    recorder->onModuleExit(net);
    recorder->onStepEnd(0);
    EXPECT_EQ(events(Kind::BackwardNode).size(), 1U);
    EXPECT_EQ(events(Kind::Module).size(), 1U);
    EXPECT_TRUE(events(Kind::Operator).empty());
    EXPECT_EQ(events(Kind::Step).at(0).depth, 0);
}

TEST_F(RecorderTest, EvaluationBetweenStepsIsInNoGraph) {
    const Tensor x = Tensor::empty({2});
    recorder->onStepBegin(0);
    run(kRelu, {&x}, {x});
    recorder->onStepEnd(0);
    phase = engine::Phase::Evaluate;
    run(kMatmul, {&x}, {x});
    run(kMatmul, {&x}, {x});
    phase = engine::Phase::Other;
    recorder->onStepBegin(1);
    run(kRelu, {&x}, {x});
    recorder->onStepEnd(1);
    const auto ops = events(Kind::Operator);
    ASSERT_EQ(ops.size(), 4U);
    EXPECT_EQ(ops[1].step, -1);
    EXPECT_EQ(ops[1].seq, storage::kNoSeq);
    EXPECT_EQ(ops[1].phase, storage::Phase::Evaluate);
    EXPECT_EQ(ops[1].depth, 1);
    EXPECT_EQ(ops[3].seq, 0U);
    const auto phases = events(Kind::Phase);
    ASSERT_EQ(phases.size(), 1U);
    EXPECT_EQ(phases[0].depth, 0);
    EXPECT_EQ(phases[0].step, -1);
    EXPECT_EQ(get(reader().graphs()).size(), 1U);
    EXPECT_EQ(get(reader().graph(1)).nodes.size(), 1U);
}

TEST_F(RecorderTest, MemoryEventsAndPeaksOfSteps) {
    const auto memory = [this](engine::MemoryEvent::Kind kind, std::int64_t size,
                               std::int64_t allocated) {
        engine::MemoryEvent e;
        e.kind = kind;
        e.role = engine::MemoryRole::Gradient;
        e.timeNs = base + 100;
        e.address = 0x1000;
        e.sizeBytes = size;
        e.allocatedBytes = allocated;
        e.reservedBytes = 1 << 21;
        e.opId = 5;
        recorder->onMemory(e);
    };
    using MemoryEventKind = engine::MemoryEvent::Kind;
    memory(MemoryEventKind::Alloc, 1000, 1000);
    recorder->onStepBegin(0);
    memory(MemoryEventKind::Alloc, 500, 1500);
    memory(MemoryEventKind::Free, 500, 1000);
    recorder->onStepEnd(0);
    recorder->onStepBegin(1);
    recorder->onStepEnd(1);
    recorder->onStepBegin(2);
    memory(MemoryEventKind::Free, 600, 400);
    memory(MemoryEventKind::OutOfMemory, 1 << 30, 400);
    recorder->onStepEnd(2);
    const auto steps = get(reader().steps());
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps[0].peakBytes, 1500);
    EXPECT_EQ(steps[1].peakBytes, 1000);
    EXPECT_EQ(steps[2].peakBytes, 1000);
    EXPECT_LE(steps[0].startNs, steps[0].endNs);
    EXPECT_LE(steps[0].endNs, steps[1].startNs);
    const auto events = get(reader().memoryEvents()).events;
    ASSERT_EQ(events.size(), 5U);
    EXPECT_EQ(events[0].step, -1);
    EXPECT_EQ(events[1].step, 0);
    EXPECT_EQ(events[1].kind, storage::MemoryKind::Alloc);
    EXPECT_EQ(events[1].role, storage::MemoryRole::Gradient);
    EXPECT_EQ(events[1].sizeBytes, 500);
    EXPECT_EQ(events[1].allocatedBytes, 1500);
    EXPECT_EQ(events[1].address, 0x1000U);
    EXPECT_EQ(events[1].opId, 5U);
    EXPECT_EQ(events[4].kind, storage::MemoryKind::OutOfMemory);
}

class RecorderWithoutEvents : public RecorderTest {
protected:
    void SetUp() override {
        options = {.opEvents = false, .memoryEvents = false, .graphs = false};
        RecorderTest::SetUp();
    }
};

TEST_F(RecorderWithoutEvents, KeepsStepsAndTotals) {
    const Tensor x = Tensor::empty({2});
    recorder->onStepBegin(0);
    run(kRelu, {&x}, {x});
    engine::MemoryEvent e;
    e.allocatedBytes = 77;
    recorder->onMemory(e);
    recorder->onStepEnd(0);
    EXPECT_TRUE(get(reader().opEvents()).events.empty());
    EXPECT_TRUE(get(reader().memoryEvents()).events.empty());
    EXPECT_TRUE(get(reader().graphs()).empty());
    EXPECT_EQ(get(reader().opSummary()).at(0).calls, 1);
    EXPECT_EQ(get(reader().steps()).at(0).peakBytes, 77);
}

TEST_F(RecorderTest, FullBuffersReachTheTapeBeforeTheStepEnds) {
    const Tensor x = Tensor::empty({2});
    const auto live = get(storage::TapeReader::open(path));
    recorder->onStepBegin(0);
    for (int i = 0; i < 5000; ++i) run(kRelu, {&x}, {x});
    ASSERT_OK(writer->flush());
    EXPECT_EQ(get(live->opEvents()).events.size(), 4096U);
    recorder->onStepEnd(0);
    EXPECT_EQ(events(Kind::Operator).size(), 5000U);
}

TEST_F(RecorderTest, SourcesAreKept) {
    recorder->describeSources({{"plugins/models/net.cpp", "struct Net {};"}});
    EXPECT_EQ(get(reader().sources()).at(0).text, "struct Net {};");
}

}  // namespace
}  // namespace tapescope::profiler
