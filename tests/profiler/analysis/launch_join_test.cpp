// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/launch_join.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tapescope::profiler {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;
using Told = std::vector<LaunchJoin::Launched>;

GpuEvent event(GpuEventKind kind, std::int64_t start, std::uint32_t correlation,
               storage::GpuProcessId process = 1) {
    GpuEvent e;
    e.kind = kind;
    e.process = process;
    e.startNs = start;
    e.durationNs = 10;
    e.correlation = correlation;
    return e;
}

class LaunchJoinTest : public ::testing::Test {
protected:
    Told append(const std::vector<GpuEvent>& events) {
        const auto first = static_cast<GpuOrdinal>(m_activity.activity().size());
        m_activity.append(events);
        return m_join.append(m_activity.activity(), first);
    }
    GpuActivityBuilder m_activity;
    LaunchJoin m_join;
};

TEST_F(LaunchJoinTest, WorkIsToldOnceItsCallIsThere) {
    EXPECT_EQ(append({event(GpuEventKind::Kernel, 500, 7), event(GpuEventKind::Kernel, 600, 9)}),
              Told());
    EXPECT_EQ(append({event(GpuEventKind::RuntimeApi, 100, 7)}), (Told{{0, 100, std::nullopt}}));
    EXPECT_EQ(
        append({event(GpuEventKind::RuntimeApi, 110, 8), event(GpuEventKind::CudaEventRecord, 0, 8),
                event(GpuEventKind::Sync, 120, 8)}),
        (Told{{4, 110, std::nullopt}}));
    EXPECT_EQ(append({event(GpuEventKind::Kernel, 700, 7)}), (Told{{6, 100, std::nullopt}}))
        << "the call came earlier";
}

TEST_F(LaunchJoinTest, KernelsOfAGraphBelongToItsLaunch) {
    EXPECT_EQ(append({event(GpuEventKind::Kernel, 500, 7), event(GpuEventKind::Kernel, 510, 7)}),
              Told());
    EXPECT_EQ(append({event(GpuEventKind::Kernel, 520, 7), event(GpuEventKind::RuntimeApi, 90, 7)}),
              (Told{{0, 90, std::nullopt}, {1, 90, std::nullopt}, {2, 90, std::nullopt}}));
}

TEST_F(LaunchJoinTest, ACallAroundTheKnownOneMovesItsWork) {
    EXPECT_EQ(append({event(GpuEventKind::DriverApi, 105, 7), event(GpuEventKind::Kernel, 500, 7)}),
              (Told{{1, 105, std::nullopt}}));
    EXPECT_EQ(append({event(GpuEventKind::RuntimeApi, 100, 7)}), (Told{{1, 100, 105}}));
    EXPECT_EQ(append({event(GpuEventKind::DriverApi, 102, 7)}), Told()) << "inside it";
}

TEST_F(LaunchJoinTest, CallsWithoutATimeAndOfOtherProcessesTellNothing) {
    GpuEvent timeless = event(GpuEventKind::RuntimeApi, 0, 7);
    timeless.flags = storage::kGpuNoTime;
    EXPECT_EQ(append({timeless, event(GpuEventKind::RuntimeApi, 50, 7, 2),
                      event(GpuEventKind::Kernel, 500, 7), event(GpuEventKind::Kernel, 500, 0)}),
              Told());
    EXPECT_EQ(append({event(GpuEventKind::DriverApi, 80, 7)}), (Told{{2, 80, std::nullopt}}));
}

TEST_F(LaunchJoinTest, AnyOrderInAnyBatchesTellsTheSame) {
    std::mt19937 random(11);
    std::vector<GpuEvent> events;
    std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> expected;  // work -> its call
    for (std::uint32_t i = 1; i <= 3'000; ++i) {
        const std::int64_t at = i * 100;
        events.push_back(event(GpuEventKind::RuntimeApi, at, i));
        if (i % 3 == 0) events.push_back(event(GpuEventKind::DriverApi, at + 2, i));
        for (std::int64_t k = 0; k < 1 + i % 4; ++k) {
            events.push_back(event(GpuEventKind::Kernel, at + 50 + k, i));
            expected[{i, at + 50 + k}] = at;
        }
    }
    for (std::size_t at = 0; at + 500 < events.size(); at += 250)
        std::shuffle(events.begin() + static_cast<std::ptrdiff_t>(at),
                     events.begin() + static_cast<std::ptrdiff_t>(at + 500), random);
    std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> told;
    for (std::size_t at = 0; at < events.size(); at += 130) {
        const auto end = std::min(events.size(), at + 130);
        for (const auto& launched : append({events.begin() + static_cast<std::ptrdiff_t>(at),
                                            events.begin() + static_cast<std::ptrdiff_t>(end)})) {
            const GpuEvent& e = m_activity.event(launched.work);
            const auto known = told.find({e.correlation, e.startNs});
            EXPECT_EQ(known != told.end(), launched.before.has_value());
            if (known != told.end()) {
                EXPECT_EQ(known->second, launched.before);
            }
            told[{e.correlation, e.startNs}] = launched.callNs;
        }
    }
    EXPECT_EQ(told, expected);
}

}  // namespace
}  // namespace tapescope::profiler
