// SPDX-License-Identifier: Apache-2.0
#include "engine/amp/autocast.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/op_def.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace tapescope::engine::amp {
namespace {

struct Recorded {
    std::string dtype;
    Dims sizes;
    std::vector<double> values;
};
/// tests/data/amp/amp.txt: see make_amp.py there.
const std::map<std::string, Recorded>& recorded() {
    static const std::map<std::string, Recorded> all = [] {
        std::map<std::string, Recorded> records;
        std::ifstream in(std::string(TAPESCOPE_TEST_DATA) + "/amp/amp.txt");
        for (std::string line; std::getline(in, line);) {
            if (line.empty() || line[0] == '#') continue;
            std::istringstream words(line);
            std::string name;
            std::string word;
            words >> name;
            Recorded& r = records[name];
            words >> r.dtype;
            while (words >> word && word != "|")
                r.sizes.push_back(std::strtoll(word.c_str(), nullptr, 10));
            while (words >> word) r.values.push_back(std::strtod(word.c_str(), nullptr));
        }
        return records;
    }();
    return all;
}

/// eps: of the type it was calculated in.
void expectRecorded(const std::string& name, const Tensor& actual, double eps) {
    const auto it = recorded().find(name);
    ASSERT_NE(it, recorded().end()) << name;
    ASSERT_TRUE(actual.defined()) << name;
    EXPECT_EQ(dtypeShortName(actual.dtype()), it->second.dtype) << name;
    ASSERT_EQ(actual.sizes(), it->second.sizes) << name;
    const std::vector<double> values = actual.to_vector();
    double largest = 0;
    for (const double v : it->second.values) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], it->second.values[i], 3 * eps * largest) << name << " " << i;
}

/// sin(1.3 i + salt)
Tensor seq(const Dims& sizes, double salt = 0) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < numelOf(sizes); ++i)
        values.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 1.3 + salt)));
    return Tensor::from<float>(values, sizes);
}
Tensor weight(const Dims& sizes, double salt) { return seq(sizes, salt).set_requires_grad(true); }

class Autocast : public testing::TestWithParam<DType> {};

TEST_P(Autocast, TrainsAnMlpWithPyTorchsNumbersAndTypes) {
    const std::string name = std::string(dtypeShortName(GetParam())) + ".";
    const double eps = finfo(GetParam()).eps;
    const Tensor w1 = weight({5, 4}, 0.1), b1 = weight({5}, 0.2);
    const Tensor w2 = weight({3, 5}, 0.3), b2 = weight({3}, 0.4);
    const Tensor x = seq({6, 4}, 0.5), y = seq({6, 3}, 0.6);
    Tensor loss;
    {
        const AutocastGuard autocast(GetParam());
        const Tensor h = linear(x, w1, b1);
        const Tensor a = relu(h);
        const Tensor z = linear(a, w2, b2);
        loss = mse_loss(z, y);
        expectRecorded(name + "h", h, eps);
        expectRecorded(name + "a", a, eps);
        expectRecorded(name + "z", z, eps);
        expectRecorded(name + "loss", loss, eps);
        {
            const AutocastGuard off(GetParam(), false);
            EXPECT_FALSE(is_autocast_enabled());
            expectRecorded(name + "full", linear(to(a, DType::F32), w2, b2), eps);
            EXPECT_THROW(linear(a, w2, b2), DTypeError);
        }
        EXPECT_TRUE(is_autocast_enabled());
        EXPECT_EQ(autocast_dtype(), GetParam());
        const Tensor both[] = {z, y};
        expectRecorded(name + "joined", cat(both), eps);
        expectRecorded(name + "twice", linear(linear(x, w1, b1), transpose(w1, 0, 1)), eps);
    }
    EXPECT_FALSE(is_autocast_enabled());
    loss.backward();
    expectRecorded(name + "w1", w1.grad(), eps);
    expectRecorded(name + "b1", b1.grad(), eps);
    expectRecorded(name + "w2", w2.grad(), eps);
    expectRecorded(name + "b2", b2.grad(), eps);
}

TEST_P(Autocast, KeepsNormsAndLossesInFloat32) {
    const std::string name = std::string(dtypeShortName(GetParam())) + ".";
    const double eps = finfo(GetParam()).eps;
    const Tensor w = weight({3, 4}, 0.7), kernel = weight({3, 2, 3, 3}, 0.9);
    const Tensor scale = weight({3}, 1.0), shift = weight({3}, 1.1);
    const Tensor target = Tensor::from<std::int64_t>({0, 1, 2, 2, 1, 0}, {6});
    Tensor loss;
    {
        const AutocastGuard autocast(GetParam());
        const Tensor logits = linear(seq({6, 4}, 0.5), w, {});
        const Tensor ce = cross_entropy(logits, target);
        const Tensor maps = conv2d(seq({1, 2, 5, 5}, 0.8), kernel, {}, {.padding = {1, 1}});
        const Tensor normed = batch_norm(maps, scale, shift, {}, {}, true, 0.1, 1e-5);
        const Tensor layered = layer_norm(logits, {3}, scale, shift);
        const Tensor heads = softmax(bmm(seq({2, 3, 4}), seq({2, 4, 3}, 2.0)), -1);
        expectRecorded(name + "logits", logits, eps);
        expectRecorded(name + "ce", ce, eps);
        expectRecorded(name + "maps", maps, eps);
        expectRecorded(name + "normed", normed, eps);
        expectRecorded(name + "layered", layered, eps);
        expectRecorded(name + "heads", heads, eps);
        loss = ce + mean(square(to(normed, DType::F32))) + mean(square(to(layered, DType::F32)));
    }
    loss.backward();
    expectRecorded(name + "w", w.grad(), eps);
    expectRecorded(name + "norm", scale.grad(), eps);
    expectRecorded(name + "shift", shift.grad(), eps);
    EXPECT_EQ(kernel.grad().dtype(), DType::F32);
}
INSTANTIATE_TEST_SUITE_P(Types, Autocast, testing::Values(DType::BF16, DType::F16),
                         [](const auto& test) { return std::string(dtypeName(test.param)); });

/// Counts casts.
class CastCounter final : public Observer {
public:
    CastCounter() { Context::current().addObserver(*this); }
    ~CastCounter() override { Context::current().removeObserver(*this); }
    CastCounter(const CastCounter&) = delete;
    CastCounter& operator=(const CastCounter&) = delete;
    void onOpEnd(const OpCall& call) override { casts += call.op->name == "to" ? 1 : 0; }
    int casts = 0;
};

TEST(AutocastCache, CastsAWeightOnceUntilTheOutermostScopeEnds) {
    const Tensor w = weight({3, 3}, 0.1);
    const Tensor x = to(seq({2, 3}), DType::BF16);
    CastCounter counter;
    {
        const AutocastGuard outer;
        linear(x, w, {});
        {
            const AutocastGuard inner;
            linear(x, w, {});
        }
        linear(x, w, {});
        EXPECT_EQ(counter.casts, 1);
        clear_autocast_cache();
        linear(x, w, {});
        EXPECT_EQ(counter.casts, 2);
    }
    const AutocastGuard again;
    linear(x, w, {});
    EXPECT_EQ(counter.casts, 3);
}

TEST(AutocastCache, IsLeftOutForWhatIsNoWeightAndWhenSwitchedOff) {
    const Tensor w = weight({3, 3}, 0.1);
    const Tensor constant = seq({3, 3});
    const Tensor x = to(seq({2, 3}), DType::BF16);
    CastCounter counter;
    {
        const AutocastGuard autocast;
        linear(x, constant, {});
        linear(x, constant, {});
        EXPECT_EQ(counter.casts, 2);
        const NoGradGuard guard;  // its cast would carry no gradient to later calls
        linear(x, w, {});
        linear(x, w, {});
        EXPECT_EQ(counter.casts, 4);
    }
    const AutocastGuard uncached(DType::BF16, true, false);
    EXPECT_FALSE(is_autocast_cache_enabled());
    linear(x, w, {});
    linear(x, w, {});
    EXPECT_EQ(counter.casts, 6);
}

TEST(AutocastCache, SeesAWeightThatWasWritten) {
    const Tensor w = weight({1, 1}, 0.0);
    const Tensor x = ones({1, 1}, {.dtype = DType::BF16});
    const AutocastGuard autocast;
    EXPECT_EQ(linear(x, w, {}).item(), 0);
    {
        const NoGradGuard guard;
        fill_(w, 3.0);
    }
    EXPECT_EQ(linear(x, w, {}).item(), 3);
}

TEST(AutocastCache, ServesSeveralBackwardPasses) {
    const Tensor w = weight({2, 2}, 0.1);
    const Tensor x = ones({1, 2});
    const AutocastGuard autocast;
    sum(linear(x, w, {})).backward();
    const std::vector<double> once = w.grad().to_vector();
    sum(linear(x, w, {})).backward();
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(w.grad().to_vector()[i], 2 * once[i]);
}

TEST(AutocastPolicy, FollowsPyTorchsLists) {
    EXPECT_EQ(autocast_policy("linear"), AutocastPolicy::LowerPrecision);
    EXPECT_EQ(autocast_policy("conv_transpose2d"), AutocastPolicy::LowerPrecision);
    EXPECT_EQ(autocast_policy("scaled_dot_product_attention"), AutocastPolicy::LowerPrecision);
    EXPECT_EQ(autocast_policy("mse_loss"), AutocastPolicy::Float32);
    EXPECT_EQ(autocast_policy("prod"), AutocastPolicy::Float32);
    EXPECT_EQ(autocast_policy("linalg_qr"), AutocastPolicy::Float32);
    EXPECT_EQ(autocast_policy("cat"), AutocastPolicy::Promote);
    EXPECT_EQ(autocast_policy("stack"), AutocastPolicy::Promote);
    for (const char* name : {"relu", "softmax", "layer_norm", "batch_norm", "add", "sum", "exp"})
        EXPECT_EQ(autocast_policy(name), AutocastPolicy::AsIs) << name;
}

TEST(AutocastPolicy, LeavesFloat64AndIntegersAlone) {
    const AutocastGuard autocast;
    const Tensor a = to(seq({2, 2}), DType::F64);
    EXPECT_EQ(matmul(a, a).dtype(), DType::F64);
    const Tensor i = ones({2, 2}, {.dtype = DType::I64});
    EXPECT_EQ(matmul(i, i).dtype(), DType::I64);
    EXPECT_EQ(add(seq({2}), seq({2})).dtype(), DType::F32);
    EXPECT_THROW(AutocastGuard(DType::F32), DTypeError);
    EXPECT_TRUE(is_autocast_enabled());
}

}  // namespace
}  // namespace tapescope::engine::amp
