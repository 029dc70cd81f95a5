// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/layered_layout.h"
#include "viewers/graph/module_graph.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tapescope::viewers {

/// What is written in a box, and how wide its widest line is.
struct BoxText {
    std::string title;
    std::string subtitle;
    double width = 0;
};

/// How big things are. Widths come from the caller, who knows the fonts.
struct SceneStyle {
    std::function<BoxText(const GraphGroup&)> groupText;
    std::function<BoxText(const ModuleGraphNode&)> nodeText;
    std::function<double(const std::string&)> smallWidth;  ///< chips and edge labels
    double lineHeight = 16;                                ///< of the box font
};

/// A reference to a tensor that comes from elsewhere, at its reader.
struct SceneChip {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
    int fromNode = -1;  ///< of the module graph; -1: nowhere to go to
    std::string label;
    std::string type;
};

struct SceneBox {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
    int node = -1;  ///< of the module graph, or
    int group = -1;
    bool open = false;    ///< a group with its content inside
    bool upward = false;  ///< in a column that runs from bottom to top
    BoxText text;
    std::string output;  ///< written at the start of its outgoing edges
    bool hasReaders = false;
    std::vector<SceneChip> chips;
};

/// A piece of an edge inside one group; drawn as a curve that is vertical at each point.
struct SceneLine {
    std::vector<LayoutPoint> points;
    bool arrow = false;  ///< ends at a box, not at a border
    bool upward = false;
};

/// An edge between two boxes: all its pieces, or none if it is a chip.
struct SceneConnection {
    int from = 0;
    int to = 0;
    std::vector<int> lines;
    std::string type;
};

/// Positions by which the next layout keeps the order of this one.
struct SceneMemory {
    std::vector<double> bySeq;
    std::unordered_map<std::string, double> byKey;
};

struct GraphScene {
    double width = 0;
    double height = 0;
    std::vector<SceneBox> boxes;  ///< parents before what lies inside
    std::vector<SceneLine> lines;
    std::vector<SceneConnection> connections;
    std::vector<int> boxOfNode;   ///< its own, or the closed group's around it
    std::vector<int> boxOfGroup;  ///< likewise
    SceneMemory memory;
    LayoutStats stats;  ///< summed over all levels
};

constexpr int kMaxChips = 3;

/// Lays out what is visible of `graph` when the groups with open[g] != 0 are open: each open group
/// on its own, then nested. Edges pass the border of an open group through ports, so that they run
/// round its boxes. The backward column runs from bottom to top, next to its forward.
/// Deterministic; `previous` keeps the order stable.
GraphScene layoutScene(const ModuleGraph& graph, const std::vector<char>& open,
                       const SceneStyle& style, const SceneMemory* previous = nullptr);

}  // namespace tapescope::viewers
