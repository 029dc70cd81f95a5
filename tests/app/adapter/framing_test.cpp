// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/framing.h"

#include "app/adapter/base64.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace tapescope::app {
namespace {

/// What a reader makes of bytes given in portions: bodies as they are, faults as "!".
std::vector<std::string> read(std::string_view bytes, std::size_t portion = SIZE_MAX) {
    FrameReader reader;
    std::vector<std::string> out;
    while (true) {
        while (const auto item = reader.next()) out.push_back(item->isFault ? "!" : item->text);
        if (bytes.empty()) return out;
        reader.feed(bytes.substr(0, portion));
        bytes.remove_prefix(std::min(portion, bytes.size()));
    }
}

using Items = std::vector<std::string>;

TEST(FrameReader, CutsMessagesWhateverThePortions) {
    const std::string bytes =
        frameMessage("{}") + frameMessage("") + frameMessage("{\"a\":\"\r\n\r\n\"}");
    for (const std::size_t portion : {std::size_t{1}, std::size_t{2}, std::size_t{7}, SIZE_MAX}) {
        EXPECT_EQ(read(bytes, portion), (Items{"{}", "", "{\"a\":\"\r\n\r\n\"}"})) << portion;
    }
}

TEST(FrameReader, TakesOtherFieldsAnyCaseAndBareLineFeeds) {
    EXPECT_EQ(read("Content-Type: x\r\ncontent-LENGTH:2\r\nX: y\r\n\r\n{}"), Items{"{}"});
    EXPECT_EQ(read("Content-Length:  2 \n\n{}"), Items{"{}"});
}

TEST(FrameReader, SkipsAHeaderWithoutUsableLengthToTheNextOne) {
    const std::string good = frameMessage("ok");
    EXPECT_EQ(read("Content-Type: x\r\n\r\n{\"lost\":1}" + good), (Items{"!", "ok"}));
    EXPECT_EQ(read("Content-Length: five\r\n\r\n{}" + good), (Items{"!", "ok"}));
    EXPECT_EQ(read("Content-Length: -5\r\n\r\n{}" + good), (Items{"!", "ok"}));
    EXPECT_EQ(read("Content-Length\r\n\r\n" + good), (Items{"!", "ok"}));
    EXPECT_EQ(read("Content-Length: 67108865\r\n\r\n{}" + good), (Items{"!", "ok"}));
    EXPECT_EQ(read("Content-Length: 99999999999999999999999\r\n\r\n{}" + good), (Items{"!", "ok"}));
}

TEST(FrameReader, FindsTheNextHeaderBehindAWrongLength) {
    // 3 bytes too few: the rest of the body stands before the next header.
    EXPECT_EQ(read("Content-Length: 4\r\n\r\n{\"a\":1}" + frameMessage("ok")),
              (Items{"{\"a\"", "!", "ok"}));
}

TEST(FrameReader, ReportsJunkOnceAndForgetsIt) {
    std::string junk(1 << 20U, 'x');
    EXPECT_EQ(read(junk + frameMessage("ok")), (Items{"!", "ok"}));
    EXPECT_EQ(read(junk + frameMessage("ok"), 1000), (Items{"!", "ok"}));
    for (std::size_t at = 100; at + 4 < junk.size(); at += 1000) junk.replace(at, 4, "\r\n\r\n");
    EXPECT_EQ(read(junk + frameMessage("ok")), (Items{"!", "ok"}));
    // A second fault after a good message is a new one.
    EXPECT_EQ(read("x\r\n\r\n" + frameMessage("a") + "y\r\n\r\n" + frameMessage("b")),
              (Items{"!", "a", "!", "b"}));
}

TEST(FrameReader, RandomBytesNeverBreakIt) {
    std::mt19937 random(5);
    const std::string pieces[] = {"Content-Length: ", "\r\n\r\n", "\n",      "12", "{}",
                                  "content-length",   ":",        "67108864"};
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        const auto count = random() % 20;
        for (unsigned i = 0; i < count; ++i) {
            if (random() % 2 == 0) {
                bytes += pieces[random() % std::size(pieces)];
            } else {
                bytes += static_cast<char>(random() % 256);
            }
        }
        EXPECT_EQ(read(bytes), read(bytes, 1 + random() % 5)) << round;
    }
}

TEST(Base64, IsRfc4648s) {
    const auto encode = [](std::string_view text) {
        return base64(std::as_bytes(std::span(text.data(), text.size())));
    };
    EXPECT_EQ(encode(""), "");
    EXPECT_EQ(encode("f"), "Zg==");
    EXPECT_EQ(encode("fo"), "Zm8=");
    EXPECT_EQ(encode("foo"), "Zm9v");
    EXPECT_EQ(encode("foob"), "Zm9vYg==");
    EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
    EXPECT_EQ(encode("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace tapescope::app
