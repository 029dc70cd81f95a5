// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/schema.h"

#include "storage/tape/database.h"

#include <algorithm>
#include <array>
#include <sqlite3.h>
#include <string>

namespace tapescope::storage {
namespace {

// No NOT NULL on REAL columns: SQLite stores NaN as NULL.
constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE config(id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE environment(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind INTEGER NOT NULL, UNIQUE(name, kind));
CREATE TABLE scalar(tag INTEGER NOT NULL, seq INTEGER NOT NULL, step INTEGER NOT NULL, wall REAL, value REAL,
  PRIMARY KEY(tag, seq)) WITHOUT ROWID;
CREATE TABLE scalar_summary(tag INTEGER NOT NULL, first_seq INTEGER NOT NULL, count INTEGER NOT NULL,
  first_step INTEGER NOT NULL, last_step INTEGER NOT NULL, first_wall REAL, last_wall REAL,
  min REAL, max REAL, sum REAL, non_finite INTEGER NOT NULL, PRIMARY KEY(tag, first_seq)) WITHOUT ROWID;
CREATE TABLE histogram(id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, step INTEGER NOT NULL, wall REAL,
  min REAL, max REAL, sum REAL, sum_squares REAL, nan_count INTEGER NOT NULL, inf_count INTEGER NOT NULL);
CREATE INDEX histogram_tag ON histogram(tag, step);
CREATE TABLE histogram_bin(histogram INTEGER NOT NULL, bin INTEGER NOT NULL, lo REAL, count REAL,
  PRIMARY KEY(histogram, bin)) WITHOUT ROWID;
CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE lane(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, label TEXT NOT NULL);
CREATE TABLE module(id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, path TEXT NOT NULL, type TEXT NOT NULL,
  parameters INTEGER NOT NULL, details TEXT NOT NULL);
CREATE TABLE site(id INTEGER PRIMARY KEY, file TEXT NOT NULL, line INTEGER NOT NULL, function TEXT NOT NULL);
CREATE TABLE source(path TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE step(step INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  graph INTEGER NOT NULL, peak_bytes INTEGER NOT NULL);
CREATE TABLE graph(id INTEGER PRIMARY KEY, signature INTEGER NOT NULL, first_step INTEGER NOT NULL,
  complete INTEGER NOT NULL, nodes INTEGER NOT NULL);
CREATE TABLE graph_node(graph INTEGER NOT NULL, seq INTEGER NOT NULL, op TEXT NOT NULL, module INTEGER NOT NULL,
  site INTEGER NOT NULL, phase INTEGER NOT NULL, forward_seq INTEGER, attrs TEXT NOT NULL, outputs TEXT NOT NULL,
  flops REAL, bytes INTEGER NOT NULL, PRIMARY KEY(graph, seq)) WITHOUT ROWID;
CREATE TABLE graph_edge(graph INTEGER NOT NULL, to_seq INTEGER NOT NULL, ord INTEGER NOT NULL,
  to_input INTEGER NOT NULL, from_seq INTEGER, from_output INTEGER NOT NULL, leaf TEXT NOT NULL, type TEXT NOT NULL,
  PRIMARY KEY(graph, to_seq, ord)) WITHOUT ROWID;
CREATE TABLE op_event_chunk(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL,
  min INTEGER NOT NULL, max INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE memory_event_chunk(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, t0 INTEGER NOT NULL,
  t1 INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE op_summary(name TEXT NOT NULL, phase INTEGER NOT NULL, calls INTEGER NOT NULL, total_ns INTEGER NOT NULL,
  self_ns INTEGER NOT NULL, min_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, flops REAL, bytes INTEGER NOT NULL,
  PRIMARY KEY(name, phase)) WITHOUT ROWID;
CREATE TABLE log(id INTEGER PRIMARY KEY, wall REAL, step INTEGER NOT NULL, severity INTEGER NOT NULL,
  text TEXT NOT NULL);
CREATE TABLE loss(what TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(what, reason)) WITHOUT ROWID;
)sql";

constexpr const char* kGpuTables = R"sql(
CREATE TABLE gpu_process(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent_pid INTEGER NOT NULL,
  host TEXT NOT NULL, boot TEXT NOT NULL, command TEXT NOT NULL, rank INTEGER NOT NULL,
  local_rank INTEGER NOT NULL, world_size INTEGER NOT NULL, monotonic_zero_ns INTEGER NOT NULL,
  realtime_zero_ns INTEGER NOT NULL, clock_error_ns INTEGER NOT NULL, clock TEXT NOT NULL);
CREATE TABLE gpu_device(process INTEGER NOT NULL, device INTEGER NOT NULL, name TEXT NOT NULL, uuid TEXT NOT NULL,
  memory_bytes INTEGER NOT NULL, multiprocessors INTEGER NOT NULL, capability_major INTEGER NOT NULL,
  capability_minor INTEGER NOT NULL, PRIMARY KEY(process, device)) WITHOUT ROWID;
CREATE TABLE gpu_context(process INTEGER NOT NULL, context INTEGER NOT NULL, device INTEGER NOT NULL,
  null_stream INTEGER NOT NULL, PRIMARY KEY(process, context)) WITHOUT ROWID;
CREATE TABLE gpu_stream(process INTEGER NOT NULL, context INTEGER NOT NULL, stream INTEGER NOT NULL,
  priority INTEGER NOT NULL, flag INTEGER NOT NULL, PRIMARY KEY(process, context, stream)) WITHOUT ROWID;
CREATE TABLE gpu_object_name(process INTEGER NOT NULL, object INTEGER NOT NULL, id INTEGER NOT NULL,
  context INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY(process, object, id, context)) WITHOUT ROWID;
CREATE TABLE gpu_status(process INTEGER NOT NULL, source TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL,
  detail TEXT NOT NULL, time_ns INTEGER NOT NULL, PRIMARY KEY(process, source)) WITHOUT ROWID;
CREATE TABLE gpu_count(process INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(process, name)) WITHOUT ROWID;
CREATE TABLE gpu_summary(process INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL, name INTEGER NOT NULL,
  count INTEGER NOT NULL, total_ns INTEGER NOT NULL, min_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL,
  bytes INTEGER NOT NULL, PRIMARY KEY(process, device, kind, name)) WITHOUT ROWID;
CREATE TABLE gpu_counter(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, device TEXT NOT NULL,
  device_name TEXT NOT NULL, host TEXT NOT NULL);
CREATE TABLE gpu_event_chunk(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL,
  min INTEGER NOT NULL, max INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE counter_sample_chunk(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, t0 INTEGER NOT NULL,
  t1 INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE allocator_event_chunk(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, t0 INTEGER NOT NULL,
  t1 INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL);
)sql";

constexpr const char* kViews = R"sql(
CREATE VIEW run AS SELECT
  (SELECT value FROM meta WHERE key='run_id') AS run_id, (SELECT value FROM meta WHERE key='name') AS name,
  (SELECT value FROM meta WHERE key='command') AS command,
  datetime((SELECT value FROM meta WHERE key='start_wall'), 'unixepoch') AS started,
  (SELECT value FROM meta WHERE key='state') AS state, (SELECT value FROM meta WHERE key='outcome') AS outcome,
  (SELECT value FROM meta WHERE key='outcome_message') AS message,
  (SELECT count(*) FROM step) AS steps;
CREATE VIEW scalars AS SELECT t.name AS tag, s.step AS step, s.wall AS wall, s.value AS value
  FROM tag t JOIN scalar s ON s.tag = t.id;
CREATE VIEW histograms AS SELECT t.name AS tag, h.step AS step, h.wall AS wall, h.min AS min, h.max AS max,
  h.sum AS sum, h.sum_squares AS sum_squares, h.nan_count AS nan_count, h.inf_count AS inf_count, h.id AS histogram
  FROM histogram h JOIN tag t ON t.id = h.tag;
CREATE VIEW histogram_bins AS SELECT t.name AS tag, h.step AS step, b.bin AS bin, b.lo AS lo, e.lo AS hi,
  b.count AS count FROM histogram h JOIN tag t ON t.id = h.tag JOIN histogram_bin b ON b.histogram = h.id
  JOIN histogram_bin e ON e.histogram = h.id AND e.bin = b.bin + 1;
CREATE VIEW modules AS SELECT id, path, type, parameters, details,
  (SELECT p.path FROM module p WHERE p.id = m.parent) AS parent FROM module m;
CREATE VIEW steps AS SELECT step, start_ns / 1e6 AS start_ms, (end_ns - start_ns) / 1e6 AS duration_ms, graph,
  peak_bytes FROM step;
CREATE VIEW phase_name AS SELECT 0 AS phase, 'other' AS name UNION ALL SELECT 1, 'data' UNION ALL SELECT 2, 'forward'
  UNION ALL SELECT 3, 'backward' UNION ALL SELECT 4, 'optimizer' UNION ALL SELECT 5, 'evaluate';
CREATE VIEW operators AS SELECT o.name AS name, p.name AS phase, o.calls AS calls, o.total_ns / 1e6 AS total_ms,
  o.self_ns / 1e6 AS self_ms, o.min_ns / 1e6 AS min_ms, o.max_ns / 1e6 AS max_ms, o.flops AS flops, o.bytes AS bytes
  FROM op_summary o LEFT JOIN phase_name p ON p.phase = o.phase ORDER BY o.self_ns DESC;
CREATE VIEW graph_nodes AS SELECT n.graph AS graph, g.first_step AS first_step, n.seq AS seq, n.op AS op,
  m.path AS module, s.file AS file, s.line AS line, p.name AS phase, n.forward_seq AS forward_seq, n.attrs AS attrs,
  n.outputs AS outputs, n.flops AS flops, n.bytes AS bytes
  FROM graph_node n JOIN graph g ON g.id = n.graph LEFT JOIN module m ON m.id = n.module
  LEFT JOIN site s ON s.id = n.site LEFT JOIN phase_name p ON p.phase = n.phase;
CREATE VIEW graph_edges AS SELECT graph, from_seq, from_output, to_seq, to_input, leaf, type FROM graph_edge;
CREATE VIEW step_nodes AS SELECT t.step AS step, n.seq AS seq, n.op AS op, n.module AS module, n.file AS file,
  n.line AS line, n.phase AS phase, n.forward_seq AS forward_seq, n.attrs AS attrs, n.outputs AS outputs,
  n.flops AS flops, n.bytes AS bytes FROM step t JOIN graph_nodes n ON n.graph = t.graph;
CREATE VIEW logs AS SELECT wall, step, CASE severity WHEN 0 THEN 'info' WHEN 1 THEN 'warning' ELSE 'error' END
  AS severity, text FROM log ORDER BY id;
CREATE VIEW losses AS SELECT what, count, reason FROM loss;
)sql";

constexpr const char* kGpuViews = R"sql(
CREATE VIEW gpu_kernels AS SELECT s.process AS process, s.device AS device, n.text AS name, s.count AS count,
  s.total_ns / 1e6 AS total_ms, s.total_ns / 1e3 / s.count AS mean_us, s.min_ns / 1e3 AS min_us,
  s.max_ns / 1e3 AS max_us FROM gpu_summary s LEFT JOIN name n ON n.id = s.name WHERE s.kind = 1
  ORDER BY s.total_ns DESC;
CREATE VIEW gpu_copies AS SELECT s.process AS process, s.device AS device, CASE s.kind WHEN 2 THEN 'copy'
  WHEN 3 THEN 'peer copy' ELSE 'memset' END AS kind, n.text AS name, s.count AS count, s.bytes AS bytes,
  s.total_ns / 1e6 AS total_ms, s.bytes / (s.total_ns + 0.0) AS gb_per_s
  FROM gpu_summary s LEFT JOIN name n ON n.id = s.name WHERE s.kind IN (2, 3, 4) ORDER BY s.total_ns DESC;
CREATE VIEW gpu_states AS SELECT p.pid AS pid, p.host AS host, p.rank AS rank, s.source AS source, s.code AS code,
  s.message AS message FROM gpu_status s LEFT JOIN gpu_process p ON p.id = s.process;
CREATE VIEW gpu_counts AS SELECT p.pid AS pid, p.host AS host, c.name AS name, c.count AS count
  FROM gpu_count c LEFT JOIN gpu_process p ON p.id = c.process;
)sql";

constexpr std::array kTableNames = {"meta",
                                    "config",
                                    "environment",
                                    "tag",
                                    "scalar",
                                    "scalar_summary",
                                    "histogram",
                                    "histogram_bin",
                                    "name",
                                    "lane",
                                    "module",
                                    "site",
                                    "source",
                                    "step",
                                    "graph",
                                    "graph_node",
                                    "graph_edge",
                                    "op_event_chunk",
                                    "memory_event_chunk",
                                    "op_summary",
                                    "log",
                                    "loss"};
// Since version 2.
constexpr std::array kGpuTableNames = {
    "gpu_process",     "gpu_device",           "gpu_context",
    "gpu_stream",      "gpu_object_name",      "gpu_status",
    "gpu_count",       "gpu_summary",          "gpu_counter",
    "gpu_event_chunk", "counter_sample_chunk", "allocator_event_chunk"};

// Nothing older than kOldestReadableSchema exists; the first such step is {0, "ALTER TABLE …"}.
constexpr std::array<Migration, 0> kMigrations = {};

Result<std::int64_t> pragma(Database& db, const char* sql) {
    Query q = db.query(sql);
    if (!q.step()) return db.error();
    return q.integer(0);
}

Status checkTables(Database& db, std::span<const char* const> tables) {
    for (const char* table : tables) {
        // rootpage 0 is a view or a virtual table, which could compute anything, without end.
        Query q = db.query(
            "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?1 AND rootpage>0", table);
        if (q.step()) continue;
        if (q.failed()) return db.error();
        return Status::error("\"" + db.path() + "\" is damaged: its table " + table +
                             " is missing: `sqlite3 FILE .recover` may save some of it");
    }
    return {};
}

}  // namespace

Status createSchema(Database& db) {
    const std::string header = "PRAGMA application_id=" + std::to_string(kTapeApplicationId) +
                               "; PRAGMA user_version=" + std::to_string(kSchemaVersion) + ";";
    Transaction all(db, Transaction::Kind::Write);
    if (!all.status().ok()) return all.status();
    for (const char* sql : {header.c_str(), kTables, kGpuTables, kViews, kGpuViews}) {
        if (Status s = db.exec(sql); !s.ok()) return s;
    }
    return all.commit();
}

Status migrate(Database& db, int from, int to, std::span<const Migration> steps) {
    if (sqlite3_db_readonly(db.handle(), "main") == 1) {
        return Status::error(
            "\"" + db.path() + "\" has tape schema " + std::to_string(from) +
            " and must be brought up to date, which needs a writable file: copy it to a folder "
            "you may write to");
    }
    Transaction all(db, Transaction::Kind::Write);
    if (!all.status().ok()) return all.status();
    for (int version = from; version < to; ++version) {
        const auto step = std::ranges::find(steps, version, &Migration::from);
        if (step == steps.end()) {
            return Status::error("\"" + db.path() + "\" has tape schema " +
                                 std::to_string(version) +
                                 ", which this program no longer reads: record the run again");
        }
        if (Status s = db.exec(step->sql); !s.ok()) return s;
        const std::string stamp = "PRAGMA user_version=" + std::to_string(version + 1);
        if (Status s = db.exec(stamp.c_str()); !s.ok()) return s;
    }
    return all.commit();
}

Result<int> checkSchema(Database& db) {
    const Result<std::int64_t> application = pragma(db, "PRAGMA application_id");
    if (!application.ok()) {
        if (db.errorCode() != SQLITE_NOTADB) return application.status();
        return Status::error(
            "\"" + db.path() +
            "\" is not a Tapescope tape (not even an SQLite file): open a file that "
            "`tapescope record` or `tapescope run MODEL --tape FILE` has written");
    }
    if (*application != kTapeApplicationId) {
        return Status::error("\"" + db.path() +
                             "\" is an SQLite file but not a Tapescope tape: open a file that "
                             "`tapescope record` or `tapescope run MODEL --tape FILE` has written");
    }
    const Result<std::int64_t> version = pragma(db, "PRAGMA user_version");
    if (!version.ok()) return version.status();
    if (*version > kSchemaVersion) {
        return Status::error("\"" + db.path() +
                             "\" was written by a newer Tapescope (tape schema " +
                             std::to_string(*version) + ", this one reads up to " +
                             std::to_string(kSchemaVersion) + "): update Tapescope");
    }
    int read = static_cast<int>(*version);
    if (read < kOldestReadableSchema) {
        if (Status s = migrate(db, read, kOldestReadableSchema, kMigrations); !s.ok()) return s;
        read = kOldestReadableSchema;
    }
    if (Status s = checkTables(db, kTableNames); !s.ok()) return s;
    if (read >= 2) {
        if (Status s = checkTables(db, kGpuTableNames); !s.ok()) return s;
    }
    return read;
}

}  // namespace tapescope::storage
