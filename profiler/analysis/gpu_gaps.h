// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/analysis/gpu_report.h"

#include <set>
#include <span>
#include <utility>

namespace tapescope::profiler {

/// The idle times of one device, and what the processes that use it call it.
struct IdleDevice {
    std::span<GpuReport::Gap> gaps;
    std::set<std::pair<storage::GpuProcessId, std::uint32_t>> names;
};

/// Finds what surrounds each gap: the work before and after it on that device, and the longest CUDA
/// call in it of a process that uses the device. Reads all events once; errors are the reader's.
storage::Status explainGaps(storage::TapeReader& tape, std::span<const IdleDevice> devices);

}  // namespace tapescope::profiler
