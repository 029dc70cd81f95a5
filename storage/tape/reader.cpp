// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/reader.h"

#include "storage/tape/reader_impl.h"
#include "storage/tape/schema.h"
#include "storage/tape/tape_file.h"
#include "storage/tape/tape_sink.h"

#include <algorithm>
#include <limits>

namespace tapescope::storage {
namespace {

std::int64_t limitOf(std::size_t maxRows) {
    return maxRows > static_cast<std::size_t>(INT64_MAX)
               ? -1
               : static_cast<std::int64_t>(maxRows);  // -1: all
}

}  // namespace

Result<std::unique_ptr<TapeReader>> TapeReader::open(const std::string& path) {
    auto db = openTapeFile(path);
    if (!db.ok()) return db.status();
    auto impl = std::make_unique<Impl>();
    impl->db = std::move(db).value();
    {
        // openTapeFile() has checked the version, and its tables.
        Query version = impl->db->query("PRAGMA user_version");
        impl->hasGpuTables = version.step() && version.integer(0) >= 2;
    }
    return std::unique_ptr<TapeReader>(new TapeReader(std::move(impl)));
}

TapeReader::TapeReader(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
TapeReader::~TapeReader() = default;

Result<RunInfo> TapeReader::info() const {
    Database& db = *m_impl->db;
    const Transaction snapshot(db, Transaction::Kind::Read);
    if (!snapshot.status().ok()) return snapshot.status();
    RunInfo info;
    {
        Query q = db.query("SELECT key, value FROM meta");
        while (q.step()) {
            const std::string key = q.text(0);
            if (key == "run_id") info.runId = q.text(1);
            if (key == "name") info.name = q.text(1);
            if (key == "command") info.command = q.text(1);
            if (key == "start_wall") info.startWall = q.real(1);
        }
        if (q.failed()) return db.error();
    }
    const auto pair = [](const Query& q) { return std::pair(q.text(0), q.text(1)); };
    using Pair = std::pair<std::string, std::string>;
    auto config = m_impl->rows<Pair>(pair, "SELECT key, value FROM config ORDER BY id");
    if (!config.ok()) return config.status();
    auto environment = m_impl->rows<Pair>(pair, "SELECT key, value FROM environment ORDER BY id");
    if (!environment.ok()) return environment.status();
    info.config = std::move(config).value();
    info.environment = std::move(environment).value();
    return info;
}

TapeState TapeReader::state() const {
    const auto state = tapeState(*m_impl->db);
    return state.ok() ? *state : TapeState::Cut;
}

RunOutcome TapeReader::outcome() const {
    Query q = m_impl->db->query("SELECT value FROM meta WHERE key = 'outcome'");
    return q.step() ? outcomeFromName(q.text(0)) : RunOutcome::Unknown;
}

std::string TapeReader::outcomeMessage() const {
    Query q = m_impl->db->query("SELECT value FROM meta WHERE key = 'outcome_message'");
    return q.step() ? q.text(0) : std::string();
}

bool TapeReader::changed() {
    Query q = m_impl->db->query("PRAGMA data_version");
    if (!q.step()) return true;  // the next call says what is wrong
    const std::int64_t before = m_impl->dataVersion;
    m_impl->dataVersion = q.integer(0);
    return m_impl->dataVersion != before;
}

Result<std::vector<TagRow>> TapeReader::tags() const {
    return m_impl->rows<TagRow>(
        [](const Query& q) {
            return TagRow{{q.integer(0)},
                          q.text(1),
                          q.integer(2) == 2 ? TagKind::Histogram : TagKind::Scalar};
        },
        "SELECT id, name, kind FROM tag ORDER BY id");
}

Result<std::vector<ScalarPoint>> TapeReader::scalars(TagId tag, std::int64_t fromSeq,
                                                     std::size_t maxRows) const {
    return m_impl->rows<ScalarPoint>(
        [](const Query& q) {
            return ScalarPoint{q.integer(0), q.real(1), q.real(2)};
        },
        "SELECT step, wall, value FROM scalar WHERE tag = ? AND seq >= ? ORDER BY seq LIMIT ?",
        tag.value, fromSeq, limitOf(maxRows));
}

Result<std::vector<ScalarSummary>> TapeReader::scalarSummaries(TagId tag) const {
    Database& db = *m_impl->db;
    const Transaction snapshot(db, Transaction::Kind::Read);
    if (!snapshot.status().ok()) return snapshot.status();
    auto full = m_impl->rows<ScalarSummary>(
        [](const Query& q) {
            return ScalarSummary{q.integer(0), q.integer(1), q.integer(2), q.integer(3),
                                 q.real(4),    q.real(5),    q.real(6),    q.real(7),
                                 q.real(8),    q.integer(9)};
        },
        "SELECT first_seq, count, first_step, last_step, first_wall, last_wall, min, max, sum, "
        "non_finite "
        "FROM scalar_summary WHERE tag = ? ORDER BY first_seq",
        tag.value);
    if (!full.ok()) return full;
    const std::int64_t next = full->empty() ? 0 : full->back().firstSeq + full->back().count;
    // The tape has a summary of every 1024 points; the last ones are summed up here.
    ScalarSummary tail;
    Query q = db.query(
        "SELECT seq, step, wall, value FROM scalar WHERE tag = ? AND seq >= ? ORDER BY seq",
        tag.value, next);
    while (q.step()) addToSummary(tail, q.integer(0), {q.integer(1), q.real(2), q.real(3)});
    if (q.failed()) return db.error();
    if (tail.count > 0) full->push_back(tail);
    return full;
}

Result<std::vector<Histogram>> TapeReader::histograms(TagId tag, std::int64_t fromStep) const {
    Database& db = *m_impl->db;
    const Transaction snapshot(db, Transaction::Kind::Read);
    if (!snapshot.status().ok()) return snapshot.status();
    std::vector<Histogram> out;
    Query q = db.query(
        "SELECT step, wall, min, max, sum, sum_squares, nan_count, inf_count, id FROM histogram "
        "WHERE tag = ? AND step >= ? ORDER BY step, id",
        tag.value, fromStep);
    while (q.step()) {
        Histogram h;
        h.step = q.integer(0);
        h.wall = q.real(1);
        h.min = q.real(2);
        h.max = q.real(3);
        h.sum = q.real(4);
        h.sumSquares = q.real(5);
        h.nanCount = q.integer(6);
        h.infCount = q.integer(7);
        Query bins = db.query(
            "SELECT lo, count FROM histogram_bin WHERE histogram = ? ORDER BY bin", q.integer(8));
        while (bins.step()) {
            h.edges.push_back(bins.real(0));
            h.counts.push_back(bins.real(1));
        }
        if (bins.failed()) return db.error();
        if (!h.counts.empty()) h.counts.pop_back();  // the last row is the upper edge only
        out.push_back(std::move(h));
    }
    if (q.failed()) return db.error();
    return out;
}

Result<std::vector<std::string>> TapeReader::names() const {
    std::vector<std::string> out{""};
    Query q = m_impl->db->query("SELECT id, text FROM name ORDER BY id");
    while (q.step()) {
        if (q.integer(0) != static_cast<std::int64_t>(out.size())) {
            return m_impl->damaged("its table name has a gap before id " +
                                   std::to_string(q.integer(0)));
        }
        out.push_back(q.text(1));
    }
    if (q.failed()) return m_impl->db->error();
    return out;
}

Result<std::vector<ModuleRow>> TapeReader::modules() const {
    return m_impl->rows<ModuleRow>(
        [](const Query& q) {
            return ModuleRow{id32(q.integer(0)), id32(q.integer(1)), q.text(2),
                             q.text(3),          q.integer(4),       q.text(5)};
        },
        "SELECT id, parent, path, type, parameters, details FROM module ORDER BY id");
}

Result<std::vector<SiteRow>> TapeReader::sites() const {
    return m_impl->rows<SiteRow>(
        [](const Query& q) {
            return SiteRow{id32(q.integer(0)), q.text(1), id32(q.integer(2)), q.text(3)};
        },
        "SELECT id, file, line, function FROM site ORDER BY id");
}

Result<std::vector<SourceRow>> TapeReader::sources() const {
    return m_impl->rows<SourceRow>(
        [](const Query& q) {
            return SourceRow{q.text(0), q.text(1)};
        },
        "SELECT path, text FROM source ORDER BY path");
}

Result<std::vector<LaneRow>> TapeReader::lanes() const {
    return m_impl->rows<LaneRow>(
        [](const Query& q) {
            return LaneRow{id32(q.integer(0)), LaneKind::Thread, q.text(1)};
        },
        "SELECT id, label FROM lane ORDER BY id");
}

Result<std::vector<StepRow>> TapeReader::steps(std::int64_t fromStep) const {
    return m_impl->rows<StepRow>(
        [](const Query& q) {
            return StepRow{q.integer(0), q.integer(1), q.integer(2), q.integer(3), q.integer(4)};
        },
        "SELECT step, start_ns, end_ns, graph, peak_bytes FROM step WHERE step >= ? ORDER BY step",
        fromStep);
}

Result<std::vector<OpSummary>> TapeReader::opSummary() const {
    return m_impl->rows<OpSummary>(
        [](const Query& q) {
            return OpSummary{q.text(0),    enumOf(q.integer(1), Phase::Evaluate),
                             q.integer(2), q.integer(3),
                             q.integer(4), q.integer(5),
                             q.integer(6), q.real(7),
                             q.integer(8)};
        },
        "SELECT name, phase, calls, total_ns, self_ns, min_ns, max_ns, flops, bytes FROM "
        "op_summary "
        "ORDER BY self_ns DESC, name, phase");
}

Result<std::vector<LogRow>> TapeReader::log() const {
    return m_impl->rows<LogRow>(
        [](const Query& q) {
            return LogRow{q.real(0), q.integer(1), enumOf(q.integer(2), Severity::Error),
                          q.text(3)};
        },
        "SELECT wall, step, severity, text FROM log ORDER BY id");
}

Result<std::vector<LossCount>> TapeReader::losses() const {
    return m_impl->rows<LossCount>(
        [](const Query& q) {
            return LossCount{q.text(0), q.integer(1), q.text(2)};
        },
        "SELECT what, count, reason FROM loss ORDER BY what, reason");
}

}  // namespace tapescope::storage
