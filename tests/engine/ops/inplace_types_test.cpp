// SPDX-License-Identifier: Apache-2.0
// In-place operators whose operands meet in another dtype than the target's. Values by PyTorch 2.
#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_inplace.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <gtest/gtest.h>
#include <vector>

namespace tapescope::engine {
namespace {

using Values = std::vector<double>;

Tensor of(const Values& values, DType dtype) {
    return to(Tensor::from<double>(values, {static_cast<std::int64_t>(values.size())}), dtype);
}

TEST(InPlaceTypes, CalculateWhereTheOperandsMeetAndRoundOnce) {
    const Tensor bytes = of({7, 200}, DType::U8);
    floor_divide_(bytes, of({-2, 3}, DType::I8));
    EXPECT_EQ(bytes.dtype(), DType::U8);
    EXPECT_EQ(bytes.to_vector(), (Values{252, 66}));
    // 16777216 + 1.5 is no float32; 1.5 alone would have been lost.
    const Tensor singles = of({16777216}, DType::F32);
    add_(singles, of({1.5}, DType::F64));
    EXPECT_EQ(singles.to_vector(), (Values{16777218}));
}

TEST(InPlaceTypes, GradientsReachEveryOperandInItsOwnType) {
    const Tensor a = of({3, 0.5}, DType::F32).set_requires_grad(true);
    const Tensor w = of({0.25, 3}, DType::F64).set_requires_grad(true);
    const Tensor b = mul(a, 1.0);
    const Tensor result = mul_(b, w);
    EXPECT_TRUE(same(result, b));
    EXPECT_EQ(b.dtype(), DType::F32);
    EXPECT_EQ(b.to_vector(), (Values{0.75, 1.5}));
    sum(b).backward();
    EXPECT_EQ(a.grad().dtype(), DType::F32);
    EXPECT_EQ(a.grad().to_vector(), (Values{0.25, 3}));
    EXPECT_EQ(w.grad().dtype(), DType::F64);
    EXPECT_EQ(w.grad().to_vector(), (Values{3, 0.5}));
}

TEST(InPlaceTypes, ThroughAViewReachTheBase) {
    const Tensor w = of({2, 5}, DType::F64).set_requires_grad(true);
    const Tensor base = zeros({2, 2});
    add_(select(base, 0, 0), w);
    EXPECT_TRUE(base.requires_grad());
    EXPECT_EQ(base.to_vector(), (Values{2, 5, 0, 0}));
    sum(base).backward();
    EXPECT_EQ(w.grad().to_vector(), (Values{1, 1}));
}

TEST(InPlaceTypes, RefuseWhatTheyRefuseInOneType) {
    const Tensor leaf = of({1, 2}, DType::F32).set_requires_grad(true);
    EXPECT_THROW(mul_(leaf, of({1, 2}, DType::F64)), AutogradError);
    EXPECT_THROW(mul_(of({1, 2}, DType::I64), of({1, 2}, DType::F64)), DTypeError);
    EXPECT_THROW(div_(of({1, 2}, DType::U8), of({1, 2}, DType::I8)), DTypeError);
    EXPECT_THROW(add_(of({1}, DType::F32), of({1, 2}, DType::F64)), ShapeError);
}

}  // namespace
}  // namespace tapescope::engine
