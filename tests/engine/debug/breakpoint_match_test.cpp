// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/breakpoint_match.h"

#include "debug_harness.h"
#include "engine/debug/breakpoint_table.h"
#include "engine/errors.h"

#include <gtest/gtest.h>

namespace tapescope::engine::debug {
namespace {

std::string refusal(const std::string& text, const nn::Module* root) {
    try {
        Debugger::parseFunction(text, root);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

TEST(GlobMatch, StarTakesAnyRunAndQuestionMarkOneCharacter) {
    EXPECT_TRUE(globMatch("conv*", "conv2d_input_grad"));
    EXPECT_TRUE(globMatch("conv*", "conv"));
    EXPECT_TRUE(globMatch("*_grad", "conv2d_input_grad"));
    EXPECT_TRUE(globMatch("c*2*g?ad", "conv2d_input_grad"));
    EXPECT_TRUE(globMatch("layer1.*", "layer1.0.conv1"));
    EXPECT_TRUE(globMatch("*", ""));
    EXPECT_FALSE(globMatch("conv", "conv2d"));
    EXPECT_FALSE(globMatch("conv?d", "convd"));
    EXPECT_FALSE(globMatch("*a", "b"));
    EXPECT_FALSE(globMatch("", "x"));
}

TEST(GlobMatch, ManyStarsStayCheap) {
    const std::string pattern = "*a*a*a*a*a*a*a*a*a*a*b";
    EXPECT_FALSE(globMatch(pattern, std::string(2000, 'a')));
}

TEST(SamePath, MatchesBySuffixAtASeparatorOnly) {
    EXPECT_TRUE(samePath("/home/me/tapescope/plugins/models/net.cpp", "plugins/models/net.cpp"));
    EXPECT_TRUE(samePath("net.cpp", "plugins/models/net.cpp"));
    EXPECT_TRUE(samePath("C:\\src\\models\\net.cpp", "models/net.cpp"));
    EXPECT_TRUE(samePath("net.cpp", "net.cpp"));
    EXPECT_FALSE(samePath("planet.cpp", "net.cpp"));
    EXPECT_FALSE(samePath("a/net.cpp", "b/net.cpp"));
    EXPECT_FALSE(samePath("", "net.cpp"));
}

TEST(ParseFunction, TellsOperatorsPatternsAndModulesApart) {
    const SmallNet net;
    const Breakpoint op = Debugger::parseFunction("linear", &net);
    EXPECT_EQ(op.kind, BreakpointKind::Operator);
    EXPECT_EQ(op.op, "linear");
    EXPECT_EQ(op.module, "");
    const Breakpoint pattern = Debugger::parseFunction(" lin* ", &net);
    EXPECT_EQ(pattern.kind, BreakpointKind::Operator);
    EXPECT_EQ(pattern.op, "lin*");
    const Breakpoint module = Debugger::parseFunction("fc2", &net);
    EXPECT_EQ(module.kind, BreakpointKind::Module);
    EXPECT_EQ(module.module, "fc2");
    const Breakpoint both = Debugger::parseFunction("fc2: linear", &net);
    EXPECT_EQ(both.kind, BreakpointKind::Operator);
    EXPECT_EQ(both.module, "fc2");
    EXPECT_EQ(both.op, "linear");
    const Breakpoint meant = Debugger::parseFunction("module:fc1", &net);
    EXPECT_EQ(meant.kind, BreakpointKind::Module);
    EXPECT_EQ(meant.module, "fc1");
}

TEST(ParseFunction, ReadsBackwardOfOperatorsAndOfModules) {
    const SmallNet net;
    const Breakpoint op = Debugger::parseFunction("backward:linear", &net);
    EXPECT_EQ(op.kind, BreakpointKind::Backward);
    EXPECT_EQ(op.op, "linear");
    const Breakpoint both = Debugger::parseFunction("backward:fc1: linear", &net);
    EXPECT_EQ(both.kind, BreakpointKind::Backward);
    EXPECT_EQ(both.module, "fc1");
    EXPECT_EQ(both.op, "linear");
    const Breakpoint module = Debugger::parseFunction("backward: fc1", &net);
    EXPECT_EQ(module.kind, BreakpointKind::Backward);
    EXPECT_EQ(module.module, "fc1");
    EXPECT_EQ(module.op, "");
}

TEST(ParseFunction, NamesTheNearestWhenNothingCanMatch) {
    const SmallNet net;
    EXPECT_EQ(refusal("linaer", &net),
              "\"linaer\" is neither an operator nor a module of the model; did you mean linear?");
    EXPECT_NE(refusal("fc3", &net).find("fc1"), std::string::npos) << refusal("fc3", &net);
    EXPECT_NE(refusal("fc9: linear", &net).find("names no module of the model"), std::string::npos);
    EXPECT_NE(refusal("fc1: lineaar", &net).find("names no operator; did you mean linear"),
              std::string::npos);
    EXPECT_NE(refusal("backward:relux", &net).find("relu"), std::string::npos);
    EXPECT_NE(refusal("  ", &net).find("needs an operator"), std::string::npos);
    EXPECT_NE(refusal("a: b: c", &net).find("module: operator"), std::string::npos);
    EXPECT_NE(refusal(": linear", &net).find("module: operator"), std::string::npos);
}

TEST(ParseFunction, TakesAnyModuleWhileTheModelIsUnknown) {
    EXPECT_EQ(Debugger::parseFunction("fc77", nullptr).kind, BreakpointKind::Module);
    EXPECT_EQ(Debugger::parseFunction("relu", nullptr).kind, BreakpointKind::Operator);
    EXPECT_EQ(Debugger::parseFunction("fc77: relu", nullptr).module, "fc77");
}

TEST(SetBreakpoints, KeepsIdsAndHitsOfUnchangedOnes) {
    Debugger debugger([](const StopState&) {});
    const auto first = debugger.setBreakpoints(
        {Debugger::parseFunction("relu", nullptr), Debugger::parseFunction("linear", nullptr)});
    const auto second = debugger.setBreakpoints(
        {Debugger::parseFunction("linear", nullptr), Debugger::parseFunction("add", nullptr)});
    EXPECT_NE(first[0].id, first[1].id);
    EXPECT_EQ(second[0].id, first[1].id);
    EXPECT_NE(second[1].id, first[0].id);
    EXPECT_NE(second[1].id, first[1].id);
    ASSERT_EQ(debugger.breakpoints().size(), 2U);
    EXPECT_EQ(debugger.breakpoints()[0].text, "linear");
}

TEST(LinePass, CountsALineOnceUntilItIsLeftOrACallRepeats) {
    const ModuleFrame root{nullptr, "", "Net", Site::none(), 0};
    const Site line{"net.cpp", "forward", 10};
    const Site other{"net.cpp", "forward", 11};
    const int a = 0;
    const int b = 0;
    LinePass pass;
    EXPECT_TRUE(pass.enter(&root, line, &a));
    EXPECT_FALSE(pass.enter(&root, line, &b));  // relu(conv1(x)): the second call of the pass
    EXPECT_TRUE(pass.enter(&root, line, &a));   // a loop comes round
    EXPECT_TRUE(pass.enter(&root, other, &a));
    EXPECT_TRUE(pass.enter(&root, line, &b));
    EXPECT_TRUE(pass.enter(nullptr, line, &a));  // the same line in another frame
}

TEST(LineScope, ClimbsOverLayersThatPassTheirCallersSite) {
    const Site line{"net.cpp", "forward", 10};
    const ModuleFrame root{nullptr, "", "Net", Site("main.cpp", "main", 3), 0};
    const ModuleFrame block{&root, "block", "Sequential", line, 1};
    const ModuleFrame conv{&block, "block.0", "Conv2d", line, 2};
    EXPECT_EQ(lineScope(&conv, line), &root);
    EXPECT_EQ(lineScope(&root, line), &root);
    EXPECT_EQ(lineScope(nullptr, line), nullptr);
}

}  // namespace
}  // namespace tapescope::engine::debug
