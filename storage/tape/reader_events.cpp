// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/chunk_scan.h"
#include "storage/tape/reader.h"
#include "storage/tape/reader_impl.h"

namespace tapescope::storage {
namespace {

// Chunks that reach behind the cursor: from the last that starts at or before it. Chunks may have
// been merged since the cursor was taken; ordinals stay.
constexpr const char* kOpChunks =
    "SELECT first, n, codec, data FROM op_event_chunk WHERE first >= "
    "ifnull((SELECT max(first) FROM op_event_chunk WHERE first <= ?1), 0) ORDER BY first";
constexpr const char* kMemoryChunks =
    "SELECT first, n, codec, data FROM memory_event_chunk WHERE first >= "
    "ifnull((SELECT max(first) FROM memory_event_chunk WHERE first <= ?1), 0) ORDER BY first";

}  // namespace

Result<TapeReader::OpEvents> TapeReader::opEvents(std::int64_t cursor,
                                                  std::size_t maxEvents) const {
    OpEvents out{{}, cursor};
    if (Status s = scanChunks(*m_impl, kOpChunks, maxEvents, out.events, out.cursor); !s.ok())
        return s;
    return out;
}

Result<TapeReader::MemoryEvents> TapeReader::memoryEvents(std::int64_t cursor,
                                                          std::size_t maxEvents) const {
    MemoryEvents out{{}, cursor};
    if (Status s = scanChunks(*m_impl, kMemoryChunks, maxEvents, out.events, out.cursor); !s.ok())
        return s;
    return out;
}

}  // namespace tapescope::storage
