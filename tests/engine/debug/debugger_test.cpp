// SPDX-License-Identifier: Apache-2.0
#include "debug_harness.h"
#include "engine/errors.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tapescope::engine::debug {
namespace {

using Names = std::vector<std::string>;

std::vector<double> vectorOf(const std::vector<NamedTensor>& tensors, const std::string& name) {
    for (const NamedTensor& each : tensors) {
        if (each.name == name) return each.tensor.to_vector();
    }
    ADD_FAILURE() << "no tensor " << name;
    return {};
}

TEST(Debugger, BreakOnAnOperatorStopsBeforeItWithItsInputs) {
    DebugRun run;
    const Breakpoint breakpoint = run.add("linear");
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->reason, StopReason::Breakpoint);
    EXPECT_EQ(stop->description, "break on linear (hit 1)");
    EXPECT_EQ(stop->breakpointIds, std::vector<int>{breakpoint.id});
    EXPECT_EQ(frameNames(*stop),
              (Names{"fc1: linear", "fc1 (Linear)", "(SmallNet)", "small, step 0"}));
    EXPECT_EQ(stop->step, 0);
    EXPECT_EQ(stop->seq, 0);
    EXPECT_FALSE(stop->afterOp);
    const Frame& top = stop->frames[0];
    EXPECT_EQ(top.op, "linear");
    EXPECT_EQ(top.modulePath, "fc1");
    EXPECT_EQ(names(top.inputs), (Names{"input", "weight", "bias"}));
    EXPECT_EQ(vectorOf(top.inputs, "input"), (std::vector<double>{1, 2, 3, 4, -1, 0.5, 2, -3}));
    EXPECT_TRUE(top.outputs.empty());
    EXPECT_EQ(names(top.parameters), (Names{"fc1.weight", "fc1.bias"}));
    EXPECT_TRUE(same(top.parameters[0].tensor, run.net().fc1->weight));
    EXPECT_EQ(top.site.line, SmallNet::fc1Line);
    EXPECT_EQ(stop->frames[1].site.line, SmallNet::fc1Line);
    EXPECT_EQ(names(stop->frames[2].parameters),
              (Names{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
    EXPECT_EQ(topOf(run.resume()), "fc2: linear");
}

TEST(Debugger, BreaksAtEveryMatchingCallAndCountsAsTheGraphDoes) {
    DebugRun run(3);
    run.add("*");
    std::vector<std::pair<std::int64_t, std::string>> stopped;
    for (auto stop = run.start(); stop; stop = run.resume()) {
        stopped.emplace_back(stop->seq, stop->frames[0].op);
    }
    std::vector<std::pair<std::int64_t, std::string>> ran;
    for (const SeenOp& op : run.log().ops()) ran.emplace_back(op.seq, op.name);
    EXPECT_EQ(stopped, ran);
    EXPECT_GT(ran.size(), 30U);
    EXPECT_EQ(run.debugger.breakpoints()[0].hits, static_cast<int>(ran.size()));
}

TEST(Debugger, BreakOnAModuleStopsAtItsEntry) {
    DebugRun run;
    run.add("fc2");
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(frameNames(*stop), (Names{"fc2 (Linear)", "(SmallNet)", "small, step 0"}));
    EXPECT_EQ(stop->seq, -1);
    EXPECT_EQ(stop->frames[0].site.line, SmallNet::fc2Line);
    const auto second = run.resume();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->step, 1);
    EXPECT_FALSE(run.resume());
}

TEST(Debugger, BreakOnAnOperatorInAModuleSkipsItElsewhere) {
    DebugRun run;
    run.add("fc2: lin*");
    for (const std::int64_t step : {0, 1}) {
        const auto stop = step == 0 ? run.start() : run.resume();
        ASSERT_TRUE(stop);
        EXPECT_EQ(topOf(stop), "fc2: linear");
        EXPECT_EQ(stop->step, step);
    }
    EXPECT_FALSE(run.resume());
}

TEST(Debugger, BreakOnALineStopsOnceAPass) {
    DebugRun run;
    const Breakpoint breakpoint =
        run.addLine("/somewhere/else/" + std::string(SmallNet::file()), SmallNet::fc2Line);
    auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(topOf(stop), "fc2 (Linear)");
    EXPECT_EQ(stop->breakpointIds, std::vector<int>{breakpoint.id});
    stop = run.resume();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->step, 1);
    EXPECT_FALSE(run.resume());
    EXPECT_EQ(run.debugger.breakpoints()[0].hits, 2);
}

TEST(Debugger, BreakOnALineOfAnOperatorOfTheModelItself) {
    DebugRun run(1);
    run.addLine(SmallNet::file(), SmallNet::reluLine);
    EXPECT_EQ(topOf(run.start()), "relu");
    EXPECT_FALSE(run.resume());
}

TEST(Debugger, BreakOnBackwardStopsBeforeTheGradientWithWhatForwardSaved) {
    DebugRun run;
    run.add("backward:fc1: linear");
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(frameNames(*stop),
              (Names{"fc1: linear (backward)", "fc1 (Linear)", "(SmallNet)", "small, step 0"}));
    EXPECT_EQ(stop->phase, Phase::Backward);
    EXPECT_EQ(stop->seq, -1);
    EXPECT_EQ(stop->forwardSeq, 0);
    const Frame& node = stop->frames[0];
    EXPECT_EQ(node.kind, Frame::Kind::BackwardNode);
    EXPECT_EQ(names(node.gradients), (Names{"grad_output"}));
    EXPECT_EQ(node.gradients[0].tensor.sizes(), (Dims{2, 3}));
    EXPECT_EQ(names(node.saved), (Names{"input", "weight"}));
    EXPECT_EQ(vectorOf(node.saved, "input"), (std::vector<double>{1, 2, 3, 4, -1, 0.5, 2, -3}));
    EXPECT_EQ(node.site.line, SmallNet::fc1Line);

    const auto inside = run.resume(StepMode::Operator);
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->frames[0].kind, Frame::Kind::Operator);
    EXPECT_EQ(inside->frames[1].name, "fc1: linear (backward)");
    EXPECT_EQ(inside->frames[2].name, "fc1 (Linear)");
    EXPECT_EQ(inside->forwardSeq, 0);
    EXPECT_EQ(inside->seq, [&] {
        const auto ops = run.log().step(0);
        return ops.back().seq;  // the log hears of a call before the debugger does
    }());
}

TEST(Debugger, ShowsTheGradientsOfTheModulesParametersOnceTheyAreThere) {
    DebugRun run;
    run.add("fc2: linear");
    ASSERT_TRUE(run.start());
    run.debugger.setBreakpoints({});
    // Behind backward the optimiser's operators run outside every module: the program's frame has
    // all parameters.
    std::shared_ptr<const StopState> stop = run.resume(StepMode::Over);
    while (stop && (stop->phase == Phase::Backward || stop->frames.back().gradients.empty())) {
        stop = run.resume(StepMode::Over);
    }
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->step, 0);
    EXPECT_EQ(names(stop->frames.back().gradients),
              (Names{"fc1.weight.grad", "fc1.bias.grad", "fc2.weight.grad", "fc2.bias.grad"}));
}

TEST(Debugger, IgnoreCountLetsTheFirstHitsPass) {
    DebugRun run(3);
    run.add("linear", 3);
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->description, "break on linear (hit 4)");
    EXPECT_EQ(stop->step, 1);
    EXPECT_EQ(topOf(stop), "fc2: linear");
}

TEST(Debugger, ADisabledBreakpointNeitherStopsNorCounts) {
    DebugRun run;
    Breakpoint off = Debugger::parseFunction("linear", &run.net());
    off.enabled = false;
    run.debugger.setBreakpoints({off, Debugger::parseFunction("relu", &run.net())});
    EXPECT_EQ(topOf(run.start()), "relu");
    EXPECT_EQ(run.debugger.breakpoints()[0].hits, 0);
}

TEST(Debugger, BreakpointsSetDuringAStopCountAtOnceAndKeepTheirHits) {
    DebugRun run;
    run.add("linear");
    ASSERT_TRUE(run.start());
    run.debugger.setBreakpoints({Debugger::parseFunction("relu", &run.net()),
                                 Debugger::parseFunction("linear", &run.net())});
    EXPECT_EQ(topOf(run.resume()), "relu");
    const auto stop = run.resume();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->description, "break on linear (hit 2)");
}

TEST(Debugger, SeveralBreakpointsOnOneCallAreOneStop) {
    DebugRun run;
    const Breakpoint byName = run.add("linear");
    const Breakpoint byModule = run.add("fc1: linear");
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->description, "break on linear (hit 1) and fc1: linear (hit 1)");
    EXPECT_EQ(stop->breakpointIds, (std::vector<int>{byName.id, byModule.id}));
}

TEST(Debugger, StopsOnEntryBeforeTheFirstOperator) {
    DebugRun run(1);
    run.debugger.stopOnEntry(true);
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->reason, StopReason::Entry);
    EXPECT_EQ(stop->seq, 0);
    EXPECT_FALSE(run.resume());
}

TEST(Debugger, PausesARunningModelFromAnotherThread) {
    DebugRun run(1'000'000'000);
    run.add("linear");
    ASSERT_TRUE(run.start());
    run.debugger.setBreakpoints({});
    ASSERT_TRUE(run.debugger.resume(StepMode::Continue));
    run.debugger.pause();
    const auto stop = run.nextStop();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->reason, StopReason::Pause);
    EXPECT_GE(stop->seq, 0);
    EXPECT_TRUE(run.debugger.stopped());
}

TEST(Debugger, TerminateEndsARunningModelAndOneThatStands) {
    DebugRun running(1'000'000'000);
    running.add("linear");
    ASSERT_TRUE(running.start());
    running.debugger.setBreakpoints({});
    ASSERT_TRUE(running.debugger.resume(StepMode::Continue));
    running.debugger.terminate("enough");
    running.runToEnd();
    EXPECT_TRUE(running.interrupted());
    EXPECT_EQ(running.error(), "enough");

    DebugRun standing;
    standing.add("relu");
    ASSERT_TRUE(standing.start());
    standing.debugger.terminate("closed");
    EXPECT_FALSE(standing.nextStop());
    EXPECT_TRUE(standing.interrupted());
    EXPECT_EQ(standing.error(), "closed");
    EXPECT_FALSE(standing.debugger.stopped());
}

TEST(Debugger, AnOperatorThatThrowsIsAStopAndTheErrorGoesOn) {
    const auto body = [](SmallNet&, std::int64_t, std::vector<double>&) {
        const Tensor a = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
        matmul(relu(a), a);
    };
    DebugRun run(1, body);
    const auto stop = run.start();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->reason, StopReason::Exception);
    EXPECT_EQ(names(stop->frames[0].inputs).size(), 2U);
    EXPECT_NE(stop->description.find("[2, 3]"), std::string::npos) << stop->description;
    const std::string said = stop->description;
    EXPECT_FALSE(run.resume(StepMode::Into));
    EXPECT_EQ(run.error(), said);

    DebugRun quiet(1, body);
    quiet.debugger.stopOnErrors(false);
    EXPECT_FALSE(quiet.start());
    EXPECT_EQ(quiet.error(), said);
}

TEST(Debugger, ResumeIsRefusedUnlessTheModelStands) {
    DebugRun run(1);
    EXPECT_FALSE(run.debugger.resume(StepMode::Continue));
    EXPECT_FALSE(run.debugger.state());
    run.add("relu");
    ASSERT_TRUE(run.start());
    EXPECT_TRUE(run.debugger.resume(StepMode::Continue));
    EXPECT_FALSE(run.nextStop());
    EXPECT_FALSE(run.debugger.resume(StepMode::Continue));
}

TEST(Debugger, StoppingEverywhereLeavesTheNumbersBitIdentical) {
    DebugRun plain(4);
    plain.runToEnd();
    ASSERT_EQ(plain.losses().size(), 4U);

    DebugRun watched(4);
    watched.add("*");
    watched.add("backward:*");
    watched.add("fc?");
    int stops = 0;
    for (auto stop = watched.start(); stop; ++stops) {
        const StepMode modes[] = {StepMode::Continue, StepMode::Into, StepMode::Over,
                                  StepMode::Out};
        stop = watched.resume(modes[stops % 4]);
    }
    EXPECT_GT(stops, 100);
    EXPECT_EQ(watched.losses(), plain.losses());
    EXPECT_EQ(watched.net().fc1->weight.to_vector(), plain.net().fc1->weight.to_vector());
    EXPECT_EQ(watched.net().fc2->bias.to_vector(), plain.net().fc2->bias.to_vector());
    const auto graph = [](const DebugRun& run) {
        Names ops;
        for (const SeenOp& op : run.log().ops()) ops.push_back(op.module + ":" + op.name);
        return ops;
    };
    EXPECT_EQ(graph(watched), graph(plain));
}

}  // namespace
}  // namespace tapescope::engine::debug
