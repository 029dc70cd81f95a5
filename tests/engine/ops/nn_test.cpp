// SPDX-License-Identifier: Apache-2.0
// Dropout, pooling, softmax and losses beyond the reference cases.
#include "engine/cpu/nn_isa.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>
#include <memory>

namespace tapescope::engine::test {
namespace {

using Values = std::vector<double>;

TEST(Dropout, KeepsAboutOneMinusPAndScalesTheRest) {
    Context::current().generator().manual_seed(7);
    const Tensor y = dropout(ones({100000}), 0.25, true);
    const double kept = sum(ne(y, Tensor::scalar(0))).item();
    EXPECT_NEAR(kept / 100000, 0.75, 0.005);
    for (const double v : y.to_vector()) ASSERT_TRUE(v == 0 || std::fabs(v - 1 / 0.75) < 1e-6) << v;
}

TEST(Dropout, TheSameSeedDropsTheSameAndTheNextCallOthers) {
    const Tensor x = ones({1000});
    Generator& generator = Context::current().generator();
    generator.manual_seed(7);
    const Values first = dropout(x, 0.5, true).to_vector();
    const Values second = dropout(x, 0.5, true).to_vector();
    generator.manual_seed(7);
    EXPECT_EQ(dropout(x, 0.5, true).to_vector(), first);
    EXPECT_NE(second, first);
}

TEST(Dropout, EveryInstructionSetDrawsTheGeneratorsNumbers) {
    constexpr std::uint64_t kSeed = 0x0123456789ABCDEF;
    constexpr std::uint64_t kCounter = 0xFFFFFFFF0;  // the low word overflows on the way
    constexpr std::uint32_t kLimit = 0x40000000;
    for (const std::size_t n : {1U, 3U, 64U, 203U, 519U}) {
        for (const cpu::Isa isa : {cpu::Isa::Base, cpu::Isa::Avx2, cpu::Isa::Avx512}) {
            const cpu::NnTable* table = cpu::nnTableFor(isa);
            if (!table) continue;
            const auto keep = std::make_unique<bool[]>(n + 1);
            keep[n] = true;
            table->philoxAtLeast(static_cast<std::int64_t>(n), kSeed, kCounter, kLimit, keep.get());
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t word = Generator::philox(kSeed, kCounter + i / 4)[i % 4];
                ASSERT_EQ(keep[i], word >= kLimit) << cpu::isaName(isa) << " " << i;
            }
            EXPECT_TRUE(keep[n]) << "wrote past the end";
        }
    }
}

TEST(Dropout, TheGradientPassesWhereElementsWereKept) {
    const Tensor x = ones({1000}, {.requires_grad = true});
    const Tensor y = dropout(x, 0.5, true);
    sum(y).backward();
    EXPECT_EQ(x.grad().to_vector(), y.to_vector());
}

TEST(Dropout, ReturnsItsInputUnlessTrainingAndRefusesOtherProbabilities) {
    const Tensor x = ones({3});
    EXPECT_TRUE(same(dropout(x, 0.5, false), x));
    EXPECT_EQ(messageOf<Error>([&] { dropout(x, 1.5, true); }),
              "dropout: the probability 1.500000 must be between 0 and 1");
    EXPECT_THROW(dropout(x, std::nan(""), true), Error);
}

TEST(Pooling, WhatCannotBePooledIsNamed) {
    const auto text = [](const auto& fn) { return messageOf<ShapeError>(fn); };
    EXPECT_EQ(text([] {
                  max_pool2d(zeros({4, 4}), {});
              }),
              "max_pool2d: input [4, 4] must have 3 or 4 dimensions [C, H, W] or [N, C, H, W]");
    EXPECT_EQ(text([] {
                  max_pool2d(zeros({1, 1, 1, 4}), {});
              }),
              "max_pool2d: kernel [2, 2] is larger than input [1, 1, 1, 4] with padding [0, 0]");
    EXPECT_EQ(text([] {
                  avg_pool2d(zeros({1, 1, 4, 4}), {.padding = {2, 2}});
              }),
              "avg_pool2d: padding [2, 2] must be at most half the kernel [2, 2]");
    EXPECT_EQ(text([] {
                  max_pool2d(zeros({1, 1, 4, 4}), {.stride = {0, 0}});
              }),
              "max_pool2d: stride [0, 0] must be at least 1");
    EXPECT_EQ(text([] {
                  adaptive_avg_pool2d(zeros({1, 1, 4, 4}), 0, 1);
              }),
              "adaptive_avg_pool2d: output 0 x 1 must be at least 1 x 1");
    EXPECT_EQ(text([] {
                  max_pool2d(zeros({1, 1, 0, 4}), {});
              }),
              "max_pool2d: input [1, 1, 0, 4] has planes without elements");
}

TEST(Pooling, AnEmptyBatchStaysEmpty) {
    EXPECT_EQ(max_pool2d(zeros({0, 3, 4, 4}), {}).sizes(), (Dims{0, 3, 2, 2}));
    EXPECT_EQ(avg_pool2d(zeros({0, 3, 4, 4}), {}).sizes(), (Dims{0, 3, 2, 2}));
}

TEST(Pooling, BackwardRefusesAnIndexOutsideItsPlane) {
    const Tensor grad = ones({1, 1, 1, 1});
    const Tensor index = full({1, 1, 1, 1}, 16, {.dtype = DType::I64});
    const Tensor* inputs[] = {&grad, &index};
    EXPECT_EQ(messageOf<IndexError>([&] {
                  call("max_pool2d_backward", inputs, Attrs(Dims{1, 1, 4, 4}));
              }),
              "max_pool2d_backward: index 16 is out of range for a plane of 16 elements");
}

TEST(Losses, CrossEntropyIsTheNegativeLogProbabilityOfTheTarget) {
    const Tensor logits = Tensor::from<double>({1, 2, 3, 1, 1, 1}, {2, 3}).set_requires_grad(true);
    const Tensor target = Tensor::from<std::int64_t>({2, 0}, {2});
    const double first = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - 3;
    const Tensor loss = cross_entropy(logits, target);
    EXPECT_NEAR(loss.item(), (first + std::log(3.0)) / 2, 1e-12);
    loss.backward();
    EXPECT_NEAR(logits.grad().to_vector()[3], (1.0 / 3 - 1) / 2, 1e-12);
}

TEST(Losses, WhatDoesNotMatchIsNamed) {
    EXPECT_EQ(messageOf<ShapeError>([] {
                  mse_loss(zeros({2, 3}), zeros({2, 4}));
              }),
              "mse_loss: input [2, 3] and target [2, 4] do not broadcast");
    EXPECT_EQ(messageOf<ShapeError>([] {
                  nll_loss(zeros({2, 3}), zeros({3}, {.dtype = DType::I64}));
              }),
              "nll_loss: target [3] must be [2] for input [2, 3]");
    EXPECT_EQ(messageOf<DTypeError>([] {
                  cross_entropy(zeros({2, 3}), zeros({2}));
              }),
              "nll_loss: target must be int64, not float32");
}

TEST(Softmax, IntegersAreRefusedWithTheRemedy) {
    EXPECT_THROW(softmax(zeros({2, 3}, {.dtype = DType::I64}), 1), DTypeError);
    EXPECT_EQ(messageOf<IndexError>([] {
                  softmax(zeros({2, 3}), 2);
              }),
              "softmax: dimension 2 is out of range for a tensor of 2 dimensions: give -2 to 1");
}

/// Runs fn with the loops of every instruction set this machine has and compares with the plainest.
template <class Fn>
void expectSameOnEveryIsa(const Fn& fn, double tolerance) {
    const std::vector<double> expected = fn(cpu::nnTableFor(cpu::Isa::Base)->f32);
    int compared = 0;
    for (const cpu::Isa isa : {cpu::Isa::Avx2, cpu::Isa::Avx512}) {
        const cpu::NnTable* table = cpu::nnTableFor(isa);
        if (!table) continue;
        const std::vector<double> got = fn(table->f32);
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::fabs(expected[i])))
                << cpu::isaName(isa) << " " << i;
        ++compared;
    }
    if (compared == 0) GTEST_SKIP() << "only one instruction set here";
}

TEST(NnLoops, EveryInstructionSetGivesTheSame) {
    for (const std::int64_t n : {1, 7, 64, 1500}) {
        std::vector<float> x;
        std::vector<float> y;
        for (std::int64_t i = 0; i < n; ++i) {
            x.push_back(std::sin(static_cast<float>(i * i)));
            y.push_back(std::cos(static_cast<float>(3 * i)));
        }
        expectSameOnEveryIsa(
            [&](const cpu::NnLoops<float>& loops) {
                std::vector<double> all;
                std::vector<float> out(static_cast<std::size_t>(n));
                const auto keep = [&] { all.insert(all.end(), out.begin(), out.end()); };
                loops.softmaxRow(n, x.data(), out.data());
                keep();
                loops.logSoftmaxRow(n, x.data(), out.data());
                keep();
                loops.softmaxBackwardRow(n, x.data(), y.data(), out.data());
                keep();
                loops.logSoftmaxBackwardRow(n, x.data(), y.data(), out.data());
                keep();
                loops.normRow(n, x.data(), 0.1F, 1.5F, y.data(), x.data(), out.data());
                keep();
                loops.normBackwardRow(n, x.data(), y.data(), 0.1F, 1.5F, x.data(), out.data());
                keep();
                loops.bceTerm(n, x.data(), y.data(), out.data());
                keep();
                all.push_back(loops.sum(n, x.data()));
                all.push_back(loops.squaredDiff(n, x.data(), 0.1));
                all.push_back(loops.squaredErrors(n, x.data(), y.data()));
                all.push_back(loops.absoluteErrors(n, x.data(), y.data()));
                all.push_back(loops.bceTerms(n, x.data(), y.data()));
                return all;
            },
            2e-5);
    }
}

}  // namespace
}  // namespace tapescope::engine::test
