// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/half.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tapescope::engine {

/// Element types. The numbers are written to files: new ones are appended.
/// C64: a pair of float32, laid out as std::complex<float> (see complex.h).
enum class DType : std::uint8_t { Bool, I64, F32, F64, F16, BF16, I32, I16, I8, U8, C64 };
inline constexpr int kDTypeCount = 11;
inline constexpr DType kAllDTypes[] = {DType::Bool, DType::I64,  DType::F32, DType::F64,
                                       DType::F16,  DType::BF16, DType::I32, DType::I16,
                                       DType::I8,   DType::U8,   DType::C64};

/// Promotion categories, lowest first: a higher category always wins (PyTorch's rule).
enum class DTypeCategory : std::uint8_t { Bool, Integral, Floating, Complex };

constexpr std::size_t itemSize(DType dtype) {
    switch (dtype) {
        case DType::Bool:
        case DType::I8:
        case DType::U8:
            return 1;
        case DType::F16:
        case DType::BF16:
        case DType::I16:
            return 2;
        case DType::F32:
        case DType::I32:
            return 4;
        case DType::I64:
        case DType::F64:
        case DType::C64:
            return 8;
    }
    return 0;
}
constexpr DTypeCategory categoryOf(DType dtype) {
    switch (dtype) {
        case DType::Bool:
            return DTypeCategory::Bool;
        case DType::I64:
        case DType::I32:
        case DType::I16:
        case DType::I8:
        case DType::U8:
            return DTypeCategory::Integral;
        case DType::C64:
            return DTypeCategory::Complex;
        case DType::F16:
        case DType::BF16:
        case DType::F32:
        case DType::F64:
            break;
    }
    return DTypeCategory::Floating;
}
constexpr bool isFloating(DType dtype) { return categoryOf(dtype) == DTypeCategory::Floating; }
constexpr bool isComplex(DType dtype) { return categoryOf(dtype) == DTypeCategory::Complex; }
/// Real or complex floating point: what can have a gradient.
constexpr bool isDifferentiable(DType dtype) {
    return categoryOf(dtype) >= DTypeCategory::Floating;
}
/// The type of a number's real part: torch's to_real.
constexpr DType realType(DType dtype) { return isComplex(dtype) ? DType::F32 : dtype; }
/// Integers; not bool.
constexpr bool isIntegral(DType dtype) { return categoryOf(dtype) == DTypeCategory::Integral; }
constexpr bool isSigned(DType dtype) { return dtype != DType::Bool && dtype != DType::U8; }
/// float16 and bfloat16, which calculate as float32.
constexpr bool isReducedFloating(DType dtype) {
    return dtype == DType::F16 || dtype == DType::BF16;
}

/// The type two tensors of these types meet in: PyTorch's torch.promote_types, but for float64 and
/// complex64, which meet in complex128 there: an operator call refuses that pair.
constexpr DType promoteTypes(DType a, DType b) {
    if (a == b) return a;
    if (categoryOf(a) != categoryOf(b)) return categoryOf(a) > categoryOf(b) ? a : b;
    if (isFloating(a)) {
        if (a == DType::F64 || b == DType::F64) return DType::F64;
        return DType::F32;  // float16 and bfloat16 have no common 16-bit type
    }
    const DType wide = itemSize(a) > itemSize(b) ? a : b;
    // uint8 fits every signed type but int8.
    return itemSize(a) == itemSize(b) ? DType::I16 : wide;
}
/// The type kernels calculate in that do not know dtype: the 16-bit floats as float32, the small
/// integers as int64; the others are their own.
constexpr DType computeType(DType dtype) {
    if (isReducedFloating(dtype)) return DType::F32;
    return isIntegral(dtype) ? DType::I64 : dtype;
}

/// PyTorch's name: "float32", "int64", "bool".
constexpr std::string_view dtypeName(DType dtype) {
    switch (dtype) {
        case DType::Bool:
            return "bool";
        case DType::I64:
            return "int64";
        case DType::F32:
            return "float32";
        case DType::F64:
            return "float64";
        case DType::F16:
            return "float16";
        case DType::BF16:
            return "bfloat16";
        case DType::I32:
            return "int32";
        case DType::I16:
            return "int16";
        case DType::I8:
            return "int8";
        case DType::U8:
            return "uint8";
        case DType::C64:
            return "complex64";
    }
    return "?";
}
/// The short form used in shapes on screen: "f32" in "f32[64,1,8,8]".
constexpr std::string_view dtypeShortName(DType dtype) {
    switch (dtype) {
        case DType::Bool:
            return "bool";
        case DType::I64:
            return "i64";
        case DType::F32:
            return "f32";
        case DType::F64:
            return "f64";
        case DType::F16:
            return "f16";
        case DType::BF16:
            return "bf16";
        case DType::I32:
            return "i32";
        case DType::I16:
            return "i16";
        case DType::I8:
            return "i8";
        case DType::U8:
            return "u8";
        case DType::C64:
            return "c64";
    }
    return "?";
}

/// torch.finfo: what a floating type can hold. Throws DTypeError for other types.
struct FloatInfo {
    int bits = 0;
    double eps = 0;  ///< distance from 1 to the next larger number
    double max = 0;
    double min = 0;   ///< -max
    double tiny = 0;  ///< the smallest positive normal number
    double smallestSubnormal = 0;
    int digits = 0;  ///< bits of the significand, the hidden one included
};
FloatInfo finfo(DType dtype);
/// torch.iinfo. Throws DTypeError for floating types and bool.
struct IntInfo {
    int bits = 0;
    std::int64_t min = 0;
    std::int64_t max = 0;
};
IntInfo iinfo(DType dtype);

template <class T>
struct DTypeOf;
#define TAPESCOPE_DTYPE_OF(type, name)              \
    template <>                                     \
    struct DTypeOf<type> {                          \
        static constexpr DType value = DType::name; \
    };
TAPESCOPE_DTYPE_OF(bool, Bool)
TAPESCOPE_DTYPE_OF(std::int64_t, I64)
TAPESCOPE_DTYPE_OF(float, F32)
TAPESCOPE_DTYPE_OF(double, F64)
TAPESCOPE_DTYPE_OF(Half, F16)
TAPESCOPE_DTYPE_OF(BFloat16, BF16)
TAPESCOPE_DTYPE_OF(std::int32_t, I32)
TAPESCOPE_DTYPE_OF(std::int16_t, I16)
TAPESCOPE_DTYPE_OF(std::int8_t, I8)
TAPESCOPE_DTYPE_OF(std::uint8_t, U8)
#undef TAPESCOPE_DTYPE_OF
template <class T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

/// Throws DTypeError: a kernel was given a type it does not know.
[[noreturn]] void refuseDType(DType dtype);

/// Calls fn.template operator()<T>() with the C++ type of dtype, one of the four that kernels
/// calculate in: visitDType(t, [&]<class T>() { … }). The dispatcher converts other types before a
/// kernel sees them, unless its row says that it takes them (OpDef::native).
template <class Fn>
decltype(auto) visitDType(DType dtype, Fn&& fn) {
    switch (dtype) {
        case DType::Bool:
            return std::forward<Fn>(fn).template operator()<bool>();
        case DType::I64:
            return std::forward<Fn>(fn).template operator()<std::int64_t>();
        case DType::F32:
            return std::forward<Fn>(fn).template operator()<float>();
        case DType::F64:
            return std::forward<Fn>(fn).template operator()<double>();
        default:
            refuseDType(dtype);
    }
}
/// The same for F32 and F64 only; the caller has checked that dtype is floating.
template <class Fn>
decltype(auto) visitFloating(DType dtype, Fn&& fn) {
    if (dtype == DType::F32) return std::forward<Fn>(fn).template operator()<float>();
    if (dtype != DType::F64) refuseDType(dtype);
    return std::forward<Fn>(fn).template operator()<double>();
}
/// The same for every real type: for code that moves, prints or converts elements. Complex tensors
/// are refused: see them as pairs of float32 first (realPairs in complex.h).
template <class Fn>
decltype(auto) visitEveryDType(DType dtype, Fn&& fn) {
    switch (dtype) {
        case DType::F16:
            return std::forward<Fn>(fn).template operator()<Half>();
        case DType::BF16:
            return std::forward<Fn>(fn).template operator()<BFloat16>();
        case DType::I32:
            return std::forward<Fn>(fn).template operator()<std::int32_t>();
        case DType::I16:
            return std::forward<Fn>(fn).template operator()<std::int16_t>();
        case DType::I8:
            return std::forward<Fn>(fn).template operator()<std::int8_t>();
        case DType::U8:
            return std::forward<Fn>(fn).template operator()<std::uint8_t>();
        default:
            return visitDType(dtype, std::forward<Fn>(fn));
    }
}

enum class DeviceKind : std::uint8_t { Cpu, Cuda };
inline constexpr int kDeviceKindCount = 2;

struct Device {
    DeviceKind kind = DeviceKind::Cpu;
    std::int8_t index = 0;
    friend constexpr bool operator==(Device, Device) = default;
};
constexpr std::string_view deviceName(Device device) {
    return device.kind == DeviceKind::Cpu ? "cpu" : "cuda";
}

}  // namespace tapescope::engine
