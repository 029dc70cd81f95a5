// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/chunk_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <zstd.h>

namespace tapescope::storage {
namespace {

constexpr int kZstdLevel = 1;
constexpr std::size_t kMaxVarintBytes = 10;

constexpr std::uint64_t zigzag(std::int64_t v) {
    return (static_cast<std::uint64_t>(v) << 1U) ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t u) {
    return static_cast<std::int64_t>(u >> 1U) ^ -static_cast<std::int64_t>(u & 1U);
}

template <class T>
struct Underlying {
    using type = T;
};
template <class T>
requires std::is_enum_v<T>
struct Underlying<T> {
    using type = std::underlying_type_t<T>;
};

/// Writes columns of a row of events.
template <class Event>
class ColumnWriter {
public:
    ColumnWriter(std::span<const Event> events, std::vector<std::uint8_t>& out)
        : m_events(events), m_out(out) {}

    /// Differences to the event before, modulo 2^64: any value comes back, and steady ones cost a
    /// byte.
    template <class T>
    void delta(T Event::*field) {
        std::uint64_t before = 0;
        reserve(kMaxVarintBytes);
        for (const Event& e : m_events) {
            const auto now = static_cast<std::uint64_t>(e.*field);
            varint(zigzag(static_cast<std::int64_t>(now - before)));
            before = now;
        }
        finish();
    }
    template <class T>
    void value(T Event::*field) {
        reserve(kMaxVarintBytes);
        for (const Event& e : m_events) {
            if constexpr (std::is_signed_v<T>) {
                varint(zigzag(e.*field));
            } else {
                varint(e.*field);
            }
        }
        finish();
    }
    template <class T>
    void byte(T Event::*field, T /*last*/) {
        static_assert(sizeof(T) == 1);
        reserve(1);
        for (const Event& e : m_events) *m_at++ = static_cast<std::uint8_t>(e.*field);
        finish();
    }
    void planes(double Event::*field) {
        reserve(sizeof(double));
        const std::size_t n = m_events.size();
        for (std::size_t i = 0; i < n; ++i) {
            const auto bits = std::bit_cast<std::uint64_t>(m_events[i].*field);
            for (unsigned b = 0; b < 8; ++b)
                m_at[b * n + i] = static_cast<std::uint8_t>(bits >> (8 * b));
        }
        m_at += 8 * n;
        finish();
    }

private:
    void reserve(std::size_t bytesPerEvent) {
        m_size = m_out.size();
        m_out.resize(m_size + bytesPerEvent * m_events.size());
        m_at = m_out.data() + m_size;
    }
    void varint(std::uint64_t u) {
        while (u >= 128) {
            *m_at++ = static_cast<std::uint8_t>(u | 128U);
            u >>= 7U;
        }
        *m_at++ = static_cast<std::uint8_t>(u);
    }
    void finish() { m_out.resize(static_cast<std::size_t>(m_at - m_out.data())); }

    std::span<const Event> m_events;
    std::vector<std::uint8_t>& m_out;
    std::size_t m_size = 0;
    std::uint8_t* m_at = nullptr;
};

/// Reads them back; after any error ok() is false and the rest is left alone.
template <class Event>
class ColumnReader {
public:
    ColumnReader(std::span<Event> events, std::span<const std::uint8_t> in)
        : m_events(events), m_at(in.data()), m_end(in.data() + in.size()) {}

    template <class T>
    void delta(T Event::*field) {
        std::uint64_t before = 0;
        for (Event& e : m_events) {
            before += static_cast<std::uint64_t>(unzigzag(varint()));
            e.*field = static_cast<T>(before);
            if (static_cast<std::uint64_t>(e.*field) != before)
                m_ok = false;  // does not fit the column's type
        }
    }
    template <class T>
    void value(T Event::*field) {
        for (Event& e : m_events) {
            const std::uint64_t u = varint();
            if constexpr (std::is_signed_v<T>) {
                e.*field = unzigzag(u);
            } else {
                if (u > std::numeric_limits<T>::max()) m_ok = false;
                e.*field = static_cast<T>(u);
            }
        }
    }
    template <class T>
    void byte(T Event::*field, T last) {
        if (left() < m_events.size()) {
            m_ok = false;
            return;
        }
        using Raw = typename Underlying<T>::type;
        for (Event& e : m_events) {
            const auto raw = static_cast<Raw>(*m_at++);
            if (raw > static_cast<Raw>(last)) m_ok = false;
            e.*field = static_cast<T>(raw);
        }
    }
    void planes(double Event::*field) {
        const std::size_t n = m_events.size();
        if (left() / 8 < n) {
            m_ok = false;
            return;
        }
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t bits = 0;
            for (unsigned b = 0; b < 8; ++b)
                bits |= static_cast<std::uint64_t>(m_at[b * n + i]) << (8 * b);
            m_events[i].*field = std::bit_cast<double>(bits);
        }
        m_at += 8 * n;
    }
    bool finished() const { return m_ok && m_at == m_end; }

private:
    std::size_t left() const { return static_cast<std::size_t>(m_end - m_at); }
    std::uint64_t varint() {
        std::uint64_t u = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (m_at == m_end) break;
            const std::uint8_t byte = *m_at++;
            u |= static_cast<std::uint64_t>(byte & 127U) << shift;
            if (byte < 128) return u;
        }
        m_ok = false;
        return 0;
    }

    std::span<Event> m_events;
    const std::uint8_t* m_at;
    const std::uint8_t* m_end;
    bool m_ok = true;
};

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
void allColumns(auto& c, const OpEvent&) { opEventColumns(c); }
void allColumns(auto& c, const MemoryEvent&) { memoryEventColumns(c); }

// What n events can need at most: 11 varints, 8 + 3 bytes for an OpEvent; a MemoryEvent needs less.
constexpr std::size_t kMaxRawBytesPerEvent = 11 * kMaxVarintBytes + 11;

struct FreeContext {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
    void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};

template <class Event>
std::vector<std::byte> encode(std::span<const Event> events) {
    std::vector<std::uint8_t> raw;
    raw.reserve(events.size() * 40);
    ColumnWriter<Event> writer(events, raw);
    allColumns(writer, Event{});
    const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
    if (!context) throw std::bad_alloc();
    std::vector<std::byte> packed(ZSTD_compressBound(raw.size()));
    const std::size_t n = ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), raw.data(),
                                            raw.size(), kZstdLevel);
    if (ZSTD_isError(n) != 0U) throw std::bad_alloc();  // with enough room nothing else can fail
    packed.resize(n);
    return packed;
}

template <class Event>
Status decode(std::span<const std::byte> payload, std::size_t n, std::vector<Event>& out) {
    if (n == 0 || n > kMaxChunkEvents) {
        return Status::error("a chunk claims " + std::to_string(n) + " events, at most " +
                             std::to_string(kMaxChunkEvents) + " are possible");
    }
    // Checked before anything is allocated: a small payload may claim to unpack to terabytes.
    const unsigned long long claimed = ZSTD_getFrameContentSize(payload.data(), payload.size());
    if (claimed >
        n * kMaxRawBytesPerEvent) {  // also "unknown" and "not zstd", which are huge values
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
    allColumns(reader, Event{});
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

}  // namespace

std::vector<std::byte> encodeChunk(std::span<const OpEvent> events) { return encode(events); }
std::vector<std::byte> encodeChunk(std::span<const MemoryEvent> events) { return encode(events); }
Status decodeChunk(std::span<const std::byte> payload, std::size_t n, std::vector<OpEvent>& out) {
    return decode(payload, n, out);
}
Status decodeChunk(std::span<const std::byte> payload, std::size_t n,
                   std::vector<MemoryEvent>& out) {
    return decode(payload, n, out);
}

ChunkBounds boundsOf(std::span<const OpEvent> events) {
    // Wrapping addition: a nonsense event may not be undefined behaviour.
    return bounds(
        events, [](const OpEvent& e) { return e.startNs; },
        [](const OpEvent& e) {
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(e.startNs) +
                                             static_cast<std::uint64_t>(e.durationNs));
        },
        [](const OpEvent& e) { return e.durationNs; });
}
ChunkBounds boundsOf(std::span<const MemoryEvent> events) {
    return bounds(
        events, [](const MemoryEvent& e) { return e.timeNs; },
        [](const MemoryEvent& e) { return e.timeNs; },
        [](const MemoryEvent& e) { return e.allocatedBytes; });
}

}  // namespace tapescope::storage
