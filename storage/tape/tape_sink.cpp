// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/tape_sink.h"

#include "storage/tape/schema.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <sqlite3.h>
#include <variant>

namespace tapescope::storage {
namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"unknown", "finished", "stopped", "failed"};

double wallNow() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// How long sealing waits for a reader in the middle of a call.
constexpr int kSealWaitMs = 1000;

constexpr const char* kSetMeta = "INSERT OR REPLACE INTO meta VALUES(?,?)";

/// One append a commit: what many threads handed over becomes one chunk.
template <class Event>
Status append(Database& db, ChunkAppender<Event>& to,
              const std::vector<std::vector<Event>>& parts) {
    if (parts.size() == 1) return to.append(db, parts.front());
    std::vector<Event> events;
    for (const auto& part : parts) events.insert(events.end(), part.begin(), part.end());
    return to.append(db, events);
}

}  // namespace

std::string_view outcomeName(RunOutcome outcome) {
    return kOutcomes[static_cast<std::size_t>(outcome)];
}
RunOutcome outcomeFromName(std::string_view name) {
    const auto found = std::ranges::find(kOutcomes, name);
    return found == kOutcomes.end() ? RunOutcome::Unknown
                                    : static_cast<RunOutcome>(found - kOutcomes.begin());
}

void addToSummary(ScalarSummary& summary, std::int64_t seq, const ScalarPoint& point) {
    if (summary.count == 0) {
        summary = {};
        summary.firstSeq = seq;
        summary.firstStep = point.step;
        summary.firstWall = point.wall;
        summary.min = summary.max = std::numeric_limits<double>::quiet_NaN();
    }
    ++summary.count;
    summary.lastStep = point.step;
    summary.lastWall = point.wall;
    if (!std::isfinite(point.value)) {
        ++summary.nonFinite;
        return;
    }
    // fmin and fmax pass over the NaN that stands for "none yet".
    summary.min = std::fmin(summary.min, point.value);
    summary.max = std::fmax(summary.max, point.value);
    summary.sum += point.value;
}

Status TapeSink::write(const WriteBatch& batch) {
    Transaction all(*m_db, Transaction::Kind::Write);
    if (!all.status().ok()) return all.status();
    for (const TagRow& tag : batch.tags) {
        Status s = m_db->run("INSERT INTO tag VALUES(?,?,?)", tag.id.value, tag.name,
                             static_cast<int>(tag.kind));
        if (!s.ok()) return s;
    }
    for (const auto& [id, text] : batch.names) {
        if (Status s = m_db->run("INSERT INTO name VALUES(?,?)", id, text); !s.ok()) return s;
    }
    for (const auto& [tag, point] : batch.scalars) {
        if (Status s = writeScalar(tag, point); !s.ok()) return s;
    }
    for (const auto& [tag, histogram] : batch.histograms) {
        if (Status s = writeHistogram(tag, histogram); !s.ok()) return s;
    }
    for (const WriteBatch::Row& row : batch.rows) {
        Status s = std::visit([this](const auto& r) { return writeRow(r); }, row);
        if (!s.ok()) return s;
    }
    if (Status s = append(*m_db, m_opEvents, batch.opEvents); !s.ok()) return s;
    if (Status s = append(*m_db, m_memoryEvents, batch.memoryEvents); !s.ok()) return s;
    if (Status s = append(*m_db, m_gpuEvents, batch.gpuEvents); !s.ok()) return s;
    if (Status s = append(*m_db, m_counterSamples, batch.counterSamples); !s.ok()) return s;
    if (Status s = append(*m_db, m_allocatorEvents, batch.allocatorEvents); !s.ok()) return s;
    static constexpr std::string_view kReason = "the disk is slower than the run";
    for (const auto& [what, count] : {std::pair{"operator events", batch.dropped.opEvents},
                                      {"memory events", batch.dropped.memoryEvents},
                                      {"GPU events", batch.dropped.gpuEvents},
                                      {"counter samples", batch.dropped.counterSamples},
                                      {"allocator events", batch.dropped.allocatorEvents}}) {
        if (count == 0) continue;
        if (Status s = writeRow(LossCount{what, count, std::string(kReason)}); !s.ok()) return s;
    }
    if (Status s = stamp(); !s.ok()) return s;
    return all.commit();
}

Status TapeSink::stamp() { return m_db->run(kSetMeta, "heartbeat", wallNow()); }
Status TapeSink::heartbeat() {
    Status done = stamp();
    // Somebody else holds the tape for a while: the next beat will do.
    return done.ok() || m_db->errorCode() == SQLITE_BUSY ? Status() : done;
}

Status TapeSink::seal(RunOutcome outcome, std::string_view message) {
    {
        Transaction all(*m_db, Transaction::Kind::Write);
        if (!all.status().ok()) return all.status();
        if (Status s = m_opEvents.finish(*m_db); !s.ok()) return s;
        if (Status s = m_memoryEvents.finish(*m_db); !s.ok()) return s;
        if (Status s = m_gpuEvents.finish(*m_db); !s.ok()) return s;
        if (Status s = m_counterSamples.finish(*m_db); !s.ok()) return s;
        if (Status s = m_allocatorEvents.finish(*m_db); !s.ok()) return s;
        for (const auto& [key, value] :
             {std::pair<const char*, std::string_view>{"state", "sealed"},
              {"outcome", outcomeName(outcome)},
              {"outcome_message", message}}) {
            if (Status s = m_db->run(kSetMeta, key, value); !s.ok()) return s;
        }
        if (Status s = m_db->run(kSetMeta, "end_wall", wallNow()); !s.ok()) return s;
        if (Status s = stamp(); !s.ok()) return s;
        if (Status s = all.commit(); !s.ok()) return s;
    }
    // Everything is safe from here on. Readers at work may keep the log from being folded in or put
    // away: then the last one to close the tape does it.
    sqlite3_busy_timeout(m_db->handle(), kSealWaitMs);
    sqlite3_wal_checkpoint_v2(m_db->handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                              nullptr);
    sqlite3_busy_timeout(m_db->handle(), 0);
    // Without readers: a plain file, which also opens from read-only media. The result is a row,
    // not an error.
    (void)m_db->exec("PRAGMA journal_mode=DELETE");
    m_db.reset();
    return {};
}

void TapeSink::giveUp() {
    // The log may hold what the disk has no room for twice.
    sqlite3_wal_checkpoint_v2(m_db->handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                              nullptr);
    (void)m_db->run(kSetMeta, "state", "cut").ok();
    m_db.reset();
}

Status TapeSink::writeScalar(TagId tag, const ScalarPoint& point) {
    TagState& state = m_tags[tag.value];
    const std::int64_t seq = state.nextSeq++;
    Status s = m_db->run("INSERT INTO scalar VALUES(?,?,?,?,?)", tag.value, seq, point.step,
                         point.wall, point.value);
    if (!s.ok()) return s;
    addToSummary(state.open, seq, point);
    if (state.open.count < kScalarsPerSummary) return {};
    s = writeSummary(tag, state.open);
    state.open = {};
    return s;
}

Status TapeSink::writeSummary(TagId tag, const ScalarSummary& s) {
    return m_db->run("INSERT INTO scalar_summary VALUES(?,?,?,?,?,?,?,?,?,?,?)", tag.value,
                     s.firstSeq, s.count, s.firstStep, s.lastStep, s.firstWall, s.lastWall, s.min,
                     s.max, s.sum, s.nonFinite);
}

Status TapeSink::writeHistogram(TagId tag, const Histogram& h) {
    Status s = m_db->run(
        "INSERT INTO histogram(tag, step, wall, min, max, sum, sum_squares, nan_count, inf_count) "
        "VALUES(?,?,?,?,?,?,?,?,?)",
        tag.value, h.step, h.wall, h.min, h.max, h.sum, h.sumSquares, h.nanCount, h.infCount);
    const std::int64_t id = sqlite3_last_insert_rowid(m_db->handle());
    // A bin's upper edge is the next row's lower one; the last row has no count.
    for (std::size_t i = 0; s.ok() && i < h.edges.size(); ++i) {
        const double count =
            i < h.counts.size() ? h.counts[i] : std::numeric_limits<double>::quiet_NaN();
        s = m_db->run("INSERT INTO histogram_bin VALUES(?,?,?,?)", id, i, h.edges[i], count);
    }
    return s;
}

Status TapeSink::writeRow(const LaneRow& row) {
    return m_db->run("INSERT OR REPLACE INTO lane VALUES(?,?,?)", row.id,
                     static_cast<int>(row.kind), row.label);
}
Status TapeSink::writeRow(const ModuleRow& row) {
    return m_db->run("INSERT OR REPLACE INTO module VALUES(?,?,?,?,?,?)", row.id, row.parent,
                     row.path, row.type, row.parameters, row.details);
}
Status TapeSink::writeRow(const SiteRow& row) {
    return m_db->run("INSERT OR REPLACE INTO site VALUES(?,?,?,?)", row.id, row.file, row.line,
                     row.function);
}
Status TapeSink::writeRow(const SourceRow& row) {
    return m_db->run("INSERT OR REPLACE INTO source VALUES(?,?)", row.path, row.text);
}
Status TapeSink::writeRow(const StepRow& row) {
    return m_db->run("INSERT OR REPLACE INTO step VALUES(?,?,?,?,?)", row.step, row.startNs,
                     row.endNs, row.graph, row.peakBytes);
}
Status TapeSink::writeRow(const std::vector<OpSummary>& rows) {
    if (Status s = m_db->run("DELETE FROM op_summary"); !s.ok()) return s;
    for (const OpSummary& r : rows) {
        Status s = m_db->run("INSERT OR REPLACE INTO op_summary VALUES(?,?,?,?,?,?,?,?,?)", r.name,
                             static_cast<int>(r.phase), r.calls, r.totalNs, r.selfNs, r.minNs,
                             r.maxNs, r.flops, r.bytes);
        if (!s.ok()) return s;
    }
    return {};
}
Status TapeSink::writeRow(const LogRow& row) {
    return m_db->run("INSERT INTO log(wall, step, severity, text) VALUES(?,?,?,?)", row.wall,
                     row.step, static_cast<int>(row.severity), row.text);
}
Status TapeSink::writeRow(const LossCount& loss) {
    return m_db->run(
        "INSERT INTO loss VALUES(?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        loss.what, loss.reason, loss.count);
}
Status TapeSink::writeRow(const WriteBatch::Environment& row) {
    return m_db->run(
        "INSERT INTO environment(key, value) VALUES(?,?) ON CONFLICT DO UPDATE SET value = "
        "excluded.value",
        row.key, row.value);
}

Status TapeSink::writeRow(const Graph& graph) {
    std::size_t kept = 0;
    if (const auto old = m_partial.find(graph.id); old != m_partial.end()) {
        const auto& nodes = old->second;
        while (kept < nodes.size() && kept < graph.nodes.size() && nodes[kept] == graph.nodes[kept])
            ++kept;
    }
    Status s = m_db->run("INSERT OR REPLACE INTO graph VALUES(?,?,?,?,?)", graph.id,
                         static_cast<std::int64_t>(graph.signature), graph.firstStep,
                         graph.complete ? 1 : 0, graph.nodes.size());
    if (!s.ok()) return s;
    // Nodes are in order of seq, which is their index.
    s = m_db->run("DELETE FROM graph_node WHERE graph = ? AND seq >= ?", graph.id, kept);
    if (s.ok())
        s = m_db->run("DELETE FROM graph_edge WHERE graph = ? AND to_seq >= ?", graph.id, kept);
    for (std::size_t i = kept; s.ok() && i < graph.nodes.size(); ++i)
        s = writeNode(graph.id, graph.nodes[i]);
    if (graph.complete) {
        m_partial.erase(graph.id);
    } else {
        m_partial[graph.id] = graph.nodes;
    }
    return s;
}

Status TapeSink::writeNode(GraphId graph, const GraphNode& n) {
    Status s =
        m_db->run("INSERT OR REPLACE INTO graph_node VALUES(?,?,?,?,?,?,NULLIF(?,-1),?,?,?,?)",
                  graph, n.seq, n.op, n.module, n.site, static_cast<int>(n.phase), n.forwardSeq,
                  n.attrs, n.outputs, n.flops, n.bytes);
    for (std::size_t i = 0; s.ok() && i < n.inputs.size(); ++i) {
        const GraphEdge& e = n.inputs[i];
        s = m_db->run("INSERT OR REPLACE INTO graph_edge VALUES(?,?,?,?,NULLIF(?,-1),?,?,?)", graph,
                      n.seq, i, e.toInput, e.fromSeq, e.fromOutput, e.leaf, e.type);
    }
    return s;
}

Status TapeSink::writeRow(const WriteBatch::DropGraph& drop) {
    if (m_partial.erase(drop.id) == 0) return {};  // complete ones stay
    for (const char* sql :
         {"DELETE FROM graph WHERE id = ?", "DELETE FROM graph_node WHERE graph = ?",
          "DELETE FROM graph_edge WHERE graph = ?"}) {
        if (Status s = m_db->run(sql, drop.id); !s.ok()) return s;
    }
    return {};
}

}  // namespace tapescope::storage
