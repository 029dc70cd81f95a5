// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/gpu_records.h"
#include "storage/tape/records.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tapescope::storage {

/// Events a chunk holds at most; also what bounds the memory a reader needs for one.
inline constexpr std::size_t kMaxChunkEvents = 65536;
/// Value of the codec column: columns as below, zstd.
inline constexpr int kChunkCodec = 1;

/// A chunk's payload: column after column (the order is in chunk_codec.cpp and docs/tape.md),
/// integers as LEB128 varints of zigzag differences or values, doubles as eight byte planes; the
/// whole compressed with zstd level 1.
std::vector<std::byte> encodeChunk(std::span<const OpEvent> events);
std::vector<std::byte> encodeChunk(std::span<const MemoryEvent> events);
std::vector<std::byte> encodeChunk(std::span<const GpuEvent> events);
std::vector<std::byte> encodeChunk(std::span<const CounterSample> events);
std::vector<std::byte> encodeChunk(std::span<const AllocatorEvent> events);

/// Appends the n events of a payload. Refuses whatever is not exactly that: a payload that would
/// unpack to more than n events can need is never unpacked. The message says what is wrong, not in
/// which file.
Status decodeChunk(std::span<const std::byte> payload, std::size_t n, std::vector<OpEvent>& out);
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<MemoryEvent>& out);
Status decodeChunk(std::span<const std::byte> payload, std::size_t n, std::vector<GpuEvent>& out);
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<CounterSample>& out);
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<AllocatorEvent>& out);

/// The searchable columns of a chunk: time range, and range of durationNs (operators, GPU events),
/// allocatedBytes (memory), sizeBytes (allocator) or counter (samples). GPU events that cannot be
/// drawn do not count; if none can, all four are 0.
struct ChunkBounds {
    std::int64_t t0 = 0;
    std::int64_t t1 = 0;
    std::int64_t min = 0;
    std::int64_t max = 0;
};
ChunkBounds boundsOf(std::span<const OpEvent> events);
ChunkBounds boundsOf(std::span<const MemoryEvent> events);
ChunkBounds boundsOf(std::span<const GpuEvent> events);
ChunkBounds boundsOf(std::span<const CounterSample> events);
ChunkBounds boundsOf(std::span<const AllocatorEvent> events);

}  // namespace tapescope::storage
