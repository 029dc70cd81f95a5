// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/doctor.h"
#include "profiler/cupti/status.h"

#include <string>
#include <vector>

namespace tapescope::app {

/// What recording CUDA programs needs, as found: the injection library, whether CUPTI starts here,
/// other tools that are configured, the counters.
std::vector<Finding> examineGpuRecording();

/// The verdict on GPU tracing, separated from asking so that it can be tested.
struct TracingAnswer {
    profiler::cupti::State state = profiler::cupti::State::NoDriver;
    std::string detail;
    std::string path;               ///< of the libcupti, if one was found
    std::string toolkit;            ///< "CUDA 13.0"
    std::string overrideProblem{};  ///< why it is not the one that the user named
};
Finding judgeTracing(const TracingAnswer& answer);

/// The verdict on the injection library: found where, and on which C library it runs.
Finding judgeInjection(const std::string& path, const std::string& problem,
                       const std::string& glibcFloor);

/// The verdict on NVIDIA's two variables: another tool in them keeps ours out.
Finding judgeOtherTools(const std::string& cudaInjection, const std::string& nvtxInjection,
                        const std::string& ours);

}  // namespace tapescope::app
