// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tapescope::viewers {

struct LayoutPoint {
    double x = 0;
    double y = 0;
    friend bool operator==(const LayoutPoint&, const LayoutPoint&) = default;
};

/// Ports of an open group stand in a layer of their own, before or behind everything else.
enum class LayerPin : std::uint8_t { Free, First, Last };

struct LayoutNode {
    double width = 100;
    double height = 30;
    LayerPin pin = LayerPin::Free;
    double seed = std::numeric_limits<double>::quiet_NaN();  ///< x of an earlier layout, to keep
                                                             ///< its order; NaN: new
    double x = 0;                                            ///< out: left
    double y = 0;                                            ///< out: top
    int layer = 0;                                           ///< out
    double layerTop = 0;     ///< out: where its layer begins and ends
    double layerBottom = 0;  ///< out
};

struct LayoutEdge {
    int from = 0;
    int to = 0;
    std::vector<LayoutPoint>
        bends;  ///< out: two in each layer between, its top and bottom, on the way
    bool tooLong =
        false;  ///< out: spans more than maxSpan layers; not routed, draw a reference instead
};

struct LayoutOptions {
    int sweeps = 8;
    int maxSpan = 24;
    double gapX = 24;
    double gapY = 40;
};

struct LayoutStats {
    int layers = 0;
    int dummies = 0;
    int longEdges = 0;
    std::int64_t crossings = 0;
};

/// Sets layer and tooLong. Longest path, with sources pulled next to their first reader; cycles are
/// cut where a depth-first search in index order closes them. Returns the number of layers. O(nodes
/// + edges).
int assignLayers(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges, int maxSpan);

/// A layered drawing, top to bottom, top left at (0, 0). Layers as assignLayers; edges of up to
/// maxSpan layers get dummies; the order in a layer is the best of `sweeps` barycentre sweeps by
/// counted crossings and changes only where that is a strict gain; x by least squares to the
/// neighbours under the minimum distance. Deterministic. O(sweeps * edges * log).
LayoutStats layoutLayered(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges,
                          const LayoutOptions& options = {});

}  // namespace tapescope::viewers
