// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm_bf16.h"

#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine::cpu {
namespace {

Tensor smooth(const Dims& sizes, double salt) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < numelOf(sizes); ++i)
        values.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 0.7 + salt)));
    return to(Tensor::from<float>(values, sizes), DType::BF16);
}

/// Both paths against the float32 product, which is exact enough to know the nearest bfloat16 but
/// for ties.
void expectProduct(const Tensor& a, const Tensor& b, const Tensor& bias = {}) {
    const Tensor x = to(a, DType::F32);
    const Tensor y = to(b, DType::F32);
    Tensor exact = matmul(x, y);
    if (bias.defined()) exact = add(exact, to(bias, DType::F32));
    const std::vector<double> want = exact.to_vector();
    for (const BFloat16Path path :
         {BFloat16Path::Fastest, BFloat16Path::OneDnn, BFloat16Path::Float32}) {
        const Tensor out = full(exact.sizes(), 77, {.dtype = DType::BF16});
        matmulBFloat16(a, b, bias, out, path);
        const std::vector<double> got = out.to_vector();
        for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR(got[i], want[i], 0x1p-8 * std::fabs(want[i]) + 1e-4)
                << a.meta().toString() << " x " << b.meta().toString() << ", path "
                << static_cast<int>(path) << ", element " << i;
    }
}

TEST(GemmBFloat16, MultipliesMatricesInAnyLayout) {
    const Tensor a = smooth({19, 33}, 0.1);
    const Tensor b = smooth({33, 27}, 0.2);
    expectProduct(a, b);
    expectProduct(a, b, smooth({27}, 0.3));
    expectProduct(transpose(smooth({33, 19}, 0.4), 0, 1), b);
    expectProduct(a, transpose(smooth({27, 33}, 0.5), 0, 1));
    expectProduct(a, slice(smooth({33, 54}, 0.6), 1, 0, 54, 2));
    expectProduct(a, b, slice(smooth({54}, 0.7), 0, 0, 54, 2));
}
TEST(GemmBFloat16, MultipliesSingleRowsAndColumns) {
    expectProduct(smooth({1, 33}, 0.1), smooth({33, 27}, 0.2));
    expectProduct(smooth({19, 33}, 0.1), smooth({33, 1}, 0.2));
    expectProduct(smooth({19, 1}, 0.1), smooth({1, 27}, 0.2));
    expectProduct(smooth({1, 1}, 0.1), smooth({1, 1}, 0.2), smooth({1}, 0.3));
    expectProduct(transpose(smooth({33, 1}, 0.1), 0, 1), transpose(smooth({27, 33}, 0.2), 0, 1));
    expectProduct(smooth({2, 300}, 0.1), transpose(smooth({200, 300}, 0.2), 0, 1));
}
TEST(GemmBFloat16, MultipliesBatchesThatMatchRepeatOrBroadcast) {
    const Tensor a = smooth({4, 5, 9}, 0.1);
    expectProduct(a, smooth({4, 9, 7}, 0.2));
    expectProduct(a, smooth({9, 7}, 0.3));
    expectProduct(a, transpose(smooth({7, 9}, 0.4), 0, 1));
    expectProduct(smooth({5, 9}, 0.5), smooth({4, 9, 7}, 0.6));
    expectProduct(a, smooth({1, 9, 7}, 0.7));
    expectProduct(smooth({2, 1, 5, 9}, 0.8), smooth({1, 3, 9, 7}, 0.9));
    expectProduct(smooth({2, 3, 5, 9}, 1.0), smooth({3, 9, 7}, 1.1));
    expectProduct(transpose(smooth({5, 4, 9}, 1.2), 0, 1), smooth({4, 9, 7}, 1.3));
    expectProduct(permute(smooth({2, 5, 3, 9}, 1.4), {0, 2, 1, 3}), smooth({2, 3, 9, 7}, 1.5));
}
TEST(GemmBFloat16, MultipliesVectors) {
    expectProduct(smooth({9}, 0.1), smooth({9, 7}, 0.2));
    expectProduct(smooth({5, 9}, 0.1), smooth({9}, 0.2));
    expectProduct(smooth({9}, 0.1), smooth({9}, 0.2));
}
TEST(GemmBFloat16, GivesZerosForEmptySums) {
    const Tensor out = full({2, 3}, 77, {.dtype = DType::BF16});
    for (const BFloat16Path path : {BFloat16Path::OneDnn, BFloat16Path::Float32}) {
        matmulBFloat16(zeros({2, 0}, {.dtype = DType::BF16}), zeros({0, 3}, {.dtype = DType::BF16}),
                       {}, out, path);
        EXPECT_EQ(out.to_vector(), std::vector<double>(6, 0.0));
    }
}

}  // namespace
}  // namespace tapescope::engine::cpu
