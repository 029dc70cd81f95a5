// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tapescope::viewers {

/// The graph of a step as a forest of groups: one column each for forward, backward and optimiser,
/// in it the modules, in them the operators and the leaves they read. Indices are into the vectors
/// of ModuleGraph.

enum class GraphColumn : std::uint8_t { Forward, Backward, Optimizer };

struct GraphGroup {
    enum class Kind : std::uint8_t {
        Column,
        Module,
        Fold,     ///< equal siblings in a row: "h.0 … h.47", 48x
        Backward  ///< the operators that compute one forward operator's gradient
    };
    Kind kind = Kind::Module;
    GraphColumn column = GraphColumn::Forward;
    int parent = -1;   ///< always a smaller index
    std::string key;   ///< stays the same from graph to graph
    std::string name;  ///< "conv1", "h.0 … h.47"; empty for columns
    std::string path;  ///< module path; of the first member for folds
    std::string type;  ///< "Conv2d"; Backward: the forward operator
    std::string details;
    std::int64_t parameters = 0;
    int members = 0;          ///< of a fold
    std::vector<int> groups;  ///< children, in order of execution
    std::vector<int> nodes;
    int operators = 0;  ///< in the whole subtree, as the following
    std::uint32_t firstSeq = 0;
    std::uint32_t lastSeq = 0;
    double flops = 0;
    std::int64_t bytes = 0;
};

struct ModuleGraphNode {
    int group = 0;
    std::int64_t seq = -1;  ///< -1: a leaf
    std::string label;      ///< operator, or the leaf's name without its module
    std::string name;       ///< leaf: the whole name
    std::string type;       ///< what it gives: "f32[64,32,8,8]"
};

/// A tensor that goes from one node to another of the same column.
struct GraphLink {
    int from = 0;
    int to = 0;
    std::string type;
};

/// A tensor read from elsewhere: another column, or a leaf that many read. Drawn as a chip at its
/// reader.
struct GraphRef {
    int to = 0;
    int from = -1;  ///< node it comes from; -1: a leaf without a node
    std::string label;
    std::string type;
};

struct ModuleGraph {
    std::vector<GraphGroup> groups;
    std::vector<ModuleGraphNode> nodes;
    std::vector<GraphLink> links;
    std::vector<GraphRef> refs;
    std::vector<int> columns;    ///< groups without a parent
    std::vector<int> nodeOfSeq;  ///< by seq; -1 if the graph lacks it
    std::vector<std::vector<int>>
        backwardOf;  ///< by seq of a forward operator: nodes computing its gradient

    /// Number of groups above; columns have 0.
    int depth(int group) const;
};

/// Leaves read in more groups than this become references at each reader.
constexpr int kMaxLeafGroups = 2;
/// So many equal siblings in a row are folded.
constexpr int kMinFold = 3;

/// Damaged input is taken as far as it makes sense: edges from unknown or later operators and
/// unknown modules are left out. O(nodes + edges + modules).
ModuleGraph buildModuleGraph(const storage::Graph& graph,
                             const std::vector<storage::ModuleRow>& modules);

}  // namespace tapescope::viewers
