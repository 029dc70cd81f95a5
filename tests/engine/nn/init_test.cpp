// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/init.h"

#include "engine/errors.h"
#include "engine/nn/conv.h"
#include "engine/nn/linear.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

struct Moments {
    double min = 0;
    double max = 0;
    double mean = 0;
    double std = 0;
};
Moments momentsOf(const Tensor& t) {
    const std::vector<double> v = t.to_vector();
    Moments m{*std::min_element(v.begin(), v.end()), *std::max_element(v.begin(), v.end())};
    for (const double x : v) m.mean += x / static_cast<double>(v.size());
    for (const double x : v) m.std += (x - m.mean) * (x - m.mean) / static_cast<double>(v.size());
    m.std = std::sqrt(m.std);
    return m;
}

class Init : public ::testing::Test {
    Context m_context;
    ContextScope m_scope{m_context};
};

TEST_F(Init, LinearWeightsAndBiasFillTheBoundOfTheirFanIn) {
    const Linear layer(400, 100);
    const double bound =
        1 / std::sqrt(400.0);  // kaiming_uniform_ with a = sqrt(5) comes to the bias' bound
    for (const Tensor& t : {layer.weight, layer.bias}) {
        const Moments m = momentsOf(t);
        EXPECT_GE(m.min, -bound);
        EXPECT_LE(m.max, bound);
        EXPECT_GT(m.max - m.min, 1.9 * bound);
    }
    EXPECT_NEAR(momentsOf(layer.weight).std, bound / std::sqrt(3.0), 0.01 * bound);
}

TEST_F(Init, ConvolutionsCountTheReceptiveField) {
    const Conv2d layer(16, 32, 3);
    const double bound = 1 / std::sqrt(16.0 * 9);
    const Moments m = momentsOf(layer.weight);
    EXPECT_LE(m.max, bound);
    EXPECT_GT(m.max, 0.99 * bound);
    EXPECT_EQ(init::fans(layer.weight).in, 16 * 9);
    EXPECT_EQ(init::fans(layer.weight).out, 32 * 9);
}

TEST_F(Init, SchemesHaveTheirSpread) {
    const Tensor w = Tensor::empty({300, 200});
    init::kaiming_normal_(w, 0, init::FanMode::FanOut, init::Nonlinearity::Relu);
    EXPECT_NEAR(momentsOf(w).std, std::sqrt(2.0 / 300), 0.002);
    init::xavier_normal_(w);
    EXPECT_NEAR(momentsOf(w).std, std::sqrt(2.0 / 500), 0.002);
    init::xavier_uniform_(w, 2);
    EXPECT_NEAR(momentsOf(w).max, 2 * std::sqrt(6.0 / 500), 0.001);
    init::kaiming_uniform_(w);
    EXPECT_NEAR(momentsOf(w).max, std::sqrt(6.0 / 200), 0.001);
    init::normal_(w, 3, 0.5);
    EXPECT_NEAR(momentsOf(w).mean, 3, 0.01);
    EXPECT_NEAR(momentsOf(w).std, 0.5, 0.01);
    init::uniform_(w, 2, 4);
    EXPECT_GE(momentsOf(w).min, 2);
    EXPECT_NEAR(momentsOf(w).mean, 3, 0.01);
}

TEST_F(Init, GainsArePyTorchs) {
    EXPECT_DOUBLE_EQ(init::gain(init::Nonlinearity::Tanh), 5.0 / 3);
    EXPECT_DOUBLE_EQ(init::gain(init::Nonlinearity::Relu), std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(init::gain(init::Nonlinearity::LeakyRelu, 0.2), std::sqrt(2 / 1.04));
    EXPECT_DOUBLE_EQ(init::gain(init::Nonlinearity::Sigmoid), 1);
}

TEST_F(Init, RefusesAVectorWhereFansAreNeeded) {
    EXPECT_THROW(init::kaiming_uniform_(Tensor::empty({3})), ShapeError);
}

TEST_F(Init, EqualSeedsGiveEqualWeights) {
    Context::current().generator().manual_seed(5);
    const std::vector<double> a = Linear(7, 5).weight.to_vector();
    Context::current().generator().manual_seed(5);
    EXPECT_EQ(Linear(7, 5).weight.to_vector(), a);
    EXPECT_NE(Linear(7, 5).weight.to_vector(), a);
}

}  // namespace
}  // namespace tapescope::engine::nn
