// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/module_graph.h"

#include "viewers/graph/group_folding.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <unordered_map>

namespace tapescope::viewers {

namespace {

constexpr std::size_t kMaxSparse = 16;

GraphColumn columnOf(storage::Phase phase) {
    switch (phase) {
        case storage::Phase::Backward:
            return GraphColumn::Backward;
        case storage::Phase::Optimizer:
            return GraphColumn::Optimizer;
        case storage::Phase::Other:
        case storage::Phase::Data:
        case storage::Phase::Forward:
        case storage::Phase::Evaluate:
            break;
    }
    return GraphColumn::Forward;
}

/// "h.3" of "gpt.h.3", "conv1" of "layer.conv1": a bare number says too little.
std::string shortName(const std::string& path) {
    std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return path;
    const bool number = path.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    if (number && dot > 0) {
        dot = path.rfind('.', dot - 1);
        if (dot == std::string::npos) return path;
    }
    return path.substr(dot + 1);
}

class Builder {
public:
    Builder(const storage::Graph& graph, const std::vector<storage::ModuleRow>& modules)
        : m_graph(graph) {
        for (const storage::ModuleRow& row : modules) m_rows.emplace(row.id, &row);
        for (const storage::GraphNode& node : graph.nodes) {
            if (node.seq > kMaxSparse * graph.nodes.size()) continue;  // damaged: no such numbering
            m_bySeq.emplace(node.seq, &node);
            m_seqs = std::max(m_seqs, node.seq + 1);
        }
    }

    ModuleGraph run() {
        m_result.nodeOfSeq.assign(m_seqs, -1);
        m_result.backwardOf.resize(m_seqs);
        addNodes();
        addInputs();
        foldEqualGroups(m_result);
        summarize();
        return std::move(m_result);
    }

private:
    int addGroup(GraphGroup group) {
        const int index = static_cast<int>(m_result.groups.size());
        if (group.parent >= 0) {
            m_result.groups[group.parent].groups.push_back(index);
        } else {
            m_result.columns.push_back(index);
        }
        m_result.groups.push_back(std::move(group));
        return index;
    }

    int columnGroup(GraphColumn column) {
        int& index = m_columns[static_cast<std::size_t>(column)];
        if (index < 0) {
            GraphGroup group;
            group.kind = GraphGroup::Kind::Column;
            group.column = column;
            group.key = std::to_string(static_cast<int>(column)) + ":";
            index = addGroup(std::move(group));
        }
        return index;
    }

    /// Modules from the outermost to `id`; the root (path "") is the column itself. A damaged
    /// parent chain ends early.
    std::vector<const storage::ModuleRow*> chain(storage::ModuleId id) const {
        std::vector<const storage::ModuleRow*> result;
        for (auto it = m_rows.find(id); it != m_rows.end() && !it->second->path.empty();
             it = m_rows.find(it->second->parent)) {
            result.push_back(it->second);
            if (result.size() > m_rows.size()) return {};
        }
        std::ranges::reverse(result);
        return result;
    }

    int moduleGroup(int parent, const storage::ModuleRow& row, int call) {
        GraphGroup group;
        group.column = m_result.groups[parent].column;
        group.parent = parent;
        group.path = row.path;
        group.name = shortName(row.path);
        group.type = row.type;
        group.details = row.details;
        group.parameters = row.parameters;
        group.key = m_result.groups[parent].key + "/" + std::to_string(row.id);
        if (call > 0) {
            group.key += "#" + std::to_string(call);
            group.name += " #" + std::to_string(call + 1);
        }
        return addGroup(std::move(group));
    }

    /// Forward: a module left and entered again is a second call and gets a group of its own, so
    /// that groups never form cycles.
    int forwardGroup(GraphColumn column, storage::ModuleId id) {
        const std::vector<const storage::ModuleRow*> wanted = chain(id);
        std::vector<OpenModule>& open = m_open[static_cast<std::size_t>(column)];
        std::size_t same = 0;
        while (same < open.size() && same < wanted.size() && open[same].row == wanted[same]) ++same;
        open.resize(same);
        int group = open.empty() ? columnGroup(column) : open.back().group;
        for (std::size_t i = same; i < wanted.size(); ++i) {
            const int call = m_calls[{group, wanted[i]->id}]++;
            group = moduleGroup(group, *wanted[i], call);
            open.push_back({wanted[i], group});
        }
        return group;
    }

    /// Backward: the mirror of the forward operator's group. Without one: by module.
    int backwardGroup(const storage::GraphNode& node) {
        const int column = columnGroup(GraphColumn::Backward);
        const int forward = nodeOf(node.forwardSeq);
        if (forward >= 0) return mirror(m_result.nodes[forward].group);
        int group = column;
        for (const storage::ModuleRow* row : chain(node.module)) {
            int& child = m_backwardModules.try_emplace({group, row->id}, -1).first->second;
            if (child < 0) child = moduleGroup(group, *row, 0);
            group = child;
        }
        return group;
    }

    int mirror(int forward) {
        const GraphGroup source = m_result.groups[forward];
        if (source.kind == GraphGroup::Kind::Column) return columnGroup(GraphColumn::Backward);
        if (auto it = m_mirrors.find(forward); it != m_mirrors.end()) return it->second;
        GraphGroup group = source;
        group.parent = mirror(source.parent);
        group.column = GraphColumn::Backward;
        group.key = m_result.groups[group.parent].key + source.key.substr(source.key.rfind('/'));
        group.groups.clear();
        group.nodes.clear();
        const int index = addGroup(std::move(group));
        m_mirrors.emplace(forward, index);
        return index;
    }

    int nodeOf(std::int64_t seq) const {
        return seq >= 0 && seq < static_cast<std::int64_t>(m_seqs) ? m_result.nodeOfSeq[seq] : -1;
    }

    int addNode(ModuleGraphNode node) {
        const int index = static_cast<int>(m_result.nodes.size());
        m_result.groups[node.group].nodes.push_back(index);
        m_result.nodes.push_back(std::move(node));
        return index;
    }

    void addNodes() {
        std::vector<const storage::GraphNode*> order;
        for (const auto& [seq, node] : m_bySeq) order.push_back(node);
        std::ranges::sort(order, {}, [](const storage::GraphNode* n) { return n->seq; });
        std::map<std::pair<int, std::int32_t>, std::vector<const storage::GraphNode*>> gradients;
        for (const storage::GraphNode* node : order) {
            const GraphColumn column = columnOf(node->phase);
            const int group = column == GraphColumn::Backward ? backwardGroup(*node)
                                                              : forwardGroup(column, node->module);
            m_result.nodeOfSeq[node->seq] =
                addNode({group, node->seq, node->op, {}, node->outputs});
            if (column == GraphColumn::Backward && nodeOf(node->forwardSeq) >= 0) {
                m_result.backwardOf[node->forwardSeq].push_back(m_result.nodeOfSeq[node->seq]);
                gradients[{group, node->forwardSeq}].push_back(node);
            }
        }
        groupGradients(gradients);
    }

    /// Where a module's backward computes several operators' gradients, those of more than one step
    /// get a group each.
    void groupGradients(const std::map<std::pair<int, std::int32_t>,
                                       std::vector<const storage::GraphNode*>>& gradients) {
        std::unordered_map<int, int> kinds;
        for (const auto& [place, nodes] : gradients) ++kinds[place.first];
        for (const auto& [place, nodes] : gradients) {
            const auto [parent, forwardSeq] = place;
            if (nodes.size() < 2 || kinds[parent] < 2) continue;
            GraphGroup group;
            group.kind = GraphGroup::Kind::Backward;
            group.column = GraphColumn::Backward;
            group.parent = parent;
            group.path = m_result.groups[parent].path;
            group.type = m_result.nodes[nodeOf(forwardSeq)].label;
            group.name = group.type;
            group.key = m_result.groups[parent].key + "/b" + std::to_string(forwardSeq);
            const int index = addGroup(std::move(group));
            for (const storage::GraphNode* node : nodes) {
                const int n = nodeOf(node->seq);
                m_result.groups[index].nodes.push_back(n);
                m_result.nodes[n].group = index;
            }
        }
        for (const auto& [parent, kindCount] : kinds) {
            std::erase_if(m_result.groups[parent].nodes,
                          [&](int n) { return m_result.nodes[n].group != parent; });
        }
    }

    GraphColumn columnOfNode(int node) const {
        return m_result.groups[m_result.nodes[node].group].column;
    }

    void addInputs() {
        struct Reading {
            int reader;
            const storage::GraphEdge* edge;
        };
        // Leaves in order of first reading, per column, so that the result does not depend on
        // hashing.
        std::vector<std::pair<std::string, std::vector<Reading>>> leaves[3];
        std::unordered_map<std::string, std::size_t> leafIndex[3];
        for (std::uint32_t seq = 0; seq < m_seqs; ++seq) {
            const int to = m_result.nodeOfSeq[seq];
            if (to < 0) continue;
            const GraphColumn column = columnOfNode(to);
            for (const storage::GraphEdge& edge : m_bySeq.at(seq)->inputs) {
                if (edge.fromSeq >= 0) {
                    const int from = nodeOf(edge.fromSeq);
                    if (from < 0 || edge.fromSeq >= static_cast<std::int64_t>(seq)) continue;
                    if (columnOfNode(from) == column) {
                        m_result.links.push_back({from, to, edge.type});
                    } else {
                        m_result.refs.push_back({to, from, m_result.nodes[from].label, edge.type});
                    }
                } else if (edge.leaf.empty()) {
                    m_result.refs.push_back({to, -1, {}, edge.type});
                } else {
                    const auto c = static_cast<std::size_t>(column);
                    const auto [it, added] = leafIndex[c].try_emplace(edge.leaf, leaves[c].size());
                    if (added) leaves[c].push_back({edge.leaf, {}});
                    leaves[c][it->second].second.push_back({to, &edge});
                }
            }
        }
        std::unordered_map<std::string, int> forwardLeaves;
        for (const auto c : {0U, 1U, 2U}) {
            for (const auto& [name, readings] : leaves[c]) {
                std::vector<int> groups;
                for (const Reading& r : readings) groups.push_back(m_result.nodes[r.reader].group);
                std::ranges::sort(groups);
                groups.erase(std::ranges::unique(groups).begin(), groups.end());
                const auto known = forwardLeaves.find(name);
                if (known != forwardLeaves.end() ||
                    static_cast<int>(groups.size()) > kMaxLeafGroups) {
                    const int from = known != forwardLeaves.end() ? known->second : -1;
                    for (const Reading& r : readings) {
                        m_result.refs.push_back({r.reader, from, name, r.edge->type});
                    }
                    forwardLeaves.emplace(name, -1);
                    continue;
                }
                const int leaf = addLeaf(name, readings.front().edge->type, groups);
                for (const Reading& r : readings) {
                    m_result.links.push_back({leaf, r.reader, r.edge->type});
                }
                if (c == 0) forwardLeaves.emplace(name, leaf);
            }
        }
    }

    /// A parameter belongs into its module, an input of the model above everything.
    int addLeaf(const std::string& name, const std::string& type, const std::vector<int>& readers) {
        int common = readers.front();
        for (int reader : readers) common = commonGroup(common, reader);
        while (m_result.groups[common].parent >= 0) {
            const GraphGroup& group = m_result.groups[common];
            if (group.kind == GraphGroup::Kind::Module && name.starts_with(group.path + ".")) break;
            common = group.parent;
        }
        const std::string& path = m_result.groups[common].path;
        const std::string label = path.empty() ? name : name.substr(path.size() + 1);
        return addNode({common, -1, label, name, type});
    }

    int commonGroup(int a, int b) const {
        int da = m_result.depth(a);
        int db = m_result.depth(b);
        for (; da > db; --da) a = m_result.groups[a].parent;
        for (; db > da; --db) b = m_result.groups[b].parent;
        while (a != b) {
            a = m_result.groups[a].parent;
            b = m_result.groups[b].parent;
        }
        return a;
    }

    void summarize() {
        for (GraphGroup& group : m_result.groups) {
            group.firstSeq = std::numeric_limits<std::uint32_t>::max();
            group.operators = 0;
        }
        for (const ModuleGraphNode& node : m_result.nodes) {
            if (node.seq < 0) continue;
            const auto seq = static_cast<std::uint32_t>(node.seq);
            for (int g = node.group; g >= 0; g = m_result.groups[g].parent) {
                GraphGroup& group = m_result.groups[g];
                ++group.operators;
                group.firstSeq = std::min(group.firstSeq, seq);
                group.lastSeq = std::max(group.lastSeq, seq);
                group.flops += m_bySeq.at(seq)->flops;
                group.bytes += m_bySeq.at(seq)->bytes;
            }
        }
        for (GraphGroup& group : m_result.groups) {
            std::ranges::stable_sort(group.groups, {},
                                     [&](int g) { return m_result.groups[g].firstSeq; });
        }
        std::ranges::sort(m_result.columns, {}, [&](int g) { return m_result.groups[g].column; });
    }

    struct OpenModule {
        const storage::ModuleRow* row;
        int group;
    };

    const storage::Graph& m_graph;
    std::unordered_map<storage::ModuleId, const storage::ModuleRow*> m_rows;
    std::unordered_map<std::uint32_t, const storage::GraphNode*> m_bySeq;
    std::uint32_t m_seqs = 0;
    ModuleGraph m_result;
    int m_columns[3] = {-1, -1, -1};
    std::vector<OpenModule> m_open[3];
    std::map<std::pair<int, storage::ModuleId>, int> m_calls;
    std::map<std::pair<int, storage::ModuleId>, int> m_backwardModules;
    std::unordered_map<int, int> m_mirrors;
};

}  // namespace

int ModuleGraph::depth(int group) const {
    int result = 0;
    for (int g = groups[group].parent; g >= 0; g = groups[g].parent) ++result;
    return result;
}

ModuleGraph buildModuleGraph(const storage::Graph& graph,
                             const std::vector<storage::ModuleRow>& modules) {
    return Builder(graph, modules).run();
}

}  // namespace tapescope::viewers
