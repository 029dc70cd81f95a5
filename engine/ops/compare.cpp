// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_rows.h"

namespace tapescope::engine {
using cpu::CompareOp;
using cpu::TestOp;

namespace {

extern OpDef kEq, kNe, kLt, kLe, kGt, kGe, kLogicalAnd, kLogicalOr, kLogicalNot, kIsNan, kIsInf;

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kInputOther[] = {{"input"}, {"other"}};

template <const OpDef& row>
void inferCompare(const OpArgs& args, OutputMetas& out) {
    out.add(broadcastOf(row.name, args[0].sizes(), args[1].sizes()), DType::Bool);
}
void inferTest(const OpArgs& args, OutputMetas& out) { out.add(args[0].sizes(), DType::Bool); }

template <const OpDef& row, CompareOp op>
constexpr OpDef comparison(std::string_view name) {
    return {.name = name,
            .family = Family::Comparison,
            .args = kInputOther,
            .types = TypeRule::Promote,
            .infer = inferCompare<row>,
            .native = op == CompareOp::Eq || op == CompareOp::Ne ? kEveryType : kEveryRealType,
            .kernels = {cpu::compare<op>}};
}
template <TestOp op>
constexpr OpDef test(std::string_view name) {
    return {.name = name,
            .family = Family::Comparison,
            .args = kInput,
            .infer = inferTest,
            .native = kEveryType,
            .kernels = {cpu::test<op>}};
}

constinit OpDef kEq = comparison<kEq, CompareOp::Eq>("eq");
constinit OpDef kNe = comparison<kNe, CompareOp::Ne>("ne");
constinit OpDef kLt = comparison<kLt, CompareOp::Lt>("lt");
constinit OpDef kLe = comparison<kLe, CompareOp::Le>("le");
constinit OpDef kGt = comparison<kGt, CompareOp::Gt>("gt");
constinit OpDef kGe = comparison<kGe, CompareOp::Ge>("ge");
constinit OpDef kLogicalAnd = comparison<kLogicalAnd, CompareOp::And>("logical_and");
constinit OpDef kLogicalOr = comparison<kLogicalOr, CompareOp::Or>("logical_or");
constinit OpDef kLogicalNot = test<TestOp::Not>("logical_not");
constinit OpDef kIsNan = test<TestOp::IsNan>("isnan");
constinit OpDef kIsInf = test<TestOp::IsInf>("isinf");

constinit OpDef* const kRows[] = {&kEq,         &kNe,         &kLt,        &kLe,    &kGt,   &kGe,
                                  &kLogicalNot, &kLogicalAnd, &kLogicalOr, &kIsNan, &kIsInf};

}  // namespace

std::span<OpDef* const> compareOps() { return kRows; }

Tensor eq(const Tensor& a, const Tensor& b, Site site) { return call1(kEq, {&a, &b}, {}, site); }
Tensor ne(const Tensor& a, const Tensor& b, Site site) { return call1(kNe, {&a, &b}, {}, site); }
Tensor lt(const Tensor& a, const Tensor& b, Site site) { return call1(kLt, {&a, &b}, {}, site); }
Tensor le(const Tensor& a, const Tensor& b, Site site) { return call1(kLe, {&a, &b}, {}, site); }
Tensor gt(const Tensor& a, const Tensor& b, Site site) { return call1(kGt, {&a, &b}, {}, site); }
Tensor ge(const Tensor& a, const Tensor& b, Site site) { return call1(kGe, {&a, &b}, {}, site); }
Tensor logical_and(const Tensor& a, const Tensor& b, Site site) {
    return call1(kLogicalAnd, {&a, &b}, {}, site);
}
Tensor logical_or(const Tensor& a, const Tensor& b, Site site) {
    return call1(kLogicalOr, {&a, &b}, {}, site);
}
Tensor logical_not(const Tensor& x, Site site) { return call1(kLogicalNot, {&x}, {}, site); }
Tensor isnan(const Tensor& x, Site site) { return call1(kIsNan, {&x}, {}, site); }
Tensor isinf(const Tensor& x, Site site) { return call1(kIsInf, {&x}, {}, site); }

}  // namespace tapescope::engine
