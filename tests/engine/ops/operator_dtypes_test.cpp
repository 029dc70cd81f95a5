// SPDX-License-Identifier: Apache-2.0
// Every operator in every dtype against PyTorch: what comes out, of which dtype, gradients of first
// and second order, and which dtypes are refused. tests/data/ops/make_dtype_reference.py makes the
// data.
#include "dtype_coverage.h"
#include "engine/errors.h"
#include "engine/ops/dispatch.h"
#include "operator_check.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace tapescope::engine::test {
namespace {

const std::vector<const OperatorCase*>& casesOfOperator(const std::string& op) {
    static const std::map<std::string, std::vector<const OperatorCase*>> byName = [] {
        std::map<std::string, std::vector<const OperatorCase*>> map;
        for (const OperatorCase& c : dtypeCases()) map[c.op].push_back(&c);
        return map;
    }();
    static const std::vector<const OperatorCase*> none;
    const auto found = byName.find(op);
    return found == byName.end() ? none : found->second;
}

/// What PyTorch refuses and ours is listed to take must be taken: the list stays true.
void checkAccepted(const OperatorCase& c) {
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers;
    for (const CaseValue& v : c.inputs) inputs.push_back(makeTensor(v, Layout::Contiguous));
    for (const Tensor& t : inputs) pointers.push_back(&t);
    EXPECT_NO_THROW(call(c.op, pointers, c.attrs))
        << c.op << " " << c.label << " (" << c.place << ") is listed as taken where PyTorch is not";
}

class OperatorDTypes : public testing::TestWithParam<std::string> {};

bool takesComplex(const OperatorCase& c) {
    return c.dtype == DType::C64 ||
           std::any_of(c.inputs.begin(), c.inputs.end(),
                       [](const CaseValue& v) { return isComplex(v.dtype); });
}

/// What is listed of real dtypes says nothing of complex operands beside them.
bool listed(const OperatorCase& c, DTypeDifference::Kind kind) {
    const DType dtype = takesComplex(c) ? DType::C64 : *c.dtype;
    return findDTypeDifference(kind, c.op, dtype, c.form) != nullptr;
}

/// Whether ours refuses what PyTorch takes: as the list says, or complex64 by an operator that does
/// not take it at all.
bool refusesAlone(const OperatorCase& c) {
    if (listed(c, DTypeDifference::Refuses)) return true;
    return takesComplex(c) && !c.refused && complexCoverage(c.op) <= ComplexCoverage::Unsupported;
}

TEST_P(OperatorDTypes, GiveTheValuesAndRefusalsOfPyTorch) {
    for (const OperatorCase* c : casesOfOperator(GetParam())) {
        if (c->refused && listed(*c, DTypeDifference::Accepts)) {
            checkAccepted(*c);
        } else if (refusesAlone(*c)) {
            OperatorCase refused = *c;
            refused.refused = true;
            checkValues(refused);
        } else {
            checkValues(*c);
        }
    }
}
TEST_P(OperatorDTypes, GiveTheGradientsOfPyTorch) {
    for (const OperatorCase* c : casesOfOperator(GetParam()))
        if (!refusesAlone(*c)) checkRecordedGradients(*c);
}
TEST_P(OperatorDTypes, GiveTheSecondOrderGradientsOfPyTorch) {
    for (const OperatorCase* c : casesOfOperator(GetParam()))
        if (!refusesAlone(*c)) checkRecordedSecondOrder(*c);
}

std::vector<std::string> everyName() {
    std::vector<std::string> names;
    for (const OpDef* row : OpTable::instance().rows()) names.emplace_back(row->name);
    return names;
}
INSTANTIATE_TEST_SUITE_P(Table, OperatorDTypes, testing::ValuesIn(everyName()),
                         [](const auto& test) {
                             std::string name = test.param;
                             if (name.ends_with('_')) name += "inplace";
                             return name;
                         });

TEST(OperatorDTypeTable, EveryRowIsComparedInEveryDType) {
    for (const OpDef* row : OpTable::instance().rows()) {
        const DTypeCoverage coverage = dtypeCoverage(row->name);
        std::uint32_t missing = 0;
        for (const DType dtype : kSweptDTypes) {
            if (coverage.all() & dtypeBit(dtype)) continue;
            if (findDTypeDifference(DTypeDifference::NotCompared, row->name, dtype)) continue;
            missing |= dtypeBit(dtype);
        }
        if (complexCoverage(row->name) == ComplexCoverage::NotCompared &&
            !findDTypeDifference(DTypeDifference::NotCompared, row->name, DType::C64))
            missing |= dtypeBit(DType::C64);
        EXPECT_EQ(missing, 0U) << row->name << " is not compared in " << dtypesText(missing)
                               << ": run tests/data/ops/make_dtype_reference.py, or list it with a "
                                  "reason in tests/engine/ops/dtype_differences.cpp";
    }
}

TEST(OperatorDTypeTable, EveryDifferentiableRowHasGradientsOfPyTorch) {
    for (const OpDef* row : OpTable::instance().rows()) {
        if (!row->differentiable() || row->random) continue;
        if (findDTypeDifference(DTypeDifference::NoGradient, row->name, DType::F32)) continue;
        const DTypeCoverage coverage = dtypeCoverage(row->name);
        const bool anyFloat =
            (coverage.values & (dtypeBit(DType::F32) | dtypeBit(DType::F64))) != 0;
        if (anyFloat && coverage.gradient == 0) ADD_FAILURE() << row->name << " has no gradient";
    }
}

TEST(OperatorDTypeTable, CasesAndDifferencesNameRows) {
    std::set<std::string> names;
    for (const OperatorCase& c : dtypeCases()) names.insert(c.op);
    for (const DTypeDifference& d : dtypeDifferences()) {
        EXPECT_FALSE(d.reason.empty());
        for (const std::string_view op : d.ops) names.emplace(op);
    }
    for (const std::string& name : names)
        EXPECT_NE(OpTable::instance().find(name), nullptr) << name;
}

TEST(OperatorDTypeTable, DTypesThatThereAreNotAreMet) {
    EXPECT_TRUE(std::any_of(dtypeCases().begin(), dtypeCases().end(),
                            [](const OperatorCase& c) { return c.refusedType; }));
}

TEST(OperatorDTypeTable, DifferencesAreMet) {
    for (const DTypeDifference& d : dtypeDifferences()) {
        if (d.kind == DTypeDifference::NoGradient) continue;
        for (const std::string_view op : d.ops) {
            bool met = d.kind == DTypeDifference::NotCompared;
            for (const OperatorCase* c : casesOfOperator(std::string(op))) {
                if (c->form != d.form || !(d.dtypes & dtypeBit(*c->dtype))) continue;
                met = d.kind != DTypeDifference::NotCompared &&
                      (met || c->refused == (d.kind == DTypeDifference::Accepts));
            }
            EXPECT_TRUE(met) << op << " is listed, but does not differ: " << d.reason;
        }
    }
}

}  // namespace
}  // namespace tapescope::engine::test
