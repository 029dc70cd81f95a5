// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/collector.h"

#include <cstdint>

namespace tapescope::profiler::cupti {

/// Around an engine operator: every kernel, copy and call in it carries the operator's id, as an
/// ExternalId event of kind Engine. Without a collector, or with one that does not trace, nothing.
class OpScope final {
public:
    OpScope(const Collector* collector, std::uint64_t opId)
        : m_collector(collector != nullptr && collector->pushOperator(opId) ? collector : nullptr) {
    }
    ~OpScope() {
        if (m_collector != nullptr) m_collector->popOperator();
    }
    OpScope(const OpScope&) = delete;
    OpScope& operator=(const OpScope&) = delete;

private:
    const Collector* m_collector;
};

}  // namespace tapescope::profiler::cupti
