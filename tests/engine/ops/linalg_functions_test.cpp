// SPDX-License-Identifier: Apache-2.0
// Functions that are no rows: einsum and what else composes other operators, against PyTorch's
// values and central differences.
#include "engine/ops/linalg.h"
#include "engine/ops/linalg_lapack.h"
#include "function_cases.h"
#include "operator_check.h"

#include <gtest/gtest.h>

namespace tapescope::engine::test {
namespace {

const FunctionTable& functions() {
    static const FunctionTable all{
        {"einsum",
         [](const OperatorCase& c, const Inputs& in) { return outputs(einsum(c.text, in)); }},
        {"tensordot",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(tensordot(in[0], in[1], c.attrs.integer(0)));
         }},
        {"tensordot_dims",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(tensordot(in[0], in[1], c.attrs.dims(0), c.attrs.dims(1)));
         }},
        {"inner",
         [](const OperatorCase&, const Inputs& in) { return outputs(inner(in[0], in[1])); }},
        {"kron", [](const OperatorCase&, const Inputs& in) { return outputs(kron(in[0], in[1])); }},
        {"linalg_cross",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(linalg_cross(in[0], in[1], c.attrs.integer(0)));
         }},
        {"cross",
         [](const OperatorCase&, const Inputs& in) { return outputs(cross(in[0], in[1])); }},
        {"linalg_vecdot",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(linalg_vecdot(in[0], in[1], c.attrs.integer(0)));
         }},
        {"linalg_multi_dot",
         [](const OperatorCase&, const Inputs& in) { return outputs(linalg_multi_dot(in)); }},
        {"bilinear",
         [](const OperatorCase&, const Inputs& in) {
             return outputs(bilinear(in[0], in[1], in[2], in[3]));
         }},
        {"matrix_power",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(matrix_power(in[0], c.attrs.integer(0)));
         }},
        {"logdet", [](const OperatorCase&, const Inputs& in) { return outputs(logdet(in[0])); }},
        {"linalg_lu",
         [](const OperatorCase&, const Inputs& in) { return ofTuple(linalg_lu(in[0])); }},
        {"matrix_norm_named",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(linalg_matrix_norm(in[0], c.attrs.integer(0) == 0 ? "fro" : "nuc"));
         }},
        {"linalg_matrix_norm",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(
                 linalg_matrix_norm(in[0], c.attrs.real(0), c.attrs.dims(1), c.attrs.flag(2)));
         }},
        {"linalg_cond",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(linalg_cond(in[0], c.attrs.real(0)));
         }},
        {"linalg_matrix_rank",
         [](const OperatorCase&, const Inputs& in) { return outputs(linalg_matrix_rank(in[0])); }},
        {"lstsq_residuals",
         [](const OperatorCase&, const Inputs& in) {
             return outputs(linalg_lstsq(in[0], in[1]).residuals);
         }},
        {"pinverse",
         [](const OperatorCase&, const Inputs& in) { return outputs(pinverse(in[0])); }},
    };
    return all;
}

std::vector<OperatorCase> cases() { return boundCases("functions_linalg.txt", functions()); }

TEST(LinalgFunctions, GiveTheValuesOfAnIndependentLibrary) {
    const auto list = cases();
    EXPECT_GE(list.size(), functions().size());
    for (const OperatorCase& c : list) checkValues(c);
}
TEST(LinalgFunctions, GiveTheGradientsOfAnIndependentLibrary) {
    for (const OperatorCase& c : cases())
        if (!c.givenGrads.empty()) checkRecordedGradients(c);
}
TEST(LinalgFunctions, GiveTheValuesAndGradientsInEveryDType) {
    for (const OperatorCase& c : boundCases("functions_linalg_dtypes.txt", functions())) {
        checkValues(c);
        checkRecordedGradients(c);
    }
}
TEST(LinalgFunctions, AgreeWithCentralDifferences) {
    for (const OperatorCase& c : cases())
        if (canCheckGradients(c)) checkFirstOrder(c);
}
TEST(LinalgFunctions, AgreeWithCentralDifferencesInSecondOrder) {
    for (const OperatorCase& c : cases())
        if (c.secondOrder && canCheckGradients(c)) checkSecondOrder(c);
}

}  // namespace
}  // namespace tapescope::engine::test
