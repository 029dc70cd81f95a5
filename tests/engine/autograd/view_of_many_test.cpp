// SPDX-License-Identifier: Apache-2.0
// Views that one call returned together: what PyTorch 2 lets a program write through them.
#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_inplace.h"
#include "engine/ops/rearrange.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <gtest/gtest.h>
#include <vector>

namespace tapescope::engine {
namespace {

Tensor tracked() { return ones({4, 4}, {.dtype = DType::F64, .requires_grad = true}) * 1.0; }

std::vector<std::vector<Tensor>> partsOf(const Tensor& x) {
    const std::vector<std::int64_t> sizes{1, 3};
    return {split(x, 2), chunk(x, 2), unbind(x), split(x, sizes)};
}

TEST(ViewOfMany, IsNotWrittenWhileGradientsAreRecorded) {
    for (const std::vector<Tensor>& parts : partsOf(tracked())) {
        EXPECT_THROW(add_(parts[0], ones({}, {.dtype = DType::F64})), AutogradError);
        EXPECT_THROW(zero_(parts[1]), AutogradError);
    }
}

TEST(ViewOfMany, PassesItOnToItsOwnViews) {
    const std::vector<Tensor> rows = unbind(tracked());
    EXPECT_THROW(zero_(narrow(rows[0], 0, 0, 2)), AutogradError);
}

TEST(ViewOfMany, OfATensorWithoutGradientTakesNoOperandWithOne) {
    const std::vector<Tensor> rows = unbind(zeros({2, 2}, {.dtype = DType::F64}));
    add_(rows[0], ones({2}, {.dtype = DType::F64}));
    EXPECT_EQ(rows[0].to_vector(), (std::vector<double>{1, 1}));
    const Tensor w = ones({2}, {.dtype = DType::F64, .requires_grad = true});
    EXPECT_THROW(add_(rows[0], w), AutogradError);
}

TEST(ViewOfMany, IsWrittenUnderNoGrad) {
    const Tensor x = tracked();
    const std::vector<Tensor> rows = unbind(x);
    const NoGradGuard guard;
    zero_(rows[0]);
    EXPECT_EQ(sum(x).item(), 12);
}

TEST(ViewOfMany, PartsOfTensorSplitAreViewsLikeOthers) {
    const Tensor x = tracked();
    zero_(tensor_split(x, 2)[0]);
    EXPECT_EQ(sum(x).item(), 8);
}

}  // namespace
}  // namespace tapescope::engine
