// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/reader.h"
#include "storage/tape/reader_impl.h"

#include <limits>

namespace tapescope::storage {
namespace {

template <class T>
T clamped(std::int64_t value) {
    return value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()
               ? T{}
               : static_cast<T>(value);
}

Graph graphOf(const Query& q) {
    return Graph{q.integer(0),
                 static_cast<std::uint64_t>(q.integer(1)),
                 q.integer(2),
                 q.integer(3) != 0,
                 {}};
}

}  // namespace

Result<std::vector<Graph>> TapeReader::graphs() const {
    return m_impl->rows<Graph>(graphOf,
                               "SELECT id, signature, first_step, complete FROM graph ORDER BY id");
}

Result<Graph> TapeReader::graph(GraphId id) const {
    Database& db = *m_impl->db;
    const Transaction snapshot(db, Transaction::Kind::Read);
    if (!snapshot.status().ok()) return snapshot.status();
    Graph graph;
    {
        Query q =
            db.query("SELECT id, signature, first_step, complete FROM graph WHERE id = ?", id);
        if (!q.step()) {
            if (q.failed()) return db.error();
            return Status::error(
                "\"" + db.path() + "\" has no graph " + std::to_string(id) +
                ": it was an unfinished step's and has been replaced, or the tape is damaged");
        }
        graph = graphOf(q);
    }
    auto nodes = m_impl->rows<GraphNode>(
        [](const Query& q) {
            GraphNode n;
            n.seq = clamped<std::uint32_t>(q.integer(0));
            n.op = q.text(1);
            n.module = clamped<std::uint32_t>(q.integer(2));
            n.site = clamped<std::uint32_t>(q.integer(3));
            n.phase = enumOf(q.integer(4), Phase::Evaluate);
            n.forwardSeq = clamped<std::int32_t>(q.integer(5));
            n.attrs = q.text(6);
            n.outputs = q.text(7);
            n.flops = q.real(8);
            n.bytes = q.integer(9);
            return n;
        },
        "SELECT seq, op, module, site, phase, ifnull(forward_seq, -1), attrs, outputs, flops, "
        "bytes FROM graph_node "
        "WHERE graph = ? ORDER BY seq",
        id);
    if (!nodes.ok()) return nodes.status();
    graph.nodes = std::move(nodes).value();
    const auto count = static_cast<std::int64_t>(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        GraphNode& n = graph.nodes[i];
        // Users index nodes by seq: what they may rely on is checked here.
        if (n.seq != i || n.forwardSeq < -1 || n.forwardSeq >= count) {
            return m_impl->damaged("graph " + std::to_string(id) + " has a hole at node " +
                                   std::to_string(i));
        }
    }
    Query q = db.query(
        "SELECT to_seq, ifnull(from_seq, -1), from_output, to_input, leaf, type FROM graph_edge "
        "WHERE graph = ? "
        "ORDER BY to_seq, ord",
        id);
    while (q.step()) {
        const std::int64_t to = q.integer(0);
        const std::int64_t from = q.integer(1);
        if (to < 0 || to >= count || from < -1 || from >= count) {
            return m_impl->damaged("graph " + std::to_string(id) +
                                   " has an edge to a node that is not there");
        }
        graph.nodes[static_cast<std::size_t>(to)].inputs.push_back(
            {static_cast<std::int32_t>(from), clamped<std::uint8_t>(q.integer(2)),
             clamped<std::uint8_t>(q.integer(3)), q.text(4), q.text(5)});
    }
    if (q.failed()) return db.error();
    return graph;
}

}  // namespace tapescope::storage
