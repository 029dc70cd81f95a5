// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"
#include "viewers/curves/scalar_chart.h"

#include <qcustomplot.h>

#include <cmath>
#include <ctime>
#include <gtest/gtest.h>
#include <random>

namespace tapescope::viewers {
namespace {

/// CPU time of this thread: a busy machine does not distort it.
std::int64_t cpuNs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Prints, does not judge: times depend on the machine.
TEST(CurvesScale, FiftyRunsOfAHundredThousandPointsPrintTheirReplotTime) {
    std::vector<ChartSeries> series;
    for (int r = 0; r < 50; ++r) {
        std::mt19937 random(static_cast<std::uint32_t>(r));
        std::normal_distribution<double> noise(0, 0.12);
        std::vector<storage::ScalarPoint> points;
        for (int i = 0; i < 100'000; ++i)
            points.push_back(
                {i, 0.01 * i,
                 0.6 + 0.02 * r + 6 * std::exp(-i / (9000.0 + 600 * r)) + noise(random)});
        ChartSeries s;
        s.runId = QString::number(r);
        s.runName = s.label = QStringLiteral("run %1").arg(r);
        s.tag = QStringLiteral("train/loss");
        s.data = ScalarSeries::append(nullptr, points);
        s.color = Theme::current().series(r);
        series.push_back(std::move(s));
    }
    ScalarChart chart(QStringLiteral("loss"));
    chart.resize(1900, 1000);
    chart.show();
    chart.setSmoothing(0.99);
    std::int64_t begin = cpuNs();
    chart.setSeries(std::move(series));
    std::printf("average and pyramid of 5 M points %.1f ms\n",
                static_cast<double>(cpuNs() - begin) / 1e6);
    for (const int visible : {50, 5}) {
        for (int i = 0; i < 50; ++i) chart.setSeriesVisible(i, i % (50 / visible) == 0);
        for (const double share : {1.0, 0.1, 0.01}) {
            chart.setXRange(40'000 * (share < 1), 40'000 * (share < 1) + 100'000 * share);
            std::int64_t best = INT64_MAX;
            for (int repeat = 0; repeat < 5; ++repeat) {
                begin = cpuNs();
                chart.replotNow();
                best = std::min(best, cpuNs() - begin);
            }
            std::printf("%2d runs, %g of the steps: %.1f ms\n", visible, share,
                        static_cast<double>(best) / 1e6);
        }
    }
    EXPECT_EQ(chart.series().size(), 50U);
}

}  // namespace
}  // namespace tapescope::viewers
