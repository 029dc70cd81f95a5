// SPDX-License-Identifier: Apache-2.0
// Walks over the operator table: every row must have cases, and passes or fails as one test.
#include "operator_check.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace tapescope::engine::test {
namespace {

std::vector<std::string> names(bool differentiableOnly) {
    std::vector<std::string> list;
    for (const OpDef* row : OpTable::instance().rows()) {
        if (!differentiableOnly || row->differentiable()) list.emplace_back(row->name);
    }
    return list;
}

class Operator : public testing::TestWithParam<std::string> {
protected:
    /// Runs check on the cases of this operator that filter lets through; there must be one.
    template <class Check, class Filter>
    void forCases(const Check& check, const Filter& filter, const std::string& kind) {
        int checked = 0;
        for (const OperatorCase& c : operatorCases()) {
            if (c.op != GetParam() || !filter(c)) continue;
            SCOPED_TRACE(c.place);
            check(c);
            ++checked;
        }
        EXPECT_GT(checked, 0) << GetParam() << " has no " << kind
                              << " case: add one to tests/data/ops/cases_*.py";
    }
};
class DifferentiableOperator : public Operator {};

TEST_P(Operator, GivesTheValuesOfAnIndependentLibrary) {
    forCases(
        checkValues, [](const OperatorCase&) { return true; }, "reference");
}
TEST_P(DifferentiableOperator, GivesTheGradientsOfAnIndependentLibrary) {
    forCases(
        checkRecordedGradients, [](const OperatorCase& c) { return !c.givenGrads.empty(); },
        "gradient");
}
TEST_P(DifferentiableOperator, AgreesWithCentralDifferences) {
    forCases(checkFirstOrder, canCheckGradients, "gradient check");
}
TEST_P(DifferentiableOperator, AgreesWithCentralDifferencesInSecondOrder) {
    forCases(
        checkSecondOrder,
        [](const OperatorCase& c) { return c.secondOrder && canCheckGradients(c); },
        "second-order");
}

std::string testName(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    if (name.ends_with('_')) name += "inplace";
    return name;
}
INSTANTIATE_TEST_SUITE_P(Table, Operator, testing::ValuesIn(names(false)), testName);
INSTANTIATE_TEST_SUITE_P(Table, DifferentiableOperator, testing::ValuesIn(names(true)), testName);

std::set<std::string> testedNames() {
    std::set<std::string> tested;
    for (const OperatorCase& c : operatorCases()) tested.insert(c.op);
    return tested;
}

TEST(OperatorTable, EveryRowHasAReferenceCase) {
    const std::set<std::string> tested = testedNames();
    std::string missing;
    for (const OpDef* row : OpTable::instance().rows()) {
        if (!tested.contains(std::string(row->name))) missing += " " + std::string(row->name);
    }
    EXPECT_EQ(missing, "") << "add cases to tests/data/ops";
}

TEST(OperatorTable, EveryCaseNamesARow) {
    for (const std::string& name : testedNames())
        EXPECT_NE(OpTable::instance().find(name), nullptr) << name;
}

TEST(OperatorTable, EveryRowHasWhatDispatchNeeds) {
    std::set<std::string_view> seen;
    for (const OpDef* row : OpTable::instance().rows()) {
        EXPECT_TRUE(seen.insert(row->name).second) << row->name << " comes twice";
        EXPECT_NE(row->infer != nullptr, row->composite != nullptr) << row->name;
        EXPECT_TRUE(OpTable::instance().supports(*row, DeviceKind::Cpu)) << row->name;
        EXPECT_EQ(row->inplace, row->name.ends_with('_')) << row->name;
        EXPECT_LE(row->attrs.size(), static_cast<std::size_t>(kMaxAttrs)) << row->name;
    }
}

}  // namespace
}  // namespace tapescope::engine::test
