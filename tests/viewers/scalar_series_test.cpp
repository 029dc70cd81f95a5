// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/scalar_series.h"

#include "viewers/models/decimate.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tapescope::viewers {
namespace {

using storage::ScalarPoint;

std::vector<ScalarPoint> noise(std::size_t n, std::uint32_t seed = 7) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<ScalarPoint> points;
    for (std::size_t i = 0; i < n; ++i)
        points.push_back(
            {static_cast<std::int64_t>(i), 100 + 0.5 * static_cast<double>(i), normal(random)});
    return points;
}

TEST(ScalarSeries, AppendingInPiecesEqualsAppendingAtOnce) {
    const auto points = noise(10'000);
    ScalarSeriesPtr series;
    for (std::size_t at = 0; at < points.size();) {
        const std::size_t n = std::min<std::size_t>(1 + at % 777, points.size() - at);
        series = ScalarSeries::append(series.get(), std::span(points).subspan(at, n));
        at += n;
    }
    ASSERT_EQ(series->size(), points.size());
    EXPECT_EQ(series->blocks().size(), 3U);
    for (const std::size_t i : {0UL, 4095UL, 4096UL, 9'999UL}) {
        EXPECT_EQ(series->point(i).step, points[i].step);
        EXPECT_EQ(series->point(i).value, points[i].value);
    }
    const auto extent = series->valueExtent(XAxis::Step, 1000, 7777);
    const auto [low, high] =
        std::minmax_element(points.begin() + 1000, points.begin() + 7778,
                            [](const auto& a, const auto& b) { return a.value < b.value; });
    ASSERT_TRUE(extent.has_value());
    EXPECT_EQ(extent->low, low->value);
    EXPECT_EQ(extent->high, high->value);
}

TEST(ScalarSeries, AppendingSharesFullBlocksAndLeavesTheOldSeriesAlone) {
    const auto points = noise(5'000);
    const auto before = ScalarSeries::append(nullptr, points);
    const auto after = ScalarSeries::append(before.get(), noise(10));
    EXPECT_EQ(before->size(), 5'000U);
    EXPECT_EQ(after->size(), 5'010U);
    EXPECT_EQ(before->blocks()[0].get(), after->blocks()[0].get());
}

TEST(ScalarSeries, FallingStepsStartANewStretch) {
    const std::vector<ScalarPoint> points{{0, 1, 1}, {1, 2, 2}, {0, 3, 3}, {1, 4, 4}};
    const auto series = ScalarSeries::append(nullptr, points);
    ASSERT_EQ(series->blocks().size(), 2U);
    EXPECT_TRUE(series->blocks()[1]->restarts);
    EXPECT_EQ(*series->nearest(XAxis::Step, 1), 3U) << "the newest of equally near points";
    EXPECT_EQ(*series->nearest(XAxis::Relative, 1.1), 1U);
}

TEST(ScalarSeries, NonFiniteValuesAreKeptButNoExtremes) {
    const std::vector<ScalarPoint> points{{0, 0, NAN}, {1, 1, 5}, {2, 2, INFINITY}, {3, 3, -2}};
    const auto series = ScalarSeries::append(nullptr, points);
    EXPECT_EQ(series->nonFiniteCount(), 2U);
    const auto extent = series->valueExtent(XAxis::Step, -INFINITY, INFINITY);
    EXPECT_EQ(extent->low, -2);
    EXPECT_EQ(extent->high, 5);
    EXPECT_FALSE(ScalarSeries::append(nullptr, std::vector<ScalarPoint>{{0, 0, NAN}})
                     ->valueExtent(XAxis::Step, -1, 1)
                     .has_value());
}

TEST(SmoothedSeries, IsTensorBoardsDebiasedAverageAndSkipsNaN) {
    const std::vector<ScalarPoint> points{{0, 0, 1}, {1, 1, NAN}, {2, 2, 3}};
    const auto series = ScalarSeries::append(nullptr, points);
    SmoothedSeries smoothed;
    smoothed.follow(*series, 0.5);
    EXPECT_DOUBLE_EQ(smoothed.at(*series, 0), 1);
    EXPECT_TRUE(std::isnan(smoothed.at(*series, 1)));
    // s = 0.5·(0.5·1) + 0.5·3 = 1.75; 1 − 0.5² = 0.75
    EXPECT_DOUBLE_EQ(smoothed.at(*series, 2), 1.75 / 0.75);
}

TEST(SmoothedSeries, FollowingAGrowingSeriesEqualsStartingOver) {
    const auto points = noise(9'000);
    ScalarSeriesPtr series;
    SmoothedSeries live;
    for (std::size_t at = 0; at < points.size(); at += 500) {
        series = ScalarSeries::append(series.get(), std::span(points).subspan(at, 500));
        live.follow(*series, 0.9);
    }
    SmoothedSeries fresh;
    fresh.follow(*series, 0.9);
    for (const std::size_t i : {0UL, 499UL, 4'500UL, 8'999UL})
        EXPECT_EQ(live.at(*series, i), fresh.at(*series, i));
    const auto other = ScalarSeries::append(nullptr, noise(100, 3));
    live.follow(*other, 0.9);
    fresh.follow(*other, 0.9);
    EXPECT_EQ(live.at(*other, 99), fresh.at(*other, 99)) << "another series starts over";
}

struct Drawn {
    std::vector<double> x, y;
};
Drawn drawn(const ScalarSeries& series, double low, double high, int columns) {
    Drawn out;
    decimate(series, nullptr, XAxis::Step, low, high, columns, [&](double x, double y) {
        out.x.push_back(x);
        out.y.push_back(y);
    });
    return out;
}

TEST(Decimate, KeepsTheExtremesOfEveryColumn) {
    const std::size_t n = 100'000;
    const auto points = noise(n);
    const auto series = ScalarSeries::append(nullptr, points);
    const int columns = 500;
    const Drawn out = drawn(*series, 0, static_cast<double>(n), columns);
    EXPECT_LE(out.x.size(), 4U * columns + 2);
    std::vector<double> low(columns, INFINITY), high(columns, -INFINITY), seenLow = low,
                                                                          seenHigh = high;
    const auto column = [&](double x) {
        return std::min<std::size_t>(
            columns - 1, static_cast<std::size_t>(x * columns / static_cast<double>(n)));
    };
    for (const auto& p : points) {
        const auto c = column(static_cast<double>(p.step));
        low[c] = std::min(low[c], p.value);
        high[c] = std::max(high[c], p.value);
    }
    for (std::size_t i = 0; i < out.x.size(); ++i) {
        const auto c = column(out.x[i]);
        seenLow[c] = std::min(seenLow[c], out.y[i]);
        seenHigh[c] = std::max(seenHigh[c], out.y[i]);
    }
    EXPECT_EQ(seenLow, low);
    EXPECT_EQ(seenHigh, high);
    EXPECT_TRUE(std::is_sorted(out.x.begin(), out.x.end()));
}

TEST(Decimate, FewPointsComeUnchangedWithOneNeighbourOnEachSide) {
    const auto series = ScalarSeries::append(nullptr, noise(5'000));
    const Drawn out = drawn(*series, 4'090, 4'100, 800);
    std::vector<double> expected;
    for (double x = 4'089; x <= 4'101; ++x) expected.push_back(x);
    EXPECT_EQ(out.x, expected);
}

TEST(Decimate, ANonFinitePointAndARestartLeaveGaps) {
    const std::vector<ScalarPoint> points{{0, 0, 1}, {1, 1, NAN}, {2, 2, 2}, {0, 3, 5}, {1, 4, 6}};
    const Drawn out = drawn(*ScalarSeries::append(nullptr, points), -1, 3, 100);
    ASSERT_EQ(out.y.size(), 6U);
    EXPECT_EQ(out.y[0], 1);
    EXPECT_TRUE(std::isnan(out.y[1]));
    EXPECT_EQ(out.y[2], 2);
    EXPECT_TRUE(std::isnan(out.y[3]));
    EXPECT_EQ(out.y[5], 6);
}

}  // namespace
}  // namespace tapescope::viewers
