// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/chunk_codec.h"
#include "storage/tape/chunk_columns.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <zstd.h>

/// How a chunk's columns are packed and unpacked, for the codecs only.
namespace tapescope::storage::columns {

inline constexpr int kZstdLevel = 1;

struct FreeContext {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
    void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};

/// allColumns(c, event) names every column, for ColumnWriter and ColumnReader alike.
template <class Event, class Columns>
std::vector<std::byte> encode(std::span<const Event> events, Columns allColumns) {
    std::vector<std::uint8_t> raw;
    raw.reserve(events.size() * 40);
    ColumnWriter<Event> writer(events, raw);
    allColumns(writer);
    const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
    if (!context) throw std::bad_alloc();
    std::vector<std::byte> packed(ZSTD_compressBound(raw.size()));
    const std::size_t n = ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), raw.data(),
                                            raw.size(), kZstdLevel);
    if (ZSTD_isError(n) != 0U) throw std::bad_alloc();  // with enough room nothing else can fail
    packed.resize(n);
    return packed;
}

/// maxRawBytes: what one event can need at most.
template <class Event, class Columns>
Status decode(std::span<const std::byte> payload, std::size_t n, std::size_t maxRawBytes,
              std::vector<Event>& out, Columns allColumns) {
    if (n == 0 || n > kMaxChunkEvents) {
        return Status::error("a chunk claims " + std::to_string(n) + " events, at most " +
                             std::to_string(kMaxChunkEvents) + " are possible");
    }
    // Checked before anything is allocated: a small payload may claim to unpack to terabytes.
    const unsigned long long claimed = ZSTD_getFrameContentSize(payload.data(), payload.size());
    if (claimed > n * maxRawBytes) {  // also "unknown" and "not zstd", which are huge values
        return Status::error("a chunk is not compressed as its " + std::to_string(n) +
                             " events would be");
    }
    const auto capacity = static_cast<std::size_t>(claimed);
    // NOLINTNEXTLINE(modernize-avoid-c-arrays): a vector would fill megabytes with zeros first
    const auto raw = std::make_unique_for_overwrite<std::uint8_t[]>(capacity);
    const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
    if (!context) return Status::error("not enough memory to unpack a chunk");
    const std::size_t size =
        ZSTD_decompressDCtx(context.get(), raw.get(), capacity, payload.data(), payload.size());
    if (ZSTD_isError(size) != 0U) {
        return Status::error(std::string("a chunk does not unpack (") + ZSTD_getErrorName(size) +
                             ")");
    }
    const std::size_t before = out.size();
    out.resize(before + n);
    ColumnReader<Event> reader(std::span<Event>(out).subspan(before),
                               std::span<const std::uint8_t>(raw.get(), size));
    allColumns(reader);
    if (reader.finished()) return {};
    out.resize(before);
    return Status::error("a chunk's columns do not hold the " + std::to_string(n) +
                         " events it claims");
}

template <class Event, class TimeFn, class EndFn, class ValueFn>
ChunkBounds bounds(std::span<const Event> events, TimeFn time, EndFn end, ValueFn value) {
    if (events.empty()) return {};
    ChunkBounds b{time(events[0]), end(events[0]), value(events[0]), value(events[0])};
    for (const Event& e : events) {
        b.t0 = std::min(b.t0, time(e));
        b.t1 = std::max(b.t1, end(e));
        b.min = std::min(b.min, value(e));
        b.max = std::max(b.max, value(e));
    }
    return b;
}

}  // namespace tapescope::storage::columns
