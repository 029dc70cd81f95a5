// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

TEST(Layers, DescribeThemselves) {
    EXPECT_EQ(Linear(64, 10).details(), "64→10");
    EXPECT_EQ(Linear(64, 10, false).details(), "64→10, no bias");
    EXPECT_EQ(Conv2d(1, 32, 3, {.padding = 1}).details(), "1→32, 3×3, padding 1");
    EXPECT_EQ(Conv2d(4, 8, {3, 5},
                     {.stride = 2, .padding = {1, 2}, .dilation = 2, .groups = 4, .bias = false})
                  .details(),
              "4→8, 3×5, stride 2, padding 1×2, dilation 2, groups 4, no bias");
    EXPECT_EQ(BatchNorm2d(32).details(), "32");
    EXPECT_EQ(Dropout(0.25).details(), "p 0.25");
    EXPECT_EQ(MaxPool2d(2).details(), "2×2");
    EXPECT_EQ(AvgPool2d(3, Pair(2), 1).details(), "3×3, stride 2, padding 1");
    EXPECT_EQ(AdaptiveAvgPool2d(1).details(), "to 1×1");
    EXPECT_EQ(LayerNorm({8}).details(), "[8]");
    EXPECT_EQ(Embedding(100, 16).details(), "100×16");
    EXPECT_EQ(LeakyReLU(0.2).details(), "slope 0.2");
    EXPECT_EQ(Flatten().details(), "dims 1…-1");
    EXPECT_EQ(Sequential(make<ReLU>(), make<Tanh>()).details(), "2 modules");
}

TEST(Linear, ComputesWeightTimesInputPlusBias) {
    Linear layer(2, 2);
    init::constant_(layer.weight, 2);
    init::constant_(layer.bias, 1);
    EXPECT_EQ(layer(Tensor::from<float>({1, 2}, {1, 2})).to_vector<float>(),
              (std::vector<float>{7, 7}));
    EXPECT_EQ(layer.weight.sizes(), (Dims{2, 2}));
}

TEST(Conv2d, KeepsTheSizeWithPadding) {
    Conv2d layer(1, 4, 3, {.padding = 1});
    const Tensor y = layer(ones({2, 1, 8, 8}));
    EXPECT_EQ(y.sizes(), (Dims{2, 4, 8, 8}));
    EXPECT_EQ(layer.weight.sizes(), (Dims{4, 1, 3, 3}));
    EXPECT_EQ(Conv2d(4, 8, 3, {.groups = 2}).weight.sizes(), (Dims{8, 2, 3, 3}));
}

TEST(Layers, RefuseSizesThatMakeNoSense) {
    EXPECT_THROW(Linear(0, 3), Error);
    EXPECT_THROW(Conv2d(3, 4, 3, {.groups = 2}), Error);
    EXPECT_THROW(Conv2d(3, 4, 0), Error);
    EXPECT_THROW(BatchNorm2d(0), Error);
    EXPECT_THROW(Dropout(1.5), Error);
    EXPECT_THROW(Dropout(std::nan("")), Error);
    EXPECT_THROW(Embedding(0, 4), Error);
}

TEST(BatchNorm, UpdatesRunningStatisticsOnlyInTraining) {
    BatchNorm1d norm(1);
    const Tensor x = Tensor::from<float>({1, 3}, {2, 1});
    const std::vector<float> y = norm(x).to_vector<float>();
    EXPECT_NEAR(y[0], -1, 1e-4);
    EXPECT_NEAR(y[1], 1, 1e-4);
    // 0.9 · old + 0.1 · batch; the variance unbiased: 2.
    EXPECT_NEAR(norm.running_mean.item(), 0.2, 1e-6);
    EXPECT_NEAR(norm.running_var.item(), 1.1, 1e-6);
    norm.eval();
    const double want = (1 - 0.2) / std::sqrt(1.1 + 1e-5);
    EXPECT_NEAR(norm(x).to_vector()[0], want, 1e-5);
    EXPECT_NEAR(norm.running_mean.item(), 0.2, 1e-6);
}

TEST(BatchNorm, RefusesTheOtherRankNamingTheModule) {
    BatchNorm2d norm(3);
    try {
        norm(ones({2, 3}));
        FAIL() << "a 2-d input was taken";
    } catch (const ShapeError& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("[N, C, H, W]"), std::string::npos) << text;
        EXPECT_NE(text.find("f32[2,3]"), std::string::npos) << text;
    }
    EXPECT_THROW(BatchNorm1d(3)(ones({1, 3, 2, 2})), ShapeError);
}

TEST(Dropout, ScalesTheKeptAndIsTheIdentityInEvaluation) {
    Context context;
    const ContextScope scope(context);
    Dropout dropout(0.25);
    const std::vector<float> y = dropout(ones({4000})).to_vector<float>();
    int zeros = 0;
    for (const float v : y) {
        if (v == 0) {
            ++zeros;
        } else {
            EXPECT_FLOAT_EQ(v, 1 / 0.75F);
        }
    }
    EXPECT_GT(zeros, 900);
    EXPECT_LT(zeros, 1100);
    dropout.eval();
    EXPECT_EQ(dropout(ones({3})).to_vector<float>(), (std::vector<float>{1, 1, 1}));
}

TEST(Pooling, TakesTheLargestOrTheMeanOfEachWindow) {
    const Tensor x = reshape(to(arange(0, 16), DType::F32), {1, 1, 4, 4});
    EXPECT_EQ(MaxPool2d(2)(x).to_vector<float>(), (std::vector<float>{5, 7, 13, 15}));
    EXPECT_EQ(AvgPool2d(2)(x).to_vector<float>(), (std::vector<float>{2.5F, 4.5F, 10.5F, 12.5F}));
    EXPECT_EQ(AdaptiveAvgPool2d(1)(x).to_vector<float>(), (std::vector<float>{7.5F}));
    EXPECT_EQ(MaxPool2d(2, Pair(1))(x).sizes(), (Dims{1, 1, 3, 3}));
}

TEST(Activations, ComputeTheirOperator) {
    const Tensor x = Tensor::from<float>({-1, 2}, {2});
    const auto first = [&](Module&& m) { return m(x).to_vector()[0]; };
    EXPECT_EQ(first(Identity()), -1);
    EXPECT_EQ(first(ReLU()), 0);
    EXPECT_NEAR(first(LeakyReLU()), -0.01, 1e-7);
    EXPECT_NEAR(first(ELU()), std::expm1(-1), 1e-6);
    EXPECT_NEAR(first(GELU()), -0.158655, 1e-5);
    EXPECT_NEAR(first(SiLU()), -1 / (1 + std::exp(1)), 1e-6);
    EXPECT_NEAR(first(Softplus()), std::log1p(std::exp(-1)), 1e-6);
    EXPECT_NEAR(first(Tanh()), std::tanh(-1), 1e-6);
    EXPECT_NEAR(first(Sigmoid()), 1 / (1 + std::exp(1)), 1e-6);
    EXPECT_NEAR(first(Softmax(0)), 1 / (1 + std::exp(3)), 1e-6);
    EXPECT_NEAR(first(LogSoftmax(0)), -std::log(1 + std::exp(3)), 1e-5);
}

TEST(LayerNorm, NormalisesTheLastDimensions) {
    const std::vector<double> y =
        LayerNorm({2})(Tensor::from<float>({1, 3, 10, 30}, {2, 2})).to_vector();
    EXPECT_NEAR(y[0], -1, 1e-4);
    EXPECT_NEAR(y[3], 1, 1e-4);
    EXPECT_TRUE(LayerNorm({2}, 1e-5, false).named_parameters().empty());
}

TEST(Embedding, PicksRowsOfItsTable) {
    Embedding table(3, 2);
    const std::vector<double> rows = table.weight.to_vector();
    const std::vector<double> y = table(Tensor::from<std::int64_t>({2, 0}, {2})).to_vector();
    EXPECT_EQ(y, (std::vector<double>{rows[4], rows[5], rows[0], rows[1]}));
}

TEST(Containers, NameTheirChildrenByIndex) {
    Sequential net(make<Linear>(4, 3), make<ReLU>(), make<Linear>(3, 2));
    EXPECT_EQ(net(ones({5, 4})).sizes(), (Dims{5, 2}));
    EXPECT_EQ(net[2].path(), "2");
    EXPECT_THROW(net[3], IndexError);
    ModuleList list(make<ReLU>(), make<Tanh>());
    EXPECT_EQ(list.size(), 2U);
    EXPECT_THROW(list(ones({1})), Error);
}

TEST(Losses, CallTheirOperator) {
    const Tensor logits = Tensor::from<float>({0, 0}, {1, 2});
    EXPECT_NEAR(CrossEntropyLoss()(logits, Tensor::from<std::int64_t>({1}, {1})).item(),
                std::log(2.0), 1e-6);
    const Tensor a = Tensor::from<float>({1, 5}, {2});
    const Tensor b = Tensor::from<float>({0, 2}, {2});
    EXPECT_EQ(MSELoss()(a, b).item(), 5);
    EXPECT_EQ(MSELoss{Reduction::Sum}(a, b).item(), 10);
    EXPECT_EQ(L1Loss()(a, b).item(), 2);
    EXPECT_NEAR(BCEWithLogitsLoss()(zeros({1}), ones({1})).item(), std::log(2.0), 1e-6);
}

}  // namespace
}  // namespace tapescope::engine::nn
