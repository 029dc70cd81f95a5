// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/chunk_codec.h"
#include "storage/tape/database.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tapescope::storage {

/// Events of a chunk table from a cursor on, at most maxEvents; the cursor moves along. sql selects
/// first, n, codec, data of the chunks that reach behind the cursor (?1), in order.
/// Impl is TapeReader's, which only its members may name.
template <class Event, class Impl>
Status scanChunks(Impl& m, const char* sql, std::size_t maxEvents, std::vector<Event>& out,
                  std::int64_t& cursor) {
    if (cursor < 0) return Status::error("an event cursor below 0 was asked for: start with 0");
    std::vector<Event> chunk;
    Query q = m.db->query(sql, cursor);
    while (out.size() < maxEvents && q.step()) {
        const std::int64_t first = q.integer(0);
        const std::int64_t n = q.integer(1);
        if (first < 0 || n <= 0 || n > static_cast<std::int64_t>(kMaxChunkEvents) ||
            first > INT64_MAX - n) {
            return m.damaged("a chunk of events claims to be [" + std::to_string(first) + ", +" +
                             std::to_string(n) + ")");
        }
        if (first + n <= cursor) continue;
        if (first > cursor) {
            return m.damaged("events " + std::to_string(cursor) + " to " +
                             std::to_string(first - 1) + " are missing");
        }
        if (q.integer(2) != kChunkCodec) {
            return m.damaged("a chunk of events is coded in an unknown way " +
                             std::to_string(q.integer(2)));
        }
        const auto skip = static_cast<std::size_t>(cursor - first);
        const std::size_t take =
            std::min(static_cast<std::size_t>(n) - skip, maxEvents - out.size());
        // A whole chunk goes straight to its place.
        const bool whole = take == static_cast<std::size_t>(n);
        chunk.clear();
        if (Status s = decodeChunk(q.blob(3), static_cast<std::size_t>(n), whole ? out : chunk);
            !s.ok()) {
            return m.damaged(s.message());
        }
        if (!whole) {
            const auto from = chunk.begin() + static_cast<std::ptrdiff_t>(skip);
            out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(take));
        }
        cursor += static_cast<std::int64_t>(take);
    }
    return q.failed() ? m.db->error() : Status();
}

}  // namespace tapescope::storage
