// SPDX-License-Identifier: Apache-2.0
// The recorder on a real training run of the engine.
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/optim/adam.h"
#include "profiler/recorder/recorder.h"
#include "tests/storage/tape/tape_support.h"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

namespace tapescope::profiler {
namespace {

using engine::Context;
using engine::ContextScope;
using engine::Dims;
using engine::PhaseScope;
using engine::Tensor;
using storage::get;
using storage::OpEvent;
using storage::TempDir;
namespace nn = engine::nn;

struct Net final : nn::Module {
    Net() : Module("Net") {
        fc1 = register_module<nn::Linear>("fc1", 4, 8);
        fc2 = register_module<nn::Linear>("fc2", 8, 3);
    }
    Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }
    nn::ModuleRef<nn::Linear> fc1;
    nn::ModuleRef<nn::Linear> fc2;
};

/// Trains a small net for some steps under a recorder; the last step has a smaller batch.
class Training : public testing::Test {
protected:
    void SetUp() override {
        Context context;
        const ContextScope scope(context);
        context.generator().manual_seed(1);
        Net net;
        writer = storage::newTape(path);
        Recorder recorder(*writer);
        recorder.describeModel(net);
        context.addObserver(recorder);
        engine::optim::Adam adam(net.parameters(), {.lr = 0.01});
        for (std::int64_t step = 0; step < kSteps; ++step) {
            context.beginStep(step);
            const std::int64_t rows = step + 1 == kSteps ? 5 : 6;
            Tensor x;
            Tensor target;
            {
                const PhaseScope phase(engine::Phase::Data);
                x = Tensor::from<float>(
                    std::vector<float>(static_cast<std::size_t>(rows * 4), 0.5F), {rows, 4});
                x.set_role(engine::MemoryRole::Input);
                target = Tensor::from<std::int64_t>(
                    std::vector<std::int64_t>(static_cast<std::size_t>(rows), 1), {rows});
                target.set_role(engine::MemoryRole::Input);
            }
            Tensor loss;
            {
                const PhaseScope phase(engine::Phase::Forward);
                loss = engine::cross_entropy(net(x), target);
            }
            net.zero_grad();
            loss.backward();
            adam.step();
            context.endStep();
        }
        context.removeObserver(recorder);
        recorder.finish();
        ASSERT_OK(writer->seal(storage::RunOutcome::Finished));
        reader = get(storage::TapeReader::open(path));
    }
    static constexpr std::int64_t kSteps = 5;
    TempDir dir;
    std::string path = dir.file("run.tape");
    std::unique_ptr<storage::TapeWriter> writer;
    std::unique_ptr<storage::TapeReader> reader;
};

TEST_F(Training, FirstStepMiddleStepsAndSmallBatchAreThreeGraphsAtMost) {
    std::vector<storage::GraphId> graphs;
    for (const auto& row : get(reader->steps())) graphs.push_back(row.graph);
    ASSERT_EQ(graphs.size(), static_cast<std::size_t>(kSteps));
    EXPECT_EQ(graphs[1], graphs[2]);
    EXPECT_EQ(graphs[2], graphs[3]);
    EXPECT_NE(graphs[3], graphs[4]);
    EXPECT_LE(get(reader->graphs()).size(), 3U);
}

TEST_F(Training, TheGraphNamesParametersAndFollowsTheData) {
    const auto steps = get(reader->steps());
    const auto graph = get(reader->graph(steps[2].graph));
    const auto modules = get(reader->modules());
    ASSERT_EQ(modules.size(), 3U);
    EXPECT_EQ(modules[0].type, "Net");
    EXPECT_EQ(modules[1].path, "fc1");
    EXPECT_EQ(modules[1].parameters, 4 * 8 + 8);
    EXPECT_EQ(modules[2].parent, modules[0].id);
    std::set<std::string> leaves;
    std::map<storage::Phase, int> phases;
    bool fc1ReadsItsWeight = false;
    for (const auto& node : graph.nodes) {
        ++phases[node.phase];
        for (const auto& edge : node.inputs) {
            if (edge.fromSeq >= 0) {
                EXPECT_LT(edge.fromSeq, static_cast<std::int32_t>(node.seq));
                EXPECT_EQ(edge.leaf, "");
            } else {
                leaves.insert(edge.leaf);
                fc1ReadsItsWeight |= edge.leaf == "fc1.weight" && node.module == modules[1].id;
            }
            EXPECT_NE(edge.type, "");
        }
        EXPECT_NE(node.outputs, "") << node.op;
        if (node.phase == storage::Phase::Forward) {
            EXPECT_EQ(node.forwardSeq, -1);
        }
    }
    for (const char* name :
         {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "input", "input 2"}) {
        EXPECT_TRUE(leaves.contains(name)) << name;
    }
    EXPECT_TRUE(fc1ReadsItsWeight);
    EXPECT_GT(phases[storage::Phase::Forward], 0);
    EXPECT_GT(phases[storage::Phase::Backward], 0);
    EXPECT_GT(phases[storage::Phase::Optimizer], 0);
    // Some backward node belongs to a forward one of the same module.
    bool linked = false;
    for (const auto& node : graph.nodes) {
        if (node.phase != storage::Phase::Backward || node.forwardSeq < 0) continue;
        const auto& forward = graph.nodes[static_cast<std::size_t>(node.forwardSeq)];
        EXPECT_EQ(forward.phase, storage::Phase::Forward);
        EXPECT_EQ(forward.module, node.module);
        EXPECT_EQ(forward.site, node.site);
        linked = true;
    }
    EXPECT_TRUE(linked);
}

TEST_F(Training, EveryOperatorOfTheGraphHasItsEventInEveryStep) {
    const auto events = get(reader->opEvents()).events;
    const auto steps = get(reader->steps());
    std::map<std::int64_t, std::vector<OpEvent>> operators;
    for (const OpEvent& e : events) {
        if (e.kind == OpEvent::Kind::Operator && e.step >= 0) operators[e.step].push_back(e);
    }
    const auto names = get(reader->names());
    for (const auto& row : steps) {
        const auto nodes = get(reader->graph(row.graph)).nodes;
        auto& ofStep = operators[row.step];
        std::sort(ofStep.begin(), ofStep.end(),
                  [](const auto& a, const auto& b) { return a.seq < b.seq; });
        ASSERT_EQ(ofStep.size(), nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            EXPECT_EQ(ofStep[i].seq, i);
            EXPECT_EQ(names.at(ofStep[i].name), nodes[i].op);
            EXPECT_EQ(ofStep[i].module, nodes[i].module);
            EXPECT_EQ(ofStep[i].site, nodes[i].site);
            EXPECT_GE(ofStep[i].startNs, row.startNs);
            EXPECT_LE(ofStep[i].startNs + ofStep[i].durationNs, row.endNs);
        }
    }
}

TEST_F(Training, EventsOfOneDepthDoNotOverlapAndNestInsideTheDepthAbove) {
    std::map<int, std::int64_t> lastEnd;
    std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>> byDepth;
    for (const OpEvent& e : get(reader->opEvents()).events) {
        const std::int64_t end = e.startNs + e.durationNs;
        EXPECT_GE(e.startNs, lastEnd[e.depth]);
        lastEnd[e.depth] = end;
        byDepth[e.depth].emplace_back(e.startNs, end);
    }
    ASSERT_GE(byDepth.size(), 4U);  // step, phase, module, operator
    for (const auto& [depth, spans] : byDepth) {
        if (depth == 0) continue;
        for (const auto& [start, end] : spans) {
            const auto& above = byDepth[depth - 1];
            EXPECT_TRUE(std::any_of(above.begin(), above.end(), [&](const auto& outer) {
                return outer.first <= start && end <= outer.second;
            })) << depth;
        }
    }
}

TEST_F(Training, TotalsAgreeWithTheEvents) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> byName;
    const auto names = get(reader->names());
    for (const OpEvent& e : get(reader->opEvents()).events) {
        if (e.kind != OpEvent::Kind::Operator) continue;
        auto& [calls, total] =
            byName[names.at(e.name) + "/" + std::to_string(static_cast<int>(e.phase))];
        ++calls;
        total += e.durationNs;
    }
    const auto rows = get(reader->opSummary());
    EXPECT_EQ(rows.size(), byName.size());
    for (const auto& row : rows) {
        const auto& [calls, total] =
            byName[row.name + "/" + std::to_string(static_cast<int>(row.phase))];
        EXPECT_EQ(row.calls, calls) << row.name;
        EXPECT_EQ(row.totalNs, total) << row.name;
        EXPECT_LE(row.selfNs, row.totalNs);
        EXPECT_GE(row.selfNs, 0);
    }
    EXPECT_TRUE(get(reader->losses()).empty());
}

TEST_F(Training, MemoryIsFollowedAndPeaksFit) {
    const auto events = get(reader->memoryEvents()).events;
    ASSERT_FALSE(events.empty());
    std::map<std::int64_t, std::int64_t> peak;
    for (const auto& e : events) peak[e.step] = std::max(peak[e.step], e.allocatedBytes);
    for (const auto& row : get(reader->steps())) {
        EXPECT_GE(row.peakBytes, peak[row.step]);
        EXPECT_GT(row.peakBytes, 0);
    }
}

TEST(TrainingTwice, EqualRunsHaveEqualSignatures) {
    std::vector<std::vector<std::uint64_t>> signatures;
    for (int run = 0; run < 2; ++run) {
        const TempDir dir;
        Context context;
        const ContextScope scope(context);
        Net net;
        const auto writer = storage::newTape(dir.file("run.tape"));
        Recorder recorder(*writer);
        recorder.describeModel(net);
        context.addObserver(recorder);
        std::vector<Tensor> padding;  // other ids and addresses in the second run
        for (int i = 0; i < 10 * run; ++i) padding.push_back(Tensor::empty({3}));
        for (std::int64_t step = 0; step < 2; ++step) {
            context.beginStep(step);
            engine::sum(net(Tensor::from<float>({1, 2, 3, 4}, {1, 4}))).backward();
            context.endStep();
        }
        context.removeObserver(recorder);
        recorder.finish();
        ASSERT_OK(writer->seal(storage::RunOutcome::Finished));
        signatures.emplace_back();
        for (const auto& graph :
             get(get(storage::TapeReader::open(dir.file("run.tape")))->graphs())) {
            signatures.back().push_back(graph.signature);
        }
    }
    EXPECT_FALSE(signatures[0].empty());
    EXPECT_EQ(signatures[0], signatures[1]);
}

TEST(TrainingError, AShapeErrorIsOnTheTapeWithItsPlace) {
    const TempDir dir;
    Context context;
    const ContextScope scope(context);
    Net net;
    const auto writer = storage::newTape(dir.file("run.tape"));
    Recorder recorder(*writer);
    recorder.describeModel(net);
    context.addObserver(recorder);
    context.beginStep(0);
    EXPECT_THROW(net(Tensor::empty({2, 5})), engine::Error);
    context.removeObserver(recorder);
    recorder.finish();
    ASSERT_OK(writer->seal(storage::RunOutcome::Failed));
    const auto log = get(get(storage::TapeReader::open(dir.file("run.tape")))->log());
    ASSERT_EQ(log.size(), 1U);
    EXPECT_NE(log[0].text.find("in module fc1"), std::string::npos) << log[0].text;
}

TEST(TrainingThreads, MemoryEventsOfOtherThreadsAreKept) {
    const TempDir dir;
    Context context;
    const ContextScope scope(context);
    const auto writer = storage::newTape(dir.file("run.tape"));
    Recorder recorder(*writer);
    context.addObserver(recorder);
    constexpr int kThreads = 3;
    constexpr int kEach = 2000;
    {
        std::vector<std::jthread> loaders;
        for (int t = 0; t < kThreads; ++t) {
            loaders.emplace_back([&context] {
                const ContextScope inside(context);
                for (int i = 0; i < kEach; ++i) Tensor::empty({64});
            });
        }
        const Tensor x = Tensor::empty({2});
        for (std::int64_t step = 0; step < 50; ++step) {
            context.beginStep(step);
            engine::neg(x);
            context.endStep();
        }
    }
    context.removeObserver(recorder);
    recorder.finish();
    ASSERT_OK(writer->seal(storage::RunOutcome::Finished));
    const auto reader = get(storage::TapeReader::open(dir.file("run.tape")));
    std::int64_t allocations = 0;
    for (const auto& e : get(reader->memoryEvents()).events) {
        allocations += e.kind == storage::MemoryKind::Alloc ? 1 : 0;
    }
    EXPECT_GE(allocations, kThreads * kEach);
    EXPECT_EQ(get(reader->steps()).size(), 50U);
}

}  // namespace
}  // namespace tapescope::profiler
