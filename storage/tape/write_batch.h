// SPDX-License-Identifier: Apache-2.0
#pragma once

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
                             std::vector<OpSummary>, LogRow, LossCount, Environment>;

    std::vector<TagRow> tags;
    std::vector<std::pair<NameId, std::string>> names;
    std::vector<std::pair<TagId, ScalarPoint>> scalars;
    std::vector<std::pair<TagId, Histogram>> histograms;
    std::vector<std::vector<OpEvent>> opEvents;
    std::vector<std::vector<MemoryEvent>> memoryEvents;
    std::vector<Row> rows;
    std::size_t bytes = 0;  ///< about what it occupies

    bool empty() const {
        return tags.empty() && names.empty() && scalars.empty() && histograms.empty() &&
               opEvents.empty() && memoryEvents.empty() && rows.empty();
    }
    void clear() {
        tags.clear();
        names.clear();
        scalars.clear();
        histograms.clear();
        opEvents.clear();
        memoryEvents.clear();
        rows.clear();
        bytes = 0;
    }
};

}  // namespace tapescope::storage
