// SPDX-License-Identifier: Apache-2.0
// The payloads of GPU events, counter samples and allocator events.
#include "storage/tape/chunk_codec.h"
#include "storage/tape/chunk_pack.h"

namespace tapescope::storage {
namespace {

template <std::size_t I>
constexpr auto u = [](auto& e) -> auto& {
    return e.u[I];
};
template <std::size_t I>
constexpr auto x = [](auto& e) -> auto& {
    return e.x[I];
};

// The formats: one list serves both ways. A change here is a new kChunkCodec. kind and flags come
// first: they say which events have a time.
constexpr auto kGpuEvent = [](auto& c) {
    constexpr auto timed = [](const GpuEvent& e) { return (e.flags & kGpuNoTime) == 0; };
    c.byte(&GpuEvent::kind, GpuEventKind::GraphLaunch);
    c.value(&GpuEvent::flags);
    c.deltaWhere(&GpuEvent::startNs, timed);
    c.deltaWhere(&GpuEvent::durationNs, timed);
    c.value(&GpuEvent::process);
    c.delta(&GpuEvent::correlation);
    c.value(&GpuEvent::name);
    c.value(&GpuEvent::device);
    c.value(&GpuEvent::context);
    c.value(&GpuEvent::stream);
    c.value(&GpuEvent::thread);
    c.value(&GpuEvent::graph);
    c.value(u<0>);
    c.value(u<1>);
    c.value(u<2>);
    c.value(x<0>);
    c.value(x<1>);
    c.value(x<2>);
    c.value(x<3>);
    c.value(x<4>);
    c.value(x<5>);
};
constexpr auto kCounterSample = [](auto& c) {
    c.delta(&CounterSample::timeNs);
    c.planes(&CounterSample::value);
    c.value(&CounterSample::counter);
};
constexpr auto kAllocatorEvent = [](auto& c) {
    c.delta(&AllocatorEvent::timeNs);
    c.delta(&AllocatorEvent::address);
    c.value(&AllocatorEvent::sizeBytes);
    c.value(&AllocatorEvent::deviceFreeBytes);
    c.value(&AllocatorEvent::stream);
    c.value(&AllocatorEvent::process);
    c.value(&AllocatorEvent::device);
    c.value(&AllocatorEvent::site);
    c.byte(&AllocatorEvent::action, AllocatorAction::OutOfMemory);
};

// What one event can need at most: a byte for the kind, the rest varints.
constexpr std::size_t kMaxGpuEvent = 1 + 20 * columns::kMaxVarintBytes;
constexpr std::size_t kMaxSample = sizeof(double) + 2 * columns::kMaxVarintBytes;
constexpr std::size_t kMaxAllocatorEvent = 1 + 8 * columns::kMaxVarintBytes;

/// Wrapping: a nonsense event may not be undefined behaviour.
std::int64_t endOf(const GpuEvent& e) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(e.startNs) +
                                     static_cast<std::uint64_t>(e.durationNs));
}

}  // namespace

std::vector<std::byte> encodeChunk(std::span<const GpuEvent> events) {
    return columns::encode(events, kGpuEvent);
}
std::vector<std::byte> encodeChunk(std::span<const CounterSample> events) {
    return columns::encode(events, kCounterSample);
}
std::vector<std::byte> encodeChunk(std::span<const AllocatorEvent> events) {
    return columns::encode(events, kAllocatorEvent);
}
Status decodeChunk(std::span<const std::byte> payload, std::size_t n, std::vector<GpuEvent>& out) {
    return columns::decode(payload, n, kMaxGpuEvent, out, kGpuEvent);
}
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<CounterSample>& out) {
    return columns::decode(payload, n, kMaxSample, out, kCounterSample);
}
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<AllocatorEvent>& out) {
    return columns::decode(payload, n, kMaxAllocatorEvent, out, kAllocatorEvent);
}

ChunkBounds boundsOf(std::span<const GpuEvent> events) {
    ChunkBounds b;
    bool any = false;
    for (const GpuEvent& e : events) {
        if (!e.drawable()) continue;
        const ChunkBounds one{e.startNs, endOf(e), e.durationNs, e.durationNs};
        b = any ? ChunkBounds{std::min(b.t0, one.t0), std::max(b.t1, one.t1),
                              std::min(b.min, one.min), std::max(b.max, one.max)}
                : one;
        any = true;
    }
    return b;
}
ChunkBounds boundsOf(std::span<const CounterSample> events) {
    constexpr auto time = [](const CounterSample& s) { return s.timeNs; };
    return columns::bounds(events, time, time, [](const CounterSample& s) {
        return static_cast<std::int64_t>(s.counter);
    });
}
ChunkBounds boundsOf(std::span<const AllocatorEvent> events) {
    constexpr auto time = [](const AllocatorEvent& e) { return e.timeNs; };
    return columns::bounds(events, time, time, [](const AllocatorEvent& e) { return e.sizeBytes; });
}

}  // namespace tapescope::storage
