// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operator_case.h"

#include <span>
#include <string>
#include <string_view>

namespace tapescope::engine::test {

/// The dtypes that every operator is swept through, and must not differ in without a reason.
/// complex64 is swept too, but may be refused where PyTorch takes it: see complexCoverage().
inline constexpr DType kSweptDTypes[] = {DType::F64, DType::F32, DType::F16, DType::BF16,
                                         DType::I64, DType::I32, DType::I16, DType::I8,
                                         DType::U8,  DType::Bool};
constexpr std::uint32_t sweptBits() {
    std::uint32_t bits = 0;
    for (const DType dtype : kSweptDTypes) bits |= dtypeBit(dtype);
    return bits;
}

/// Which dtypes of an operator are compared with PyTorch; bits as dtypeBit gives them.
struct DTypeCoverage {
    std::uint32_t values = 0;    ///< outputs
    std::uint32_t refused = 0;   ///< PyTorch refuses the dtype, and so do we
    std::uint32_t accepted = 0;  ///< PyTorch refuses it, ours does not: see dtypeDifferences()
    std::uint32_t declined = 0;  ///< the other way round
    std::uint32_t gradient = 0;
    std::uint32_t second = 0;
    std::uint32_t all() const { return values | refused | accepted | declined; }
};
DTypeCoverage dtypeCoverage(std::string_view op);

/// What an operator does with complex64.
enum class ComplexCoverage : std::uint8_t {
    NotCompared,  ///< there is nothing of PyTorch's to compare with
    Refused,      ///< as PyTorch does
    Unsupported,  ///< refused, PyTorch takes it
    Values,       ///< the values of PyTorch
    FirstOrder,   ///< and its gradient
    SecondOrder   ///< and the gradient of that
};
ComplexCoverage complexCoverage(std::string_view op);

/// "all", "floating integers", or the short names with a space between them; "-" for none.
std::string dtypesText(std::uint32_t dtypes);

/// Where an operator and PyTorch's part ways in a dtype, and why that is meant.
struct DTypeDifference {
    enum Kind : std::uint8_t {
        Accepts,      ///< PyTorch's CPU refuses the dtype, ours takes it
        Refuses,      ///< the other way round
        NotCompared,  ///< PyTorch has nothing to compare with
        NoGradient,   ///< PyTorch has the values alone
        NoSuchType  ///< refused: PyTorch's result has a dtype that there is not. Of every operator
    };
    Kind kind;
    std::string_view form;  ///< of the case, see OperatorCase
    std::uint32_t dtypes;
    std::string_view reason;
    std::span<const std::string_view> ops;
};
std::span<const DTypeDifference> dtypeDifferences();
/// Null where there is none.
const DTypeDifference* findDTypeDifference(DTypeDifference::Kind kind, std::string_view op,
                                           DType dtype, std::string_view form = "");

}  // namespace tapescope::engine::test
