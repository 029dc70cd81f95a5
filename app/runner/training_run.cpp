// SPDX-License-Identifier: Apache-2.0
#include "app/runner/training_run.h"

#include "app/runner/environment.h"
#include "app/runner/run_log.h"
#include "engine/errors.h"

#include <chrono>
#include <exception>
#include <filesystem>

namespace tapescope::app {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Keeps what the model allocates while it is built, for a recorder that can only exist after it.
class MemoryKeeper final : public engine::Observer {
public:
    void onMemory(const engine::MemoryEvent& event) override { events.push_back(event); }
    std::vector<engine::MemoryEvent> events;
};

class Registration {
public:
    Registration(engine::Context& context, engine::Observer& observer)
        : m_context(context), m_observer(observer) {
        m_context.addObserver(m_observer);
    }
    ~Registration() { m_context.removeObserver(m_observer); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

private:
    engine::Context& m_context;
    engine::Observer& m_observer;
};

}  // namespace

struct TrainingRun::Impl {
    RunOptions options;
    const plugins::ModelEntry* entry = nullptr;
    plugins::Settings settings;
    std::int64_t steps = 0;
    engine::Context context;
    std::unique_ptr<plugins::Program> program;
    std::unique_ptr<storage::TapeWriter> writer;
    std::unique_ptr<profiler::Recorder> recorder;
    std::string tapePath;

    storage::RunInfo runInfo() const {
        storage::RunInfo info;
        info.name = entry->name;
        info.command = options.command;
        info.startWall =
            std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                .count();
        info.config.emplace_back("steps", std::to_string(steps));
        info.config.emplace_back("seed", std::to_string(options.seed));
        if (options.dataDir) info.config.emplace_back("data", *options.dataDir);
        for (const auto& [name, value] : settings.all())
            info.config.emplace_back(name, plugins::settingText(value));
        info.environment = describeEnvironment();
        return info;
    }

    void build() {
        MemoryKeeper keeper;
        {
            const engine::ContextScope scope(context);
            const Registration registration(context, keeper);
            context.generator().manual_seed(options.seed);
            program =
                entry->create({.settings = settings, .dataDir = options.dataDir, .steps = steps});
        }
        if (!options.tape) return;
        auto created =
            storage::TapeWriter::create(*options.tape, runInfo(), {.overwrite = options.overwrite});
        if (!created.ok()) throw engine::Error(created.status().message());
        writer = std::move(created).value();
        tapePath = writer->path();
        recorder = std::make_unique<profiler::Recorder>(*writer, options.record);
        recorder->describeModel(program->model());
        std::vector<storage::SourceRow> sources;
        for (const plugins::EmbeddedFile& file : entry->sources) {
            sources.push_back({std::string(file.path), std::string(file.text)});
        }
        recorder->describeSources(std::move(sources));
        for (engine::MemoryEvent& event : keeper.events) {
            event.timeNs = engine::nowNs();  // the tape's time 0 lies after the model was built
            recorder->onMemory(event);
        }
    }

    void validate(std::int64_t step, TapeLog& log) {
        log.takeRecent();
        program->validate(step, log);
        log.text("step " + std::to_string(step + 1) + ": " + log.takeRecent());
    }

    /// Throws what a step throws. result.steps is kept up to date.
    void train(const RunHooks& hooks, const std::stop_token& stop, TapeLog& log,
               RunResult& result) {
        double msPerStep = 0;
        for (std::int64_t step = 0; step < steps; ++step) {
            if (stop.stop_requested()) {
                throw engine::Interrupted("stopped on request after " + std::to_string(step) +
                                          " of " + std::to_string(steps) + " steps");
            }
            if (hooks.beforeStep) hooks.beforeStep(step);
            const Clock::time_point start = Clock::now();
            context.beginStep(step);
            {
                const engine::PhaseScope phase(engine::Phase::Forward);
                program->trainStep(step, log);
            }
            context.endStep();
            log.takeRecent();
            const double ms = secondsSince(start) * 1e3;
            msPerStep = step == 0 ? ms : 0.9 * msPerStep + 0.1 * ms;
            result.steps = step + 1;
            if (step + 1 == steps || program->validationDue(step)) validate(step, log);
            if (writer && !writer->status().ok()) throw engine::Error(writer->status().message());
            if (!hooks.onProgress) continue;
            hooks.onProgress({.step = step + 1,
                              .steps = steps,
                              .msPerStep = msPerStep,
                              .loss = log.last("train/loss"),
                              .allocatedBytes = context.allocator().stats().allocatedBytes});
        }
    }

    void seal(RunResult& result) {
        if (!writer) return;
        recorder->finish();
        const storage::Status sealed = writer->seal(result.outcome, result.message);
        if (!sealed.ok() && result.ok()) {
            result.outcome = storage::RunOutcome::Failed;
            result.message = sealed.message();
        }
        recorder.reset();
        writer.reset();
    }
};

TrainingRun::TrainingRun(const plugins::ModelRegistry& registry, RunOptions options)
    : m_impl(std::make_unique<Impl>()) {
    Impl& run = *m_impl;
    run.options = std::move(options);
    run.entry = &registry.find(run.options.model);
    run.settings = plugins::Settings::resolve(run.entry->settings, run.options.settings);
    run.steps = run.options.steps.value_or(run.entry->defaultSteps);
    if (run.steps < 1) {
        throw plugins::UsageError("a run takes at least 1 step, not " + std::to_string(run.steps));
    }
    if (run.entry->needsDataDir && !run.options.dataDir) {
        throw plugins::UsageError(run.entry->name + " needs a data folder (--data DIR) with " +
                                  run.entry->dataHelp);
    }
    if (run.options.dataDir && run.entry->dataHelp.empty()) {
        throw plugins::UsageError(run.entry->name +
                                  " trains on data it carries and takes no data folder: leave out "
                                  "--data");
    }
    std::error_code ignored;
    if (run.options.dataDir && !std::filesystem::is_directory(*run.options.dataDir, ignored)) {
        throw engine::DataError(*run.options.dataDir +
                                ": is not a folder; --data takes the folder that holds " +
                                run.entry->dataHelp);
    }
    run.build();
}

TrainingRun::~TrainingRun() = default;

const plugins::ModelEntry& TrainingRun::entry() const { return *m_impl->entry; }
const engine::nn::Module& TrainingRun::model() const { return m_impl->program->model(); }
std::int64_t TrainingRun::steps() const { return m_impl->steps; }
const std::string& TrainingRun::tapePath() const { return m_impl->tapePath; }
engine::Context& TrainingRun::context() { return m_impl->context; }

RunResult TrainingRun::run(const RunHooks& hooks, std::stop_token stop) {
    Impl& run = *m_impl;
    const engine::ContextScope scope(run.context);
    std::vector<std::unique_ptr<Registration>> registrations;
    if (run.recorder)
        registrations.push_back(std::make_unique<Registration>(run.context, *run.recorder));
    for (engine::Observer* observer : hooks.observers) {
        registrations.push_back(std::make_unique<Registration>(run.context, *observer));
    }
    TapeLog log(run.writer.get(), run.steps, run.options.histogramEvery, hooks.onText);
    RunResult result;
    const Clock::time_point start = Clock::now();
    try {
        run.train(hooks, stop, log, result);
        result.outcome = storage::RunOutcome::Finished;
    } catch (const engine::Interrupted& stopped) {
        result.outcome = storage::RunOutcome::Stopped;
        result.message = stopped.what();
    } catch (const std::exception& error) {
        result.outcome = storage::RunOutcome::Failed;
        result.message = error.what();
        log.error(result.steps, result.message);
    } catch (...) {
        result.outcome = storage::RunOutcome::Failed;
        result.message = "the model threw something that is no std::exception";
        log.error(result.steps, result.message);
    }
    result.seconds = secondsSince(start);
    result.lastScalars = log.lastScalars();
    registrations.clear();
    run.seal(result);
    return result;
}

storage::Status TrainingRun::flush() {
    return m_impl->recorder ? m_impl->recorder->flush() : storage::Status();
}

}  // namespace tapescope::app
