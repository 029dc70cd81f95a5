// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

/// Columns of a chunk's payload, for the codecs only. A field is a pointer to member, or a function
/// from an event to a reference.
namespace tapescope::storage::columns {

inline constexpr std::size_t kMaxVarintBytes = 10;

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
    template <class Field>
    void delta(Field field) {
        deltaWhere(field, [](const Event&) { return true; });
    }
    /// Only for events of which `has` holds; the column says nothing of the others.
    template <class Field, class Has>
    void deltaWhere(Field field, Has has) {
        std::uint64_t before = 0;
        reserve(kMaxVarintBytes);
        for (const Event& e : m_events) {
            if (!has(e)) continue;
            const auto now = static_cast<std::uint64_t>(std::invoke(field, e));
            varint(zigzag(static_cast<std::int64_t>(now - before)));
            before = now;
        }
        finish();
    }
    template <class Field>
    void value(Field field) {
        reserve(kMaxVarintBytes);
        for (const Event& e : m_events) {
            const auto now = std::invoke(field, e);
            if constexpr (std::is_signed_v<decltype(now)>) {
                varint(zigzag(now));
            } else {
                varint(now);
            }
        }
        finish();
    }
    template <class Field, class T>
    void byte(Field field, T /*last*/) {
        static_assert(sizeof(T) == 1);
        reserve(1);
        for (const Event& e : m_events) *m_at++ = static_cast<std::uint8_t>(std::invoke(field, e));
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

    template <class Field>
    void delta(Field field) {
        deltaWhere(field, [](const Event&) { return true; });
    }
    template <class Field, class Has>
    void deltaWhere(Field field, Has has) {
        std::uint64_t before = 0;
        for (Event& e : m_events) {
            if (!has(e)) continue;
            before += static_cast<std::uint64_t>(unzigzag(varint()));
            auto& to = std::invoke(field, e);
            to = static_cast<std::remove_reference_t<decltype(to)>>(before);
            if (static_cast<std::uint64_t>(to) != before)
                m_ok = false;  // does not fit the column's type
        }
    }
    template <class Field>
    void value(Field field) {
        for (Event& e : m_events) {
            const std::uint64_t u = varint();
            auto& to = std::invoke(field, e);
            using T = std::remove_reference_t<decltype(to)>;
            if constexpr (std::is_signed_v<T>) {
                const std::int64_t v = unzigzag(u);
                to = static_cast<T>(v);
                if (to != v) m_ok = false;
            } else {
                if (u > std::numeric_limits<T>::max()) m_ok = false;
                to = static_cast<T>(u);
            }
        }
    }
    template <class Field, class T>
    void byte(Field field, T last) {
        if (left() < m_events.size()) {
            m_ok = false;
            return;
        }
        using Raw = typename Underlying<T>::type;
        for (Event& e : m_events) {
            const auto raw = static_cast<Raw>(*m_at++);
            if (raw > static_cast<Raw>(last)) m_ok = false;
            std::invoke(field, e) = static_cast<T>(raw);
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

}  // namespace tapescope::storage::columns
