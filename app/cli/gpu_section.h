// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/analysis/gpu_report.h"

#include <nlohmann/json_fwd.hpp>

namespace tapescope::app {

/// The part of `tapescope report` about GPUs, to stdout; nothing for a tape without one.
void printGpuSection(const profiler::GpuReport& report, std::size_t top);
nlohmann::ordered_json gpuJson(const profiler::GpuReport& report, std::size_t top);

}  // namespace tapescope::app
