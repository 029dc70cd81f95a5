// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tapescope::engine {

/// Element types. The order is the promotion order within a category.
enum class DType : std::uint8_t { Bool, I64, F32, F64 };
inline constexpr int kDTypeCount = 4;

/// Promotion categories, lowest first: a higher category always wins (PyTorch's rule).
enum class DTypeCategory : std::uint8_t { Bool, Integral, Floating };

constexpr std::size_t itemSize(DType dtype) {
    switch (dtype) {
        case DType::Bool:
            return 1;
        case DType::I64:
            return 8;
        case DType::F32:
            return 4;
        case DType::F64:
            return 8;
    }
    return 0;
}
constexpr DTypeCategory categoryOf(DType dtype) {
    if (dtype == DType::Bool) return DTypeCategory::Bool;
    return dtype == DType::I64 ? DTypeCategory::Integral : DTypeCategory::Floating;
}
constexpr bool isFloating(DType dtype) { return categoryOf(dtype) == DTypeCategory::Floating; }
constexpr DType promoteTypes(DType a, DType b) { return a > b ? a : b; }

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
    }
    return "?";
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
    static constexpr DType value = DType::Bool;
};
template <>
struct DTypeOf<std::int64_t> {
    static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<float> {
    static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<double> {
    static constexpr DType value = DType::F64;
};
template <class T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

/// Calls fn.template operator()<T>() with the C++ type of dtype: visitDType(t, [&]<class T>() { …
/// }).
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
            break;
    }
    return std::forward<Fn>(fn).template operator()<double>();
}
/// The same for F32 and F64 only; the caller has checked that dtype is floating.
template <class Fn>
decltype(auto) visitFloating(DType dtype, Fn&& fn) {
    if (dtype == DType::F32) return std::forward<Fn>(fn).template operator()<float>();
    return std::forward<Fn>(fn).template operator()<double>();
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
