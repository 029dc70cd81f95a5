// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/stepping.h"

#include "debug_harness.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tapescope::engine::debug {
namespace {

using Names = std::vector<std::string>;

/// Tops of the stops that a run of steps in one mode makes, from the entry on.
Names walk(DebugRun& run, StepMode mode, std::size_t count) {
    Names tops;
    run.debugger.stopOnEntry(true);
    for (auto stop = run.start(); stop && tops.size() < count; stop = run.resume(mode)) {
        tops.push_back(topOf(stop));
    }
    return tops;
}

TEST(Step, IntoStopsAtOperatorsAndModuleEntries) {
    DebugRun run;
    EXPECT_EQ(walk(run, StepMode::Into, 5),
              (Names{"fc1: linear", "relu", "fc2 (Linear)", "fc2: linear", "mse_loss"}));
}

TEST(Step, OperatorStopsAtOperatorsOnly) {
    DebugRun run;
    EXPECT_EQ(walk(run, StepMode::Operator, 4),
              (Names{"fc1: linear", "relu", "fc2: linear", "mse_loss"}));
}

TEST(Step, OperatorGoesThroughBackwardToo) {
    DebugRun run(1);
    const Names tops = walk(run, StepMode::Operator, 1000);
    EXPECT_EQ(tops.size(), run.log().ops().size());
}

TEST(Step, OverStaysInTheModuleOrGoesOutward) {
    DebugRun run;
    // Over the module fc2 as a whole, and over loss.backward(): the next call of the program is the
    // optimiser's.
    const Names tops = walk(run, StepMode::Over, 5);
    ASSERT_EQ(tops.size(), 5U);
    EXPECT_EQ((Names{tops.begin(), tops.begin() + 4}),
              (Names{"fc1: linear", "relu", "fc2 (Linear)", "mse_loss"}));
    const auto state = run.debugger.state();
    ASSERT_TRUE(state);
    EXPECT_NE(state->phase, Phase::Backward);
    const std::vector<SeenOp> ops = run.log().step(0);
    const auto lastBackward =
        std::find_if(ops.rbegin(), ops.rend(), [](const SeenOp& op) { return op.backward; });
    EXPECT_GT(state->seq, lastBackward->seq);
}

TEST(Step, OutOfAnOperatorShowsItsOutputs) {
    DebugRun run;
    run.add("fc1: linear");
    ASSERT_TRUE(run.start());
    const auto stop = run.resume(StepMode::Out);
    ASSERT_TRUE(stop);
    EXPECT_EQ(topOf(stop), "fc1: linear behind");
    EXPECT_EQ(stop->reason, StopReason::Step);
    EXPECT_EQ(stop->seq, 0);
    const Frame& top = stop->frames[0];
    ASSERT_EQ(names(top.outputs), (Names{"output"}));
    const std::vector<double> x = top.inputs[0].tensor.to_vector();
    const std::vector<double> w = run.net().fc1->weight.to_vector();
    const std::vector<double> b = run.net().fc1->bias.to_vector();
    const std::vector<double> y = top.outputs[0].tensor.to_vector();
    ASSERT_EQ(y.size(), 6U);
    for (std::size_t n = 0; n < 2; ++n) {
        for (std::size_t o = 0; o < 3; ++o) {
            double expected = b[o];
            for (std::size_t i = 0; i < 4; ++i) expected += x[n * 4 + i] * w[o * 4 + i];
            EXPECT_NEAR(y[n * 3 + o], expected, 1e-5);
        }
    }
    // Once more: behind the module, where its caller goes on.
    EXPECT_EQ(topOf(run.resume(StepMode::Out)), "relu");
}

TEST(Step, OutOfAModuleStopsAtWhatItsCallerDoesNext) {
    DebugRun run;
    run.add("fc1");
    EXPECT_EQ(topOf(run.start()), "fc1 (Linear)");
    EXPECT_EQ(topOf(run.resume(StepMode::Out)), "relu");
    EXPECT_EQ(topOf(run.resume(StepMode::Out)), "relu behind");
    EXPECT_EQ(topOf(run.resume(StepMode::Out)), "mse_loss");  // relu's module is the network itself
}

TEST(Step, OverBehindAnOperatorGoesOnInItsModule) {
    DebugRun run;
    run.add("relu");
    ASSERT_TRUE(run.start());
    EXPECT_EQ(topOf(run.resume(StepMode::Out)), "relu behind");
    EXPECT_EQ(topOf(run.resume(StepMode::Over)), "fc2 (Linear)");
}

TEST(Step, BackwardGoesFromNodeToNode) {
    DebugRun run(1);
    run.debugger.stopOnEntry(true);
    ASSERT_TRUE(run.start());
    Names tops;
    for (auto stop = run.resume(StepMode::Backward); stop; stop = run.resume(StepMode::Backward)) {
        EXPECT_EQ(stop->phase, Phase::Backward);
        tops.push_back(topOf(stop));
    }
    EXPECT_EQ(tops, (Names{"mse_loss (backward)", "fc2: linear (backward)", "relu (backward)",
                           "fc1: linear (backward)"}));
}

TEST(Step, OverANodeIsTheNextNodeAndOutOfItLeavesBackward) {
    DebugRun run;
    run.add("backward:mse_loss");
    ASSERT_TRUE(run.start());
    EXPECT_EQ(topOf(run.resume(StepMode::Over)), "fc2: linear (backward)");
    const auto behind = run.resume(StepMode::Out);
    ASSERT_TRUE(behind);
    EXPECT_NE(behind->phase, Phase::Backward);
    EXPECT_EQ(behind->step, 0);
}

TEST(Step, IntoANodeAndOutOfItsOperatorsComesToTheNextNode) {
    DebugRun run;
    run.add("backward:relu");
    ASSERT_TRUE(run.start());
    const auto inside = run.resume(StepMode::Into);
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->frames[1].name, "relu (backward)");
    EXPECT_FALSE(inside->afterOp);
    const auto behind = run.resume(StepMode::Out);
    ASSERT_TRUE(behind);
    EXPECT_TRUE(behind->afterOp);
    EXPECT_FALSE(behind->frames[0].outputs.empty());
    EXPECT_EQ(topOf(run.resume(StepMode::Out)), "fc1: linear (backward)");
}

TEST(Step, NextStepStopsAtItsFirstOperator) {
    DebugRun run(3);
    run.add("backward:relu");
    ASSERT_TRUE(run.start());
    run.debugger.setBreakpoints({});
    for (const std::int64_t step : {1, 2}) {
        const auto stop = run.resume(StepMode::NextStep);
        ASSERT_TRUE(stop);
        EXPECT_EQ(stop->step, step);
        EXPECT_EQ(stop->seq, 0);
        EXPECT_EQ(topOf(stop), "fc1: linear");
    }
    EXPECT_FALSE(run.resume(StepMode::NextStep));
}

TEST(Step, ABreakpointOnTheWayEndsTheStep) {
    DebugRun run;
    run.add("fc1");
    run.add("fc2: linear");
    ASSERT_TRUE(run.start());
    const auto stop = run.resume(StepMode::NextStep);
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->reason, StopReason::Breakpoint);
    EXPECT_EQ(topOf(stop), "fc2: linear");
    EXPECT_EQ(topOf(run.resume(StepMode::Continue)), "fc1 (Linear)");
}

TEST(Stepping, OverSkipsCallsInsideACompositeOperator) {
    Stepping step;
    step.arm(StepMode::Over, Stepping::From::BeforeOp, {0, 1, 0}, 7, nullptr);
    EXPECT_FALSE(step.endsAtOp({0, 1, 1}));
    EXPECT_TRUE(step.endsAtOp({0, 1, 0}));
    step.arm(StepMode::Over, Stepping::From::BeforeOp, {0, 1, 1}, 8, nullptr);
    EXPECT_TRUE(step.endsAtOp({0, 1, 1}));
    EXPECT_TRUE(step.endsAtOp({0, 0, 0}));
}

TEST(Stepping, OverSkipsTheEnginesOwnCallsUnlessItStartedAtOne) {
    Stepping step;
    step.arm(StepMode::Over, Stepping::From::BeforeOp, {0, -1, 0, true}, 7, nullptr);
    EXPECT_FALSE(step.endsAtOp({0, -1, 0, false}));
    step.arm(StepMode::Over, Stepping::From::BeforeOp, {0, -1, 0, false}, 7, nullptr);
    EXPECT_TRUE(step.endsAtOp({0, -1, 0, false}));
}

TEST(Stepping, OverANestedBackwardStaysOutside) {
    Stepping step;
    step.arm(StepMode::Over, Stepping::From::NodeEntry, {1, 2, 0}, 0, nullptr);
    EXPECT_FALSE(step.endsAtNode({2, 5, 0}));
    EXPECT_FALSE(step.endsAtOp({1, 2, 0}));
    EXPECT_TRUE(step.endsAtNode({1, 5, 0}));
    EXPECT_TRUE(step.endsAtOp({0, -1, 0}));
}

}  // namespace
}  // namespace tapescope::engine::debug
