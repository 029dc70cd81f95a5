// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/context.h"
#include "plugins/api/model.h"
#include "profiler/recorder/recorder.h"
#include "storage/status.h"
#include "storage/tape/records.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tapescope::app {

/// What to run; the command line's and the adapter's arguments, unchecked.
struct RunOptions {
    std::string model;
    std::optional<std::int64_t> steps;  ///< none: the model's defaultSteps
    std::uint64_t seed = 0;
    std::vector<std::pair<std::string, std::string>> settings;  ///< --set name=value, as typed
    std::optional<std::string> dataDir;
    std::optional<std::string> tape;  ///< none: nothing is recorded
    bool overwrite = false;           ///< replace an existing tape
    std::string command;              ///< for the tape: the command as typed
    profiler::RecorderOptions record;
    std::int64_t histogramEvery = 0;  ///< steps between histograms; 0: forty over the run
};

struct RunProgress {
    std::int64_t step = 0;   ///< training steps done
    std::int64_t steps = 0;  ///< of so many
    double msPerStep = 0;    ///< mean over the last steps, smoothed
    double loss = 0;         ///< the last train/loss; NaN before the first
    std::int64_t allocatedBytes = 0;
};

/// Whoever takes part in a run. All functions are called on the thread in run(); they may be empty.
/// One that throws engine::Interrupted ends the run as stopped.
struct RunHooks {
    /// Registered behind the recorder, so that a debugger's stop finds the current operator already
    /// on record. They must outlive run().
    std::vector<engine::Observer*> observers;
    std::function<void(std::int64_t step)> beforeStep;
    std::function<void(const RunProgress&)> onProgress;  ///< after every step
    std::function<void(std::string_view line)>
        onText;  ///< the model's own lines, and results of validation
};

struct RunResult {
    storage::RunOutcome outcome = storage::RunOutcome::Unknown;
    std::string message;  ///< why it stopped or failed: one sentence for the user
    std::int64_t steps = 0;
    double seconds = 0;
    /// The last value of every tag, in order of first appearance.
    std::vector<std::pair<std::string, double>> lastScalars;
    bool ok() const { return outcome == storage::RunOutcome::Finished; }
};

/// One training run: a Context of its own, the model with its data, and, if asked for, a tape with
/// its recorder.
///   TrainingRun run(builtinModels(), options);   // checks everything, builds the model, opens the
///   tape RunResult result = run.run(hooks, stopToken);
/// The constructor and run() may be called on different threads, one after the other. Two runs in a
/// process stay apart. The same options give bit-identical scalars, whoever watches.
class TrainingRun final {
public:
    /// Throws plugins::UsageError (unknown model or setting, no --data: exit status 2),
    /// engine::DataError or engine::Error (data or tape file: exit status 1). The tape is made
    /// last, so that bad input leaves no file behind.
    TrainingRun(const plugins::ModelRegistry& registry, RunOptions options);
    ~TrainingRun();
    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    const plugins::ModelEntry& entry() const;  ///< with the embedded sources
    const engine::nn::Module& model() const;   ///< for Debugger::setModel and parseFunction
    std::int64_t steps() const;
    const std::string& tapePath() const;  ///< "" without a tape
    engine::Context& context();

    /// Trains, validates and seals the tape: Finished, Stopped (stop token, engine::Interrupted) or
    /// Failed (any other exception; its text is in the tape's log and in the result). Never throws.
    /// Once.
    RunResult run(const RunHooks& hooks = {}, std::stop_token stop = {});

    /// At a debugger's stop, on run()'s thread (from Debugger::StopHandler): commits everything up
    /// to here to the tape. Ok without a tape.
    storage::Status flush();

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Every model this program carries or has loaded (app/runner/packs.h).
const plugins::ModelRegistry& builtinModels();

}  // namespace tapescope::app
