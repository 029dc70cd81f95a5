// SPDX-License-Identifier: GPL-3.0-or-later
// GraphState: what follows from the state for each box, and the search.
#include "viewers/graph/graph_state.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tapescope::viewers {

namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

void GraphState::updateMarks() {
    m_marks.assign(m_scene.boxes.size(), BoxMark());
    m_litLines.assign(m_scene.lines.size(), 0);
    markBreakpoints();
    markProgress();
    markHeat();
    markSelection();
    markMatches();
    const int node = m_current ? nodeOf(*m_current) : -1;
    if (node >= 0) m_marks[m_scene.boxOfNode[node]].current = true;
}

void GraphState::markBreakpoints() {
    if (m_breakpoints.empty()) return;
    const auto strongest = [this](const GraphPlace& place, BoxMark& mark) {
        if (place.op.empty() && place.module.empty()) return;
        for (const GraphBreakpoint& b : m_breakpoints) {
            const PlaceMatch match = matchBreakpoint(b.name, place);
            if (match <= mark.dot) continue;
            mark.dot = match;
            mark.dotVerified = b.verified;
            mark.dotEnabled = b.enabled;
        }
    };
    for (std::size_t i = 0; i < m_marks.size(); ++i)
        strongest(place(static_cast<int>(i)), m_marks[i]);
    // Closed groups tell that there is one inside. Places repeat a lot: ask each only once.
    std::unordered_map<std::string, bool> asked;
    for (std::size_t node = 0; node < m_graph.nodes.size(); ++node) {
        const int box = m_scene.boxOfNode[node];
        if (m_scene.boxes[box].group < 0 || m_marks[box].dotInside) continue;
        const storage::GraphNode* op = operatorAt(static_cast<int>(node));
        if (op == nullptr || op->phase == storage::Phase::Backward) continue;
        const GraphGroup& group = m_graph.groups[m_graph.nodes[node].group];
        const GraphPlace where{op->op, group.path, false};
        const auto [it, isNew] = asked.try_emplace(breakpointName(where), false);
        if (isNew) {
            BoxMark mark;
            strongest(where, mark);
            it->second = mark.dot == PlaceMatch::Exact;
        }
        m_marks[box].dotInside = it->second;
    }
}

void GraphState::markProgress() {
    if (!m_progress) return;
    std::vector<int> all(m_marks.size(), 0);
    std::vector<int> ran(m_marks.size(), 0);
    for (std::size_t node = 0; node < m_graph.nodes.size(); ++node) {
        const std::int64_t seq = m_graph.nodes[node].seq;
        if (seq < 0) continue;
        const int box = m_scene.boxOfNode[node];
        ++all[box];
        if (seq < static_cast<std::int64_t>(*m_progress)) ++ran[box];
    }
    for (std::size_t i = 0; i < m_marks.size(); ++i) {
        if (all[i] > 0) m_marks[i].ran = static_cast<double>(ran[i]) / all[i];
    }
}

void GraphState::markHeat() {
    m_heatMax = 0;
    if (m_heat == GraphHeat::Kind) return;
    std::vector<double> sum(m_marks.size(), std::nan(""));
    for (std::size_t node = 0; node < m_graph.nodes.size(); ++node) {
        const double value = nodeValue(static_cast<int>(node), m_heat);
        if (std::isnan(value)) continue;
        double& total = sum[m_scene.boxOfNode[node]];
        total = std::isnan(total) ? value : total + value;
    }
    for (const double value : sum) {
        if (value > m_heatMax) m_heatMax = value;
    }
    for (std::size_t i = 0; i < m_marks.size(); ++i) {
        if (!std::isnan(sum[i])) m_marks[i].heat = m_heatMax > 0 ? sum[i] / m_heatMax : 0;
    }
}

void GraphState::markSelection() {
    const int selected = selectedBox();
    if (selected < 0) return;
    m_marks[selected].selected = true;
    for (const SceneConnection& c : m_scene.connections) {
        if (c.from != selected && c.to != selected) continue;
        for (const int line : c.lines) m_litLines[line] = 1;
        m_marks[c.from == selected ? c.to : c.from].neighbour = true;
    }
    const storage::GraphNode* op = operatorAt(m_selectedNode);
    if (op == nullptr) return;
    for (const int node : m_graph.backwardOf[op->seq])
        m_marks[m_scene.boxOfNode[node]].neighbour = true;
    if (op->forwardSeq >= 0) {
        const int forward = nodeOf(static_cast<std::uint32_t>(op->forwardSeq));
        if (forward >= 0) m_marks[m_scene.boxOfNode[forward]].neighbour = true;
    }
    m_marks[selected].neighbour = false;
}

void GraphState::markMatches() {
    for (std::size_t i = 0; i < m_matches.size(); ++i) {
        const Match& match = m_matches[i];
        const int box =
            match.node >= 0 ? m_scene.boxOfNode[match.node] : m_scene.boxOfGroup[match.group];
        m_marks[box].match = true;
        if (static_cast<int>(i) == m_activeMatch) m_marks[box].activeMatch = true;
    }
}

void GraphState::setSearch(const std::string& text) {
    m_search = lower(text);
    m_activeMatch = -1;
    findMatches();
    updateMarks();
}

void GraphState::findMatches() {
    m_matches.clear();
    if (!m_search.empty()) {
        const auto contains = [this](const std::string& text) {
            return lower(text).find(m_search) != std::string::npos;
        };
        for (int g = 0; g < static_cast<int>(m_graph.groups.size()); ++g) {
            const GraphGroup& group = m_graph.groups[g];
            if (group.kind == GraphGroup::Kind::Fold || group.kind == GraphGroup::Kind::Column)
                continue;
            if (contains(group.path) || contains(group.type))
                m_matches.push_back({-1, g, group.firstSeq});
        }
        for (int n = 0; n < static_cast<int>(m_graph.nodes.size()); ++n) {
            const ModuleGraphNode& node = m_graph.nodes[n];
            const bool number = node.seq >= 0 && m_search == "#" + std::to_string(node.seq);
            if (!number && !contains(node.label) && !contains(node.name)) continue;
            const std::uint32_t seq = node.seq >= 0 ? static_cast<std::uint32_t>(node.seq)
                                                    : m_graph.groups[node.group].firstSeq;
            m_matches.push_back({n, -1, seq});
        }
        std::ranges::stable_sort(m_matches, {}, &Match::seq);
    }
    if (m_activeMatch >= matchCount()) m_activeMatch = matchCount() - 1;
}

void GraphState::setActiveMatch(int i) {
    m_activeMatch = i;
    const Match& match = m_matches[i];
    if (match.node >= 0) {
        reveal(match.node);
    } else {
        const int parent = m_graph.groups[match.group].parent;
        for (int g = parent; g >= 0; g = m_graph.groups[g].parent) {
            m_decided[m_graph.groups[g].key] = true;
        }
        decideOpen();
        relayout();
    }
    updateMarks();
}

int GraphState::activeMatchBox() const {
    if (m_activeMatch < 0) return -1;
    const Match& match = m_matches[m_activeMatch];
    return match.node >= 0 ? m_scene.boxOfNode[match.node] : m_scene.boxOfGroup[match.group];
}

}  // namespace tapescope::viewers
