// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/dtype.h"

#include "engine/errors.h"

#include <limits>
#include <string>

namespace tapescope::engine {
namespace {

template <class T>
FloatInfo floatInfoOf() {
    using Limits = std::numeric_limits<T>;
    return {.bits = static_cast<int>(sizeof(T)) * 8,
            .eps = static_cast<double>(Limits::epsilon()),
            .max = static_cast<double>(Limits::max()),
            .min = static_cast<double>(Limits::lowest()),
            .tiny = static_cast<double>(Limits::min()),
            .smallestSubnormal = static_cast<double>(Limits::denorm_min()),
            .digits = Limits::digits};
}

}  // namespace

FloatInfo finfo(DType dtype) {
    switch (dtype) {
        case DType::F16:
            return {16, 0x1p-10, 65504.0, -65504.0, 0x1p-14, 0x1p-24, 11};
        case DType::BF16:
            return {16, 0x1p-7, 0x1.FEp127, -0x1.FEp127, 0x1p-126, 0x1p-133, 8};
        case DType::F32:
            return floatInfoOf<float>();
        case DType::F64:
            return floatInfoOf<double>();
        default:
            throw DTypeError("finfo: " + std::string(dtypeName(dtype)) +
                             " is not a floating-point type; use iinfo");
    }
}

IntInfo iinfo(DType dtype) {
    if (!isIntegral(dtype))
        throw DTypeError("iinfo: " + std::string(dtypeName(dtype)) + " is not an integer type" +
                         (isFloating(dtype) ? "; use finfo" : ""));
    const int bits = static_cast<int>(itemSize(dtype)) * 8;
    if (dtype == DType::U8) return {bits, 0, 255};
    const std::int64_t max = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    return {bits, -max - 1, max};
}

void refuseDType(DType dtype) {
    throw DTypeError("there is no kernel for " + std::string(dtypeName(dtype)) +
                     "; convert with to()");
}

}  // namespace tapescope::engine
