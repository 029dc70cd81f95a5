// SPDX-License-Identifier: Apache-2.0
// Every operator in the types its reference cases leave out: a 16-bit float operator is the float32
// one rounded, a narrow integer one the int64 one wrapped, whoever converts. Needs no data of its
// own.
#include "engine/cpu/copy.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"
#include "operator_case.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine::test {
namespace {

bool holdsTensors(const OperatorCase& c, DType dtype) {
    // Complex numbers have no narrow form, and integers that become complex do not wrap.
    const auto complex = [](const CaseValue& v) { return isComplex(v.dtype); };
    if (std::any_of(c.inputs.begin(), c.inputs.end(), complex) ||
        std::any_of(c.outputs.begin(), c.outputs.end(), complex))
        return false;
    bool any = false;
    for (const CaseValue& v : c.inputs) {
        if (v.absent) continue;
        if (v.number) return false;  // rounded in the narrow type alone
        if (categoryOf(v.dtype) == categoryOf(dtype)) {
            if (v.dtype != dtype) return false;
            any = true;
        }
    }
    // A dtype among the arguments says what comes out, whatever goes in.
    for (int i = 0; i < c.attrs.size(); ++i)
        if (std::holds_alternative<DType>(c.attrs[i])) return false;
    return any && !c.refused;
}

/// The inputs of dtype `from` in `narrow`, and the same values back in `from`.
struct Both {
    std::vector<Tensor> narrow;
    std::vector<Tensor> wide;
};
Both inputsIn(const OperatorCase& c, DType from, DType narrow, Layout layout) {
    Both both;
    for (const CaseValue& v : c.inputs) {
        Tensor given = makeTensor(v, layout);
        if (!given.defined() || v.dtype != from) {
            both.narrow.push_back(given);
            both.wide.push_back(given.defined() ? makeTensor(v, layout) : given);
            continue;
        }
        both.narrow.push_back(cpu::converted(given, narrow));
        both.wide.push_back(cpu::converted(both.narrow.back(), from));
    }
    return both;
}

std::optional<Outputs> callWith(const OperatorCase& c, const std::vector<Tensor>& inputs) {
    if (c.seed) Context::current().generator().manual_seed(*c.seed);
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : inputs) pointers.push_back(&t);
    const NoGradGuard guard;
    try {
        return call(c.op, pointers, c.attrs);
    } catch (const DTypeError&) {
        return std::nullopt;  // refused, in so many words
    }
}

void expectRounded(const Tensor& actual, const Tensor& wide, DType narrow,
                   const std::string& what) {
    ASSERT_EQ(actual.sizes(), wide.sizes()) << what;
    if (!isFloating(wide.dtype())) {
        EXPECT_EQ(dtypeName(actual.dtype()), dtypeName(wide.dtype())) << what;
        EXPECT_EQ(actual.to_vector(), wide.to_vector()) << what;
        return;
    }
    // bincount gives float64 for whatever weights.
    ASSERT_TRUE(actual.dtype() == narrow || actual.dtype() == wide.dtype() ||
                actual.dtype() == DType::F64)
        << what << ": " << dtypeName(actual.dtype());
    const auto got = actual.to_vector();
    const auto want = cpu::converted(wide, narrow).to_vector();
    double largest = 0;
    for (const double v : want)
        largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : largest;
    const FloatInfo limits = finfo(narrow);
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
        // One kernel rounds once; what is made of several operators rounds in between.
        EXPECT_LE(std::fabs(got[i] - want[i]), 4 * limits.eps * std::max(largest, limits.tiny))
            << what << ", element " << i << ": " << got[i] << " instead of " << want[i];
    }
}

class NarrowTypes : public testing::TestWithParam<std::string> {};

/// Operators that mean the type itself (its largest number, its next one), and composites whose
/// steps are told apart by rounding: an eps that is 0 in float16, a coordinate between two pixels.
bool dependsOnTheType(std::string_view op) {
    static constexpr std::string_view kNames[] = {"nan_to_num", "nextafter", "normalize",
                                                  "cosine_similarity", "grid_sample"};
    return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

TEST_P(NarrowTypes, Of16BitsAreTheFloat32OperatorRounded) {
    if (dependsOnTheType(GetParam())) return;
    for (const OperatorCase& c : operatorCases()) {
        if (c.op != GetParam() || !holdsTensors(c, DType::F32)) continue;
        for (const DType narrow : {DType::BF16, DType::F16}) {
            for (const Layout layout : {Layout::Contiguous, Layout::Gapped}) {
                if (layout == Layout::Gapped && c.contiguousOnly) continue;
                const std::string what = c.op + " " + c.label + " (" + c.place + ") in " +
                                         std::string(dtypeName(narrow)) + ", " +
                                         std::string(layoutName(layout));
                const Both inputs = inputsIn(c, DType::F32, narrow, layout);
                const auto actual = callWith(c, inputs.narrow);
                const auto wide = callWith(c, inputs.wide);
                if (!actual || !wide) continue;
                ASSERT_EQ(actual->count, wide->count) << what;
                for (int k = 0; k < actual->count; ++k)
                    expectRounded(actual->tensors[static_cast<std::size_t>(k)],
                                  wide->tensors[static_cast<std::size_t>(k)], narrow, what);
            }
        }
    }
}

TEST_P(NarrowTypes, OfIntegersAreTheInt64OperatorWrapped) {
    for (const OperatorCase& c : operatorCases()) {
        if (c.op != GetParam() || !holdsTensors(c, DType::I64)) continue;
        for (const DType narrow : {DType::I32, DType::I16, DType::I8, DType::U8}) {
            const IntInfo limits = iinfo(narrow);
            const bool fits =
                std::all_of(c.inputs.begin(), c.inputs.end(), [&](const CaseValue& v) {
                    return std::all_of(v.integers.begin(), v.integers.end(), [&](std::int64_t x) {
                        return x >= limits.min && x <= limits.max;
                    });
                });
            if (!fits) continue;
            const std::string what =
                c.op + " " + c.label + " (" + c.place + ") in " + std::string(dtypeName(narrow));
            const Both inputs = inputsIn(c, DType::I64, narrow, Layout::Contiguous);
            const auto actual = callWith(c, inputs.narrow);
            const auto wide = callWith(c, inputs.wide);
            if (!actual || !wide) continue;
            for (int k = 0; k < actual->count; ++k) {
                const Tensor& got = actual->tensors[static_cast<std::size_t>(k)];
                const Tensor& want = wide->tensors[static_cast<std::size_t>(k)];
                ASSERT_EQ(got.sizes(), want.sizes()) << what;
                const auto values = got.to_vector();
                const auto expected = cpu::converted(want, got.dtype()).to_vector();
                for (std::size_t i = 0; i < values.size(); ++i) {
                    if (std::isnan(values[i]) && std::isnan(expected[i])) continue;
                    EXPECT_EQ(values[i], expected[i]) << what << ", element " << i;
                }
            }
        }
    }
}

std::vector<std::string> everyName() {
    std::vector<std::string> names;
    for (const OpDef* row : OpTable::instance().rows())
        if (!row->random) names.emplace_back(row->name);
    return names;
}
INSTANTIATE_TEST_SUITE_P(Table, NarrowTypes, testing::ValuesIn(everyName()), [](const auto& test) {
    std::string name = test.param;
    if (name.ends_with('_')) name += "inplace";
    return name;
});

}  // namespace
}  // namespace tapescope::engine::test
