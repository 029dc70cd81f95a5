// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/layered_layout.h"
#include "viewers/graph/packed_layout.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tapescope::viewers {
namespace {

struct Drawing {
    std::vector<LayoutNode> nodes;
    std::vector<LayoutEdge> edges;
    LayoutStats stats;

    double centre(int i) const {
        const LayoutNode& n = nodes[static_cast<std::size_t>(i)];
        return n.x + n.width / 2;
    }
    int layer(int i) const { return nodes[static_cast<std::size_t>(i)].layer; }
};

Drawing draw(int count, const std::vector<std::pair<int, int>>& edges, LayoutOptions options = {}) {
    Drawing d;
    d.nodes.resize(static_cast<std::size_t>(count));
    for (const auto& [from, to] : edges) {
        LayoutEdge e;
        e.from = from;
        e.to = to;
        d.edges.push_back(e);
    }
    d.stats = layoutLayered(d.nodes, d.edges, options);
    return d;
}

/// Pairs of edge pieces that cross between neighbouring layers, counted one against one.
std::int64_t naiveCrossings(const Drawing& d) {
    struct Piece {
        double from;
        double to;
    };
    std::vector<std::vector<Piece>> between(static_cast<std::size_t>(std::max(1, d.stats.layers)));
    for (const LayoutEdge& e : d.edges) {
        if (e.tooLong || d.layer(e.from) == d.layer(e.to)) continue;
        std::vector<double> xs{d.centre(e.from)};
        for (std::size_t i = 0; i < e.bends.size(); i += 2) xs.push_back(e.bends[i].x);
        xs.push_back(d.centre(e.to));
        int layer = d.layer(e.from);
        if (layer > d.layer(e.to)) {
            std::ranges::reverse(xs);
            layer = d.layer(e.to);
        }
        for (std::size_t i = 0; i + 1 < xs.size(); ++i)
            between[static_cast<std::size_t>(layer) + i].push_back({xs[i], xs[i + 1]});
    }
    std::int64_t count = 0;
    for (const std::vector<Piece>& pieces : between) {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            for (std::size_t j = i + 1; j < pieces.size(); ++j) {
                if ((pieces[i].from - pieces[j].from) * (pieces[i].to - pieces[j].to) < 0) ++count;
            }
        }
    }
    return count;
}

std::vector<std::pair<int, int>> randomEdges(std::mt19937& random, int count) {
    std::vector<std::pair<int, int>> edges;
    for (int to = 1; to < count; ++to) {
        const int inputs = 1 + static_cast<int>(random() % 3);
        for (int k = 0; k < inputs; ++k) {
            const int from =
                to - 1 - static_cast<int>(random() % static_cast<unsigned>(std::min(to, 20)));
            if (std::ranges::find(edges, std::pair{from, to}) == edges.end())
                edges.push_back({from, to});
        }
    }
    return edges;
}

TEST(LayeredLayout, PlacesAChainInAStraightColumn) {
    const Drawing d = draw(3, {{0, 1}, {1, 2}});
    EXPECT_EQ(d.stats.layers, 3);
    for (int i = 0; i < 3; ++i) {
        const LayoutNode& n = d.nodes[static_cast<std::size_t>(i)];
        EXPECT_EQ(n.layer, i);
        EXPECT_DOUBLE_EQ(n.x, 0);
        EXPECT_DOUBLE_EQ(n.y, 70.0 * i);  // 30 high, 40 between
    }
    EXPECT_TRUE(d.edges[0].bends.empty());
}

TEST(LayeredLayout, CentresADiamondAndRoutesItsShortcutBesideIt) {
    // 0 -> 1, 2 -> 3, and 0 -> 3 past the layer between.
    const Drawing d = draw(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}});
    EXPECT_EQ(d.layer(0), 0);
    EXPECT_EQ(d.layer(1), 1);
    EXPECT_EQ(d.layer(2), 1);
    EXPECT_EQ(d.layer(3), 2);
    EXPECT_EQ(d.stats.dummies, 1);
    EXPECT_EQ(d.stats.crossings, 0);
    EXPECT_GE(d.nodes[2].x, d.nodes[1].x + 100 + 24 - 1e-9);
    ASSERT_EQ(d.edges[4].bends.size(), 2U);
    EXPECT_DOUBLE_EQ(d.edges[4].bends[0].y, 70);  // top and bottom of the layer it passes
    EXPECT_DOUBLE_EQ(d.edges[4].bends[1].y, 100);
    EXPECT_DOUBLE_EQ(d.edges[4].bends[0].x, d.edges[4].bends[1].x);
}

TEST(LayeredLayout, UncrossesTwoSwappedEdges) {
    const Drawing d = draw(4, {{0, 3}, {1, 2}});
    EXPECT_EQ(d.stats.crossings, 0);
    EXPECT_EQ(d.nodes[0].x < d.nodes[1].x, d.nodes[3].x < d.nodes[2].x);
}

TEST(LayeredLayout, PullsASourceNextToItsReader) {
    const Drawing d = draw(5, {{0, 1}, {1, 2}, {2, 3}, {4, 3}});
    EXPECT_EQ(d.layer(4), 2);
}

TEST(LayeredLayout, CutsACycleWhereItCloses) {
    const Drawing d = draw(3, {{0, 1}, {1, 2}, {2, 0}});
    EXPECT_EQ(d.layer(0), 0);
    EXPECT_EQ(d.layer(1), 1);
    EXPECT_EQ(d.layer(2), 2);
    ASSERT_EQ(d.edges[2].bends.size(), 2U);  // runs upward past node 1
    EXPECT_GT(d.edges[2].bends[0].y, d.edges[2].bends[1].y);
}

TEST(LayeredLayout, MarksEdgesOverTooManyLayers) {
    LayoutOptions options;
    options.maxSpan = 3;
    const Drawing d = draw(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 3}, {0, 4}}, options);
    EXPECT_FALSE(d.edges[5].tooLong);
    EXPECT_EQ(d.edges[5].bends.size(), 4U);
    EXPECT_TRUE(d.edges[6].tooLong);
    EXPECT_TRUE(d.edges[6].bends.empty());
    EXPECT_EQ(d.stats.longEdges, 1);
    EXPECT_EQ(d.stats.dummies, 2);
}

TEST(LayeredLayout, KeepsPortsOutside) {
    std::vector<LayoutNode> nodes(4);
    nodes[2].pin = LayerPin::First;
    nodes[2].width = nodes[2].height = 0;
    nodes[3].pin = LayerPin::Last;
    nodes[3].width = nodes[3].height = 0;
    std::vector<LayoutEdge> edges(3);
    edges[0].from = 2, edges[0].to = 1;  // the port feeds the second node
    edges[1].from = 0, edges[1].to = 1;
    edges[2].from = 0, edges[2].to = 3;
    const LayoutStats stats = layoutLayered(nodes, edges);
    EXPECT_EQ(stats.layers, 4);
    EXPECT_EQ(nodes[2].layer, 0);
    EXPECT_EQ(nodes[0].layer, 1);  // a source, but no port
    EXPECT_EQ(nodes[1].layer, 2);
    EXPECT_EQ(nodes[3].layer, 3);
    EXPECT_DOUBLE_EQ(nodes[2].y, 0);
    EXPECT_DOUBLE_EQ(nodes[0].y, 20);  // half a gap from the border
}

TEST(LayeredLayout, KeepsTheOrderOfAnEarlierLayout) {
    std::vector<LayoutNode> nodes(4);
    nodes[0].seed = 500;
    nodes[1].seed = 100;
    nodes[2].seed = 300;
    nodes[3].seed = 200;
    std::vector<LayoutEdge> edges;
    layoutLayered(nodes, edges);
    EXPECT_LT(nodes[1].x, nodes[3].x);
    EXPECT_LT(nodes[3].x, nodes[2].x);
    EXPECT_LT(nodes[2].x, nodes[0].x);
}

TEST(LayeredLayout, TakesAnEmptyGraphAndALoneNode) {
    EXPECT_EQ(draw(0, {}).stats.layers, 0);
    const Drawing d = draw(1, {{0, 0}});
    EXPECT_EQ(d.stats.layers, 1);
    EXPECT_DOUBLE_EQ(d.nodes[0].x, 0);
    EXPECT_DOUBLE_EQ(d.nodes[0].y, 0);
}

TEST(LayeredLayout, CountsCrossingsAsTheNaiveWayAndSweepsLowerThem) {
    std::mt19937 random(20260830);
    std::int64_t before = 0;
    std::int64_t after = 0;
    for (int round = 0; round < 60; ++round) {
        const int count = 5 + static_cast<int>(random() % 120);
        const std::vector<std::pair<int, int>> edges = randomEdges(random, count);
        LayoutOptions none;
        none.sweeps = 0;
        const Drawing unswept = draw(count, edges, none);
        const Drawing swept = draw(count, edges);
        EXPECT_EQ(unswept.stats.crossings, naiveCrossings(unswept)) << "round " << round;
        EXPECT_EQ(swept.stats.crossings, naiveCrossings(swept)) << "round " << round;
        EXPECT_LE(swept.stats.crossings, unswept.stats.crossings) << "round " << round;
        before += unswept.stats.crossings;
        after += swept.stats.crossings;
    }
    EXPECT_LT(after * 5, before * 3);  // sweeps take away more than two fifths
}

TEST(LayeredLayout, NeverOverlapsAndPointsEveryEdgeDownward) {
    std::mt19937 random(7);
    for (int round = 0; round < 30; ++round) {
        const int count = 20 + static_cast<int>(random() % 200);
        const Drawing d = draw(count, randomEdges(random, count));
        for (const LayoutEdge& e : d.edges) EXPECT_LT(d.layer(e.from), d.layer(e.to));
        std::vector<std::pair<int, double>> places;
        for (int i = 0; i < count; ++i)
            places.push_back({d.layer(i), d.nodes[static_cast<std::size_t>(i)].x});
        std::ranges::sort(places);
        for (std::size_t i = 1; i < places.size(); ++i) {
            if (places[i].first != places[i - 1].first) continue;
            // The smallest distance is box to dummy to box.
            EXPECT_GE(places[i].second - places[i - 1].second, 100 + 23.9) << "round " << round;
        }
    }
}

TEST(LayeredLayout, IsDeterministic) {
    std::mt19937 random(3);
    const std::vector<std::pair<int, int>> edges = randomEdges(random, 150);
    const Drawing a = draw(150, edges);
    const Drawing b = draw(150, edges);
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
        EXPECT_EQ(a.nodes[i].x, b.nodes[i].x);
        EXPECT_EQ(a.nodes[i].y, b.nodes[i].y);
    }
}

TEST(PackedLayout, BreaksUnconnectedPartsIntoRowsOfTheGivenWidth) {
    std::vector<LayoutNode> nodes(10);  // five pairs, each 100 wide
    std::vector<LayoutEdge> edges(5);
    for (int i = 0; i < 5; ++i) {
        edges[static_cast<std::size_t>(i)].from = 2 * i;
        edges[static_cast<std::size_t>(i)].to = 2 * i + 1;
    }
    layoutPacked(nodes, edges, {}, 250);
    for (std::size_t pair = 0; pair < 5; ++pair) {
        const auto column = static_cast<double>(pair % 2);
        const auto row = static_cast<double>(pair / 2);
        EXPECT_DOUBLE_EQ(nodes[2 * pair].x, column * 124);
        EXPECT_DOUBLE_EQ(nodes[2 * pair].y, row * 140);
        EXPECT_DOUBLE_EQ(nodes[2 * pair + 1].y, row * 140 + 70);
        EXPECT_DOUBLE_EQ(nodes[2 * pair + 1].layerBottom, row * 140 + 100);
    }
}

TEST(PackedLayout, LeavesNarrowConnectedAndPortedGraphsInOnePiece) {
    std::vector<LayoutNode> nodes(6);
    std::vector<LayoutEdge> none;
    layoutPacked(nodes, none, {}, 10'000);
    for (const LayoutNode& n : nodes) EXPECT_DOUBLE_EQ(n.y, 0);
    nodes[0].pin = LayerPin::First;
    layoutPacked(nodes, none, {}, 100);
    for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_DOUBLE_EQ(nodes[i].y, nodes[1].y);
    std::vector<LayoutNode> fan(6);
    std::vector<LayoutEdge> edges(5);
    for (int i = 0; i < 5; ++i) edges[static_cast<std::size_t>(i)].to = i + 1;
    layoutPacked(fan, edges, {}, 100);
    for (std::size_t i = 1; i < fan.size(); ++i) EXPECT_EQ(fan[i].layer, 1);
    for (std::size_t i = 2; i < fan.size(); ++i) EXPECT_DOUBLE_EQ(fan[i].y, fan[1].y);
}

}  // namespace
}  // namespace tapescope::viewers
