// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/complex.h"

#include "engine/tensor/tensor_impl.h"

#include <charconv>
#include <cmath>

namespace tapescope::engine {
namespace {

std::string shortest(float value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

Dims doubled(const Dims& strides) {
    Dims twice = strides;
    for (std::int64_t& stride : twice) stride *= 2;
    return twice;
}

}  // namespace

std::string complexText(Complex64 number) {
    const std::string imag = shortest(number.imag());
    return shortest(number.real()) + (imag[0] == '-' ? "" : "+") + imag + "j";
}

Tensor realPairs(const Tensor& x) {
    Dims sizes = x.sizes();
    Dims strides = doubled(x.strides());
    sizes.push_back(2);
    strides.push_back(1);
    return makeViewAs(DType::F32, x, sizes, strides, 2 * x.storage_offset());
}

Tensor complexPart(const Tensor& x, int part) {
    return makeViewAs(DType::F32, x, x.sizes(), doubled(x.strides()),
                      2 * x.storage_offset() + part);
}

}  // namespace tapescope::engine
