// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/graph_index.h"
#include "viewers/graph/graph_scene.h"
#include "viewers/graph/graph_view.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tapescope::viewers {

/// What is drawn on a box besides its text. Follows from the state; no reason for a new layout.
struct BoxMark {
    PlaceMatch dot = PlaceMatch::None;
    bool dotVerified = true;
    bool dotEnabled = true;
    bool dotInside = false;  ///< a closed group with a breakpoint in it
    double ran = 1;          ///< share of its operators that have run
    bool current = false;
    bool selected = false;
    bool neighbour =
        false;  ///< reads from or gives to the selected one, or is its forward or backward
    bool match = false;
    bool activeMatch = false;
    double heat = -1;  ///< 0 … 1; negative: no value
};

/// Whatever the graph view shows and the user changes, without a widget: open groups, selection,
/// marks, search. Indices are those of the module graph and the scene.
class GraphState final {
public:
    void setStyle(SceneStyle style);
    void setData(GraphDataPtr data);
    const GraphDataPtr& data() const { return m_data; }
    const ModuleGraph& graph() const { return m_graph; }
    const GraphScene& scene() const { return m_scene; }
    const GraphIndex& boxIndex() const { return m_boxIndex; }
    const GraphIndex& lineIndex() const { return m_lineIndex; }
    const std::vector<BoxMark>& marks() const { return m_marks; }
    const std::vector<char>& litLines() const { return m_litLines; }
    bool empty() const { return m_graph.nodes.empty(); }

    bool isOpen(int group) const { return m_open[group] != 0; }
    /// The user opens or closes a group.
    void setOpen(int group, bool open);
    void setAllOpen(bool open);
    /// Opens every group around a node.
    void reveal(int node);

    void setCurrent(std::optional<std::uint32_t> seq, bool after, bool follow);
    std::optional<std::uint32_t> current() const { return m_current; }
    bool currentAfter() const { return m_after; }
    void setProgress(std::optional<std::uint32_t> seq);
    void setBreakpoints(std::vector<GraphBreakpoint> breakpoints);
    void setHeat(GraphHeat heat);
    GraphHeat heat() const { return m_heat; }
    /// The largest value of a visible box, the upper end of the colour scale; in ns, FLOP or bytes.
    double heatMax() const { return m_heatMax; }
    /// In ns, FLOP or bytes; NaN: not known.
    double heatValue(int box) const;
    double nodeValue(int node, GraphHeat heat) const;
    double groupValue(int group, GraphHeat heat) const;

    /// Box of the selection: an operator, a leaf or a group; -1: none.
    int selectedBox() const;
    int selectedNode() const { return m_selectedNode; }
    int selectedGroup() const;
    void select(int node, int group);

    /// Matches operators and leaves by name, modules by path or type, "#12" by seq; none for an
    /// empty text.
    void setSearch(const std::string& text);
    int matchCount() const { return static_cast<int>(m_matches.size()); }
    int activeMatch() const { return m_activeMatch; }
    /// Makes match i the active one, opening the groups around it.
    void setActiveMatch(int i);
    int activeMatchBox() const;

    /// Where a breakpoint on this box would stand. op and module empty: nowhere (leaves, columns).
    GraphPlace place(int box) const;
    const storage::GraphNode* operatorAt(int node) const;
    int nodeOf(std::uint32_t seq) const;
    /// Top-most box that holds the point, inner ones first; -1.
    int boxAt(const QPointF& p) const;
    /// Chip of a box at a point, -1.
    static int chipAt(const SceneBox& box, const QPointF& p);

private:
    struct Match {
        int node = -1;
        int group = -1;
        std::uint32_t seq = 0;
    };
    void decideOpen();
    bool defaultOpen(const GraphGroup& group) const;
    void relayout();
    void updateMarks();
    void markBreakpoints();
    void markProgress();
    void markHeat();
    void markSelection();
    void markMatches();
    void findMatches();

    SceneStyle m_style;
    GraphDataPtr m_data;
    ModuleGraph m_graph;
    std::vector<const storage::GraphNode*> m_bySeq;
    GraphScene m_scene;
    GraphIndex m_boxIndex;
    GraphIndex m_lineIndex;
    std::vector<char> m_open;
    std::unordered_map<std::string, bool>
        m_decided;                               ///< by group key: as the user or the default chose
    std::unordered_set<std::string> m_followed;  ///< opened only because the current node is inside
    std::vector<BoxMark> m_marks;
    std::vector<char> m_litLines;
    std::optional<std::uint32_t> m_current;
    bool m_after = false;
    std::optional<std::uint32_t> m_progress;
    std::vector<GraphBreakpoint> m_breakpoints;
    GraphHeat m_heat = GraphHeat::Kind;
    double m_heatMax = 0;
    int m_selectedNode = -1;
    std::string m_selectedKey;  ///< of a group; empty: none
    std::string m_search;
    std::vector<Match> m_matches;
    int m_activeMatch = -1;
};

}  // namespace tapescope::viewers
