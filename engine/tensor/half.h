// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tapescope::engine {

/// IEEE binary16 <-> float, exactly; towards half rounds to nearest, ties to even. A NaN stays one.
constexpr float halfBitsToFloat(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1FU;
    const std::uint32_t mantissa = half & 0x3FFU;
    if (exponent == 0) {  // zero or a multiple of 2^-24
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t bits = exponent == 0x1F ? 0x7F800000U : (exponent + 112U) << 23;
    return std::bit_cast<float>(sign | bits | (mantissa << 13));
}
constexpr std::uint16_t floatToHalfBits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);   // NaN
    if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // >= 65536
    if (magnitude < 0x38800000U) {  // below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<std::uint16_t>(
            sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F)));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    const std::uint32_t rounded = magnitude - (112U << 23) + 0xFFFU + odd;
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

/// bfloat16: the upper half of a float. The same rounding.
constexpr float bfloat16BitsToFloat(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
constexpr std::uint16_t floatToBFloat16Bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FC0U;
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// An element stored in 16 bits that calculates as a float: reading converts, writing rounds.
/// ToFloat and FromFloat convert its bits. Numbers become one only by static_cast, by way of float,
/// as in PyTorch.
template <float (*ToFloat)(std::uint16_t), std::uint16_t (*FromFloat)(float)>
class Float16 final {
public:
    constexpr Float16() = default;
    template <class T>
    requires std::is_arithmetic_v<T>
    constexpr explicit Float16(T value) : m_bits(FromFloat(static_cast<float>(value))) {}
    template <float (*To)(std::uint16_t), std::uint16_t (*From)(float)>
    constexpr explicit Float16(Float16<To, From> other)
        : m_bits(FromFloat(static_cast<float>(other))) {}
    constexpr Float16(const Float16&) = default;
    constexpr Float16& operator=(const Float16&) = default;

    static constexpr Float16 fromBits(std::uint16_t bits) {
        Float16 value;
        value.m_bits = bits;
        return value;
    }
    constexpr std::uint16_t bits() const { return m_bits; }
    // NOLINTNEXTLINE(google-explicit-constructor): widening loses nothing
    constexpr operator float() const { return ToFloat(m_bits); }

private:
    std::uint16_t m_bits = 0;
};

using Half = Float16<halfBitsToFloat, floatToHalfBits>;
using BFloat16 = Float16<bfloat16BitsToFloat, floatToBFloat16Bits>;
static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);
static_assert(std::is_trivially_copyable_v<Half> && !std::is_same_v<Half, BFloat16>);

/// True for the 16-bit element types.
template <class T>
inline constexpr bool kIsFloat16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
/// True for every floating element type.
template <class T>
inline constexpr bool kIsFloatingElement = std::is_floating_point_v<T> || kIsFloat16<T>;
/// What an element is read as: a 16-bit float as float, everything else as it is.
template <class T>
using Widened = std::conditional_t<kIsFloat16<T>, float, T>;

}  // namespace tapescope::engine
