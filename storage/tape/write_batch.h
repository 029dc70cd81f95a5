// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"
#include "storage/tape/records.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tapescope::storage {

/// What producers have handed over since the last commit. Written in one transaction: names and
/// tags first, so that nothing refers to an unknown id; `rows` in their order.
struct WriteBatch {
    struct DropGraph {
        GraphId id = 0;
    };
    struct Environment {
        std::string key;
        std::string value;
    };
    using Row = std::variant<LaneRow, ModuleRow, SiteRow, SourceRow, Graph, DropGraph, StepRow,
                             std::vector<OpSummary>, LogRow, LossCount, Environment, GpuProcess,
                             GpuDevice, GpuContext, GpuStream, GpuObjectName, GpuStatus, GpuCount,
                             std::vector<GpuSummary>, GpuCounter>;

    std::vector<TagRow> tags;
    std::vector<std::pair<NameId, std::string>> names;
    std::vector<std::pair<TagId, ScalarPoint>> scalars;
    std::vector<std::pair<TagId, Histogram>> histograms;
    std::vector<std::vector<OpEvent>> opEvents;
    std::vector<std::vector<MemoryEvent>> memoryEvents;
    std::vector<std::vector<GpuEvent>> gpuEvents;
    std::vector<std::vector<CounterSample>> counterSamples;
    std::vector<std::vector<AllocatorEvent>> allocatorEvents;
    std::vector<Row> rows;
    std::size_t bytes = 0;  ///< about what it occupies
    /// Events that found the backlog full, and were not taken.
    struct Dropped {
        std::int64_t opEvents = 0;
        std::int64_t memoryEvents = 0;
        std::int64_t gpuEvents = 0;
        std::int64_t counterSamples = 0;
        std::int64_t allocatorEvents = 0;
        bool any() const {
            return opEvents + memoryEvents + gpuEvents + counterSamples + allocatorEvents != 0;
        }
    } dropped;

    bool empty() const {
        return tags.empty() && names.empty() && scalars.empty() && histograms.empty() &&
               opEvents.empty() && memoryEvents.empty() && gpuEvents.empty() &&
               counterSamples.empty() && allocatorEvents.empty() && rows.empty() && !dropped.any();
    }
    void clear() {
        tags.clear();
        names.clear();
        scalars.clear();
        histograms.clear();
        opEvents.clear();
        memoryEvents.clear();
        gpuEvents.clear();
        counterSamples.clear();
        allocatorEvents.clear();
        rows.clear();
        bytes = 0;
        dropped = {};
    }
};

}  // namespace tapescope::storage
