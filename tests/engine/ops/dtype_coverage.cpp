// SPDX-License-Identifier: Apache-2.0
#include "dtype_coverage.h"

#include "operator_check.h"

#include <algorithm>
#include <functional>
#include <map>

namespace tapescope::engine::test {

DTypeCoverage dtypeCoverage(std::string_view op) {
    DTypeCoverage found;
    for (const OperatorCase& c : dtypeCases()) {
        if (c.op != op || !c.form.empty() || !c.dtype) continue;
        const std::uint32_t bit = dtypeBit(*c.dtype);
        if (isComplex(*c.dtype)) continue;
        if (c.refusedType) {
            found.declined |= bit;
            continue;
        }
        if (c.refused) {
            const bool ours =
                findDTypeDifference(DTypeDifference::Accepts, op, *c.dtype) != nullptr;
            (ours ? found.accepted : found.refused) |= bit;
            continue;
        }
        if (findDTypeDifference(DTypeDifference::Refuses, op, *c.dtype)) {
            found.declined |= bit;
            continue;
        }
        found.values |= bit;
        if (!c.expectedGrads.empty()) found.gradient |= bit;
        if (!c.expectedSecond.empty()) found.second |= bit;
    }
    // An empty tensor may be taken where others are not.
    found.refused &= ~found.values;
    found.accepted &= ~found.values;
    return found;
}

namespace {
ComplexCoverage findComplexCoverage(std::string_view op) {
    ComplexCoverage found = ComplexCoverage::NotCompared;
    for (const OperatorCase& c : dtypeCases()) {
        if (c.op != op || !c.form.empty() || c.dtype != DType::C64) continue;
        const ComplexCoverage here = c.refused                   ? ComplexCoverage::Refused
                                     : refusesType(c)            ? ComplexCoverage::Unsupported
                                     : !c.expectedSecond.empty() ? ComplexCoverage::SecondOrder
                                     : !c.expectedGrads.empty()  ? ComplexCoverage::FirstOrder
                                                                 : ComplexCoverage::Values;
        found = std::max(found, here);
    }
    return found;
}

}  // namespace

ComplexCoverage complexCoverage(std::string_view op) {
    static std::map<std::string, ComplexCoverage, std::less<>> known;
    const auto found = known.find(op);
    if (found != known.end()) return found->second;
    return known.emplace(op, findComplexCoverage(op)).first->second;
}

std::string dtypesText(std::uint32_t dtypes) {
    if (dtypes == 0) return "-";
    if ((dtypes & sweptBits()) == sweptBits()) return "all";
    std::uint32_t floating = 0;
    for (const DType dtype : kSweptDTypes) floating |= isFloating(dtype) ? dtypeBit(dtype) : 0;
    std::string text;
    const auto add = [&](std::string_view word) {
        if (!text.empty()) text += ' ';
        text += word;
    };
    if ((dtypes & floating) == floating) {
        add("floating");
        dtypes &= ~floating;
    }
    std::uint32_t integers = 0;
    for (const DType dtype : kSweptDTypes) integers |= isIntegral(dtype) ? dtypeBit(dtype) : 0;
    if ((dtypes & integers) == integers) {
        add("integers");
        dtypes &= ~integers;
    }
    for (const DType dtype : kAllDTypes)
        if (dtypes & dtypeBit(dtype)) add(dtypeShortName(dtype));
    return text;
}

const DTypeDifference* findDTypeDifference(DTypeDifference::Kind kind, std::string_view op,
                                           DType dtype, std::string_view form) {
    for (const DTypeDifference& d : dtypeDifferences()) {
        if (d.kind != kind || d.form != form || !(d.dtypes & dtypeBit(dtype))) continue;
        if (std::find(d.ops.begin(), d.ops.end(), op) != d.ops.end()) return &d;
    }
    return nullptr;
}

}  // namespace tapescope::engine::test
