// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/chunk_codec.h"

#include "storage/tape/chunk_pack.h"

namespace tapescope::storage {
namespace {

// The formats: one list serves both ways. A change here is a new kChunkCodec.
template <class Columns>
void opEventColumns(Columns& c) {
    c.delta(&OpEvent::startNs);
    c.value(&OpEvent::durationNs);
    c.delta(&OpEvent::opId);
    c.delta(&OpEvent::parentId);
    c.delta(&OpEvent::step);
    c.planes(&OpEvent::flops);
    c.value(&OpEvent::bytes);
    c.value(&OpEvent::name);
    c.value(&OpEvent::module);
    c.value(&OpEvent::site);
    c.value(&OpEvent::lane);
    c.value(&OpEvent::seq);
    c.byte(&OpEvent::kind, OpEvent::Kind::Phase);
    c.byte(&OpEvent::phase, Phase::Evaluate);
    c.byte(&OpEvent::depth, std::uint8_t{255});
}
template <class Columns>
void memoryEventColumns(Columns& c) {
    c.delta(&MemoryEvent::timeNs);
    c.delta(&MemoryEvent::address);
    c.value(&MemoryEvent::sizeBytes);
    c.delta(&MemoryEvent::allocatedBytes);
    c.delta(&MemoryEvent::reservedBytes);
    c.delta(&MemoryEvent::opId);
    c.delta(&MemoryEvent::step);
    c.byte(&MemoryEvent::kind, MemoryKind::OutOfMemory);
    c.byte(&MemoryEvent::role, MemoryRole::Temporary);
}
constexpr auto kOpEvent = [](auto& c) { opEventColumns(c); };
constexpr auto kMemoryEvent = [](auto& c) { memoryEventColumns(c); };

// What n events can need at most: 11 varints, 8 + 3 bytes for an OpEvent; a MemoryEvent needs less.
constexpr std::size_t kMaxRawBytesPerEvent = 11 * columns::kMaxVarintBytes + 11;

}  // namespace

std::vector<std::byte> encodeChunk(std::span<const OpEvent> events) {
    return columns::encode(events, kOpEvent);
}
std::vector<std::byte> encodeChunk(std::span<const MemoryEvent> events) {
    return columns::encode(events, kMemoryEvent);
}
Status decodeChunk(std::span<const std::byte> payload, std::size_t n, std::vector<OpEvent>& out) {
    return columns::decode(payload, n, kMaxRawBytesPerEvent, out, kOpEvent);
}
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<MemoryEvent>& out) {
    return columns::decode(payload, n, kMaxRawBytesPerEvent, out, kMemoryEvent);
}

ChunkBounds boundsOf(std::span<const OpEvent> events) {
    // Wrapping addition: a nonsense event may not be undefined behaviour.
    return columns::bounds(
        events, [](const OpEvent& e) { return e.startNs; },
        [](const OpEvent& e) {
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(e.startNs) +
                                             static_cast<std::uint64_t>(e.durationNs));
        },
        [](const OpEvent& e) { return e.durationNs; });
}
ChunkBounds boundsOf(std::span<const MemoryEvent> events) {
    return columns::bounds(
        events, [](const MemoryEvent& e) { return e.timeNs; },
        [](const MemoryEvent& e) { return e.timeNs; },
        [](const MemoryEvent& e) { return e.allocatedBytes; });
}

}  // namespace tapescope::storage
