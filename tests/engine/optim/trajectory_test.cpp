// SPDX-License-Identifier: Apache-2.0
// Step by step against PyTorch: tests/data/optim/make_values.py wrote the values.
#include "engine/ops/pointwise.h"
#include "engine/optim/adam.h"
#include "engine/optim/clip.h"
#include "engine/optim/lr_scheduler.h"
#include "engine/optim/sgd.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>

namespace tapescope::engine::optim {
namespace {

const Dims kShapes[] = {{3, 4}, {5}};

struct Case {
    std::string name;
    std::string kind;
    DType dtype = DType::F64;
    std::map<std::string, double> options;
    std::vector<std::vector<double>> init;
    std::map<std::pair<int, int>, std::vector<double>> grads;   // by (step, parameter)
    std::map<std::pair<int, int>, std::vector<double>> params;  // after the step
};

std::vector<double> numbers(std::istream& in) {
    std::vector<double> values;
    for (double v = 0; in >> v;) values.push_back(v);
    return values;
}

std::vector<Case> readCases() {
    std::ifstream file(TAPESCOPE_TEST_DATA "/optim/trajectories.txt");
    std::vector<Case> cases;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "case") {
            Case& c = cases.emplace_back();
            std::string dtype;
            in >> c.name >> c.kind >> dtype;
            c.dtype = dtype == "float32" ? DType::F32 : DType::F64;
            for (std::string option; in >> option;) {
                const std::size_t equals = option.find('=');
                c.options[option.substr(0, equals)] = std::stod(option.substr(equals + 1));
            }
            continue;
        }
        Case& c = cases.back();
        int step = 0;
        int index = 0;
        if (word != "init") in >> step;
        in >> index;
        if (word == "init") c.init.push_back(numbers(in));
        if (word == "grad") c.grads[{step, index}] = numbers(in);
        if (word == "param") c.params[{step, index}] = numbers(in);
    }
    return cases;
}

double option(const Case& c, const char* name, double fallback) {
    const auto at = c.options.find(name);
    return at == c.options.end() ? fallback : at->second;
}

std::unique_ptr<Optimizer> make(const Case& c, const std::vector<Tensor>& params) {
    if (c.kind == "sgd") {
        return std::make_unique<SGD>(params,
                                     SgdOptions{.lr = option(c, "lr", 0),
                                                .momentum = option(c, "momentum", 0),
                                                .dampening = option(c, "dampening", 0),
                                                .weight_decay = option(c, "weight_decay", 0),
                                                .nesterov = option(c, "nesterov", 0) != 0});
    }
    const bool decoupled = c.kind == "adamw";
    const AdamOptions options{.lr = option(c, "lr", 0),
                              .beta1 = option(c, "beta1", 0.9),
                              .beta2 = option(c, "beta2", 0.999),
                              .eps = option(c, "eps", 1e-8),
                              .weight_decay = option(c, "weight_decay", decoupled ? 0.01 : 0)};
    if (decoupled) return std::make_unique<AdamW>(params, options);
    return std::make_unique<Adam>(params, options);
}

Tensor tensorOf(const std::vector<double>& values, const Dims& sizes, DType dtype) {
    return to(Tensor::from<double>(values, sizes), dtype);
}

TEST(OptimizerTrajectory, EqualsPyTorchAfterEveryStep) {
    const std::vector<Case> cases = readCases();
    ASSERT_EQ(cases.size(), 12U);
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        std::vector<Tensor> params;
        for (std::size_t i = 0; i < c.init.size(); ++i) {
            params.push_back(tensorOf(c.init[i], kShapes[i], c.dtype).set_requires_grad(true));
        }
        ASSERT_EQ(params.size(), 2U);
        const auto optimizer = make(c, params);
        const double tolerance = c.dtype == DType::F64 ? 1e-12 : 2e-6;
        int steps = 0;
        for (; c.grads.contains({steps, 0}); ++steps) {
            for (int i = 0; i < 2; ++i) {
                params[static_cast<unsigned>(i)].set_grad(
                    tensorOf(c.grads.at({steps, i}), kShapes[i], c.dtype));
            }
            optimizer->step();
            for (int i = 0; i < 2; ++i) {
                const std::vector<double> got = params[static_cast<unsigned>(i)].to_vector();
                const std::vector<double>& want = c.params.at({steps, i});
                ASSERT_EQ(got.size(), want.size());
                for (std::size_t k = 0; k < got.size(); ++k) {
                    ASSERT_NEAR(got[k], want[k], tolerance * std::max(1.0, std::abs(want[k])))
                        << "step " << steps << ", parameter " << i << ", element " << k;
                }
            }
        }
        EXPECT_EQ(steps, 12);
    }
}

std::map<std::string, std::vector<double>> readSchedules() {
    std::ifstream file(TAPESCOPE_TEST_DATA "/optim/schedules.txt");
    std::map<std::string, std::vector<double>> all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string name;
        in >> name;
        all[name] = numbers(in);
    }
    return all;
}

void expectRates(Optimizer& optimizer, LRScheduler& scheduler, const std::vector<double>& want) {
    ASSERT_EQ(want.size(), 15U);
    for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_NEAR(optimizer.lr(), want[i], 1e-14) << "after " << i << " steps";
        scheduler.step();
    }
}

TEST(Schedulers, EqualPyTorchAfterEveryStep) {
    const auto want = readSchedules();
    const std::vector<Tensor> params{Tensor::scalar(0).set_requires_grad(true)};
    SGD a(params, {.lr = 0.4});
    StepLR step(a, 4, 0.5);
    expectRates(a, step, want.at("step"));
    SGD b(params, {.lr = 0.4});
    CosineAnnealingLR cosine(b, 10, 0.01);
    expectRates(b, cosine, want.at("cosine"));
    SGD c(params, {.lr = 0.4});
    LinearLR linear(c, 0.25, 0.9, 8);
    expectRates(c, linear, want.at("linear"));
}

TEST(ClipGradNorm, EqualsPyTorch) {
    std::ifstream file(TAPESCOPE_TEST_DATA "/optim/clip.txt");
    std::vector<Tensor> params;
    std::vector<std::vector<double>> clipped;
    double total = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "total") in >> total;
        if (word == "clipped") clipped.push_back(numbers(in));
        if (word != "grads") continue;
        const Dims& shape = kShapes[params.size()];
        Tensor param = Tensor::empty(shape, DType::F64);
        zero_(param);
        param.set_grad(Tensor::from<double>(numbers(in), shape));
        params.push_back(param);
    }
    ASSERT_EQ(params.size(), 2U);
    ASSERT_EQ(clipped.size(), 2U);
    EXPECT_NEAR(clip_grad_norm_(params, 1.5).item(), total, 1e-12);
    for (std::size_t i = 0; i < params.size(); ++i) {
        const std::vector<double> got = params[i].grad().to_vector();
        for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], clipped[i][k], 1e-12);
    }
}

}  // namespace
}  // namespace tapescope::engine::optim
