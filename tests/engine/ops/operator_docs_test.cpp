// SPDX-License-Identifier: Apache-2.0
// docs/operators.md is written from the operator table. This test fails when it is out of date; to
// refresh it:
//   TAPESCOPE_WRITE_DOCS=1 engine_test --gtest_filter=OperatorDocs.*
#include "dtype_coverage.h"
#include "engine/ops/op_def.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

namespace tapescope::engine {
namespace {

std::string typesText(const OpDef& op) {
    switch (op.types) {
        case TypeRule::Promote:
            return "promoted";
        case TypeRule::PromoteNumbers:
            return "promoted, bool refused";
        case TypeRule::PromoteFloat:
            return "promoted, integers to float32";
        case TypeRule::Floating:
            return "floating";
        case TypeRule::FloatingOrComplex:
            return "floating or complex";
        case TypeRule::AsIs:
            break;
    }
    return "as given";
}

std::string notesText(const OpDef& op) {
    std::string notes;
    const auto add = [&](const char* note) {
        notes += notes.empty() ? note : std::string(", ") + note;
    };
    if (op.view) add("view");
    if (op.inplace) add("in place");
    if (op.random) add("random");
    if (op.composite) add("composite");
    return notes;
}

std::string complexText(test::ComplexCoverage coverage) {
    using enum test::ComplexCoverage;
    switch (coverage) {
        case NotCompared:
            break;
        case Refused:
            return "refused";
        case Unsupported:
            return "not supported";
        case Values:
            return "values";
        case FirstOrder:
            return "gradient";
        case SecondOrder:
            return "second order";
    }
    return "-";
}

/// "complex64: 80 operators ..."
std::string complexSummary() {
    std::map<std::string, int> counts;
    for (const OpDef* op : OpTable::instance().rows())
        ++counts[complexText(test::complexCoverage(op->name))];
    std::ostringstream out;
    out << "*complex64*: how far it is compared, in "
        << counts["values"] + counts["gradient"] + counts["second order"]
        << " operators; *refused*: as by PyTorch, in " << counts["refused"]
        << "; *not supported*: PyTorch takes\nit and ours refuse it, in " << counts["not supported"]
        << ".\n";
    return out.str();
}

void addCoverage(std::ostringstream& out) {
    using test::DTypeCoverage;
    out << "\n## Compared with PyTorch\n\n"
           "Every operator in every dtype against the values, result dtypes, gradients and "
           "refusals of PyTorch on a CPU\n"
           "(`tests/data/ops/make_dtype_reference.py`, "
           "`tests/engine/ops/operator_dtypes_test.cpp`).\n"
           "*values*: the dtypes of the operands compared; *refused*: PyTorch refuses them and so "
           "do we; *ours*: we take them\n"
           "where PyTorch's CPU does not (the other way round: see below). *gradient* and *second "
           "order*: the dtypes in which\n"
           "PyTorch has these to compare with; central differences in float64 check all of them "
           "besides.\n"
        << complexSummary()
        << "\n| operator | values | gradient | second order | refused | ours | complex64 |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const OpDef* op : OpTable::instance().rows()) {
        const DTypeCoverage c = test::dtypeCoverage(op->name);
        out << "| `" << op->name << "` | " << test::dtypesText(c.values) << " | "
            << test::dtypesText(c.gradient) << " | " << test::dtypesText(c.second) << " | "
            << test::dtypesText(c.refused) << " | " << test::dtypesText(c.accepted) << " | "
            << complexText(test::complexCoverage(op->name)) << " |\n";
    }
    out << "\n### Differences, and why\n\n| operators | dtypes | what | why |\n"
           "| --- | --- | --- | --- |\n";
    static constexpr const char* kKinds[] = {"taken by ours alone", "refused by ours alone",
                                             "not compared", "gradient not compared",
                                             "refused by ours alone"};
    for (const test::DTypeDifference& d : test::dtypeDifferences()) {
        out << "| ";
        if (d.ops.empty()) out << "every operator";
        for (const std::string_view op : d.ops) out << (op == d.ops[0] ? "`" : ", `") << op << '`';
        out << " | " << test::dtypesText(d.dtypes);
        if (!d.form.empty()) out << " (" << d.form << ")";
        out << " | " << kKinds[d.kind] << " | " << d.reason << " |\n";
    }
}

std::string docsText() {
    std::map<Family, std::vector<const OpDef*>> families;
    for (const OpDef* op : OpTable::instance().rows()) families[op->family].push_back(op);
    std::ostringstream out;
    out << "# Operators\n\n"
           "Written from the operator table by `tests/engine/ops/operator_docs_test.cpp`; do not "
           "edit. "
        << OpTable::instance().rows().size()
        << " operators. Names,\narguments and meaning are PyTorch's; `?` marks an argument that "
           "may be left out, `*name` any "
           "number of tensors, and\nwhat follows the bare `*` are numbers. *Types* says how the "
           "dtypes of the tensors are "
           "prepared, *gradient* whether\nbackward runs through the operator. Operators ending in "
           "`_backward` or `_grad` are what "
           "other operators' gradients call.\nThe tables at the end say in which dtypes each is "
           "compared with PyTorch.\n";
    for (auto& [family, ops] : families) {
        std::stable_sort(ops.begin(), ops.end(),
                         [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
        out << "\n## " << familyName(family)
            << "\n\n| operator | types | gradient | notes |\n| --- | --- | --- | --- |\n";
        for (const OpDef* op : ops) {
            out << "| `" << signature(*op) << "` | " << typesText(*op) << " | "
                << (op->differentiable() ? "yes" : "no") << " | " << notesText(*op) << " |\n";
        }
    }
    addCoverage(out);
    return out.str();
}

TEST(OperatorDocs, AreUpToDate) {
    const std::string path = std::string(TAPESCOPE_SOURCE_DIR) + "/docs/operators.md";
    const std::string expected = docsText();
    if (std::getenv("TAPESCOPE_WRITE_DOCS")) std::ofstream(path) << expected;
    std::ifstream in(path);
    const std::string found{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    EXPECT_TRUE(found == expected)
        << "docs/operators.md is out of date: run TAPESCOPE_WRITE_DOCS=1 engine_test "
           "--gtest_filter=OperatorDocs.* and commit it";
}

}  // namespace
}  // namespace tapescope::engine
