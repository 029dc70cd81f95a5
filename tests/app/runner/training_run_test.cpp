// SPDX-License-Identifier: Apache-2.0
#include "app/runner/training_run.h"

#include "engine/debug/debugger.h"
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "storage/tape/reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <thread>
#include <unistd.h>

namespace tapescope::app {
namespace {

using storage::RunOutcome;
using storage::TapeReader;
namespace fs = std::filesystem;

class TrainingRuns : public ::testing::Test {
protected:
    void SetUp() override {
        dir = fs::temp_directory_path() / ("tapescope-runner-" + std::to_string(getpid()));
        fs::create_directories(dir);
    }
    void TearDown() override { fs::remove_all(dir); }
    std::string tape(const char* name = "run.tape") const { return (dir / name).string(); }

    RunOptions digits(std::int64_t steps) const {
        RunOptions options;
        options.model = "digits-cnn";
        options.steps = steps;
        options.settings = {{"width", "4"}, {"batch", "32"}};
        return options;
    }

    fs::path dir;
};

std::unique_ptr<TapeReader> openTape(const std::string& path) {
    auto reader = TapeReader::open(path);
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    return reader.ok() ? std::move(reader).value() : nullptr;
}

/// By value: a range-for over a part of a temporary would walk over freed memory.
template <class T>
T valueOf(storage::Result<T> result) {
    EXPECT_TRUE(result.ok()) << result.status().message();
    return std::move(result).value();
}

using Curves = std::map<std::string, std::vector<double>>;
Curves curvesOf(const TapeReader& reader) {
    Curves curves;
    for (const storage::TagRow& tag : valueOf(reader.tags())) {
        if (tag.kind != storage::TagKind::Scalar) continue;
        for (const storage::ScalarPoint& point : valueOf(reader.scalars(tag.id)))
            curves[tag.name].push_back(point.value);
    }
    return curves;
}

TEST_F(TrainingRuns, RecordsScalarsHistogramsSourcesAndEnvironment) {
    RunOptions options = digits(60);
    options.tape = tape();
    options.seed = 5;
    options.command = "tapescope run digits-cnn";
    TrainingRun run(builtinModels(), options);
    const RunResult result = run.run();
    ASSERT_TRUE(result.ok()) << result.message;
    EXPECT_EQ(result.steps, 60);
    EXPECT_GT(result.seconds, 0);

    const auto reader = openTape(tape());
    ASSERT_NE(reader, nullptr);
    EXPECT_EQ(reader->state(), storage::TapeState::Sealed);
    EXPECT_EQ(reader->outcome(), RunOutcome::Finished);
    const Curves curves = curvesOf(*reader);
    EXPECT_EQ(curves.at("train/loss").size(), 60U);
    EXPECT_EQ(curves.at("train/accuracy").size(), 60U);
    EXPECT_EQ(curves.at("lr").size(), 60U);
    // 1438 samples in batches of 32: an epoch is 44 steps; once after it, once at the end.
    EXPECT_EQ(curves.at("val/accuracy").size(), 2U);
    for (const auto& [tag, value] : result.lastScalars)
        EXPECT_EQ(value, curves.at(tag).back()) << tag;
    EXPECT_EQ(result.lastScalars.size(), 5U);

    const storage::RunInfo info = valueOf(reader->info());
    EXPECT_EQ(info.name, "digits-cnn");
    EXPECT_EQ(info.command, "tapescope run digits-cnn");
    const std::map<std::string, std::string> config(info.config.begin(), info.config.end());
    EXPECT_EQ(config.at("seed"), "5");
    EXPECT_EQ(config.at("width"), "4");
    EXPECT_EQ(config.at("optimizer"), "adam");
    const std::map<std::string, std::string> environment(info.environment.begin(),
                                                         info.environment.end());
    for (const char* key :
         {"tapescope", "host", "cores", "threads", "onednn", "sqlite", "compiler"}) {
        EXPECT_TRUE(environment.contains(key)) << key;
    }

    const std::vector<storage::SourceRow> sources = valueOf(reader->sources());
    EXPECT_TRUE(std::any_of(sources.begin(), sources.end(), [](const auto& s) {
        return s.path == "plugins/models/digits_cnn.cpp" &&
               s.text.find("struct DigitsCnn") != std::string::npos;
    }));
    EXPECT_EQ(valueOf(reader->steps()).size(), 60U);
    int histograms = 0;
    for (const storage::TagRow& tag : valueOf(reader->tags())) {
        if (tag.kind != storage::TagKind::Histogram) continue;
        ++histograms;
        const std::vector<storage::Histogram> rows = valueOf(reader->histograms(tag.id));
        ASSERT_FALSE(rows.empty()) << tag.name;
        double count = 0;
        for (const double c : rows[0].counts) count += c;
        if (tag.name == "param/fc.weight") {
            EXPECT_EQ(count, 10 * 8 * 4);
        }
    }
    EXPECT_EQ(histograms, 20);  // ten parameters and their gradients
}

TEST_F(TrainingRuns, TheTapeKnowsWhatTheModelAllocatedBeforeTheFirstStep) {
    RunOptions options = digits(2);
    options.tape = tape();
    ASSERT_TRUE(TrainingRun(builtinModels(), options).run().ok());
    const auto events = valueOf(openTape(tape())->memoryEvents());
    const auto parameters = std::count_if(
        events.events.begin(), events.events.end(),
        [](const auto& e) { return e.role == storage::MemoryRole::Parameter && e.step < 0; });
    EXPECT_GE(parameters, 10);
}

TEST_F(TrainingRuns, EqualSeedsGiveBitIdenticalCurvesWhoeverWatches) {
    const auto curves = [&](const char* name, std::uint64_t seed, engine::Observer* observer) {
        RunOptions options = digits(12);
        options.seed = seed;
        options.tape = tape(name);
        RunHooks hooks;
        if (observer) hooks.observers.push_back(observer);
        TrainingRun run(builtinModels(), options);
        EXPECT_TRUE(run.run(hooks).ok());
        return curvesOf(*openTape(tape(name)));
    };
    const Curves first = curves("a.tape", 3, nullptr);
    EXPECT_EQ(curves("b.tape", 3, nullptr), first);
    EXPECT_NE(curves("c.tape", 4, nullptr), first);

    // A debugger that stops at each conv2d of module conv2, and is sent on from another thread.
    int stops = 0;
    std::unique_ptr<engine::debug::Debugger> debugger;
    std::vector<std::jthread> helpers;
    debugger = std::make_unique<engine::debug::Debugger>([&](const engine::debug::StopState&) {
        ++stops;
        helpers.emplace_back([&] {
            while (!debugger->resume(engine::debug::StepMode::Continue)) std::this_thread::yield();
        });
    });
    debugger->setBreakpoints({engine::debug::Debugger::parseFunction("conv2: conv2d", nullptr)});
    EXPECT_EQ(curves("d.tape", 3, debugger.get()), first);
    EXPECT_GE(stops, 12);

    RunOptions bare = digits(12);
    bare.seed = 3;
    for (const auto& [tag, value] : TrainingRun(builtinModels(), bare).run().lastScalars) {
        EXPECT_EQ(value, first.at(tag).back()) << tag;
    }
}

TEST_F(TrainingRuns, StopsBetweenStepsOnRequestWithASealedTape) {
    RunOptions options = digits(1000);
    options.tape = tape();
    TrainingRun run(builtinModels(), options);
    std::stop_source stop;
    std::vector<std::int64_t> progress;
    RunHooks hooks;
    hooks.onProgress = [&](const RunProgress& p) {
        progress.push_back(p.step);
        EXPECT_EQ(p.steps, 1000);
        EXPECT_TRUE(std::isfinite(p.loss));
        EXPECT_GT(p.allocatedBytes, 0);
        if (p.step == 3) stop.request_stop();
    };
    const RunResult result = run.run(hooks, stop.get_token());
    EXPECT_EQ(result.outcome, RunOutcome::Stopped);
    EXPECT_EQ(result.steps, 3);
    EXPECT_EQ(progress, (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_NE(result.message.find("after 3 of 1000 steps"), std::string::npos) << result.message;
    const auto reader = openTape(tape());
    EXPECT_EQ(reader->state(), storage::TapeState::Sealed);
    EXPECT_EQ(reader->outcome(), RunOutcome::Stopped);
    EXPECT_EQ(curvesOf(*reader).at("train/loss").size(), 3U);
}

TEST_F(TrainingRuns, AnObserverMayInterruptInTheMiddleOfAStep) {
    struct Stopper final : engine::Observer {
        void onOpBegin(const engine::OpCall& call) override {
            if (call.step == 2 && call.op->name == "cross_entropy")
                throw engine::Interrupted("enough");
            if (call.step == 2 && call.op->name == "log_softmax")
                throw engine::Interrupted("enough");
        }
    } stopper;
    RunOptions options = digits(10);
    options.tape = tape();
    RunHooks hooks;
    hooks.observers.push_back(&stopper);
    const RunResult result = TrainingRun(builtinModels(), options).run(hooks);
    EXPECT_EQ(result.outcome, RunOutcome::Stopped);
    EXPECT_EQ(result.message, "enough");
    EXPECT_EQ(result.steps, 2);
    EXPECT_EQ(openTape(tape())->outcome(), RunOutcome::Stopped);
}

/// Fails at its third step with a shape error inside module "head".
class Failing final : public plugins::Program {
public:
    struct Net : engine::nn::Module {
        Net() : Module("Net") { head = register_module<engine::nn::Linear>("head", 3, 2); }
        engine::Tensor forward(const engine::Tensor& x) override { return head(x); }
        engine::nn::ModuleRef<engine::nn::Linear> head;
    };
    engine::nn::Module& model() override { return m_net; }
    void trainStep(std::int64_t step, plugins::RunLog& log) override {
        m_net(engine::ones({1, step < 2 ? 3 : 5}));
        log.scalar("train/loss", step, 1);
    }
    bool validationDue(std::int64_t) const override { return false; }
    void validate(std::int64_t, plugins::RunLog&) override {}
    std::int64_t samplesPerStep() const override { return 1; }

private:
    Net m_net;
};

TEST_F(TrainingRuns, AFailureIsInTheResultTheLogAndTheSealedTape) {
    plugins::ModelRegistry registry;
    registry.add(
        {.name = "failing",
         .summary = "",
         .defaultSteps = 10,
         .create = [](const plugins::ProgramOptions&) { return std::make_unique<Failing>(); }});
    RunOptions options;
    options.model = "failing";
    options.tape = tape();
    const RunResult result = TrainingRun(registry, options).run();
    EXPECT_EQ(result.outcome, RunOutcome::Failed);
    EXPECT_EQ(result.steps, 2);
    EXPECT_NE(result.message.find("linear"), std::string::npos) << result.message;
    EXPECT_NE(result.message.find("in module head"), std::string::npos) << result.message;
    const auto reader = openTape(tape());
    EXPECT_EQ(reader->state(), storage::TapeState::Sealed);
    EXPECT_EQ(reader->outcome(), RunOutcome::Failed);
    EXPECT_EQ(reader->outcomeMessage(), result.message);
    EXPECT_EQ(curvesOf(*reader).at("train/loss").size(), 2U);
    const std::vector<storage::LogRow> log = valueOf(reader->log());
    ASSERT_FALSE(log.empty());
    EXPECT_EQ(log.back().severity, storage::Severity::Error);
    EXPECT_EQ(log.back().text, result.message);
}

TEST_F(TrainingRuns, BadOptionsLeaveNoTape) {
    const auto usageError = [&](RunOptions options) -> std::string {
        options.tape = tape();
        try {
            TrainingRun run(builtinModels(), options);
        } catch (const plugins::UsageError& e) {
            return e.what();
        }
        return "";
    };
    RunOptions options = digits(5);
    options.model = "digits-cn";
    EXPECT_NE(usageError(options).find("did you mean digits-cnn"), std::string::npos);
    options = digits(5);
    options.settings = {{"lrr", "1"}};
    EXPECT_NE(usageError(options).find("did you mean lr"), std::string::npos);
    options = digits(0);
    EXPECT_NE(usageError(options).find("at least 1 step"), std::string::npos);
    options = digits(5);
    options.model = "mnist-cnn";
    options.settings.clear();
    EXPECT_NE(usageError(options).find("--data DIR"), std::string::npos);
    options.dataDir = (dir / "nowhere").string();
    options.tape = tape();
    EXPECT_THROW(TrainingRun(builtinModels(), options), engine::DataError);
    options.model = "digits-mlp";  // carries its data
    EXPECT_NE(usageError(options).find("leave out --data"), std::string::npos);
    EXPECT_FALSE(fs::exists(tape()));
}

TEST_F(TrainingRuns, AnExistingTapeIsKeptUnlessToldOtherwise) {
    RunOptions options = digits(1);
    options.tape = tape();
    ASSERT_TRUE(TrainingRun(builtinModels(), options).run().ok());
    const auto size = fs::file_size(tape());
    try {
        TrainingRun again(builtinModels(), options);
        FAIL() << "an existing tape was overwritten";
    } catch (const plugins::UsageError&) {
        FAIL() << "an existing file is no wrong usage";
    } catch (const engine::Error& e) {
        EXPECT_NE(std::string(e.what()).find(tape()), std::string::npos) << e.what();
    }
    EXPECT_EQ(fs::file_size(tape()), size);
    options.overwrite = true;
    options.steps = 2;
    ASSERT_TRUE(TrainingRun(builtinModels(), options).run().ok());
    EXPECT_EQ(curvesOf(*openTape(tape())).at("train/loss").size(), 2U);
}

TEST_F(TrainingRuns, FlushMakesTheRunningStepVisible) {
    RunOptions options = digits(3);
    options.tape = tape();
    TrainingRun run(builtinModels(), options);
    struct AtConv2 final : engine::Observer {
        void onOpBegin(const engine::OpCall& call) override {
            if (call.step == 1 && call.module && call.module->path == "conv2" && !call.backward)
                look();
        }
        std::function<void()> look;
    } observer;
    int looks = 0;
    observer.look = [&] {
        ++looks;
        ASSERT_TRUE(run.flush().ok());
        const auto reader = openTape(tape());
        EXPECT_EQ(reader->state(), storage::TapeState::Live);
        EXPECT_EQ(curvesOf(*reader).at("train/loss").size(), 1U);
        const std::vector<storage::Graph> graphs = valueOf(reader->graphs());
        ASSERT_TRUE(
            std::any_of(graphs.begin(), graphs.end(), [](const auto& g) { return !g.complete; }));
        for (const storage::Graph& g : graphs) {
            if (!g.complete) {
                EXPECT_EQ(valueOf(reader->graph(g.id)).nodes.back().op, "conv2d");
            }
        }
    };
    RunHooks hooks;
    hooks.observers.push_back(&observer);
    EXPECT_TRUE(run.run(hooks).ok());
    EXPECT_EQ(looks, 1);
}

TEST_F(TrainingRuns, TwoRunsInOneProcessStayApart) {
    RunOptions options = digits(8);
    options.seed = 1;
    const RunResult alone = TrainingRun(builtinModels(), options).run();
    RunResult a;
    RunResult b;
    {
        std::jthread first([&] { a = TrainingRun(builtinModels(), options).run(); });
        std::jthread second([&] { b = TrainingRun(builtinModels(), options).run(); });
    }
    EXPECT_EQ(a.lastScalars, alone.lastScalars);
    EXPECT_EQ(b.lastScalars, alone.lastScalars);
}

TEST_F(TrainingRuns, TextLinesNameTheResultsOfValidation) {
    std::vector<std::string> lines;
    RunHooks hooks;
    hooks.onText = [&](std::string_view line) { lines.emplace_back(line); };
    ASSERT_TRUE(TrainingRun(builtinModels(), digits(2)).run(hooks).ok());
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines[0].starts_with("step 2: val/loss ")) << lines[0];
    EXPECT_NE(lines[0].find(", val/accuracy "), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace tapescope::app
