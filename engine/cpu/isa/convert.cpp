// SPDX-License-Identifier: Apache-2.0
// Conversions between element types, as PyTorch converts on x86.
#include "engine/cpu/isa/loops.h"

// Intrinsics are always inlined: no copy of them is left for the linker to choose from.
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

// The 16-bit floats. The bit tricks are those of engine/tensor/half.h, without branches, so that
// whole vectors are converted.
struct F16 {
    std::uint16_t bits;
};
struct BF16 {
    std::uint16_t bits;
};

inline std::uint32_t bitsOf(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline float floatOf(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

inline float widen(F16 x) {
    const std::uint32_t shifted = (x.bits & 0x7FFFU) << 13;
    // 2^112 moves the exponent from one bias to the other and makes subnormal numbers normal.
    const std::uint32_t scaled = bitsOf(floatOf(shifted) * 0x1p112F);
    const std::uint32_t special = shifted >= 0x0F800000U ? 0x7F800000U : 0U;
    return floatOf(scaled | special | (static_cast<std::uint32_t>(x.bits & 0x8000U) << 16));
}
inline float widen(BF16 x) { return floatOf(static_cast<std::uint32_t>(x.bits) << 16); }
template <class T>
inline T widen(T x) {
    return x;
}

inline F16 narrowHalf(float x) {
    const std::uint32_t bits = bitsOf(x);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    const std::uint32_t normal =
        (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
    const std::uint32_t subnormal = bitsOf(floatOf(magnitude) + 0.5F) - bitsOf(0.5F);
    std::uint32_t half = magnitude < 0x38800000U ? subnormal : normal;
    half = magnitude >= 0x47800000U ? 0x7C00U : half;
    half = magnitude > 0x7F800000U ? 0x7E00U : half;
    return {static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000U))};
}
inline BF16 narrowBFloat(float x) {
    const std::uint32_t bits = bitsOf(x);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    return {static_cast<std::uint16_t>(nan ? 0x7FC0U : rounded)};
}

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;
template <class T>
inline constexpr bool kReal = kSame<T, float> || kSame<T, double>;

constexpr std::int64_t kInt64Min = -9223372036854775807 - 1;
constexpr std::int32_t kInt32Min = -2147483647 - 1;

// Out of range and NaN: what x86 gives, and so PyTorch.
inline std::int64_t toInt64(double x) {
    const bool fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
    return fits ? static_cast<std::int64_t>(x) : kInt64Min;
}
inline std::int32_t toInt32(double x) {
    const bool fits = x > -2147483649.0 && x < 2147483648.0;
    return fits ? static_cast<std::int32_t>(x) : kInt32Min;
}

/// A value of a plain type as To.
template <class To, class From>
inline To convert(From x) {
    if constexpr (kSame<To, F16>) {
        return narrowHalf(static_cast<float>(x));
    } else if constexpr (kSame<To, BF16>) {
        return narrowBFloat(static_cast<float>(x));
    } else if constexpr (kSame<To, bool>) {
        return x != From(0);
    } else if constexpr (kReal<From> && kSame<To, std::int64_t>) {
        return toInt64(static_cast<double>(x));
    } else if constexpr (kReal<From> && !kReal<To>) {
        return static_cast<To>(toInt32(static_cast<double>(x)));  // the smaller ones by way of it
    } else {
        return static_cast<To>(x);
    }
}

template <class To, class From>
inline To element(From x) {
    if constexpr (kSame<To, From>)
        return x;
    else
        return convert<To>(widen(x));
}

/// A dense row of float16 to float32 or back by the processor's own instruction; what does not fill
/// a vector is left: the number of elements done.
template <class Out, class In>
inline std::int64_t hardwareRow(std::int64_t n, Out* y, const In* x) {
    std::int64_t i = 0;
#ifdef __AVX512F__
    // Masked, though with all lanes: GCC 12 takes the plain form's scratch register for a bug.
    if constexpr (kSame<Out, float> && kSame<In, F16>) {
        for (; i + 16 <= n; i += 16)
            _mm512_storeu_ps(
                y + i, _mm512_maskz_cvtph_ps(
                           0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(x + i))));
    } else if constexpr (kSame<Out, F16> && kSame<In, float>) {
        for (; i + 16 <= n; i += 16)
            _mm256_storeu_si256(
                reinterpret_cast<__m256i_u*>(y + i),
                _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    }
#elif defined(__F16C__)
    if constexpr (kSame<Out, float> && kSame<In, F16>) {
        for (; i + 8 <= n; i += 8)
            _mm256_storeu_ps(
                y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(x + i))));
    } else if constexpr (kSame<Out, F16> && kSame<In, float>) {
        for (; i + 8 <= n; i += 8)
            _mm_storeu_si128(reinterpret_cast<__m128i_u*>(y + i),
                             _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    }
#else
    static_cast<void>(n);
    static_cast<void>(y);
    static_cast<void>(x);
#endif
    return i;
}

template <class Out, class In>
void loop(std::int64_t n, void* out, std::int64_t outStride, const void* in, std::int64_t inStride,
          const LoopParams&) {
    auto* y = static_cast<Out*>(out);
    const auto* x = static_cast<const In*>(in);
    if (outStride == 1 && inStride == 1) {
        const std::int64_t done = hardwareRow(n, y, x);
#pragma GCC ivdep
        for (std::int64_t i = done; i < n; ++i) y[i] = element<Out>(x[i]);
        return;
    }
    if (inStride == 0) {
        const Out value = element<Out>(*x);
        if (outStride == 1) {
            for (std::int64_t i = 0; i < n; ++i) y[i] = value;
        } else {
            for (std::int64_t i = 0; i < n; ++i) y[i * outStride] = value;
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) y[i * outStride] = element<Out>(x[i * inStride]);
}

template <class To>
constexpr void convertTo(ConvertTable& t, int to) {
    auto& row = t.loops[to];
    row[0] = loop<To, bool>;
    row[1] = loop<To, std::int64_t>;
    row[2] = loop<To, float>;
    row[3] = loop<To, double>;
    row[4] = loop<To, F16>;
    row[5] = loop<To, BF16>;
    row[6] = loop<To, std::int32_t>;
    row[7] = loop<To, std::int16_t>;
    row[8] = loop<To, std::int8_t>;
    row[9] = loop<To, std::uint8_t>;
}

constexpr ConvertTable makeTable() {
    ConvertTable t{};
    convertTo<bool>(t, 0);
    convertTo<std::int64_t>(t, 1);
    convertTo<float>(t, 2);
    convertTo<double>(t, 3);
    convertTo<F16>(t, 4);
    convertTo<BF16>(t, 5);
    convertTo<std::int32_t>(t, 6);
    convertTo<std::int16_t>(t, 7);
    convertTo<std::int8_t>(t, 8);
    convertTo<std::uint8_t>(t, 9);
    return t;
}

}  // namespace

extern constexpr ConvertTable kConvertTable = makeTable();

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
