// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "app/cli/gpu_section.h"
#include "app/cli/progress.h"
#include "app/cli/terminal_text.h"
#include "profiler/analysis/gpu_report.h"
#include "profiler/analysis/run_report.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

using nlohmann::ordered_json;
using profiler::RunReport;

const std::array kOptions{OptionDef{"--json", "", "for programs"},
                          OptionDef{"--top", "N", "so many operators (default 15)"}};

/// JSON has no NaN: such values travel as the strings that JavaScript and Python parse.
ordered_json number(double v) {
    if (std::isnan(v)) return "NaN";
    if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
    return v;
}

ordered_json pairs(const std::vector<std::pair<std::string, std::string>>& rows) {
    ordered_json out = ordered_json::object();
    for (const auto& [key, value] : rows) out[key] = value;
    return out;
}

void printJson(const RunReport& r, const profiler::GpuReport& gpu, std::size_t top) {
    ordered_json operators = ordered_json::array();
    for (std::size_t i = 0; i < std::min(top, r.operators.size()); ++i) {
        const auto& op = r.operators[i];
        operators.push_back({{"name", op.name},
                             {"phase", op.phase},
                             {"calls", op.calls},
                             {"totalNs", op.totalNs},
                             {"selfNs", op.selfNs},
                             {"selfShare", op.selfShare},
                             {"gflops", op.gflops}});
    }
    ordered_json scalars = ordered_json::object();
    for (const auto& s : r.scalars) {
        scalars[s.tag] = {{"step", s.step}, {"value", number(s.value)}, {"points", s.points}};
    }
    ordered_json losses = ordered_json::array();
    for (const auto& l : r.losses)
        losses.push_back({{"what", l.what}, {"count", l.count}, {"reason", l.reason}});
    ordered_json problems = ordered_json::array();
    for (const auto& p : r.problems) problems.push_back({{"step", p.step}, {"text", p.text}});
    ordered_json all{{"run",
                      {{"id", r.info.runId},
                       {"name", r.info.name},
                       {"command", r.info.command},
                       {"start", r.info.startWall},
                       {"state", profiler::stateName(r.state)},
                       {"outcome", profiler::outcomeName(r.outcome)},
                       {"message", r.outcomeMessage}}},
                     {"config", pairs(r.info.config)},
                     {"environment", pairs(r.info.environment)},
                     {"steps",
                      {{"count", r.steps},
                       {"meanNs", r.meanStepNs},
                       {"medianNs", r.medianStepNs},
                       {"p95Ns", r.p95StepNs},
                       {"firstNs", r.firstStepNs},
                       {"graphs", r.graphs}}},
                     {"memory", {{"peakBytes", r.peakBytes}, {"peakStep", r.peakStep}}},
                     {"operators", operators},
                     {"scalars", scalars},
                     {"losses", losses},
                     {"problems", problems},
                     {"damage", r.damage}};
    if (gpu.present) all["gpu"] = gpuJson(gpu, top);
    std::printf("%s\n", all.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

void printPairs(const char* title, const std::vector<std::pair<std::string, std::string>>& rows) {
    if (rows.empty()) return;
    std::printf("\n%s\n", title);
    for (const auto& [key, value] : rows)
        std::printf("  %-14s %s\n", printable(key).c_str(), printable(value).c_str());
}

/// gpuOnly: a recording of a program, of which engine's steps would only say that there are none.
void printText(const RunReport& r, const std::string& path, std::size_t top, bool gpuOnly) {
    std::printf("%s: %s\n", printable(path).c_str(), printable(r.info.name).c_str());
    if (!r.info.command.empty())
        std::printf("  command        %s\n", printable(r.info.command).c_str());
    std::string state(profiler::stateName(r.state));
    if (r.state == storage::TapeState::Sealed)
        state += ", " + std::string(profiler::outcomeName(r.outcome));
    if (r.state == storage::TapeState::Cut)
        state += ": its writer was killed; everything up to its last commit is here";
    if (!r.damage.empty()) {
        state += "; damaged, " + std::to_string(r.damage.size()) +
                 (r.damage.size() == 1 ? " part cannot be read:" : " parts cannot be read:");
    }
    std::printf("  state          %s\n", state.c_str());
    for (const std::string& damage : r.damage)
        std::printf("                 %s\n", printable(damage).c_str());
    if (!r.outcomeMessage.empty())
        std::printf("  message        %s\n", printable(r.outcomeMessage).c_str());
    printPairs("Settings", r.info.config);
    printPairs("Environment", r.info.environment);

    if (!gpuOnly) std::printf("\nSteps\n  count          %lld\n", static_cast<long long>(r.steps));
    if (r.steps > 0) {
        std::printf("  time a step    median %s, mean %s, 95 %% under %s, first %s\n",
                    nanosecondsText(r.medianStepNs).c_str(), nanosecondsText(r.meanStepNs).c_str(),
                    nanosecondsText(r.p95StepNs).c_str(), nanosecondsText(r.firstStepNs).c_str());
        std::printf("  graphs         %lld distinct\n", static_cast<long long>(r.graphs));
        std::printf("  peak memory    %s, in step %lld\n",
                    bytesText(static_cast<double>(r.peakBytes)).c_str(),
                    static_cast<long long>(r.peakStep));
    }
    if (!r.operators.empty()) {
        std::printf("\nOperators by self time\n  %-26s %-10s %9s %11s %7s %11s %9s\n", "operator",
                    "phase", "calls", "self", "share", "a call", "GFLOP/s");
        for (std::size_t i = 0; i < std::min(top, r.operators.size()); ++i) {
            const auto& op = r.operators[i];
            const double each =
                op.calls > 0 ? static_cast<double>(op.totalNs) / static_cast<double>(op.calls) : 0;
            // printf pads bytes, and µ is two of them.
            const auto padded = [](const std::string& text) {
                return std::string(text.find("µ") != std::string::npos ? 1 : 0, ' ') + text;
            };
            std::printf("  %-26s %-10s %9lld %11s %6.1f%% %11s %9.2f\n", op.name.c_str(),
                        op.phase.c_str(), static_cast<long long>(op.calls),
                        padded(nanosecondsText(static_cast<double>(op.selfNs))).c_str(),
                        op.selfShare * 100, padded(nanosecondsText(each)).c_str(), op.gflops);
        }
        if (r.operators.size() > top)
            std::printf("  … and %zu more (--top N)\n", r.operators.size() - top);
    }
    if (!r.scalars.empty()) {
        std::printf("\nLast scalars\n");
        for (const auto& s : r.scalars) {
            std::printf("  %-20s %-12.6g at step %lld (%lld points)\n", s.tag.c_str(), s.value,
                        static_cast<long long>(s.step), static_cast<long long>(s.points));
        }
    }
    if (!r.problems.empty()) {
        std::printf("\nProblems\n");
        for (const auto& p : r.problems) {
            std::printf("  step %lld: %s\n", static_cast<long long>(p.step), p.text.c_str());
        }
    }
    std::printf("\nLost records     %s\n", r.losses.empty() ? "none" : "");
    for (const auto& l : r.losses) {
        std::printf("  %lld %s: %s\n", static_cast<long long>(l.count), printable(l.what).c_str(),
                    printable(l.reason).c_str());
    }
}

int run(const Arguments& args, const std::string&) {
    const std::string& path = args.positionals()[0];
    const auto top = static_cast<std::size_t>(args.integer("--top", 1, 100000).value_or(15));
    auto tape = storage::TapeReader::open(path);
    auto report =
        tape.ok() ? profiler::makeRunReport(**tape) : storage::Result<RunReport>(tape.status());
    if (!report.ok()) {
        std::fprintf(stderr, "tapescope: %s\n", printable(report.status().message()).c_str());
        return 1;
    }
    auto gpu = profiler::makeGpuReport(**tape);
    if (!gpu.ok()) {
        std::fprintf(stderr, "tapescope: %s\n", printable(gpu.status().message()).c_str());
        return 1;
    }
    // What cannot be read of it is said beside the other damage.
    report->damage.insert(report->damage.end(), gpu->damage.begin(), gpu->damage.end());
    if (args.has("--json")) {
        printJson(*report, *gpu, top);
    } else {
        const bool engine = report->steps > 0 || !report->operators.empty() ||
                            !report->scalars.empty() || !gpu->present;
        printText(*report, path, top, !engine);
        printGpuSection(*gpu, top);
    }
    for (const std::string& damage : report->damage)
        std::fprintf(stderr, "tapescope: %s\n", printable(damage).c_str());
    return report->damage.empty() ? 0 : 1;
}

}  // namespace

const Command& reportCommand() {
    static const Command command{
        "report", "TAPE", "what a recorded run did: steps, operators, memory, scalars", kOptions, 1,
        1,        run};
    return command;
}

}  // namespace tapescope::app
