// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>

namespace tapescope::engine::test {
namespace {

/// Values of moderate size without pattern, the same on every machine.
Tensor sample(const Dims& sizes, double salt, DType dtype = DType::F32) {
    std::vector<double> values(static_cast<std::size_t>(numelOf(sizes)));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(salt + 0.7 * static_cast<double>(i * i % 1009));
    return to(Tensor::from<double>(values, sizes), dtype);
}

/// The largest difference between a float32 result and the same call in float64, relative to the
/// values' size.
double relativeError(const Tensor& single, const Tensor& exact) {
    const auto a = single.to_vector();
    const auto b = exact.to_vector();
    double worst = 0;
    double size = 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::fabs(a[i] - b[i]));
        size = std::max(size, std::fabs(b[i]));
    }
    return worst / size;
}

TEST(Linalg, LargeProductsAgreeWithFloat64InEveryLayout) {
    const std::int64_t m = 70;
    const std::int64_t k = 90;
    const std::int64_t n = 50;
    const Tensor exact =
        matmul(to(sample({m, k}, 0.1), DType::F64), to(sample({k, n}, 0.2), DType::F64));
    const Tensor a = sample({m, k}, 0.1);
    const Tensor b = sample({k, n}, 0.2);
    const Tensor columnsA = transpose(contiguous(transpose(a, 0, 1)), 0, 1);
    const Tensor columnsB = transpose(contiguous(transpose(b, 0, 1)), 0, 1);
    const Tensor gapped =
        slice(stack(std::vector<Tensor>{a, a}, 2), 2, 0, 1);  // no unit stride left
    for (const Tensor& left : {a, columnsA, reshape(gapped, {m, k}), squeeze(gapped, 2)}) {
        for (const Tensor& right : {b, columnsB}) {
            EXPECT_LT(relativeError(mm(left, right), exact), 1e-6);
            EXPECT_LT(relativeError(matmul(left, right), exact), 1e-6);
        }
    }
}

TEST(Linalg, RepeatedRowsOfAnExpandedTensorAreRead) {
    const Tensor row = sample({1, 64}, 0.3);
    const Tensor b = sample({64, 40}, 0.4);
    const Tensor got = mm(expand(row, {30, 64}), b);
    const Tensor one = mm(row, b);
    EXPECT_LT(relativeError(got, expand(one, {30, 40})), 1e-6);
}

TEST(Linalg, BatchesOfAttentionLayoutsAgreeWithFloat64) {
    // [B, T, H, D] seen as [B, H, T, D]: no single stride runs over the batch.
    const auto heads = [](double salt, DType dtype) {
        return transpose(sample({2, 20, 3, 16}, salt, dtype), 1, 2);
    };
    const auto attend = [&](DType dtype) {
        return matmul(matmul(heads(0.1, dtype), transpose(heads(0.2, dtype), -2, -1)),
                      heads(0.3, dtype));
    };
    EXPECT_LT(relativeError(attend(DType::F32), attend(DType::F64)), 2e-6);
}

TEST(Linalg, TheSameProductGivesTheSameBits) {
    const Tensor a = sample({128, 300}, 0.1);
    const Tensor b = sample({300, 200}, 0.2);
    const std::vector<float> first = mm(a, b).to_vector<float>();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(mm(a, b).to_vector<float>(), first);
}

TEST(Linalg, LinearAddsItsBiasAndKeepsLeadingSizes) {
    const Tensor x = sample({4, 33, 65}, 0.1);
    const Tensor w = sample({47, 65}, 0.2);
    const Tensor b = sample({47}, 0.3);
    const Tensor got = linear(x, w, b);
    EXPECT_EQ(got.sizes(), (Dims{4, 33, 47}));
    const Tensor exact =
        add(matmul(to(x, DType::F64), transpose(to(w, DType::F64), 0, 1)), to(b, DType::F64));
    EXPECT_LT(relativeError(got, exact), 1e-6);
}

TEST(Linalg, WrongSizesAreNamedWithBothShapes) {
    const auto text = [](const auto& fn) { return messageOf<ShapeError>(fn); };
    EXPECT_EQ(text([] {
                  linear(zeros({64, 256}), zeros({10, 128}));
              }),
              "linear: input [64, 256] and weight [10, 128] do not match: the last size 256 must "
              "equal 128");
    EXPECT_EQ(text([] {
                  linear(zeros({4, 8}), zeros({10, 8}), zeros({8}));
              }),
              "linear: bias [8] and weight [10, 8] do not match: bias must be [10]");
    EXPECT_EQ(text([] {
                  linear(zeros({4, 8}), zeros({8}));
              }),
              "linear: weight [8] must have 2 dimensions [out, in]");
    EXPECT_EQ(text([] {
                  matmul(zeros({2, 3}), zeros({4, 5}));
              }),
              "matmul: inner sizes differ: [2, 3] x [4, 5]");
    EXPECT_EQ(text([] {
                  matmul(zeros({2, 3, 4}), zeros({5, 4, 3}));
              }),
              "matmul: batch sizes do not broadcast: [2, 3, 4] x [5, 4, 3]");
    EXPECT_EQ(text([] { matmul(Tensor::scalar(1), zeros({2})); }),
              "matmul: both tensors must have at least 1 dimension: [] x [2]");
    EXPECT_EQ(text([] {
                  mm(zeros({2}), zeros({2, 2}));
              }),
              "mm: input [2] must have 2 dimensions [n, k]");
    EXPECT_EQ(text([] {
                  bmm(zeros({2, 3, 4}), zeros({3, 4, 5}));
              }),
              "bmm: batch sizes differ: [2, 3, 4] x [3, 4, 5]");
}

TEST(Linalg, MixedOrUnusableDTypesAreRefused) {
    EXPECT_EQ(messageOf<DTypeError>([] {
                  mm(zeros({2, 2}), zeros({2, 2}, {.dtype = DType::F64}));
              }),
              "mm: input is float32 but mat2 is float64; convert one of them with to()");
    EXPECT_EQ(messageOf<DTypeError>([] {
                  mm(zeros({2, 2}, {.dtype = DType::Bool}), zeros({2, 2}, {.dtype = DType::Bool}));
              }),
              "mm: bool tensors cannot be multiplied; convert with to()");
}

TEST(Linalg, NanAndInfinityReachTheResultEvenTimesZero) {
    const Tensor a = Tensor::from<float>({0.0F, 1.0F}, {1, 2});
    const Tensor b = Tensor::from<float>({std::numeric_limits<float>::infinity(), 2.0F}, {2, 1});
    EXPECT_TRUE(std::isnan(mm(a, b).item()));
}

TEST(Linalg, CostCountsMultiplyAdds) {
    const Tensor x = zeros({64, 784});
    const Tensor w = zeros({512, 784});
    const Tensor none;
    const Tensor out = linear(x, w);
    const OpDef* row = OpTable::instance().find("linear");
    const Tensor* inputs[] = {&x, &w, &none};
    const Attrs attrs;
    const Cost cost = row->cost({inputs, attrs}, std::span(&out, 1));
    EXPECT_EQ(cost.flops, 2.0 * 64 * 784 * 512);
    EXPECT_EQ(cost.bytesRead, 4 * (64 * 784 + 512 * 784));
    EXPECT_EQ(cost.bytesWritten, 4 * 64 * 512);
}

}  // namespace
}  // namespace tapescope::engine::test
