// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/layered_layout.h"
#include "viewers/graph/module_graph.h"

#include <unordered_map>
#include <vector>

namespace tapescope::viewers {

/// What is visible of a module graph, cut into one plain graph per open group. An item is a node
/// (its index), a group (node count + its index) or a port (above): where the edges of one source
/// pass the border of an open group.
class SceneLevels final {
public:
    struct Pair {  ///< an edge between visible items, and the link that gives it its type
        int from;
        int to;
        int link;
        bool asChip = false;
    };
    struct Piece {  ///< a pair's way through one level
        int level;
        int edge;  ///< in that level
        int from;
        int to;
        int signal;  ///< the item all pieces of this source start at
        friend bool operator==(const Piece&, const Piece&) = default;
    };
    struct Level {
        std::vector<int> items;
        std::vector<LayoutNode> nodes;  ///< by item
        std::vector<LayoutEdge> edges;
    };

    SceneLevels(const ModuleGraph& graph, const std::vector<char>& open);

    int nodeItem(int node) const { return node; }
    int groupItem(int group) const { return m_nodeCount + group; }
    bool isNode(int item) const { return item < m_nodeCount; }
    bool isGroup(int item) const {
        return item >= m_nodeCount && item < m_nodeCount + m_groupCount;
    }
    bool isPort(int item) const { return item >= m_nodeCount + m_groupCount; }
    int groupOf(int item) const { return item - m_nodeCount; }
    bool isOpen(int group) const { return m_open[group] != 0; }
    bool isVisible(int group) const { return m_visible[group] != 0; }
    /// The visible item a node is in.
    int visibleItem(int node) const;
    int visibleGroupItem(int group) const;
    int levelOf(int item) const;
    int slotOf(int item) const { return m_slot[item]; }
    /// Port through which `signal` leaves or enters an open group, or -1.
    int port(int group, int signal, bool out) const;
    bool isOutPort(int item) const { return m_ports[item - m_nodeCount - m_groupCount].out; }

    std::vector<Level> levels;  ///< by group; empty unless open and visible
    std::vector<Pair> pairs;
    std::vector<std::vector<int>> piecesOfPair;  ///< empty for chips
    std::vector<Piece> pieces;

private:
    struct Port {
        int group;
        bool out;
    };
    struct Key {
        std::int64_t a;
        std::int64_t b;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const {
            return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(k.a) * 1000003 ^
                                              static_cast<std::uint64_t>(k.b));
        }
    };

    void build();
    bool markLongPairs();
    void addItem(int level, int item, LayerPin pin);
    int makePort(int group, int signal, bool out);
    int addPiece(int level, int from, int to, int signal);
    std::vector<int> route(const Pair& pair);

    const ModuleGraph& m_graph;
    const int m_nodeCount;
    const int m_groupCount;
    std::vector<char> m_open;
    std::vector<char> m_visible;
    std::vector<int> m_depth;
    std::vector<int> m_closedAround;  ///< by group: outermost closed group at or above it, or -1
    std::vector<int> m_slot;
    std::vector<Port> m_ports;
    std::unordered_map<Key, int, KeyHash> m_portOf;
    std::unordered_map<Key, int, KeyHash> m_edgeOf;
    std::unordered_map<Key, int, KeyHash> m_pieceOf;
};

/// Edges over more layers than this are drawn as a chip at their reader.
constexpr int kMaxSpan = 24;

}  // namespace tapescope::viewers
