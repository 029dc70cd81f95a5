// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/packs_option.h"
#include "app/cli/progress.h"
#include "app/runner/training_run.h"

#include <array>
#include <cstdio>

namespace tapescope::app {
namespace {

const std::array kOptions{
    OptionDef{"--steps", "N", "training steps; default: the model's"},
    OptionDef{"--seed", "S", "default 0; the same seed gives the same run, bit for bit"},
    OptionDef{"--tape", "F", "record to the file F"},
    OptionDef{"--force", "", "replace F if it exists"},
    OptionDef{"--set", "NAME=VALUE", "a hyper-parameter; may be repeated", true},
    OptionDef{"--data", "DIR", "folder with the model's data files"},
    kPackOption,
    OptionDef{"--quiet", "", "no progress"}};

std::pair<std::string, std::string> splitSetting(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw CommandLineError("tapescope run: --set takes NAME=VALUE, not \"" + text + "\"");
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

void printResult(const RunResult& result, const RunOptions& options) {
    for (const auto& [tag, value] : result.lastScalars)
        std::printf("%-16s %.6g\n", tag.c_str(), value);
    std::printf("%lld steps in %s\n", static_cast<long long>(result.steps),
                durationText(result.seconds).c_str());
    if (options.tape) {
        std::printf("tape: %s   (tapescope report %s, tapescope-workbench %s)\n",
                    options.tape->c_str(), options.tape->c_str(), options.tape->c_str());
    }
}

int run(const Arguments& args, const std::string& commandLine) {
    loadPacks(args);
    RunOptions options;
    options.model = args.positionals()[0];
    options.steps = args.integer("--steps", 1, 1'000'000'000'000);
    options.seed = static_cast<std::uint64_t>(args.integer("--seed", 0, INT64_MAX).value_or(0));
    options.tape = args.value("--tape");
    if (options.tape && options.tape->empty())
        throw CommandLineError("tapescope run: --tape takes a file's name, not an empty text");
    options.overwrite = args.has("--force");
    options.dataDir = args.value("--data");
    options.command = commandLine;
    for (const std::string& text : args.values("--set"))
        options.settings.push_back(splitSetting(text));

    Interrupt interrupt;  // before any thread starts, so that all of them leave the signals to it
    TrainingRun training(builtinModels(), options);
    ProgressLine progress;
    RunHooks hooks;
    if (!args.has("--quiet")) {
        hooks.onProgress = [&](const RunProgress& p) { progress.update(p); };
        hooks.onText = [&](std::string_view text) { progress.text(text); };
    }
    const RunResult result = training.run(hooks, interrupt.token());
    progress.finish();
    if (result.outcome == storage::RunOutcome::Failed) {
        std::fprintf(stderr, "tapescope: %s failed: %s\n", options.model.c_str(),
                     result.message.c_str());
        if (options.tape) std::fprintf(stderr, "The tape up to there: %s\n", options.tape->c_str());
        return 1;
    }
    printResult(result, options);
    if (result.outcome == storage::RunOutcome::Stopped) {
        std::fprintf(stderr, "stopped: %s\n", result.message.c_str());
        return interrupt.received() ? 128 + interrupt.signal() : 1;
    }
    return 0;
}

}  // namespace

const Command& runCommand() {
    static const Command command{"run", "MODEL", "train a model", kOptions, 1, 1, run};
    return command;
}

}  // namespace tapescope::app
