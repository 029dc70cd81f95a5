// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <cstdint>
#include <string>

namespace tapescope::profiler::record {

/// The source of GPU events in gpu_status.
inline constexpr const char* kTracingSource = "cupti";
/// Codes beside those of cupti::State, for what only shows from outside of a process.
inline constexpr const char* kCut = "cut";                 ///< it never closed its record
inline constexpr const char* kStillRecords = "recording";  ///< nor had it ended

/// What a process said of itself, with what its unclosed record means. lastNs: how far the record
/// goes. A code that tells of a failure stays.
storage::GpuStatus openEnded(storage::GpuStatus own, bool live, std::int64_t lastNs);
/// A row of an earlier join whose timeNs has moved: its sentence names that time.
storage::GpuStatus retold(storage::GpuStatus row);

/// "12.345 s"
std::string secondsText(std::int64_t ns);
/// "process 42 (python3 train.py)", its command cut to a line's length.
std::string processText(const storage::GpuProcess& process);

}  // namespace tapescope::profiler::record
