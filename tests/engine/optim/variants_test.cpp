// SPDX-License-Identifier: Apache-2.0
// Every optimiser over 20 steps and every schedule over 50 against PyTorch:
// tests/data/optim/make_variants.py wrote the values.
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/optim.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>

namespace tapescope::engine::optim {
namespace {

const Dims kShapes[] = {{2, 3}, {3}};

std::vector<double> numbers(std::istream& in) {
    std::vector<double> values;
    for (double v = 0; in >> v;) values.push_back(v);
    return values;
}

using Options = std::map<std::string, double>;

Options readOptions(std::istream& in) {
    Options options;
    for (std::string option; in >> option;) {
        const std::size_t equals = option.find('=');
        options[option.substr(0, equals)] = std::stod(option.substr(equals + 1));
    }
    return options;
}

/// The fields of an optimiser's options by name.
template <class T>
T filled(T options, const Options& given) {
    std::size_t used = 0;
    T::visit(options, [&](const std::string& name, auto& value) {
        const auto at = given.find(name);
        if (at == given.end()) return;
        value = static_cast<std::decay_t<decltype(value)>>(at->second);
        ++used;
    });
    EXPECT_EQ(used, given.size()) << "an option of the case is unknown";
    return options;
}

std::unique_ptr<Optimizer> make(const std::string& kind, const std::vector<Tensor>& params,
                                const Options& given) {
    if (kind == "sgd") return std::make_unique<SGD>(params, filled(SgdOptions{}, given));
    if (kind == "adam") return std::make_unique<Adam>(params, filled(AdamOptions{}, given));
    if (kind == "adamw") return std::make_unique<AdamW>(params, filled(AdamW::kDefaults, given));
    if (kind == "rmsprop")
        return std::make_unique<RMSprop>(params, filled(RmspropOptions{}, given));
    if (kind == "adagrad")
        return std::make_unique<Adagrad>(params, filled(AdagradOptions{}, given));
    if (kind == "adadelta")
        return std::make_unique<Adadelta>(params, filled(AdadeltaOptions{}, given));
    if (kind == "adamax") return std::make_unique<Adamax>(params, filled(AdamaxOptions{}, given));
    if (kind == "rprop") return std::make_unique<Rprop>(params, filled(RpropOptions{}, given));
    if (kind == "nadam") return std::make_unique<NAdam>(params, filled(NadamOptions{}, given));
    if (kind == "radam") return std::make_unique<RAdam>(params, filled(RadamOptions{}, given));
    if (kind == "lion") return std::make_unique<Lion>(params, filled(LionOptions{}, given));
    if (kind == "asgd") return std::make_unique<ASGD>(params, filled(AsgdOptions{}, given));
    ADD_FAILURE() << "no optimiser " << kind;
    return nullptr;
}

struct Case {
    std::string name;
    std::string kind;
    DType dtype = DType::F64;
    Options options;
    std::map<std::pair<int, int>, std::vector<double>> params;  // by (step, parameter)
};

std::vector<Case> readCases() {
    std::ifstream file(TAPESCOPE_TEST_DATA "/optim/variants.txt");
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
            c.options = readOptions(in);
            continue;
        }
        int step = 0;
        int index = 0;
        in >> step >> index;
        cases.back().params[{step, index}] = numbers(in);
    }
    return cases;
}

void setGradients(const std::vector<Tensor>& params, int step) {
    for (std::size_t i = 0; i < params.size(); ++i) {
        std::vector<double> values;
        for (std::int64_t k = 0; k < params[i].numel(); ++k) {
            values.push_back(
                std::sin(1.3 * static_cast<double>(k) + 0.7 * step + static_cast<double>(i)) *
                (1 + 0.1 * step));
        }
        params[i].set_grad(to(Tensor::from<double>(values, params[i].sizes()), params[i].dtype()));
    }
}

std::vector<Tensor> startOf(const Case& c) {
    std::vector<Tensor> params;
    for (int i = 0; i < 2; ++i) {
        params.push_back(to(Tensor::from<double>(c.params.at({0, i}), kShapes[i]), c.dtype)
                             .set_requires_grad(true));
    }
    return params;
}

void expectParams(const Case& c, const std::vector<Tensor>& params, int step) {
    const double tolerance = c.dtype == DType::F64 ? 1e-12 : 5e-6;
    for (int i = 0; i < 2; ++i) {
        const std::vector<double> got = params[static_cast<unsigned>(i)].to_vector();
        const std::vector<double>& want = c.params.at({step, i});
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t k = 0; k < got.size(); ++k) {
            ASSERT_NEAR(got[k], want[k], tolerance * std::max(1.0, std::abs(want[k])))
                << "step " << step << ", parameter " << i << ", element " << k;
        }
    }
}

TEST(OptimizerVariants, EqualPyTorchOverTwentySteps) {
    const std::vector<Case> cases = readCases();
    ASSERT_EQ(cases.size(), 30U);
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        const std::vector<Tensor> params = startOf(c);
        const auto optimizer = make(c.kind, params, c.options);
        ASSERT_NE(optimizer, nullptr);
        for (int step = 0; step < 20; ++step) {
            setGradients(params, step);
            optimizer->step();
            expectParams(c, params, step + 1);
        }
    }
}

TEST(OptimizerVariants, GoOnFromASavedStateAsIfNothingHadHappened) {
    for (const Case& c : readCases()) {
        SCOPED_TRACE(c.name);
        const std::vector<Tensor> params = startOf(c);
        OptimizerState saved;
        {
            const auto first = make(c.kind, params, c.options);
            for (int step = 0; step < 9; ++step) {
                setGradients(params, step);
                first->step();
            }
            saved = first->state_dict();
        }
        const auto second = make(c.kind, params, {});  // the options come with the state
        second->load_state_dict(saved);
        for (int step = 9; step < 20; ++step) {
            setGradients(params, step);
            second->step();
            expectParams(c, params, step + 1);
        }
    }
}

Tensor rosenbrock(const Tensor& x) {
    const Tensor a = narrow(x, 0, 0, 3);
    const Tensor b = narrow(x, 0, 1, 3);
    return sum(100 * square(b - square(a)) + square(1 - a));
}

TEST(Lbfgs, EqualsPyTorchOnRosenbrocksFunction) {
    std::ifstream file(TAPESCOPE_TEST_DATA "/optim/lbfgs.txt");
    Tensor x;
    std::unique_ptr<LBFGS> optimizer;
    int points = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string word;
        in >> word;
        if (word == "case") {
            std::string name;
            in >> name;
            Options given = readOptions(in);
            LbfgsOptions options{.lr = given.at("lr"),
                                 .max_iter = static_cast<std::int64_t>(given.at("max_iter"))};
            if (given.contains("history_size"))
                options.history_size = static_cast<std::int64_t>(given["history_size"]);
            if (given.contains("max_eval"))
                options.max_eval = static_cast<std::int64_t>(given["max_eval"]);
            if (given.contains("line_search_fn")) options.line_search_fn = LineSearch::StrongWolfe;
            x = Tensor::from<double>({-1.2, 1.0, -0.5, 0.8}, {4}).set_requires_grad(true);
            optimizer = std::make_unique<LBFGS>(std::vector<Tensor>{x}, options);
            continue;
        }
        int step = 0;
        double want = 0;
        in >> step >> want;
        const Tensor loss = optimizer->step([&] {
            optimizer->zero_grad();
            Tensor value = rosenbrock(x);
            value.backward();
            return value;
        });
        EXPECT_NEAR(loss.item(), want, 1e-7 * std::max(1.0, want)) << line;
        const std::vector<double> place = numbers(in);
        for (std::size_t k = 0; k < place.size(); ++k)
            EXPECT_NEAR(x.to_vector()[k], place[k], 1e-6) << line;
        ++points;
    }
    EXPECT_EQ(points, 24);
}

using RateTable = std::map<std::string, std::vector<double>>;

RateTable readRates() {
    std::ifstream file(TAPESCOPE_TEST_DATA "/optim/rates.txt");
    RateTable all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string name;
        in >> name;
        all[name] = numbers(in);
    }
    return all;
}

class Rates : public ::testing::Test {
protected:
    Rates() : param(Tensor::scalar(0).set_requires_grad(true)) {}

    /// step(i) is the scheduler's step after i steps.
    void expectRates(const std::string& name, const Optimizer& optimizer,
                     const std::function<void(int)>& step) {
        const std::vector<double>& want = table.at(name);
        ASSERT_EQ(want.size(), 51U);
        const auto momenta = table.find(name + ".momentum");
        for (int i = 0; i <= 50; ++i) {
            const auto at = static_cast<std::size_t>(i);
            EXPECT_NEAR(optimizer.lr(), want[at], 1e-12) << name << " after " << i << " steps";
            if (momenta != table.end()) {
                EXPECT_NEAR(optimizer.momentum().value(), momenta->second[at], 1e-12)
                    << name << " after " << i << " steps";
            }
            if (i < 50) step(i);
        }
    }
    template <class Scheduler, class... Args>
    void expect(const std::string& name, Args... args) {
        SGD sgd({param}, {.lr = 0.4, .momentum = 0.5});
        Scheduler scheduler(sgd, args...);
        expectRates(name, sgd, [&](int) { scheduler.step(); });
    }

    RateTable table = readRates();
    Tensor param;
};

TEST_F(Rates, EqualPyTorchOverFiftySteps) {
    expect<StepLR>("step", 7, 0.5);
    expect<MultiStepLR>("multistep", std::vector<std::int64_t>{30, 4, 4, 17}, 0.3);
    expect<ConstantLR>("constant", 0.25, 8);
    expect<LinearLR>("linear", 0.25, 0.9, 20);
    expect<ExponentialLR>("exponential", 0.93);
    expect<PolynomialLR>("polynomial", 30, 2.0);
    expect<CosineAnnealingLR>("cosine", 15, 0.01);
    expect<CosineAnnealingWarmRestarts>("restarts", 5, 2, 0.02);
    const auto inverse = [](std::int64_t n) { return 1 / (1 + 0.1 * static_cast<double>(n)); };
    expect<LambdaLR>("lambda", LambdaLR::Factor(inverse));
    const auto growing = [](std::int64_t n) { return 0.9 + 0.001 * static_cast<double>(n); };
    expect<MultiplicativeLR>("multiplicative", MultiplicativeLR::Factor(growing));
}

TEST_F(Rates, OfCyclesMoveTheMomentumAsPyTorch) {
    expect<OneCycleLR>("onecycle", OneCycleOptions{.max_lr = 0.8, .total_steps = 50});
    expect<CyclicLR>("cyclic", CyclicOptions{.base_lr = 0.1, .max_lr = 0.5, .step_size_up = 6});
    expect<CyclicLR>("cyclic_two", CyclicOptions{.base_lr = 0.1,
                                                 .max_lr = 0.5,
                                                 .step_size_up = 4,
                                                 .step_size_down = 7,
                                                 .mode = CycleMode::Triangular2});
    expect<CyclicLR>("cyclic_exp", CyclicOptions{.base_lr = 0.1,
                                                 .max_lr = 0.5,
                                                 .step_size_up = 6,
                                                 .mode = CycleMode::ExpRange,
                                                 .gamma = 0.97,
                                                 .cycle_momentum = false});
    Adam adam({param}, {.lr = 0.4});
    OneCycleLR three(adam, {.max_lr = 0.8,
                            .total_steps = 60,
                            .pct_start = 0.4,
                            .anneal_strategy = Anneal::Linear,
                            .three_phase = true});
    expectRates("onecycle_three", adam, [&](int) { three.step(); });
}

TEST_F(Rates, OfCombinedSchedulersEqualPyTorch) {
    SGD a({param}, {.lr = 0.4});
    LinearLR warm(a, 0.1, 1.0, 5);
    CosineAnnealingLR cosine(a, 20, 0.01);
    ExponentialLR tail(a, 0.9);
    SequentialLR sequence(a, {&warm, &cosine, &tail}, {5, 25});
    expectRates("sequential", a, [&](int) { sequence.step(); });

    SGD b({param}, {.lr = 0.4});
    ConstantLR first(b, 0.1, 4);
    ExponentialLR second(b, 0.95);
    StepLR third(b, 9, 0.5);
    ChainedScheduler chain({&first, &second, &third});
    expectRates("chained", b, [&](int) { chain.step(); });

    EXPECT_THROW(SequentialLR(a, {&warm, &cosine}, {}), Error);
    EXPECT_THROW(SequentialLR(a, {&warm, &first}, {3}), Error);
    EXPECT_THROW(ChainedScheduler({&warm, &first}), Error);
    EXPECT_THROW(ChainedScheduler({}), Error);
}

TEST_F(Rates, FallOnAPlateauAsPyTorchs) {
    const auto metric = [](int i) {
        constexpr double kCurve[] = {3, 2.5, 2.4, 2.4, 2.4, 2.4, 2.4, 2.5, 2.6, 1.0};
        return kCurve[i % 10] + (i / 10) * 0.001;
    };
    SGD a({param}, {.lr = 0.4});
    ReduceLROnPlateau low(a, {.factor = 0.5, .patience = 2, .cooldown = 1, .min_lr = 0.003});
    expectRates("plateau", a, [&](int i) { low.step(metric(i)); });
    SGD b({param}, {.lr = 0.4});
    ReduceLROnPlateau high(b, {.mode = PlateauMode::Max,
                               .factor = 0.7,
                               .patience = 3,
                               .threshold = 0.05,
                               .threshold_mode = ThresholdMode::Abs});
    expectRates("plateau_max", b, [&](int i) { high.step(metric(i)); });
}

TEST_F(Rates, GoOnFromASavedState) {
    SGD sgd({param}, {.lr = 0.4});
    CosineAnnealingWarmRestarts whole(sgd, 5, 2, 0.02);
    for (int i = 0; i < 12; ++i) whole.step();
    SGD other({param}, {.lr = 0.4});
    CosineAnnealingWarmRestarts resumed(other, 5, 2, 0.02);
    resumed.load_state_dict(whole.state_dict());
    other.set_lr(0, sgd.lr());
    for (int i = 0; i < 20; ++i) {
        whole.step();
        resumed.step();
        ASSERT_DOUBLE_EQ(other.lr(), sgd.lr()) << i;
    }
    EXPECT_THROW(resumed.load_state_dict({}), Error);
}

TEST_F(Rates, RefuseAMomentumThatIsNotThere) {
    Adagrad adagrad({param}, {});
    EXPECT_THROW(OneCycleLR(adagrad, {.max_lr = 1, .total_steps = 5}), Error);
    EXPECT_NO_THROW(OneCycleLR(adagrad, {.max_lr = 1, .total_steps = 5, .cycle_momentum = false}));
    SGD sgd({param}, {.momentum = 0.9});
    OneCycleLR cycle(sgd, {.max_lr = 1, .total_steps = 2});
    cycle.step();
    cycle.step();
    EXPECT_THROW(cycle.step(), Error);  // more steps than total_steps
}

}  // namespace
}  // namespace tapescope::engine::optim
