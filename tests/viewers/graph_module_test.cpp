// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/graph_samples.h"
#include "viewers/graph/graph_breakpoint.h"
#include "viewers/graph/module_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

namespace tapescope::viewers {
namespace {

using storage::Phase;
using test::GraphMaker;

std::string describe(const ModuleGraph& g, int group, int depth = 0) {
    static const char* kColumns[] = {"Forward", "Backward", "Optimizer"};
    const GraphGroup& it = g.groups[static_cast<std::size_t>(group)];
    std::ostringstream out;
    out << std::string(static_cast<std::size_t>(depth) * 2, ' ');
    switch (it.kind) {
        case GraphGroup::Kind::Column:
            out << kColumns[static_cast<int>(it.column)];
            break;
        case GraphGroup::Kind::Module:
            out << it.name << " (" << it.type << ")";
            break;
        case GraphGroup::Kind::Fold:
            out << it.members << "x " << it.name;
            break;
        case GraphGroup::Kind::Backward:
            out << it.name << " gradient";
            break;
    }
    out << " " << it.operators << "\n";
    for (const int n : it.nodes) {
        const ModuleGraphNode& node = g.nodes[static_cast<std::size_t>(n)];
        out << std::string(static_cast<std::size_t>(depth) * 2 + 2, ' ');
        if (node.seq >= 0) out << "#" << node.seq << " ";
        out << (node.seq < 0 ? "<" + node.label + ">" : node.label) << "\n";
    }
    for (const int child : it.groups) out << describe(g, child, depth + 1);
    return out.str();
}

std::string describe(const ModuleGraph& g) {
    std::string all;
    for (const int column : g.columns) all += describe(g, column);
    return all;
}

ModuleGraph build(const GraphMaker& m) { return buildModuleGraph(m.data.graph, m.data.modules); }

TEST(ModuleGraph, GroupsForwardByModuleAndMirrorsItInBackward) {
    const ModuleGraph g = build(test::digitsCnn());
    EXPECT_EQ(describe(g),
              "Forward 12\n"
              "  #1 relu\n"
              "  #3 relu\n"
              "  #5 flatten\n"
              "  #8 relu\n"
              "  #11 cross_entropy\n"
              "  <input>\n"
              "  <target>\n"
              "  conv1 (Conv2d) 1\n"
              "    #0 conv2d\n"
              "    <weight>\n"
              "    <bias>\n"
              "  conv2 (Conv2d) 1\n"
              "    #2 conv2d\n"
              "    <weight>\n"
              "    <bias>\n"
              "  pool (MaxPool2d) 1\n"
              "    #4 max_pool2d\n"
              "  fc1 (Linear) 2\n"
              "    #6 transpose\n"
              "    #7 addmm\n"
              "    <weight>\n"
              "    <bias>\n"
              "  fc2 (Linear) 2\n"
              "    #9 transpose\n"
              "    #10 addmm\n"
              "    <weight>\n"
              "    <bias>\n"
              "Backward 19\n"
              "  #12 cross_entropy_backward\n"
              "  #17 relu_backward\n"
              "  #22 reshape\n"
              "  #24 relu_backward\n"
              "  #28 relu_backward\n"
              "  <ones>\n"
              "  fc2 (Linear) 4\n"
              "    #16 transpose\n"
              "    addmm gradient 3\n"
              "      #13 mm\n"
              "      #14 mm\n"
              "      #15 sum\n"
              "  fc1 (Linear) 4\n"
              "    #21 transpose\n"
              "    addmm gradient 3\n"
              "      #18 mm\n"
              "      #19 mm\n"
              "      #20 sum\n"
              "  pool (MaxPool2d) 1\n"
              "    #23 max_pool2d_backward\n"
              "  conv2 (Conv2d) 3\n"
              "    #25 conv2d_backward_input\n"
              "    #26 conv2d_backward_weight\n"
              "    #27 sum\n"
              "  conv1 (Conv2d) 2\n"
              "    #29 conv2d_backward_weight\n"
              "    #30 sum\n");
}

TEST(ModuleGraph, PairsForwardOperatorsWithTheirGradients) {
    const ModuleGraph g = build(test::digitsCnn());
    std::vector<std::int64_t> seqs;
    for (const int n : g.backwardOf[2]) seqs.push_back(g.nodes[static_cast<std::size_t>(n)].seq);
    EXPECT_EQ(seqs, (std::vector<std::int64_t>{25, 26, 27}));
    EXPECT_TRUE(g.backwardOf[25].empty());
}

TEST(ModuleGraph, TurnsWhatBackwardReadsFromForwardIntoReferences) {
    const ModuleGraph g = build(test::digitsCnn());
    std::vector<std::string> labels;
    for (const GraphRef& ref : g.refs) {
        if (g.nodes[static_cast<std::size_t>(ref.to)].seq == 25)
            labels.push_back(ref.label + " " + ref.type);
    }
    EXPECT_EQ(labels, (std::vector<std::string>{"conv2.weight f32[64,32,3,3]"}));
    for (const GraphLink& link : g.links) {
        const auto column = [&](int n) {
            return g.groups[static_cast<std::size_t>(g.nodes[static_cast<std::size_t>(n)].group)]
                .column;
        };
        EXPECT_EQ(column(link.from), column(link.to));
    }
}

TEST(ModuleGraph, SumsCostAndSpanOfAGroup) {
    const ModuleGraph g = build(test::digitsCnn());
    const auto fc1 = std::ranges::find_if(g.groups, [](const GraphGroup& x) {
        return x.path == "fc1" && x.column == GraphColumn::Forward;
    });
    ASSERT_NE(fc1, g.groups.end());
    EXPECT_EQ(fc1->firstSeq, 6U);
    EXPECT_EQ(fc1->lastSeq, 7U);
    EXPECT_DOUBLE_EQ(fc1->flops, 1e5 + 1.7e7);
    EXPECT_EQ(fc1->bytes, 1000 + 4000 * 9 + 1000 + 4000 * 5);
    EXPECT_EQ(fc1->parameters, 131200);
}

/// root/h.N: each block one operator, or what `extra` adds.
GraphMaker blocks(int count, int odd = -1) {
    GraphMaker m;
    m.module("", "Net");
    m.module("h", "Sequential");
    int x = -1;
    for (int i = 0; i < count; ++i) {
        const auto id = m.module("h." + std::to_string(i), "Block");
        std::vector<storage::GraphEdge> in{GraphMaker::leaf("input", "f32[8]")};
        if (x >= 0) in = {m.from(x)};
        x = m.op("relu", id, in, "f32[8]");
        if (i == odd) x = m.op("dropout", id, {m.from(x)}, "f32[8]");
    }
    return m;
}

TEST(ModuleGraph, FoldsEqualSiblings) {
    EXPECT_EQ(describe(build(blocks(4))),
              "Forward 4\n"
              "  <input>\n"
              "  h (Sequential) 4\n"
              "    4x h.0 … h.3 4\n"
              "      h.0 (Block) 1\n"
              "        #0 relu\n"
              "      h.1 (Block) 1\n"
              "        #1 relu\n"
              "      h.2 (Block) 1\n"
              "        #2 relu\n"
              "      h.3 (Block) 1\n"
              "        #3 relu\n");
}

TEST(ModuleGraph, LeavesUnequalAndFewSiblingsUnfolded) {
    EXPECT_EQ(describe(build(blocks(2))).find("x "), std::string::npos);
    // 0 1 | 2 with dropout | 3 4 5
    const std::string text = describe(build(blocks(6, 2)));
    EXPECT_NE(text.find("3x h.3 … h.5 3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    h.0 (Block) 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    h.2 (Block) 2\n"), std::string::npos) << text;
}

TEST(ModuleGraph, KeepsParentsBeforeChildrenAndAgreesBothWays) {
    const ModuleGraph g = build(test::gpt(900));
    for (int i = 0; i < static_cast<int>(g.groups.size()); ++i) {
        const GraphGroup& group = g.groups[static_cast<std::size_t>(i)];
        EXPECT_LT(group.parent, i);
        for (const int child : group.groups)
            EXPECT_EQ(g.groups[static_cast<std::size_t>(child)].parent, i);
        for (const int node : group.nodes)
            EXPECT_EQ(g.nodes[static_cast<std::size_t>(node)].group, i);
    }
}

TEST(ModuleGraph, GivesASecondCallAGroupOfItsOwn) {
    GraphMaker m;
    const auto root = m.module("", "Net");
    const auto act = m.module("act", "ReLU");
    const int a = m.op("relu", act, {GraphMaker::leaf("input", "f32[8]")}, "f32[8]");
    const int b = m.op("neg", root, {m.from(a)}, "f32[8]");
    m.op("relu", act, {m.from(b)}, "f32[8]");
    EXPECT_EQ(describe(build(m)),
              "Forward 3\n"
              "  #1 neg\n"
              "  <input>\n"
              "  act (ReLU) 1\n"
              "    #0 relu\n"
              "  act #2 (ReLU) 1\n"
              "    #2 relu\n");
}

TEST(ModuleGraph, ShowsALeafThatManyReadAsReferences) {
    GraphMaker m;
    m.module("", "Net");
    for (int i = 0; i < kMaxLeafGroups + 1; ++i) {
        const auto id = m.module("m" + std::to_string(i), "M" + std::to_string(i));
        m.op("masked_fill", id, {GraphMaker::leaf("mask", "bool[4]")}, "f32[4]");
    }
    const ModuleGraph g = build(m);
    EXPECT_EQ(g.refs.size(), 3U);
    EXPECT_TRUE(g.links.empty());
    EXPECT_EQ(g.refs.front().label, "mask");
}

TEST(ModuleGraph, SurvivesDamagedInput) {
    GraphMaker m;
    const auto id = m.module("a", "A");
    m.data.modules.back().parent = id;  // its own parent
    m.op("relu", id, {GraphMaker::leaf("input", "f32[8]")}, "f32[8]");
    storage::GraphEdge edge;
    edge.fromSeq = 77;  // no such operator
    m.op("relu", 4711, {edge}, "f32[8]");
    edge.fromSeq = 2;  // itself
    m.op("relu", id, {edge}, "f32[8]", Phase::Backward, 99);
    m.data.graph.nodes.push_back(m.data.graph.nodes.front());  // the same number twice
    m.data.graph.nodes.push_back(m.data.graph.nodes.front());
    m.data.graph.nodes.back().seq = 4'000'000'000U;  // no such step
    const ModuleGraph g = build(m);
    EXPECT_EQ(std::ranges::count_if(g.nodes, [](const ModuleGraphNode& n) { return n.seq >= 0; }),
              3);
    EXPECT_EQ(g.links.size(), 1U);
    EXPECT_EQ(g.nodeOfSeq.size(), 3U);
}

TEST(ModuleGraph, OfNothingIsEmpty) {
    const ModuleGraph g = buildModuleGraph({}, {});
    EXPECT_TRUE(g.groups.empty());
    EXPECT_TRUE(g.nodes.empty());
}

TEST(GraphBreakpoint, NamesPlacesAsTheAdapterDoes) {
    EXPECT_EQ(breakpointName({"conv2d", "conv2", false}), "conv2: conv2d");
    EXPECT_EQ(breakpointName({"conv2d", "", false}), "conv2d");
    EXPECT_EQ(breakpointName({"", "layer1.conv2", false}), "layer1.conv2");
    EXPECT_EQ(breakpointName({"conv2d", "conv2", true}), "backward:conv2: conv2d");
}

TEST(GraphBreakpoint, MatchesOperatorsModulesPatternsAndBackward) {
    const GraphPlace op{"conv2d", "conv2", false};
    const GraphPlace module{"", "conv2", false};
    const GraphPlace gradient{"conv2d", "conv2", true};
    struct Case {
        const char* name;
        PlaceMatch op, module, gradient;
    };
    using enum PlaceMatch;
    for (const Case& c :
         {Case{"conv2d", Pattern, None, None}, Case{"conv*", Pattern, None, None},
          Case{"c?nv2d", Pattern, None, None}, Case{"conv2", None, Exact, None},
          Case{"conv2: conv2d", Exact, None, None}, Case{"conv2:conv2d", Exact, None, None},
          Case{"conv*: conv2d", Pattern, None, None}, Case{"conv1: conv2d", None, None, None},
          Case{"backward:conv2d", None, None, Pattern},
          Case{"backward:conv2: conv2d", None, None, Exact}, Case{"relu", None, None, None},
          Case{"", None, None, None}, Case{"*", Pattern, None, None}}) {
        EXPECT_EQ(matchBreakpoint(c.name, op), c.op) << c.name;
        EXPECT_EQ(matchBreakpoint(c.name, module), c.module) << c.name;
        EXPECT_EQ(matchBreakpoint(c.name, gradient), c.gradient) << c.name;
    }
    EXPECT_EQ(matchBreakpoint("relu", {"relu", "", false}), Exact);  // outside of any module
}

}  // namespace
}  // namespace tapescope::viewers
