// SPDX-License-Identifier: Apache-2.0
#include "app/cli/gpu_doctor.h"

#include "profiler/cupti/inject/environment.h"
#include "profiler/cupti/library.h"
#include "profiler/record/injection.h"
#include "profiler/record/nvml.h"

#include <cstdlib>
#include <filesystem>

namespace tapescope::app {
namespace {

namespace cupti = profiler::cupti;
namespace record = profiler::record;

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text ? text : "";
}

void ignoreCallback(void*, int, std::uint32_t, const void*) {}

/// Subscribes for a moment: whether that works shows only by doing it.
TracingAnswer askTracing() {
    const cupti::Library library = cupti::loadLibrary(variable(cupti::environment::kCuptiPath));
    TracingAnswer answer{library.state, library.detail, library.path, "", library.overrideProblem};
    if (library.version != 0) answer.toolkit = cupti::toolkitName(library.version);
    if (library.state != cupti::State::Ok) return answer;
    void* subscriber = nullptr;
    const int result = library.fn.cuptiSubscribe(&subscriber, ignoreCallback, nullptr);
    // Some CUPTIs let one subscribe where there is no GPU; the driver knows.
    const cupti::Verdict verdict = cupti::explainFailedStart(
        library, result != cupti::abi::kSuccess ? result : cupti::abi::kUnknown);
    if (result == cupti::abi::kSuccess) {
        library.fn.cuptiUnsubscribe(subscriber);
        if (verdict.state != cupti::State::NoDevice) return answer;
    }
    answer.state = verdict.state;
    answer.detail = verdict.detail;
    return answer;
}

Finding counters() {
    const record::Nvml nvml;
    Finding f{"GPU counters",
              nvml.code() == "ok",
              false,
              "",
              "",
              "utilisation, power and memory of GPUs",
              ""};
    if (f.found) {
        f.detail = std::to_string(nvml.counters().size()) + " quantities";
    } else {
        f.detail = nvml.detail();
        f.remedy = nvml.message();
    }
    return f;
}

}  // namespace

Finding judgeTracing(const TracingAnswer& answer) {
    Finding f{
        "GPU tracing", false, false, answer.toolkit, "", "recording what CUDA programs do", ""};
    f.found = cupti::isTracing(answer.state);
    if (f.found) {
        f.detail = answer.path;
        if (!answer.overrideProblem.empty()) f.detail += " (" + answer.overrideProblem + ")";
        return f;
    }
    // The table's sentence says what is so; what follows it says what helps.
    const std::string text = cupti::stateMessage(answer.state);
    const std::size_t end = text.find(". ");
    f.detail = std::string(cupti::stateCode(answer.state)) + ": " +
               text.substr(0, end == std::string::npos ? text.size() - 1 : end);
    if (!answer.detail.empty()) f.detail += " (" + answer.detail + ")";
    if (!answer.path.empty()) f.detail += " [" + answer.path + "]";
    if (!answer.overrideProblem.empty()) f.detail += "; " + answer.overrideProblem;
    f.remedy = end == std::string::npos ? "" : text.substr(end + 2);
    if (answer.state == cupti::State::NoDriver)
        f.remedy = "install NVIDIA's driver; in a container start it with --gpus all";
    if (f.remedy.empty()) f.remedy = "see nvidia-smi and the kernel log (dmesg | grep -i nvrm)";
    return f;
}

Finding judgeInjection(const std::string& path, const std::string& problem,
                       const std::string& glibcFloor) {
    Finding f{"injection", !path.empty(), false, "", path, "recording what CUDA programs do", ""};
    if (!f.found) {
        f.detail = problem;
        f.remedy = "install Tapescope again, or name the library in TAPESCOPE_INJECT";
    } else if (!glibcFloor.empty()) {
        f.detail +=
            ", runs on glibc " + glibcFloor.substr(std::string("GLIBC_").size()) + " and newer";
    }
    return f;
}

Finding judgeOtherTools(const std::string& cudaInjection, const std::string& nvtxInjection,
                        const std::string& ours) {
    Finding f{"other tools", true, false, "", "", "recording what CUDA programs do", ""};
    const auto foreign = [&ours](const std::string& path) {
        std::error_code ec;
        return !path.empty() && path != ours && !std::filesystem::equivalent(path, ours, ec);
    };
    for (const auto& [name, path] :
         {std::pair{cupti::environment::kCudaInjection, cudaInjection},
          std::pair{cupti::environment::kNvtxInjection, nvtxInjection}}) {
        if (!foreign(path)) continue;
        f.found = false;
        f.detail += (f.detail.empty() ? "" : ", ") + std::string(name) + " names " + path;
    }
    if (f.found) {
        f.detail = "none is configured to enter CUDA programs";
    } else {
        f.remedy = "unset the variable while recording; `tapescope record` does not replace it";
    }
    return f;
}

std::vector<Finding> examineGpuRecording() {
    const record::Found library = record::findInjectionLibrary(record::programFolder());
    return {judgeInjection(library.path, library.problem,
                           library.path.empty() ? "" : record::glibcFloor(library.path)),
            judgeTracing(askTracing()),
            judgeOtherTools(variable(cupti::environment::kCudaInjection),
                            variable(cupti::environment::kNvtxInjection), library.path),
            counters()};
}

}  // namespace tapescope::app
