// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace tapescope::engine {

/// Philox4x32-10 (Salmon et al., SC 2011): counter-based, so that any device can draw the same
/// numbers in parallel. A draw of n numbers takes the next block of counters; the state is (seed,
/// offset) and can be saved and restored.
class Generator final {
public:
    explicit Generator(std::uint64_t seed = 0) { manual_seed(seed); }
    void manual_seed(std::uint64_t seed) {
        m_seed = seed;
        m_offset = 0;
    }
    struct State {
        std::uint64_t seed = 0;
        std::uint64_t offset = 0;
        friend bool operator==(const State&, const State&) = default;
    };
    State state() const { return {m_seed, m_offset}; }
    void setState(State s) {
        m_seed = s.seed;
        m_offset = s.offset;
    }
    /// Reserves ceil(count / 4) counters and returns the first: element i of the draw is word i % 4
    /// of philox(seed, first + i / 4).
    std::uint64_t reserve(std::int64_t count) {
        const std::uint64_t first = m_offset;
        m_offset += (static_cast<std::uint64_t>(count) + 3) / 4;
        return first;
    }
    std::uint64_t seed() const { return m_seed; }
    /// One draw on its own, for host-side decisions (shuffling).
    std::uint32_t next32() { return philox(m_seed, m_offset++)[0]; }

    static std::array<std::uint32_t, 4> philox(std::uint64_t seed, std::uint64_t counter);
    /// The bare function, as published.
    static std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                   std::array<std::uint32_t, 2> key);

private:
    std::uint64_t m_seed = 0;
    std::uint64_t m_offset = 0;
};

}  // namespace tapescope::engine
