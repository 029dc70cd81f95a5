// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "support/gpu_sample.h"
#include "viewers/models/gpu_builder.h"
#include "viewers/models/timeline_builder.h"

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tapescope::viewers::test {

inline constexpr const char* kKinds[] = {"step", "phase", "module",   "op",    "stream", "nvtx",
                                         "api",  "wait",  "overhead", "event", "busy"};

/// Lanes as text: groups, then their charts, then rows with their events.
inline std::string outline(const TimelineData& data, bool events = true) {
    std::string text;
    for (std::size_t g = 0; g < data.groups.size(); ++g) {
        text += (data.groups[g].parent < 0 ? "# " : "## ") + data.groups[g].title + "\n";
        for (const TimelineChart& chart : data.charts)
            if (chart.group == g) text += "~ " + chart.label + "\n";
        for (std::size_t r = 0; r < data.rows.size(); ++r) {
            const TimelineRow& row = data.rows[r];
            if (row.group != g) continue;
            text += std::string(kKinds[static_cast<int>(row.kind)]) + std::to_string(row.depth) +
                    " [" + row.label + "]";
            for (std::size_t i = 0; events && i < row.size(); ++i)
                text += " " + data.title({r, i}) + " " + std::to_string(row.startNs(i)) + "-" +
                        std::to_string(row.endNs(i));
            text += "\n";
        }
    }
    return text;
}

/// Scripted GPU events as a timeline. Name ids: 1 and 7 calls, 2 and 3 kernels, 4 to 6 ranges.
class GpuTimelineFixture : public ::testing::Test {
protected:
    GpuTimelineFixture() {
        m_names->names = {"",        "cudaLaunchKernel", "gemm", "relu",
                          "forward", "layer1",           "step", "cuLaunchKernel"};
    }
    TimelinePtr build(const std::vector<storage::GpuEvent>& events) {
        m_gpu.append(events, *m_names);
        return m_builder.snapshot(m_names, &m_gpu);
    }
    static EventRef find(const TimelineData& data, const std::string& title, std::size_t nth = 0) {
        for (std::size_t r = 0; r < data.rows.size(); ++r)
            for (std::size_t i = 0; i < data.rows[r].size(); ++i)
                if (data.title({r, i}) == title && nth-- == 0) return {r, i};
        throw std::runtime_error("no event " + title);
    }

    std::shared_ptr<Structure> m_names = std::make_shared<Structure>();
    GpuBuilder m_gpu;
    TimelineBuilder m_builder;
};

}  // namespace tapescope::viewers::test
