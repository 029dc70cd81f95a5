// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/sink.h"

#include <utility>

namespace tapescope::profiler::cupti {

std::vector<storage::GpuCount> countersOf(const Counters& c, storage::GpuProcessId process) {
    std::vector<storage::GpuCount> out;
    for (const auto& [name, count] : {
             std::pair<const char*, std::uint64_t>{storage::kGpuCountRecords, c.records},
             {storage::kGpuCountBytes, c.recordBytes},
             {"dropped records", c.dropped},
             {"declined buffers", c.declinedBuffers},
             {"discarded bytes", c.discardedBytes},
             {"unreturned buffers", c.unreturnedBuffers},
             {"broken buffers", c.brokenBuffers},
             {"kernels without time", c.noTime},
             {"impossible times", c.badTime},
             {"records while the clock was set", c.clockStepped},
             {"clock steps", c.clockSteps},
             {"unknown kinds", c.unknownKind},
             {"impossible records", c.impossible},
             {"records not written", c.notWritten},
             {"records above the size cap", c.aboveCap},
             {"flush errors", c.flushErrors},
         }) {
        out.push_back({process, name, static_cast<std::int64_t>(count)});
    }
    return out;
}

}  // namespace tapescope::profiler::cupti
