// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/collector.h"
#include "profiler/cupti/tape_output.h"

#include <optional>

namespace tapescope::profiler::cupti {

struct InjectionOptions {
    CollectorOptions collector;
    ShardOptions shard;
    bool verbose = false;
};
/// What environment.h's variables say; none without a folder. A value that is no number, or outside
/// what is sensible, is as if it were not set.
std::optional<InjectionOptions> injectionOptions();

/// "-runtime,+driver"; unknown names are passed over.
RecordKinds recordKinds(const char* text);

}  // namespace tapescope::profiler::cupti
