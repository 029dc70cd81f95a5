// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_scene.h"

#include "viewers/graph/packed_layout.h"
#include "viewers/graph/scene_levels.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tapescope::viewers {

namespace {

constexpr double kDotWidth = 22;  // left in a box: the breakpoint's dot
constexpr double kBoxMargin = 12;
constexpr double kOpenerWidth = 22;  // right in a group's title: + or −
constexpr double kMinBoxWidth = 64;
constexpr double kChipHeight = 16;
constexpr double kChipGap = 4;
constexpr double kChipMargin = 12;  // text to border, both sides together
constexpr double kGroupPadding = 12;
constexpr double kColumnGap = 72;
constexpr double kPackWidth = 720;  // unconnected parts go into rows of about this width
constexpr double kLabelOffset = 6;  // edge label from its edge
constexpr double kSpread = 0.6;     // incoming edges end on this share of a box's width
constexpr LayoutOptions kLevelOptions{.sweeps = 8, .maxSpan = kMaxSpan, .gapX = 24, .gapY = 40};

class SceneBuilder {
public:
    SceneBuilder(const ModuleGraph& graph, const std::vector<char>& open, const SceneStyle& style,
                 const SceneMemory* previous)
        : m_graph(graph),
          m_style(style),
          m_previous(previous),
          m_levels(graph, columnsOpened(graph, open)),
          m_nodeCount(static_cast<int>(graph.nodes.size())) {}

    GraphScene run() {
        const int items = m_nodeCount + static_cast<int>(m_graph.groups.size());
        m_box.assign(items, -1);
        m_sizes.resize(items);
        m_texts.resize(items);
        m_outputs.resize(items);
        m_hasReaders.assign(items, 0);
        m_chips.resize(items);
        collectOutputs();
        collectChips();
        for (int g = static_cast<int>(m_graph.groups.size()) - 1; g >= 0; --g) layoutLevel(g);
        placeColumns();
        for (const int column : m_graph.columns) placeLevel(column);
        makeLines();
        makeConnections();
        flipUpwardColumns();
        indexBoxes();
        return std::move(m_scene);
    }

private:
    struct Size {
        double width = 0;
        double height = 0;
    };

    static std::vector<char> columnsOpened(const ModuleGraph& graph, std::vector<char> open) {
        open.resize(graph.groups.size(), 0);
        for (const int column : graph.columns) open[column] = 1;
        return open;
    }

    bool shown(int group) const { return m_levels.isVisible(group) && m_levels.isOpen(group); }
    double titleHeight() const { return std::max(24.0, m_style.lineHeight + 8); }

    /// The text at the start of an item's outgoing edges: all it gives, each type once.
    void collectOutputs() {
        std::vector<std::vector<std::string>> types(m_outputs.size());
        for (const SceneLevels::Pair& pair : m_levels.pairs) {
            if (pair.asChip) continue;
            m_hasReaders[pair.from] = 1;
            if (m_levels.isNode(pair.from)) continue;
            const std::string& type = m_graph.links[pair.link].type;
            if (std::ranges::find(types[pair.from], type) == types[pair.from].end()) {
                types[pair.from].push_back(type);
            }
        }
        for (std::size_t i = 0; i < types.size(); ++i) {
            if (m_levels.isNode(static_cast<int>(i))) {
                m_outputs[i] = m_graph.nodes[i].type;
            } else if (!types[i].empty()) {
                m_outputs[i] = types[i].front();
                if (types[i].size() > 1) m_outputs[i] += " +" + std::to_string(types[i].size() - 1);
            }
        }
    }

    void collectChips() {
        for (const GraphRef& ref : m_graph.refs) {
            if (m_levels.visibleItem(ref.to) != ref.to) continue;
            addChip(ref.to, ref.from, ref.label.empty() ? ref.type : ref.label, ref.type);
        }
        for (const SceneLevels::Pair& pair : m_levels.pairs) {
            if (!pair.asChip) continue;
            const GraphLink& link = m_graph.links[pair.link];
            const ModuleGraphNode& from = m_graph.nodes[link.from];
            const int group = m_levels.isNode(pair.from) ? -1 : m_levels.groupOf(pair.from);
            addChip(pair.to, link.from, group >= 0 ? m_graph.groups[group].name : from.label,
                    link.type);
        }
        for (std::vector<SceneChip>& chips : m_chips) {
            if (static_cast<int>(chips.size()) <= kMaxChips) continue;
            SceneChip more;
            more.label = "+" + std::to_string(static_cast<int>(chips.size()) - kMaxChips + 1);
            for (std::size_t i = kMaxChips - 1; i < chips.size(); ++i) {
                more.type += (more.type.empty() ? "" : ", ") + chips[i].label;
            }
            chips.resize(kMaxChips - 1);
            chips.push_back(std::move(more));
        }
        for (std::vector<SceneChip>& chips : m_chips) {
            for (SceneChip& chip : chips) {
                chip.width = m_style.smallWidth(chip.label) + kChipMargin;
                chip.height = kChipHeight;
            }
        }
    }

    void addChip(int item, int from, const std::string& label, const std::string& type) {
        std::vector<SceneChip>& chips = m_chips[item];
        const bool known = std::ranges::any_of(chips, [&](const SceneChip& c) {
            return c.fromNode == from && c.label == label && c.type == type;
        });
        if (known) return;
        SceneChip chip;
        chip.fromNode = from;
        chip.label = label;
        chip.type = type;
        chips.push_back(std::move(chip));
    }

    /// Size of a node or a closed group. Chips stand in a row of their own, on the side where edges
    /// come in.
    Size boxSize(int item) {
        BoxText& text = m_texts[item];
        Size size;
        if (m_levels.isNode(item)) {
            const ModuleGraphNode& node = m_graph.nodes[item];
            text = m_style.nodeText(node);
            const bool leaf = node.seq < 0;
            size.width = text.width + kBoxMargin + (leaf ? kBoxMargin : kDotWidth);
            size.height = m_style.lineHeight + (leaf ? 6 : 10);
        } else {
            text = m_style.groupText(m_graph.groups[m_levels.groupOf(item)]);
            size.width = text.width + kDotWidth + kOpenerWidth;
            size.height = m_style.lineHeight * (text.subtitle.empty() ? 1 : 2) + 10;
        }
        size.width = std::max(size.width, kMinBoxWidth);
        if (!m_chips[item].empty()) {
            double chips = kChipGap;
            for (const SceneChip& chip : m_chips[item]) chips += chip.width + kChipGap;
            size.width = std::max(size.width, chips);
            size.height += kChipHeight + kChipGap;
        }
        if (m_hasReaders[item] && !m_outputs[item].empty()) {
            // The label begins at the edge in the middle and may reach into the gap, but not to the
            // neighbour.
            const double label = m_style.smallWidth(m_outputs[item]) + kLabelOffset;
            size.width = std::max(size.width, 2 * (label - kLevelOptions.gapX + 4));
        }
        return size;
    }

    std::string memoryKey(int item) const {
        if (m_levels.isGroup(item)) return m_graph.groups[m_levels.groupOf(item)].key;
        const ModuleGraphNode& node = m_graph.nodes[item];
        return "=" + std::to_string(static_cast<int>(m_graph.groups[node.group].column)) +
               node.name;
    }

    double remembered(int item) const {
        if (m_previous == nullptr || m_levels.isPort(item)) return std::nan("");
        if (m_levels.isNode(item) && m_graph.nodes[item].seq >= 0) {
            const auto seq = static_cast<std::size_t>(m_graph.nodes[item].seq);
            return seq < m_previous->bySeq.size() ? m_previous->bySeq[seq] : std::nan("");
        }
        const auto it = m_previous->byKey.find(memoryKey(item));
        return it == m_previous->byKey.end() ? std::nan("") : it->second;
    }

    void remember(int item, double x) {
        if (m_levels.isPort(item)) return;
        if (m_levels.isNode(item) && m_graph.nodes[item].seq >= 0) {
            const auto seq = static_cast<std::size_t>(m_graph.nodes[item].seq);
            SceneMemory& memory = m_scene.memory;
            if (memory.bySeq.size() <= seq) memory.bySeq.resize(seq + 1, std::nan(""));
            memory.bySeq[seq] = x;
        } else {
            m_scene.memory.byKey[memoryKey(item)] = x;
        }
    }

    void layoutLevel(int g) {
        if (!shown(g)) return;
        SceneLevels::Level& level = m_levels.levels[g];
        for (std::size_t i = 0; i < level.items.size(); ++i) {
            const int item = level.items[i];
            LayoutNode& node = level.nodes[i];
            if (m_levels.isPort(item)) {
                node.width = node.height = 0;
                continue;
            }
            const bool openGroup =
                m_levels.isGroup(item) && m_levels.isOpen(m_levels.groupOf(item));
            if (!openGroup) m_sizes[item] = boxSize(item);
            node.width = m_sizes[item].width;
            node.height = m_sizes[item].height;
            node.seed = remembered(item);
        }
        const LayoutStats stats = layoutPacked(level.nodes, level.edges, kLevelOptions, kPackWidth);
        m_scene.stats.layers = std::max(m_scene.stats.layers, stats.layers);
        m_scene.stats.dummies += stats.dummies;
        m_scene.stats.longEdges += stats.longEdges;
        m_scene.stats.crossings += stats.crossings;
        Size inner;
        for (std::size_t i = 0; i < level.items.size(); ++i) {
            const LayoutNode& node = level.nodes[i];
            inner.width = std::max(inner.width, node.x + node.width);
            inner.height = std::max(inner.height, node.y + node.height);
            remember(level.items[i], node.x + node.width / 2);
        }
        for (const LayoutEdge& edge : level.edges) {
            for (const LayoutPoint& p : edge.bends) inner.width = std::max(inner.width, p.x);
        }
        const int item = m_levels.groupItem(g);
        m_texts[item] = m_style.groupText(m_graph.groups[g]);
        const double title = m_texts[item].width + kDotWidth + kOpenerWidth;
        m_indent[g] = kGroupPadding + std::max(0.0, title - inner.width - 2 * kGroupPadding) / 2;
        m_sizes[item].width = inner.width + 2 * m_indent[g];
        m_sizes[item].height = inner.height + titleHeight() + 2 * kGroupPadding;
    }

    bool upward(int group) const { return m_graph.groups[group].column == GraphColumn::Backward; }

    void addBox(int item, double x, double y) {
        SceneBox box;
        box.x = x;
        box.y = y;
        box.width = m_sizes[item].width;
        box.height = m_sizes[item].height;
        if (m_levels.isNode(item)) {
            box.node = item;
            box.upward = upward(m_graph.nodes[item].group);
        } else {
            box.group = m_levels.groupOf(item);
            box.open = shown(box.group);
            box.upward = upward(box.group);
        }
        box.text = m_texts[item];
        box.output = m_outputs[item];
        box.hasReaders = m_hasReaders[item] != 0;
        if (!box.open) {
            box.chips = m_chips[item];
            double chipX = x + kChipGap;
            for (SceneChip& chip : box.chips) {
                chip.x = chipX;
                chip.y = y + kChipGap;
                chipX += chip.width + kChipGap;
            }
        }
        m_box[item] = static_cast<int>(m_scene.boxes.size());
        m_scene.boxes.push_back(std::move(box));
    }

    void placeColumns() {
        for (const int column : m_graph.columns) {
            const Size& size = m_sizes[m_levels.groupItem(column)];
            m_scene.height = std::max(m_scene.height, size.height);
        }
        for (const int column : m_graph.columns) {
            const int item = m_levels.groupItem(column);
            if (m_scene.width > 0) m_scene.width += kColumnGap;
            // Both ends of the loss side by side: forward and backward stand on one ground line.
            addBox(item, m_scene.width, upward(column) ? 0 : m_scene.height - m_sizes[item].height);
            m_scene.width += m_sizes[item].width;
        }
    }

    /// Top left of a level's content.
    LayoutPoint origin(int g) const {
        const SceneBox& box = m_scene.boxes[m_box[m_levels.groupItem(g)]];
        // The title is on top on the screen: in a column yet to be turned over, below.
        return {box.x + m_indent.at(g), box.y + kGroupPadding + (upward(g) ? 0 : titleHeight())};
    }

    void placeLevel(int g) {
        const LayoutPoint at = origin(g);
        const SceneLevels::Level& level = m_levels.levels[g];
        for (std::size_t i = 0; i < level.items.size(); ++i) {
            const int item = level.items[i];
            if (m_levels.isPort(item)) continue;
            addBox(item, at.x + level.nodes[i].x, at.y + level.nodes[i].y);
            if (m_levels.isGroup(item) && shown(m_levels.groupOf(item))) {
                placeLevel(m_levels.groupOf(item));
            }
        }
    }

    double portX(int port) const {
        const int g = m_levels.levelOf(port);
        return origin(g).x + m_levels.levels[g].nodes[m_levels.slotOf(port)].x;
    }

    /// Where a piece touches an item: its x, and the way between the item's border and the layer's.
    void appendEnd(std::vector<LayoutPoint>& points, const SceneLevels::Piece& piece, bool start,
                   double spread) const {
        const int item = start ? piece.from : piece.to;
        const SceneLevels::Level& level = m_levels.levels[piece.level];
        const LayoutNode& node = level.nodes[m_levels.slotOf(item)];
        const LayoutPoint at = origin(piece.level);
        double x = at.x + node.x + node.width / 2;
        double border = at.y + node.y + (start ? node.height : 0);
        double layer = at.y + (start ? node.layerBottom : node.layerTop);
        if (m_levels.isPort(item)) {
            const SceneBox& group = m_scene.boxes[m_box[m_levels.groupItem(piece.level)]];
            border = m_levels.isOutPort(item) ? group.y + group.height : group.y;
        } else if (m_levels.isGroup(item) && shown(m_levels.groupOf(item))) {
            const int port = m_levels.port(m_levels.groupOf(item), piece.signal, start);
            if (port >= 0) x = portX(port);
        } else if (!start) {
            x += spread * node.width * kSpread;
        }
        if (start) {
            points.push_back({x, border});
            if (layer != border) points.push_back({x, layer});
        } else {
            if (layer != border) points.push_back({x, layer});
            points.push_back({x, border});
        }
    }

    void makeLines() {
        // Edges that end at one box are spread over its width in the order they come from.
        std::map<std::pair<int, int>, std::vector<int>> arriving;
        for (int i = 0; i < static_cast<int>(m_levels.pieces.size()); ++i) {
            const SceneLevels::Piece& piece = m_levels.pieces[i];
            arriving[{piece.level, piece.to}].push_back(i);
        }
        std::vector<double> spread(m_levels.pieces.size(), 0);
        for (auto& [end, list] : arriving) {
            if (list.size() < 2) continue;
            std::ranges::stable_sort(list, {}, [&](int i) { return lastX(m_levels.pieces[i]); });
            const auto last = static_cast<double>(list.size() - 1);
            for (std::size_t k = 0; k < list.size(); ++k) {
                spread[list[k]] = static_cast<double>(k) / last - 0.5;
            }
        }
        for (std::size_t i = 0; i < m_levels.pieces.size(); ++i) {
            const SceneLevels::Piece& piece = m_levels.pieces[i];
            const LayoutPoint at = origin(piece.level);
            SceneLine line;
            appendEnd(line.points, piece, true, 0);
            for (const LayoutPoint& p : m_levels.levels[piece.level].edges[piece.edge].bends) {
                line.points.push_back({at.x + p.x, at.y + p.y});
            }
            appendEnd(line.points, piece, false, spread[i]);
            line.upward = upward(piece.level);
            line.arrow = m_levels.isNode(piece.to) ||
                         (m_levels.isGroup(piece.to) && !shown(m_levels.groupOf(piece.to)));
            m_scene.lines.push_back(std::move(line));
        }
    }

    double lastX(const SceneLevels::Piece& piece) const {
        const SceneLevels::Level& level = m_levels.levels[piece.level];
        const LayoutEdge& edge = level.edges[piece.edge];
        if (!edge.bends.empty()) return edge.bends.back().x;
        const LayoutNode& node = level.nodes[m_levels.slotOf(piece.from)];
        return node.x + node.width / 2;
    }

    void makeConnections() {
        for (std::size_t i = 0; i < m_levels.pairs.size(); ++i) {
            const SceneLevels::Pair& pair = m_levels.pairs[i];
            m_scene.connections.push_back({m_box[pair.from], m_box[pair.to],
                                           m_levels.piecesOfPair[i],
                                           m_graph.links[pair.link].type});
        }
    }

    void flipUpwardColumns() {
        const double height = m_scene.height;
        for (SceneBox& box : m_scene.boxes) {
            if (!box.upward) continue;
            box.y = height - box.y - box.height;
            for (SceneChip& chip : box.chips) chip.y = height - chip.y - chip.height;
        }
        for (std::size_t i = 0; i < m_levels.pieces.size(); ++i) {
            if (!upward(m_levels.pieces[i].level)) continue;
            for (LayoutPoint& p : m_scene.lines[i].points) p.y = height - p.y;
        }
    }

    void indexBoxes() {
        for (int node = 0; node < m_nodeCount; ++node) {
            m_scene.boxOfNode.push_back(m_box[m_levels.visibleItem(node)]);
        }
        for (int g = 0; g < static_cast<int>(m_graph.groups.size()); ++g) {
            m_scene.boxOfGroup.push_back(m_box[m_levels.visibleGroupItem(g)]);
        }
    }

    const ModuleGraph& m_graph;
    const SceneStyle& m_style;
    const SceneMemory* m_previous;
    SceneLevels m_levels;
    const int m_nodeCount;
    GraphScene m_scene;
    std::vector<int> m_box;  ///< by item
    std::vector<Size> m_sizes;
    std::vector<BoxText> m_texts;
    std::vector<std::string> m_outputs;
    std::vector<char> m_hasReaders;
    std::vector<std::vector<SceneChip>> m_chips;
    std::unordered_map<int, double> m_indent;  ///< by open group: content's x from its left
};

}  // namespace

GraphScene layoutScene(const ModuleGraph& graph, const std::vector<char>& open,
                       const SceneStyle& style, const SceneMemory* previous) {
    return SceneBuilder(graph, open, style, previous).run();
}

}  // namespace tapescope::viewers
