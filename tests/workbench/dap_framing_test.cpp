// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/dap_framing.h"

#include <gtest/gtest.h>

namespace tapescope::app {
namespace {

TEST(DapFraming, JoinsAMessageThatComesByteByByte) {
    DapFraming framing;
    const QByteArray bytes = DapFraming::frame("{\"a\":1}") + DapFraming::frame("{}");
    std::vector<QByteArray> bodies;
    for (const char c : bytes) {
        for (const QByteArray& body : framing.feed(QByteArray(1, c)).bodies) bodies.push_back(body);
    }
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_EQ(bodies[0], "{\"a\":1}");
    EXPECT_EQ(bodies[1], "{}");
}

TEST(DapFraming, HandsTextBetweenMessagesOverAndGoesOn) {
    DapFraming framing;
    const auto out = framing.feed("hello from the model\n" + DapFraming::frame("{}") +
                                  "no newline here" + DapFraming::frame("[]"));
    ASSERT_EQ(out.bodies.size(), 2U);
    EXPECT_EQ(out.bodies[1], "[]");
    EXPECT_EQ(out.stray.toStdString(), "hello from the model\nno newline here");
}

TEST(DapFraming, AcceptsOtherHeaderFieldsAndAnyCase) {
    DapFraming framing;
    const auto out = framing.feed("Content-Type: x\r\ncontent-length:  2\r\n\r\n{}");
    ASSERT_EQ(out.bodies.size(), 1U);
    EXPECT_TRUE(out.stray.isEmpty());
}

TEST(DapFraming, SkipsAHeaderWithoutAUsableLength) {
    DapFraming framing;
    const auto out = framing.feed("Content-Length: many\r\n\r\n" + DapFraming::frame("{}") +
                                  "Content-Length: -4\r\n\r\n" + DapFraming::frame("[1]") +
                                  "Content-Length: 99999999999\r\n\r\n" + DapFraming::frame("[2]"));
    ASSERT_EQ(out.bodies.size(), 3U);
    EXPECT_EQ(out.bodies[2], "[2]");
}

TEST(DapFraming, DoesNotKeepEndlessJunk) {
    DapFraming framing;
    qsizetype stray = 0;
    for (int i = 0; i < 100; ++i) stray += framing.feed(QByteArray(4096, 'x')).stray.size();
    EXPECT_GE(stray, 300'000);
    EXPECT_EQ(framing.feed("\r\n\r\n" + DapFraming::frame("{}")).bodies.size(), 1U);
}

}  // namespace
}  // namespace tapescope::app
