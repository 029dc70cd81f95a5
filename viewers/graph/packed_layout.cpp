// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/packed_layout.h"

#include <algorithm>
#include <numeric>

namespace tapescope::viewers {

namespace {

struct Part {
    std::vector<int> nodeIndex;  ///< of the whole graph
    std::vector<int> edgeIndex;
    std::vector<LayoutNode> nodes;
    std::vector<LayoutEdge> edges;
    double width = 0;
    double height = 0;
};

double widthOf(const std::vector<LayoutNode>& nodes, const std::vector<LayoutEdge>& edges) {
    double width = 0;
    for (const LayoutNode& n : nodes) width = std::max(width, n.x + n.width);
    for (const LayoutEdge& e : edges) {
        for (const LayoutPoint& p : e.bends) width = std::max(width, p.x);
    }
    return width;
}

/// Connected parts, by union-find; in order of their first node.
std::vector<Part> partsOf(const std::vector<LayoutNode>& nodes,
                          const std::vector<LayoutEdge>& edges) {
    std::vector<int> parent(nodes.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&parent](int i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (const LayoutEdge& e : edges) parent[root(e.from)] = root(e.to);
    std::vector<int> partOf(nodes.size(), -1);  // by root
    std::vector<int> slot(nodes.size());
    std::vector<Part> parts;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
        int& part = partOf[root(i)];
        if (part < 0) {
            part = static_cast<int>(parts.size());
            parts.emplace_back();
        }
        slot[i] = static_cast<int>(parts[part].nodes.size());
        parts[part].nodeIndex.push_back(i);
        parts[part].nodes.push_back(nodes[i]);
    }
    for (int i = 0; i < static_cast<int>(edges.size()); ++i) {
        Part& part = parts[partOf[root(edges[i].from)]];
        LayoutEdge edge = edges[i];
        edge.from = slot[edges[i].from];
        edge.to = slot[edges[i].to];
        part.edgeIndex.push_back(i);
        part.edges.push_back(std::move(edge));
    }
    return parts;
}

}  // namespace

LayoutStats layoutPacked(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges,
                         const LayoutOptions& options, double maxWidth) {
    const LayoutStats whole = layoutLayered(nodes, edges, options);
    const auto pinned = [](const LayoutNode& n) { return n.pin != LayerPin::Free; };
    if (widthOf(nodes, edges) <= maxWidth || std::ranges::any_of(nodes, pinned)) return whole;
    std::vector<Part> parts = partsOf(nodes, edges);
    if (parts.size() < 2) return whole;

    LayoutStats stats;
    double x = 0;
    double y = 0;
    double rowHeight = 0;
    for (Part& part : parts) {
        const LayoutStats own = layoutLayered(part.nodes, part.edges, options);
        stats.layers = std::max(stats.layers, own.layers);
        stats.dummies += own.dummies;
        stats.longEdges += own.longEdges;
        stats.crossings += own.crossings;
        part.width = widthOf(part.nodes, part.edges);
        for (const LayoutNode& n : part.nodes) part.height = std::max(part.height, n.layerBottom);
        if (x > 0 && x + part.width > maxWidth) {
            x = 0;
            y += rowHeight + options.gapY;
            rowHeight = 0;
        }
        for (std::size_t i = 0; i < part.nodes.size(); ++i) {
            LayoutNode& n = part.nodes[i];
            n.x += x;
            n.y += y;
            n.layerTop += y;
            n.layerBottom += y;
            nodes[part.nodeIndex[i]] = n;
        }
        for (std::size_t i = 0; i < part.edges.size(); ++i) {
            LayoutEdge& e = edges[part.edgeIndex[i]];
            e.bends = std::move(part.edges[i].bends);
            e.tooLong = part.edges[i].tooLong;
            for (LayoutPoint& p : e.bends) p = {p.x + x, p.y + y};
        }
        x += part.width + options.gapX;
        rowHeight = std::max(rowHeight, part.height);
    }
    return stats;
}

}  // namespace tapescope::viewers
