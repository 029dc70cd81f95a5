// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/tensor.h"

#include "engine/errors.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tapescope::engine {
namespace {

TEST(Tensor, FromCopiesAndChecksTheCount) {
    const Tensor t = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_EQ(t.sizes(), (Dims{2, 3}));
    EXPECT_EQ(t.strides(), (Dims{3, 1}));
    EXPECT_EQ(t.dtype(), DType::F32);
    EXPECT_EQ(t.nbytes(), 24U);
    EXPECT_THROW((void)Tensor::from<float>({1, 2}, {3}), ShapeError);
}

TEST(Tensor, ReadingAStridedViewGoesInItsOwnOrder) {
    const Tensor t = Tensor::from<double>({1, 2, 3, 4, 5, 6}, {2, 3});
    const Tensor v = transpose(t, 0, 1);
    EXPECT_FALSE(v.is_contiguous());
    EXPECT_EQ(v.to_vector(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(v.storage(), t.storage());
    EXPECT_NE(v.id(), t.id());
}

TEST(Tensor, ItemWantsOneElementAndDataTheRightType) {
    EXPECT_EQ(Tensor::scalar(2.5).item(), 2.5);
    EXPECT_THROW((void)Tensor::from<float>({1, 2}, {2}).item(), ShapeError);
    EXPECT_THROW((void)Tensor::scalar(1).data<double>(), DTypeError);
    EXPECT_THROW((void)Tensor().sizes(), Error);
}

TEST(Tensor, SizeCountsFromTheEnd) {
    const Tensor t = Tensor::empty({2, 3, 4});
    EXPECT_EQ(t.size(-1), 4);
    EXPECT_THROW((void)t.size(3), IndexError);
}

TEST(TensorPrinting, LooksLikeNumPy) {
    EXPECT_EQ(Tensor::from<float>({1, 2.5F, -3, 4}, {2, 2}).to_string(),
              "tensor([[ 1.0000,  2.5000],\n        [-3.0000,  4.0000]], f32[2,2])");
    EXPECT_EQ(Tensor::from<std::int64_t>({1, 20, 300}, {3}).to_string(),
              "tensor([  1,  20, 300], i64[3])");
    EXPECT_EQ(Tensor::from<bool>({true, false}, {2}).to_string(),
              "tensor([ true, false], bool[2])");
    EXPECT_EQ(Tensor::scalar(3).to_string(), "tensor(3., f32[])");
    EXPECT_EQ(Tensor::empty({0, 3}).to_string(), "tensor([], f32[0,3])");
    EXPECT_EQ(Tensor().to_string(), "tensor(undefined)");
}

TEST(TensorPrinting, ShowsWhatIsNotFiniteAndUsesExponentsForWideRanges) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(Tensor::from<float>({nan, -inf, 1.5F}, {3}).to_string(2),
              "tensor([ nan, -inf, 1.50], f32[3])");
    EXPECT_EQ(Tensor::from<double>({1e-9, 1.0}, {2}).to_string(1),
              "tensor([1.0e-09, 1.0e+00], f64[2])");
}

TEST(TensorPrinting, SummarisesLargeTensors) {
    const std::string text = arange(0, 5000).to_string();
    EXPECT_EQ(text, "tensor([   0,    1,    2, …, 4997, 4998, 4999], i64[5000])");
}

}  // namespace
}  // namespace tapescope::engine
