// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tapescope::engine {

inline constexpr int kMaxRank = 8;

/// Throws Error: the rank exceeds kMaxRank.
[[noreturn]] void throwRankTooLarge(std::size_t rank);

/// Up to kMaxRank sizes, strides or axes, held inline so that a tensor's metadata never allocates.
class Dims {
public:
    constexpr Dims() = default;
    constexpr Dims(std::initializer_list<std::int64_t> values)
        : Dims(std::span(values.begin(), values.size())) {}
    constexpr explicit Dims(std::span<const std::int64_t> values) {
        if (values.size() > kMaxRank) throwRankTooLarge(values.size());
        std::copy(values.begin(), values.end(), m_values.begin());
        m_size = values.size();
    }
    /// rank copies of value.
    static constexpr Dims filled(int rank, std::int64_t value) {
        Dims d;
        d.resize(rank, value);
        return d;
    }

    constexpr int size() const { return static_cast<int>(m_size); }
    constexpr bool empty() const { return m_size == 0; }
    constexpr std::int64_t operator[](int i) const { return m_values[static_cast<unsigned>(i)]; }
    constexpr std::int64_t& operator[](int i) { return m_values[static_cast<unsigned>(i)]; }
    constexpr std::int64_t back() const { return m_values[m_size - 1]; }
    constexpr const std::int64_t* begin() const { return m_values.data(); }
    constexpr const std::int64_t* end() const { return m_values.data() + m_size; }
    constexpr std::int64_t* begin() { return m_values.data(); }
    constexpr std::int64_t* end() { return m_values.data() + m_size; }
    constexpr std::span<const std::int64_t> span() const { return {m_values.data(), m_size}; }

    constexpr void push_back(std::int64_t value) {
        if (m_size == kMaxRank) throwRankTooLarge(kMaxRank + 1U);
        m_values[m_size++] = value;
    }
    constexpr void resize(int rank, std::int64_t value = 0) {
        if (rank > kMaxRank) throwRankTooLarge(static_cast<std::size_t>(rank));
        for (int i = size(); i < rank; ++i) m_values[static_cast<unsigned>(i)] = value;
        m_size = static_cast<std::size_t>(rank);
    }
    constexpr void insert(int at, std::int64_t value) {
        push_back(0);
        for (int i = size() - 1; i > at; --i) (*this)[i] = (*this)[i - 1];
        (*this)[at] = value;
    }
    constexpr void erase(int at) {
        for (int i = at; i + 1 < size(); ++i) (*this)[i] = (*this)[i + 1];
        --m_size;
    }

    friend constexpr bool operator==(const Dims& a, const Dims& b) {
        if (a.m_size != b.m_size) return false;
        for (std::size_t i = 0; i < a.m_size; ++i) {
            if (a.m_values[i] != b.m_values[i]) return false;
        }
        return true;
    }

private:
    std::array<std::int64_t, kMaxRank> m_values{};
    // As wide as a copy reads it: a narrower store just before would hold up every copy.
    std::size_t m_size = 0;
};

/// Product of the sizes; 1 for a 0-d tensor. Throws Error if it overflows or a size is negative.
std::int64_t numelOf(const Dims& sizes);
/// Row-major strides, in elements.
Dims contiguousStrides(const Dims& sizes);
/// "[64, 1, 8, 8]"
std::string toString(const Dims& dims);
/// NumPy broadcasting of two shapes. False if they do not broadcast.
bool broadcastShapes(const Dims& a, const Dims& b, Dims& out);

}  // namespace tapescope::engine
