// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/layered_layout.h"

#include <algorithm>

namespace tapescope::viewers {

namespace {

/// For each edge: does it close a cycle? Iterative depth-first search in index order.
std::vector<char> backEdges(int nodeCount, const std::vector<LayoutEdge>& edges) {
    std::vector<std::vector<int>> leaving(nodeCount);
    for (int i = 0; i < static_cast<int>(edges.size()); ++i) leaving[edges[i].from].push_back(i);
    enum : char { New, Open, Done };
    std::vector<char> state(nodeCount, New);
    std::vector<char> back(edges.size(), 0);
    struct Frame {
        int node;
        std::size_t next;
    };
    std::vector<Frame> stack;
    for (int start = 0; start < nodeCount; ++start) {
        if (state[start] != New) continue;
        state[start] = Open;
        stack.push_back({start, 0});
        while (!stack.empty()) {
            Frame& frame = stack.back();
            if (frame.next == leaving[frame.node].size()) {
                state[frame.node] = Done;
                stack.pop_back();
                continue;
            }
            const int edge = leaving[frame.node][frame.next++];
            const int to = edges[edge].to;
            if (state[to] == Open) {
                back[edge] = 1;
            } else if (state[to] == New) {
                state[to] = Open;
                stack.push_back({to, 0});
            }
        }
    }
    return back;
}

}  // namespace

int assignLayers(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges, int maxSpan) {
    const int n = static_cast<int>(nodes.size());
    if (n == 0) return 0;
    const std::vector<char> back = backEdges(n, edges);
    std::vector<std::vector<int>> readers(n);
    std::vector<int> waiting(n, 0);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (edges[i].from == edges[i].to) continue;
        const int from = back[i] ? edges[i].to : edges[i].from;
        const int to = back[i] ? edges[i].from : edges[i].to;
        readers[from].push_back(to);
        ++waiting[to];
    }

    const bool hasFirst =
        std::ranges::any_of(nodes, [](const LayoutNode& v) { return v.pin == LayerPin::First; });
    std::vector<int> order;
    order.reserve(n);
    std::vector<char> source(n, 0);
    for (int i = 0; i < n; ++i) {
        nodes[i].layer = hasFirst && nodes[i].pin != LayerPin::First ? 1 : 0;
        if (waiting[i] == 0) {
            source[i] = 1;
            order.push_back(i);
        }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (int to : readers[order[i]]) {
            nodes[to].layer = std::max(nodes[to].layer, nodes[order[i]].layer + 1);
            if (--waiting[to] == 0) order.push_back(to);
        }
    }
    for (int i : order) {
        if (!source[i] || readers[i].empty() || nodes[i].pin == LayerPin::First) continue;
        int first = std::numeric_limits<int>::max();
        for (int to : readers[i]) first = std::min(first, nodes[to].layer);
        nodes[i].layer = std::max(nodes[i].layer, first - 1);
    }

    int last = 0;
    bool hasLast = false;
    for (const LayoutNode& v : nodes) {
        if (v.pin == LayerPin::Last) {
            hasLast = true;
        } else {
            last = std::max(last, v.layer);
        }
    }
    if (hasLast) {
        ++last;
        for (LayoutNode& v : nodes) {
            if (v.pin == LayerPin::Last) v.layer = last;
        }
    }
    for (LayoutEdge& e : edges) {
        e.tooLong = std::abs(nodes[e.to].layer - nodes[e.from].layer) > maxSpan;
    }
    return last + 1;
}

}  // namespace tapescope::viewers
