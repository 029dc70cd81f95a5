// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/count_curve.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tapescope::viewers {
namespace {

struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

std::uint32_t open(const std::vector<Span>& spans, std::int64_t t) {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(spans, [t](Span s) { return s.begin <= t && t < s.end; }));
}

void add(CountCurveBuilder& builder, Span s) {
    builder.add(s.begin, 1);
    builder.add(s.end, -1);
}

TEST(CountCurve, CountsWhatHasBegunAndIsNotOver) {
    CountCurveBuilder builder;
    EXPECT_EQ(builder.curve().at(5), 0U);
    EXPECT_EQ(builder.curve().within({0, 10}), (CountCurve::Range{0, 0}));
    for (const Span s : {Span{10, 40}, {20, 30}, {40, 60}, {50, 50}}) add(builder, s);
    builder.settle();
    const CountCurve& curve = builder.curve();
    for (const auto& [t, n] : std::vector<std::pair<std::int64_t, std::uint32_t>>{
             {9, 0}, {10, 1}, {19, 1}, {20, 2}, {29, 2}, {30, 1}, {40, 1}, {59, 1}, {60, 0}})
        EXPECT_EQ(curve.at(t), n) << t;
    EXPECT_EQ(curve.changes(), 4U) << "what ends as another begins changes nothing";
    EXPECT_EQ(curve.peak(), 2U);
    EXPECT_EQ(curve.within({0, 20}), (CountCurve::Range{0, 1}));
    EXPECT_EQ(curve.within({0, 21}), (CountCurve::Range{0, 2}));
    EXPECT_EQ(curve.within({22, 22}), (CountCurve::Range{2, 2})) << "a pixel of less than 1 ns";
    EXPECT_EQ(curve.within({25, 1000}), (CountCurve::Range{0, 2}));
}

TEST(CountCurve, AnyOrderAndAnyBatchesGiveTheSameAsCounting) {
    std::mt19937 random(4);
    std::vector<Span> spans;
    for (std::int64_t i = 0; i < 40'000; ++i) {  // 80 000 changes: five blocks
        const auto begin = i * 10 + static_cast<std::int64_t>(random() % 40);
        spans.push_back({begin, begin + 1 + static_cast<std::int64_t>(random() % 90)});
    }
    std::vector<std::int64_t> times;
    for (const Span s : spans) times.insert(times.end(), {s.begin, s.end});
    std::ranges::sort(times);

    std::vector<Span> mixed = spans;
    std::shuffle(mixed.begin(), mixed.begin() + 3'000, random);  // the rest comes nearly in order
    CountCurveBuilder builder;
    CountCurve early;
    for (std::size_t i = 0; i < mixed.size(); ++i) {
        add(builder, mixed[i]);
        if (i % 900 == 899) builder.settle();
        if (i == 20'000) early = builder.curve();
    }
    const std::size_t earlyChanges = early.changes();
    builder.settle();
    const CountCurve& curve = builder.curve();
    EXPECT_EQ(early.changes(), earlyChanges) << "what was handed out does not change";

    // Counted by a sweep of its own.
    std::vector<std::pair<std::int64_t, std::uint32_t>> steps;
    std::vector<std::int64_t> begins, ends;
    for (const Span s : spans) {
        begins.push_back(s.begin);
        ends.push_back(s.end);
    }
    std::ranges::sort(begins);
    std::ranges::sort(ends);
    const auto counted = [&](std::int64_t t) {
        return static_cast<std::uint32_t>((std::ranges::upper_bound(begins, t) - begins.begin()) -
                                          (std::ranges::upper_bound(ends, t) - ends.begin()));
    };
    ASSERT_EQ(counted(times[777]), open(spans, times[777]));
    for (const std::int64_t t : times) ASSERT_EQ(curve.at(t), counted(t)) << t;
    for (int k = 0; k < 2'000; ++k) {
        const auto begin = static_cast<std::int64_t>(random() % 400'000);
        const auto end = begin + static_cast<std::int64_t>(random() % (k % 2 == 0 ? 300 : 300'000));
        CountCurve::Range expected{counted(begin), counted(begin)};
        for (auto t = std::ranges::upper_bound(times, begin); t != times.end() && *t < end; ++t) {
            expected.low = std::min(expected.low, counted(*t));
            expected.high = std::max(expected.high, counted(*t));
        }
        ASSERT_EQ(curve.within({begin, end}), expected) << begin << " " << end;
    }
}

}  // namespace
}  // namespace tapescope::viewers
