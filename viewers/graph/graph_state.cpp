// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tapescope::viewers {

namespace {

/// Models with fewer modules are shown open; deep ones would be a strip nobody can read.
constexpr std::size_t kOpenModules = 24;
constexpr int kOpenOperators = 40;
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

QRectF rectOf(const SceneBox& box) { return {box.x, box.y, box.width, box.height}; }

QRectF rectOf(const SceneLine& line) {
    double left = line.points.front().x;
    double right = left;
    double top = line.points.front().y;
    double bottom = top;
    for (const LayoutPoint& p : line.points) {
        left = std::min(left, p.x);
        right = std::max(right, p.x);
        top = std::min(top, p.y);
        bottom = std::max(bottom, p.y);
    }
    return {left, top, right - left, bottom - top};
}

}  // namespace

void GraphState::setStyle(SceneStyle style) {
    m_style = std::move(style);
    relayout();
}

void GraphState::setData(GraphDataPtr data) {
    const auto selected = operatorAt(m_selectedNode);
    const std::int64_t selectedSeq = selected != nullptr ? selected->seq : -1;
    m_data = std::move(data);
    m_graph = m_data ? buildModuleGraph(m_data->graph, m_data->modules) : ModuleGraph();
    m_bySeq.assign(m_graph.nodeOfSeq.size(), nullptr);
    if (m_data) {
        for (const storage::GraphNode& node : m_data->graph.nodes) {
            if (nodeOf(node.seq) >= 0 && m_bySeq[node.seq] == nullptr) m_bySeq[node.seq] = &node;
        }
    }
    m_selectedNode = selectedSeq >= 0 ? nodeOf(static_cast<std::uint32_t>(selectedSeq)) : -1;
    findMatches();
    decideOpen();
    relayout();
}

bool GraphState::defaultOpen(const GraphGroup& group) const {
    switch (group.kind) {
        case GraphGroup::Kind::Column:
            return true;
        case GraphGroup::Kind::Fold:
        case GraphGroup::Kind::Backward:
            return false;
        case GraphGroup::Kind::Module:
            break;
    }
    if (m_data->modules.size() <= kOpenModules) return group.operators <= kOpenOperators;
    // A wrapper around all the rest says nothing when closed.
    const GraphGroup& parent = m_graph.groups[group.parent];
    return parent.operators == group.operators && group.groups.size() + group.nodes.size() > 1;
}

void GraphState::decideOpen() {
    m_open.assign(m_graph.groups.size(), 0);
    for (std::size_t g = 0; g < m_graph.groups.size(); ++g) {
        const GraphGroup& group = m_graph.groups[g];
        const auto [it, isNew] = m_decided.try_emplace(group.key, false);
        if (isNew) it->second = defaultOpen(group);
        m_open[g] = it->second || m_followed.contains(group.key) ? 1 : 0;
    }
}

void GraphState::relayout() {
    if (!m_style.groupText) return;
    m_scene = layoutScene(m_graph, m_open, m_style, &m_scene.memory);
    m_boxIndex = GraphIndex({m_scene.width, m_scene.height});
    for (const SceneBox& box : m_scene.boxes) m_boxIndex.add(rectOf(box));
    m_lineIndex = GraphIndex({m_scene.width, m_scene.height});
    for (const SceneLine& line : m_scene.lines) m_lineIndex.add(rectOf(line));
    updateMarks();
}

void GraphState::setOpen(int group, bool open) {
    const std::string& key = m_graph.groups[group].key;
    m_decided[key] = open;
    if (!open) m_followed.erase(key);
    decideOpen();
    relayout();
}

void GraphState::setAllOpen(bool open) {
    for (const GraphGroup& group : m_graph.groups) {
        m_decided[group.key] = open || group.kind == GraphGroup::Kind::Column;
    }
    m_followed.clear();
    decideOpen();
    relayout();
}

void GraphState::reveal(int node) {
    bool changed = false;
    for (int g = m_graph.nodes[node].group; g >= 0; g = m_graph.groups[g].parent) {
        if (m_open[g] != 0) continue;
        m_decided[m_graph.groups[g].key] = true;
        changed = true;
    }
    if (!changed) return;
    decideOpen();
    relayout();
}

void GraphState::setCurrent(std::optional<std::uint32_t> seq, bool after, bool follow) {
    m_current = seq;
    m_after = after;
    std::unordered_set<std::string> followed;
    const int node = seq ? nodeOf(*seq) : -1;
    if (node >= 0 && follow) {
        for (int g = m_graph.nodes[node].group; g >= 0; g = m_graph.groups[g].parent) {
            if (!m_decided[m_graph.groups[g].key]) followed.insert(m_graph.groups[g].key);
        }
    } else if (seq) {
        followed = m_followed;
    }
    if (followed == m_followed) {
        updateMarks();
        return;
    }
    m_followed = std::move(followed);
    decideOpen();
    relayout();
}

void GraphState::setProgress(std::optional<std::uint32_t> seq) {
    m_progress = seq;
    updateMarks();
}

void GraphState::setBreakpoints(std::vector<GraphBreakpoint> breakpoints) {
    m_breakpoints = std::move(breakpoints);
    updateMarks();
}

void GraphState::setHeat(GraphHeat heat) {
    m_heat = heat;
    updateMarks();
}

void GraphState::select(int node, int group) {
    m_selectedNode = node;
    m_selectedKey = group >= 0 ? m_graph.groups[group].key : std::string();
    updateMarks();
}

int GraphState::selectedGroup() const {
    if (m_selectedKey.empty()) return -1;
    const auto it = std::ranges::find(m_graph.groups, m_selectedKey, &GraphGroup::key);
    return it == m_graph.groups.end() ? -1 : static_cast<int>(it - m_graph.groups.begin());
}

int GraphState::selectedBox() const {
    if (m_selectedNode >= 0) return m_scene.boxOfNode[m_selectedNode];
    const int group = selectedGroup();
    return group >= 0 ? m_scene.boxOfGroup[group] : -1;
}

const storage::GraphNode* GraphState::operatorAt(int node) const {
    if (node < 0 || m_graph.nodes[node].seq < 0) return nullptr;
    return m_bySeq[m_graph.nodes[node].seq];
}

int GraphState::nodeOf(std::uint32_t seq) const {
    return seq < m_graph.nodeOfSeq.size() ? m_graph.nodeOfSeq[seq] : -1;
}

double GraphState::nodeValue(int node, GraphHeat heat) const {
    const storage::GraphNode* op = operatorAt(node);
    if (op == nullptr) return kNoValue;
    switch (heat) {
        case GraphHeat::Kind:
            break;
        case GraphHeat::Time:
            return op->seq < m_data->timeNs.size() ? m_data->timeNs[op->seq] : kNoValue;
        case GraphHeat::Flops:
            return op->flops;
        case GraphHeat::Memory:
            return static_cast<double>(op->bytes);
    }
    return kNoValue;
}

double GraphState::groupValue(int group, GraphHeat heat) const {
    double sum = 0;
    bool known = false;
    std::vector<int> stack{group};
    while (!stack.empty()) {
        const GraphGroup& g = m_graph.groups[stack.back()];
        stack.pop_back();
        for (const int node : g.nodes) {
            const double value = nodeValue(node, heat);
            if (std::isnan(value)) continue;
            sum += value;
            known = true;
        }
        stack.insert(stack.end(), g.groups.begin(), g.groups.end());
    }
    return known ? sum : kNoValue;
}

double GraphState::heatValue(int box) const {
    const SceneBox& b = m_scene.boxes[box];
    return b.node >= 0 ? nodeValue(b.node, m_heat) : groupValue(b.group, m_heat);
}

GraphPlace GraphState::place(int box) const {
    const SceneBox& b = m_scene.boxes[box];
    if (b.group >= 0) {
        const GraphGroup& group = m_graph.groups[b.group];
        if (group.kind == GraphGroup::Kind::Backward) return {group.type, group.path, true};
        if (group.kind != GraphGroup::Kind::Module || group.column != GraphColumn::Forward)
            return {};
        return {{}, group.path, false};
    }
    const storage::GraphNode* op = operatorAt(b.node);
    if (op == nullptr) return {};
    int g = m_graph.nodes[b.node].group;
    while (m_graph.groups[g].path.empty() && m_graph.groups[g].parent >= 0) {
        g = m_graph.groups[g].parent;
    }
    GraphPlace place{op->op, m_graph.groups[g].path, false};
    if (op->phase == storage::Phase::Backward && op->forwardSeq >= 0) {
        // The adapter names a gradient after the operator whose gradient it is.
        const int forward = nodeOf(static_cast<std::uint32_t>(op->forwardSeq));
        if (forward >= 0) {
            place.op = m_graph.nodes[forward].label;
            place.backward = true;
        }
    }
    return place;
}

int GraphState::boxAt(const QPointF& p) const {
    int found = -1;
    // Boxes inside others have larger indices.
    m_boxIndex.query(QRectF(p, QSizeF(0, 0)), [&](int box) { found = std::max(found, box); });
    return found;
}

int GraphState::chipAt(const SceneBox& box, const QPointF& p) {
    for (std::size_t i = 0; i < box.chips.size(); ++i) {
        const SceneChip& chip = box.chips[i];
        if (QRectF(chip.x, chip.y, chip.width, chip.height).contains(p)) return static_cast<int>(i);
    }
    return -1;
}

}  // namespace tapescope::viewers
