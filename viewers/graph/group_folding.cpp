// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/group_folding.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace tapescope::viewers {

namespace {

std::size_t combine(std::size_t a, std::size_t b) {
    return a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
}

/// A child of a group: an operator or a group, at the place where it first runs.
struct Child {
    std::uint32_t firstSeq;
    int group;  ///< -1: an operator
    int node;
};

class Folder {
public:
    explicit Folder(ModuleGraph& graph)
        : m_graph(graph), m_hash(graph.groups.size(), 0), m_first(graph.groups.size(), 0) {}

    void run() {
        for (int g = static_cast<int>(m_graph.groups.size()) - 1; g >= 0; --g) describe(g);
        const int count = static_cast<int>(m_graph.groups.size());
        for (int g = 0; g < count; ++g) fold(g);
        if (static_cast<int>(m_graph.groups.size()) > count) renumber();
    }

private:
    std::vector<Child> children(int g) const {
        std::vector<Child> result;
        for (int node : m_graph.groups[g].nodes) {
            const ModuleGraphNode& n = m_graph.nodes[node];
            if (n.seq >= 0) result.push_back({static_cast<std::uint32_t>(n.seq), -1, node});
        }
        for (int child : m_graph.groups[g].groups) result.push_back({m_first[child], child, -1});
        std::ranges::sort(result, {}, &Child::firstSeq);
        return result;
    }

    void describe(int g) {
        const std::hash<std::string> hash;
        const GraphGroup& group = m_graph.groups[g];
        std::size_t value = combine(hash(group.type), static_cast<std::size_t>(group.kind));
        std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
        for (const Child& child : children(g)) {
            first = std::min(first, child.firstSeq);
            if (child.group >= 0) {
                value = combine(value, m_hash[child.group]);
            } else {
                const ModuleGraphNode& node = m_graph.nodes[child.node];
                value = combine(combine(value, hash(node.label)), hash(node.type));
            }
        }
        m_hash[g] = value;
        m_first[g] = first;
    }

    void fold(int parent) {
        const std::vector<Child> all = children(parent);
        for (std::size_t begin = 0; begin < all.size();) {
            std::size_t end = begin + 1;
            const int first = all[begin].group;
            if (first >= 0 && m_graph.groups[first].kind == GraphGroup::Kind::Module) {
                while (end < all.size() && all[end].group >= 0 &&
                       m_hash[all[end].group] == m_hash[first]) {
                    ++end;
                }
                const bool whole = begin == 0 && end == all.size() &&
                                   m_graph.groups[parent].kind == GraphGroup::Kind::Fold;
                if (end - begin >= static_cast<std::size_t>(kMinFold) && !whole) {
                    std::vector<int> members;
                    for (std::size_t i = begin; i < end; ++i) members.push_back(all[i].group);
                    makeFold(parent, members);
                }
            }
            begin = end;
        }
    }

    void makeFold(int parent, std::vector<int> members) {
        const GraphGroup& a = m_graph.groups[members.front()];
        const GraphGroup& b = m_graph.groups[members.back()];
        // Backward runs from the last to the first; the name counts upward all the same.
        const bool reversed = a.column == GraphColumn::Backward;
        GraphGroup fold;
        fold.kind = GraphGroup::Kind::Fold;
        fold.column = a.column;
        fold.parent = parent;
        fold.key = (reversed ? b.key : a.key) + "~";
        fold.name = (reversed ? b.name : a.name) + " … " + (reversed ? a.name : b.name);
        fold.path = reversed ? b.path : a.path;
        fold.type = a.type;
        fold.members = static_cast<int>(members.size());
        fold.groups = members;
        const int index = static_cast<int>(m_graph.groups.size());
        for (int member : members) m_graph.groups[member].parent = index;
        std::erase_if(m_graph.groups[parent].groups,
                      [&](int g) { return m_graph.groups[g].parent == index; });
        m_graph.groups[parent].groups.push_back(index);
        m_first.push_back(m_first[members.front()]);
        m_hash.push_back(0);
        m_graph.groups.push_back(std::move(fold));
    }

    void renumber() {
        std::vector<int> order;
        std::vector<int> stack(m_graph.columns.rbegin(), m_graph.columns.rend());
        while (!stack.empty()) {
            const int g = stack.back();
            stack.pop_back();
            order.push_back(g);
            const std::vector<int>& below = m_graph.groups[g].groups;
            stack.insert(stack.end(), below.rbegin(), below.rend());
        }
        std::vector<int> index(m_graph.groups.size(), -1);
        for (int i = 0; i < static_cast<int>(order.size()); ++i) index[order[i]] = i;
        std::vector<GraphGroup> groups;
        groups.reserve(order.size());
        for (int g : order) {
            GraphGroup group = std::move(m_graph.groups[g]);
            if (group.parent >= 0) group.parent = index[group.parent];
            for (int& child : group.groups) child = index[child];
            groups.push_back(std::move(group));
        }
        m_graph.groups = std::move(groups);
        for (ModuleGraphNode& node : m_graph.nodes) node.group = index[node.group];
        for (int& column : m_graph.columns) column = index[column];
    }

    ModuleGraph& m_graph;
    std::vector<std::size_t> m_hash;     ///< of a group's structure, without names
    std::vector<std::uint32_t> m_first;  ///< seq of a group's first operator
};

}  // namespace

void foldEqualGroups(ModuleGraph& graph) { Folder(graph).run(); }

}  // namespace tapescope::viewers
