// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_scene.h"

#include "support/graph_samples.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

using test::GraphMaker;

/// Fonts of the test: every character is 7 units wide.
SceneStyle style() {
    SceneStyle s;
    const auto width = [](const std::string& t) { return 7.0 * static_cast<double>(t.size()); };
    s.groupText = [width](const GraphGroup& g) {
        return BoxText{g.name, g.type, width(g.name + g.type)};
    };
    s.nodeText = [width](const ModuleGraphNode& n) { return BoxText{n.label, {}, width(n.label)}; };
    s.smallWidth = width;
    return s;
}

struct Laid {
    ModuleGraph graph;
    std::vector<char> open;
    GraphScene scene;

    void open_(const std::string& path, bool on = true) {
        for (std::size_t g = 0; g < graph.groups.size(); ++g) {
            if (graph.groups[g].path == path) open[g] = on ? 1 : 0;
        }
    }
    void layout() { scene = layoutScene(graph, open, style(), &scene.memory); }
    const SceneBox& boxOfSeq(int seq) const {
        return scene.boxes[static_cast<std::size_t>(scene.boxOfNode[static_cast<std::size_t>(
            graph.nodeOfSeq[static_cast<std::size_t>(seq)])])];
    }
};

Laid lay(const GraphMaker& m, bool allOpen) {
    Laid l;
    l.graph = buildModuleGraph(m.data.graph, m.data.modules);
    l.open.assign(l.graph.groups.size(), allOpen ? 1 : 0);
    l.layout();
    return l;
}

bool inside(const SceneBox& inner, const SceneBox& outer) {
    return inner.x >= outer.x && inner.y >= outer.y &&
           inner.x + inner.width <= outer.x + outer.width + 1e-6 &&
           inner.y + inner.height <= outer.y + outer.height + 1e-6;
}

bool overlap(const SceneBox& a, const SceneBox& b) {
    return a.x < b.x + b.width - 1e-6 && b.x < a.x + a.width - 1e-6 &&
           a.y < b.y + b.height - 1e-6 && b.y < a.y + a.height - 1e-6;
}

void expectSound(const Laid& l) {
    const auto parentOf = [&](const SceneBox& b) {
        return b.node >= 0 ? l.graph.nodes[static_cast<std::size_t>(b.node)].group
                           : l.graph.groups[static_cast<std::size_t>(b.group)].parent;
    };
    std::vector<std::vector<const SceneBox*>> children(l.graph.groups.size());
    for (const SceneBox& b : l.scene.boxes) {
        const int parent = parentOf(b);
        if (parent < 0) continue;
        const SceneBox& outer = l.scene.boxes[static_cast<std::size_t>(
            l.scene.boxOfGroup[static_cast<std::size_t>(parent)])];
        EXPECT_TRUE(inside(b, outer));
        children[static_cast<std::size_t>(parent)].push_back(&b);
        for (const SceneChip& chip : b.chips) {
            EXPECT_TRUE(chip.x >= b.x && chip.x + chip.width <= b.x + b.width && chip.y >= b.y &&
                        chip.y + chip.height <= b.y + b.height);
        }
    }
    for (const auto& siblings : children) {
        for (std::size_t i = 0; i < siblings.size(); ++i) {
            for (std::size_t j = i + 1; j < siblings.size(); ++j)
                EXPECT_FALSE(overlap(*siblings[i], *siblings[j]));
        }
    }
    // Each edge runs without a gap from its first box to its last one, through the borders of open
    // groups.
    for (const SceneConnection& c : l.scene.connections) {
        if (c.lines.empty()) continue;
        const SceneBox& from = l.scene.boxes[static_cast<std::size_t>(c.from)];
        const SceneBox& to = l.scene.boxes[static_cast<std::size_t>(c.to)];
        LayoutPoint at = l.scene.lines[static_cast<std::size_t>(c.lines.front())].points.front();
        EXPECT_NEAR(at.y, from.upward ? from.y : from.y + from.height, 1e-6);
        EXPECT_NEAR(at.x, from.x + from.width / 2, 1e-6);
        for (const int i : c.lines) {
            const std::vector<LayoutPoint>& points =
                l.scene.lines[static_cast<std::size_t>(i)].points;
            EXPECT_NEAR(points.front().x, at.x, 1e-6);
            EXPECT_NEAR(points.front().y, at.y, 1e-6);
            at = points.back();
        }
        EXPECT_NEAR(at.y, to.upward ? to.y + to.height : to.y, 1e-6);
        EXPECT_GE(at.x, to.x);
        EXPECT_LE(at.x, to.x + to.width);
    }
}

TEST(GraphScene, ClosedGroupsAreSingleBoxes) {
    const Laid l = lay(test::digitsCnn(), false);
    // 2 columns; forward: 5 operators, 2 leaves, 5 modules; backward: 5 operators, 1 leaf, 5
    // modules.
    EXPECT_EQ(l.scene.boxes.size(), 2U + 12U + 11U);
    EXPECT_EQ(l.scene.boxes[static_cast<std::size_t>(l.scene.boxOfNode[0])].group >= 0, true);
    expectSound(l);
}

TEST(GraphScene, OpenGroupsHoldTheirContentAndEdgesPassTheirBorders) {
    const Laid l = lay(test::digitsCnn(), true);
    EXPECT_EQ(l.scene.boxes.size(), l.graph.groups.size() + l.graph.nodes.size());
    expectSound(l);
}

TEST(GraphScene, SoundForADeepModelOpenedAtRandom) {
    Laid l = lay(test::gpt(1500), true);
    expectSound(l);
    unsigned state = 5;
    for (int round = 0; round < 8; ++round) {
        for (char& open : l.open) {
            state = state * 1664525U + 1013904223U;
            open = (state >> 24) % 3 != 0 ? 1 : 0;
        }
        l.layout();
        expectSound(l);
    }
}

TEST(GraphScene, ForwardRunsDownAndBackwardUpFromOneGround) {
    const Laid l = lay(test::digitsCnn(), true);
    EXPECT_LT(l.boxOfSeq(0).y, l.boxOfSeq(11).y);
    EXPECT_GT(l.boxOfSeq(12).y, l.boxOfSeq(30).y);
    const SceneBox& forward = l.scene.boxes[static_cast<std::size_t>(
        l.scene.boxOfGroup[static_cast<std::size_t>(l.graph.columns[0])])];
    const SceneBox& backward = l.scene.boxes[static_cast<std::size_t>(
        l.scene.boxOfGroup[static_cast<std::size_t>(l.graph.columns[1])])];
    EXPECT_NEAR(forward.y + forward.height, backward.y + backward.height, 1e-6);
    EXPECT_GT(backward.x, forward.x + forward.width);
}

TEST(GraphScene, OpeningOneGroupKeepsTheOrderOfTheOthers) {
    Laid l = lay(test::gpt(600), false);
    l.open_("h");
    l.layout();
    const auto order = [&l] {
        std::vector<std::pair<double, int>> places;
        for (const SceneBox& b : l.scene.boxes) {
            if (b.node >= 0 &&
                l.graph.nodes[static_cast<std::size_t>(b.node)].group == l.graph.columns[0])
                places.push_back({b.x, b.node});
        }
        std::ranges::sort(places);
        std::vector<int> nodes;
        for (const auto& [x, node] : places) nodes.push_back(node);
        return nodes;
    };
    const std::vector<int> before = order();
    l.open_("ln_f");
    l.layout();
    EXPECT_EQ(order(), before);
}

TEST(GraphScene, DrawsAVeryLongEdgeAsAChip) {
    GraphMaker m;
    const auto root = m.module("", "Net");
    const int first = m.op("embedding", root, {GraphMaker::leaf("tokens", "i64[4]")}, "f32[4,8]");
    int x = first;
    for (int i = 0; i < 30; ++i) x = m.op("relu", root, {m.from(x)}, "f32[4,8]");
    const int last = m.op("add", root, {m.from(x), m.from(first)}, "f32[4,8]");
    const Laid l = lay(m, true);
    const SceneBox& add = l.boxOfSeq(last);
    ASSERT_EQ(add.chips.size(), 1U);
    EXPECT_EQ(add.chips[0].label, "embedding");
    EXPECT_EQ(add.chips[0].type, "f32[4,8]");
    EXPECT_EQ(add.chips[0].fromNode, l.graph.nodeOfSeq[static_cast<std::size_t>(first)]);
    expectSound(l);
}

TEST(GraphScene, ShowsAtMostThreeChips) {
    GraphMaker m;
    const auto root = m.module("", "Net");
    std::vector<int> saved;
    for (int i = 0; i < 6; ++i)
        saved.push_back(
            m.op("op" + std::to_string(i), root, {GraphMaker::leaf("input", "f32[2]")}, "f32[2]"));
    std::vector<storage::GraphEdge> in;
    for (const int s : saved) in.push_back(m.from(s));
    const int b = m.op("backward", root, in, "f32[2]", storage::Phase::Backward, saved[0]);
    const Laid l = lay(m, true);
    const SceneBox& box = l.boxOfSeq(b);
    ASSERT_EQ(box.chips.size(), 3U);
    EXPECT_EQ(box.chips[0].label, "op0");
    EXPECT_EQ(box.chips[2].label, "+4");
    EXPECT_EQ(box.chips[2].type, "op2, op3, op4, op5");
    EXPECT_EQ(box.chips[2].fromNode, -1);
}

TEST(GraphScene, WritesWhatANodeGivesAtItsEdges) {
    const Laid l = lay(test::digitsCnn(), true);
    EXPECT_EQ(l.boxOfSeq(0).output, "f32[64,32,8,8]");
    EXPECT_TRUE(l.boxOfSeq(0).hasReaders);
    EXPECT_FALSE(l.boxOfSeq(11).hasReaders);  // the loss is read in the other column
}

TEST(GraphScene, OfNothingIsEmpty) {
    const GraphScene scene = layoutScene({}, {}, style());
    EXPECT_TRUE(scene.boxes.empty());
    EXPECT_EQ(scene.width, 0);
}

}  // namespace
}  // namespace tapescope::viewers
