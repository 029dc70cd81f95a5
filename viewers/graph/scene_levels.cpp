// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/scene_levels.h"

#include <algorithm>
#include <unordered_set>

namespace tapescope::viewers {

SceneLevels::SceneLevels(const ModuleGraph& graph, const std::vector<char>& open)
    : m_graph(graph),
      m_nodeCount(static_cast<int>(graph.nodes.size())),
      m_groupCount(static_cast<int>(graph.groups.size())),
      m_open(open),
      m_visible(graph.groups.size(), 0),
      m_depth(graph.groups.size(), 0),
      m_closedAround(graph.groups.size(), -1) {
    for (int g = 0; g < m_groupCount; ++g) {
        const int parent = graph.groups[g].parent;
        m_visible[g] = parent < 0 || (m_visible[parent] != 0 && m_open[parent] != 0) ? 1 : 0;
        m_depth[g] = parent < 0 ? 0 : m_depth[parent] + 1;
        const int above = parent < 0 ? -1 : m_closedAround[parent];
        m_closedAround[g] = above >= 0 ? above : m_open[g] != 0 ? -1 : g;
    }
    std::unordered_set<std::int64_t> seen;
    for (int i = 0; i < static_cast<int>(graph.links.size()); ++i) {
        const int from = visibleItem(graph.links[i].from);
        const int to = visibleItem(graph.links[i].to);
        if (from == to || !seen.insert((std::int64_t{from} << 32) | to).second) continue;
        pairs.push_back({from, to, i});
    }
    do {
        build();
    } while (markLongPairs());
}

int SceneLevels::visibleItem(int node) const {
    const int closed = m_closedAround[m_graph.nodes[node].group];
    return closed >= 0 ? groupItem(closed) : node;
}

int SceneLevels::visibleGroupItem(int group) const {
    const int closed = m_closedAround[group];
    return groupItem(closed >= 0 ? closed : group);
}

int SceneLevels::levelOf(int item) const {
    if (isNode(item)) return m_graph.nodes[item].group;
    if (isGroup(item)) return m_graph.groups[groupOf(item)].parent;
    return m_ports[item - m_nodeCount - m_groupCount].group;
}

int SceneLevels::port(int group, int signal, bool out) const {
    const auto it = m_portOf.find({std::int64_t{group} * 2 + (out ? 1 : 0), signal});
    return it == m_portOf.end() ? -1 : it->second;
}

void SceneLevels::addItem(int level, int item, LayerPin pin) {
    if (item >= static_cast<int>(m_slot.size())) m_slot.resize(item + 1, -1);
    m_slot[item] = static_cast<int>(levels[level].items.size());
    levels[level].items.push_back(item);
    LayoutNode node;
    node.pin = pin;
    levels[level].nodes.push_back(node);
}

int SceneLevels::makePort(int group, int signal, bool out) {
    const Key key{std::int64_t{group} * 2 + (out ? 1 : 0), signal};
    const auto [it, added] = m_portOf.try_emplace(key, 0);
    if (added) {
        it->second = m_nodeCount + m_groupCount + static_cast<int>(m_ports.size());
        m_ports.push_back({group, out});
        addItem(group, it->second, out ? LayerPin::Last : LayerPin::First);
    }
    return it->second;
}

int SceneLevels::addPiece(int level, int from, int to, int signal) {
    const Key ends{(std::int64_t{level} << 32) | m_slot[from], m_slot[to]};
    const auto [edge, newEdge] =
        m_edgeOf.try_emplace(ends, static_cast<int>(levels[level].edges.size()));
    if (newEdge) {
        LayoutEdge e;
        e.from = m_slot[from];
        e.to = m_slot[to];
        levels[level].edges.push_back(std::move(e));
    }
    const Key key{(std::int64_t{level} << 32) | edge->second, signal};
    const auto [piece, added] = m_pieceOf.try_emplace(key, static_cast<int>(pieces.size()));
    if (added) pieces.push_back({level, edge->second, from, to, signal});
    return piece->second;
}

/// Up from the source through the out-ports of its groups, across their common group, down through
/// the in-ports.
std::vector<int> SceneLevels::route(const Pair& pair) {
    std::vector<int> way;
    int from = pair.from;
    int up = levelOf(pair.from);
    std::vector<int> down{levelOf(pair.to)};
    const auto climb = [&] {
        const int out = makePort(up, pair.from, true);
        way.push_back(addPiece(up, from, out, pair.from));
        from = groupItem(up);
        up = m_graph.groups[up].parent;
    };
    while (m_depth[up] > m_depth[down.back()]) climb();
    while (up != down.back()) {
        if (m_depth[up] == m_depth[down.back()]) climb();
        down.push_back(m_graph.groups[down.back()].parent);
    }
    for (std::size_t i = down.size(); i-- > 0;) {
        const int to = i == 0 ? pair.to : groupItem(down[i - 1]);
        way.push_back(addPiece(down[i], from, to, pair.from));
        if (i > 0) from = makePort(down[i - 1], pair.from, false);
    }
    return way;
}

void SceneLevels::build() {
    levels.assign(m_groupCount, {});
    m_slot.assign(m_nodeCount + m_groupCount, -1);
    m_ports.clear();
    m_portOf.clear();
    m_edgeOf.clear();
    m_pieceOf.clear();
    pieces.clear();
    piecesOfPair.assign(pairs.size(), {});
    for (int node = 0; node < m_nodeCount; ++node) {
        if (visibleItem(node) == node) addItem(m_graph.nodes[node].group, node, LayerPin::Free);
    }
    for (int g = 0; g < m_groupCount; ++g) {
        const int parent = m_graph.groups[g].parent;
        if (parent >= 0 && isVisible(g)) addItem(parent, groupItem(g), LayerPin::Free);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!pairs[i].asChip) piecesOfPair[i] = route(pairs[i]);
    }
}

bool SceneLevels::markLongPairs() {
    for (Level& level : levels) assignLayers(level.nodes, level.edges, kMaxSpan);
    bool found = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const bool tooLong = std::ranges::any_of(piecesOfPair[i], [&](int piece) {
            return levels[pieces[piece].level].edges[pieces[piece].edge].tooLong;
        });
        if (tooLong) {
            pairs[i].asChip = true;
            found = true;
        }
    }
    return found;
}

}  // namespace tapescope::viewers
