// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/loss.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>

namespace tapescope::engine::test {
namespace {

using Values = std::vector<double>;

Tensor classes(std::initializer_list<std::int64_t> values) {
    return Tensor::from<std::int64_t>(values, {static_cast<std::int64_t>(values.size())});
}

TEST(Losses, MeanOverTargetsOfWhichOnlySomeCount) {
    const auto lossOf = [](std::initializer_list<std::int64_t> targets, Reduction reduction) {
        const Tensor logits =
            Tensor::from<float>({2, 0, -1, 0, 1, 0}, {2, 3}).set_requires_grad(true);
        const Tensor loss = cross_entropy(logits, classes(targets), reduction);
        loss.backward();
        return std::pair(loss.item(), logits.grad().to_vector());
    };
    const auto [first, firstGrad] = lossOf({0, 1}, Reduction::Mean);
    const auto [second, secondGrad] = lossOf({0, -100}, Reduction::Mean);
    const auto [third, thirdGrad] = lossOf({-100, -100}, Reduction::Mean);
    EXPECT_NEAR(first, 0.3606454, 1e-7);
    EXPECT_NEAR(second, 0.1698460, 1e-7);
    EXPECT_TRUE(std::isnan(third));
    EXPECT_NE(firstGrad[0], 0);
    EXPECT_EQ(Values(secondGrad.begin() + 3, secondGrad.end()), (Values{0, 0, 0}));
    EXPECT_EQ(thirdGrad, Values(6, 0.0));
    EXPECT_NEAR((first + second) / 2, 0.2652457, 1e-7);
    // Control: the sum over nothing is 0.
    const auto [sumOfNone, sumGrad] = lossOf({-100, -100}, Reduction::Sum);
    EXPECT_EQ(sumOfNone, 0);
    EXPECT_EQ(sumGrad, Values(6, 0.0));
}

TEST(Losses, TargetsOutsideTheClassesAreNamed) {
    const Tensor x = zeros({2, 3});
    EXPECT_THROW(nll_loss(x, classes({0, 3})), IndexError);
    EXPECT_THROW(nll_loss(x, classes({0, -1})), IndexError);
    EXPECT_NO_THROW(nll_loss(x, classes({0, -1}), {.ignore_index = -1}));
    EXPECT_EQ(messageOf<ShapeError>([&] {
                  nll_loss(x, classes({0, 1}), {.weight = ones({2})});
              }),
              "nll_loss: weight [2] must be [3], one number a class");
    EXPECT_EQ(messageOf<Error>([&] {
                  cross_entropy(x, classes({0, 1}), {.label_smoothing = 1.5});
              }),
              "cross_entropy: label_smoothing 1.500000 must be between 0 and 1");
    EXPECT_EQ(messageOf<Error>([&] { binary_cross_entropy(full({2}, 1.5), zeros({2})); }),
              "binary_cross_entropy: input must be between 0 and 1; apply sigmoid first, or use "
              "binary_cross_entropy_with_logits");
    EXPECT_EQ(messageOf<Error>([&] { gaussian_nll_loss(zeros({2}), zeros({2}), full({2}, -1)); }),
              "gaussian_nll_loss: var has a negative element; it must be a variance");
}

// PyTorch 2.15: logits = ((arange(24) * 5 % 7) / 3 - 1).reshape(4, 2, 3);
// ctc_loss(logits.log_softmax(2), [[1, 2], [2, 0]], [4, 3], [2, 1]).
TEST(Losses, CtcGivesTheGradientOfTheLogits) {
    std::vector<double> values;
    for (int i = 0; i < 24; ++i) values.push_back(i * 5 % 7 / 3.0 - 1);
    const Tensor logits =
        Tensor::from<double>(std::span<const double>(values), {4, 2, 3}).set_requires_grad(true);
    const Tensor targets = Tensor::from<std::int64_t>({1, 2, 2, 0}, {2, 2});
    const Tensor loss = ctc_loss(log_softmax(logits, 2), targets, classes({4, 3}), classes({2, 1}));
    loss.backward();
    EXPECT_NEAR(loss.item(), 1.1241676569810766, 1e-12);
    const Values expected{0.02259503002043088,
                          -0.09799585745106035,
                          0.07540082743062947,
                          -0.06190706856229171,
                          0.29372151662065243,
                          -0.23181444805836068,
                          0.0259288942848609,
                          0.006528218258197948,
                          -0.03245711254305885,
                          0.02351395379939427,
                          0.060663237792107444,
                          -0.08417719159150172,
                          -0.026742098166637886,
                          0.06646774852247363,
                          -0.039725650355835744,
                          -0.1257016869982295,
                          0.14446060772086972,
                          -0.018758920722640206,
                          -0.06491442367278666,
                          0.07223030386043484,
                          -0.007315880187648179,
                          0.0,
                          0.0,
                          0.0};
    const Values actual = logits.grad().to_vector();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
}

TEST(Losses, ModulesGiveWhatTheFunctionsGive) {
    const Tensor x = Tensor::from<double>({0.5, -1, 2, 0.25, 1, -2}, {2, 3});
    const Tensor y = Tensor::from<double>({0.25, 0.5, 0.75, 1, 0, 0.5}, {2, 3});
    const Tensor c = classes({2, 0});
    const Tensor signs = Tensor::from<double>({1, -1, 1, -1, 1, 1}, {2, 3});
    const auto same = [](const Tensor& a, const Tensor& b) {
        EXPECT_EQ(a.to_vector(), b.to_vector());
    };
    constexpr auto kSum = Reduction::Sum;
    same(nn::CrossEntropyLoss{.reduction = kSum, .label_smoothing = 0.1}(x, c),
         cross_entropy(x, c, {.reduction = kSum, .label_smoothing = 0.1}));
    same(nn::NLLLoss{.ignore_index = 2}(x, c), nll_loss(x, c, {.ignore_index = 2}));
    same(nn::SmoothL1Loss{.beta = 0.5}(x, y), smooth_l1_loss(x, y, Reduction::Mean, 0.5));
    same(nn::HuberLoss{.delta = 0.5}(x, y), huber_loss(x, y, Reduction::Mean, 0.5));
    same(nn::BCELoss{.reduction = kSum}(sigmoid(x), y),
         binary_cross_entropy(sigmoid(x), y, {}, kSum));
    same(nn::BCEWithLogitsLoss{.pos_weight = ones({3})}(x, y),
         binary_cross_entropy_with_logits(x, y, {}, ones({3}, {.dtype = DType::F64})));
    same(nn::KLDivLoss{.reduction = Reduction::BatchMean}(x, y),
         kl_div(x, y, Reduction::BatchMean));
    same(nn::PoissonNLLLoss{.full = true}(x, y), poisson_nll_loss(x, y, true, true));
    same(nn::GaussianNLLLoss{.full = true}(x, y, y), gaussian_nll_loss(x, y, y, true));
    same(nn::MultiMarginLoss{.p = 2}(x, c), multi_margin_loss(x, c, 2));
    same(nn::MultiLabelSoftMarginLoss{}(x, y), multilabel_soft_margin_loss(x, y));
    same(nn::SoftMarginLoss{}(x, signs), soft_margin_loss(x, signs));
    same(nn::HingeEmbeddingLoss{.margin = 2}(x, signs), hinge_embedding_loss(x, signs, 2));
    same(nn::MarginRankingLoss{.margin = 1}(x, y, signs), margin_ranking_loss(x, y, signs, 1));
    same(nn::TripletMarginLoss{{.swap = true}}(x, y, signs),
         triplet_margin_loss(x, y, signs, {.swap = true}));
    same(nn::CosineSimilarity{}(x, y), cosine_similarity(x, y));
    same(nn::PairwiseDistance{.p = 1}(x, y), pairwise_distance(x, y, 1));
}

}  // namespace
}  // namespace tapescope::engine::test
