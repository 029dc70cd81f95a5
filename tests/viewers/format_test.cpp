// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/format.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::viewers::format {
namespace {

std::string plain(const QString& text) {
    return QString(text).replace(QChar(0xa0), u' ').toStdString();
}

TEST(Format, DurationsHaveThreeDigitsAndTheRightUnit) {
    EXPECT_EQ(plain(duration(0)), "0 ns");
    EXPECT_EQ(plain(duration(870)), "870 ns");
    EXPECT_EQ(plain(duration(1234)), "1.23 µs");
    EXPECT_EQ(plain(duration(12'431'207)), "12.4 ms");
    EXPECT_EQ(plain(duration(2.5e9)), "2.50 s");
    EXPECT_EQ(plain(duration(192e9)), "3.20 min");
    EXPECT_EQ(plain(duration(9 * 3600e9)), "9.00 h");
    EXPECT_EQ(plain(duration(-1500)), "−1.50 µs");
}

TEST(Format, RoundingUpTakesTheNextUnit) {
    EXPECT_EQ(plain(duration(999'700)), "1.00 ms");
    EXPECT_EQ(plain(bytes(999'999)), "1.00 MB");
}

TEST(Format, ExactFormsKeepEveryDigit) {
    EXPECT_EQ(plain(exactDuration(12'431'207)), "12 431 207 ns");
    EXPECT_EQ(plain(exactBytes(-1234)), "−1 234 B");
    EXPECT_EQ(exactNumber(0.1).toStdString(), "0.1");
    EXPECT_EQ(exactNumber(1.0 / 3).toDouble(), 1.0 / 3);
}

TEST(Format, NumbersStayShortAtAnySize) {
    EXPECT_EQ(number(0).toStdString(), "0");
    EXPECT_EQ(number(0.031245).toStdString(), "0.0312");
    EXPECT_EQ(number(12).toStdString(), "12");
    EXPECT_EQ(number(-1.5).toStdString(), "−1.50");
    EXPECT_EQ(number(1.234e-7).toStdString(), "1.23e−07");
    EXPECT_EQ(number(NAN).toStdString(), "NaN");
    EXPECT_EQ(number(-INFINITY).toStdString(), "−∞");
}

TEST(Format, BytesCountsAndRates) {
    EXPECT_EQ(plain(bytes(183'023'616)), "183 MB");
    EXPECT_EQ(plain(bytes(512)), "512 B");
    EXPECT_EQ(plain(count(4'500'000)), "4.50 M");
    EXPECT_EQ(plain(flopRate(2e6, 1e6)), "2.00 GFLOP/s");
    EXPECT_EQ(plain(flopRate(2e6, 0)), "–");
    EXPECT_EQ(plain(percent(0.1234)), "12.3 %");
}

TEST(Format, TicksHaveAsManyDigitsAsTheirDistanceNeeds) {
    EXPECT_EQ(plain(durationTick(1'250'000, 50'000)), "1.25 ms");
    EXPECT_EQ(plain(durationTick(3'000'000'000, 1e9)), "3 s");
    EXPECT_EQ(plain(durationTick(0, 200)), "0 ns");
}

}  // namespace
}  // namespace tapescope::viewers::format
