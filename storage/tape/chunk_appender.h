// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/chunk_codec.h"
#include "storage/tape/database.h"

#include <span>
#include <vector>

namespace tapescope::storage {

template <class Event>
struct ChunkTable;
template <>
struct ChunkTable<OpEvent> {
    static constexpr const char* kInsert = "INSERT INTO op_event_chunk VALUES(?,?,?,?,?,?,?,?)";
    static constexpr const char* kDeleteFrom = "DELETE FROM op_event_chunk WHERE first >= ?";
};
template <>
struct ChunkTable<MemoryEvent> {
    static constexpr const char* kInsert = "INSERT INTO memory_event_chunk VALUES(?,?,?,?,?,?,?,?)";
    static constexpr const char* kDeleteFrom = "DELETE FROM memory_event_chunk WHERE first >= ?";
};
template <>
struct ChunkTable<GpuEvent> {
    static constexpr const char* kInsert = "INSERT INTO gpu_event_chunk VALUES(?,?,?,?,?,?,?,?)";
    static constexpr const char* kDeleteFrom = "DELETE FROM gpu_event_chunk WHERE first >= ?";
};
template <>
struct ChunkTable<CounterSample> {
    static constexpr const char* kInsert =
        "INSERT INTO counter_sample_chunk VALUES(?,?,?,?,?,?,?,?)";
    static constexpr const char* kDeleteFrom = "DELETE FROM counter_sample_chunk WHERE first >= ?";
};
template <>
struct ChunkTable<AllocatorEvent> {
    static constexpr const char* kInsert =
        "INSERT INTO allocator_event_chunk VALUES(?,?,?,?,?,?,?,?)";
    static constexpr const char* kDeleteFrom = "DELETE FROM allocator_event_chunk WHERE first >= ?";
};

/// Appends events to a chunk table so that everything is readable after each commit and yet chunks
/// grow large: a commit writes what is new as a small chunk, every kFanOut neighbours of one size
/// become one, up to kMaxChunkEvents. An event's ordinal (chunk.first + index) never changes by
/// that, so a reader's cursor survives. Each event is packed at most 1 + log(kMaxChunkEvents) /
/// log(kFanOut) times.
template <class Event>
class ChunkAppender {
public:
    static constexpr std::size_t kFanOut = 8;

    /// Inside a write transaction of the caller. After an error the caller gives the whole tape up.
    Status append(Database& db, std::span<const Event> events) {
        m_open.insert(m_open.end(), events.begin(), events.end());
        std::size_t full = 0;
        while (m_open.size() - full >= kMaxChunkEvents) {
            if (Status s = replaceFrom(
                    db, m_first, std::span<const Event>(m_open).subspan(full, kMaxChunkEvents));
                !s.ok()) {
                return s;
            }
            m_first += static_cast<std::int64_t>(kMaxChunkEvents);
            full += kMaxChunkEvents;
            m_parts.clear();
            m_written = 0;
        }
        m_open.erase(m_open.begin(), m_open.begin() + static_cast<std::ptrdiff_t>(full));
        if (m_written == m_open.size()) return {};
        m_parts.push_back({m_written, 0});
        if (Status s = writePart(db, m_written); !s.ok()) return s;
        m_written = m_open.size();
        while (m_parts.size() >= kFanOut &&
               m_parts[m_parts.size() - kFanOut].level == m_parts.back().level) {
            m_parts.resize(m_parts.size() - kFanOut + 1);
            ++m_parts.back().level;
            if (Status s = writePart(db, m_parts.back().offset); !s.ok()) return s;
        }
        return {};
    }
    /// Makes one chunk of what is left in small ones.
    Status finish(Database& db) {
        if (m_parts.size() < 2) return {};
        m_parts.clear();
        return writePart(db, 0);
    }

private:
    struct Part {
        std::size_t offset = 0;  ///< in m_open
        int level = 0;
    };
    Status writePart(Database& db, std::size_t offset) {
        return replaceFrom(db, m_first + static_cast<std::int64_t>(offset),
                           std::span<const Event>(m_open).subspan(offset));
    }
    Status replaceFrom(Database& db, std::int64_t first, std::span<const Event> events) {
        if (Status s = db.run(ChunkTable<Event>::kDeleteFrom, first); !s.ok()) return s;
        const ChunkBounds b = boundsOf(events);
        const std::vector<std::byte> data = encodeChunk(events);
        return db.run(ChunkTable<Event>::kInsert, first, events.size(), b.t0, b.t1, b.min, b.max,
                      kChunkCodec, std::span<const std::byte>(data));
    }

    std::vector<Event>
        m_open;  ///< since the last full chunk; the first m_written are in small chunks
    std::int64_t m_first = 0;  ///< ordinal of m_open[0]
    std::size_t m_written = 0;
    std::vector<Part> m_parts;
};

}  // namespace tapescope::storage
