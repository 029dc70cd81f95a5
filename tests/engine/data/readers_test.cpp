// SPDX-License-Identifier: Apache-2.0
#include "engine/data/csv.h"
#include "engine/data/idx.h"
#include "engine/errors.h"
#include "tests/engine/data/temp_file.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tapescope::engine::data {
namespace {

std::string bytesOf(std::initializer_list<int> values) {
    std::string out;
    for (const int v : values) out += static_cast<char>(v);
    return out;
}

/// The message of the DataError that fn throws; "" if it throws none.
template <class Fn>
std::string dataErrorOf(Fn&& fn) {
    try {
        fn();
    } catch (const DataError& e) {
        return e.what();
    }
    return "";
}

TEST(Csv, ReadsNumbersPlainAndGzipped) {
    const std::string text = "1,2.5,-3\n4e2, 5 ,\"6\"\n";
    for (const std::string& bytes : {text, gzipped(text)}) {
        const TempFile file("table.csv", bytes);
        const CsvTable table = read_csv(file.path());
        EXPECT_EQ(table.values.sizes(), (Dims{2, 3}));
        EXPECT_EQ(table.values.to_vector<float>(), (std::vector<float>{1, 2.5F, -3, 400, 5, 6}));
        EXPECT_TRUE(table.columns.empty());
    }
}

TEST(Csv, TakesHeaderByteOrderMarkCrlfAndEmptyLines) {
    const TempFile file("table.csv",
                        "\xEF\xBB\xBF"
                        "a;\"b c\"\r\n\r\n1;nan\r\n+2;inf");
    const CsvTable table = read_csv(file.path(), {.header = true, .separator = ';'});
    EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b c"}));
    const std::vector<float> v = table.values.to_vector<float>();
    ASSERT_EQ(v.size(), 4U);
    EXPECT_EQ(v[0], 1);
    EXPECT_TRUE(std::isnan(v[1]));
    EXPECT_EQ(v[2], 2);
    EXPECT_TRUE(std::isinf(v[3]));
}

TEST(Csv, ReadsAcrossBufferBoundaries) {
    std::string text;
    for (int i = 0; i < 40000; ++i) text += std::to_string(i) + "," + std::to_string(-i) + "\n";
    const TempFile file("long.csv.gz", gzipped(text));
    const CsvTable table = read_csv(file.path());
    ASSERT_EQ(table.values.sizes(), (Dims{40000, 2}));
    const std::vector<float> v = table.values.to_vector<float>();
    for (std::size_t i = 0; i < 40000; ++i) {
        ASSERT_EQ(v[2 * i], static_cast<float>(i));
        ASSERT_EQ(v[2 * i + 1], -static_cast<float>(i));
    }
}

TEST(Csv, ReadsGzipFilesOfSeveralMembers) {
    const TempFile file("two.csv.gz", gzipped("1,2\n") + gzipped("3,4\n"));
    EXPECT_EQ(read_csv(file.path()).values.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}

struct BadFile {
    const char* what;
    const char* name;
    std::string bytes;
    std::vector<std::string> mentions;  // besides the path
};

TEST(Csv, EveryBadFileIsNamedWithPlaceAndRemedy) {
    const std::string good = gzipped("1,2\n3,4\n5,6\n7,8\n");
    std::string damaged = good;
    damaged[good.size() - 6] = static_cast<char>(damaged[good.size() - 6] ^ 0x55);
    const std::vector<BadFile> table{
        {"word", "a.csv", "1,2\n3,four\n", {"line 2", "column 2", "\"four\"", "number"}},
        {"empty cell", "a.csv", "1,2\n3,\n", {"line 2", "column 2", "empty"}},
        {"header", "a.csv", "x,y\n1,2\n", {"line 1", "column 1", "\"x\"", "header"}},
        {"short line", "a.csv", "1,2,3\n4,5\n", {"line 2", "2 cells", "have 3"}},
        {"long line", "a.csv", "1\n\n2,3\n", {"line 3", "2 cells", "have 1"}},
        {"open quote", "a.csv", "1,\"2\n", {"line 1", "column 2"}},
        {"number with a tail", "a.csv", "1,2abc\n", {"\"2abc\""}},
        {"empty", "a.csv", "", {"no line of numbers"}},
        {"only a header", "a.csv", "\n\n", {"no line of numbers"}},
        {"one endless line", "a.csv", std::string(2 << 20, '1'), {"line 1", "1 MiB"}},
        {"control characters", "a.csv", "1\n\x1b[31m\n", {"line 2", "?[31m"}},
        {"no gzip", "a.csv.gz", "1,2\n", {"not gzip"}},
        {"cut gzip", "a.csv.gz", good.substr(0, good.size() - 5), {"cut off", "bytes"}},
        {"cut gzip header", "a.csv.gz", good.substr(0, 6), {"cut off"}},
        {"damaged gzip", "a.csv.gz", damaged, {"damaged"}},
        {"junk behind gzip", "a.csv.gz", good + "junk", {"behind the end"}},
    };
    for (const BadFile& bad : table) {
        SCOPED_TRACE(bad.what);
        const TempFile file(bad.name, bad.bytes);
        const std::string message = dataErrorOf([&] { read_csv(file.path()); });
        EXPECT_NE(message.find(file.path()), std::string::npos) << message;
        for (const std::string& part : bad.mentions)
            EXPECT_NE(message.find(part), std::string::npos) << message;
        EXPECT_EQ(message.find('\x1b'), std::string::npos);
    }
}

TEST(Csv, NamesMissingFilesAndFolders) {
    const TempFile file("a.csv", "1");
    EXPECT_NE(dataErrorOf([&] { read_csv(file.path() + ".none"); }).find("cannot be opened"),
              std::string::npos);
    EXPECT_NE(dataErrorOf([&] { read_csv(file.dir()); }).find("is a folder"), std::string::npos);
}

TEST(Csv, StopsAtItsLimitOfElements) {
    const TempFile file("a.csv", "1,2\n3,4\n5,6\n");
    EXPECT_NE(dataErrorOf([&] { read_csv(file.path(), {.maxElements = 4}); }).find("line 3"),
              std::string::npos);
    EXPECT_EQ(read_csv(file.path(), {.maxElements = 6}).values.numel(), 6);
}

TEST(Idx, ReadsEveryTypeBigEndian) {
    struct Encoded {
        int type;
        std::string bytes;
        std::vector<double> values;
    };
    const std::vector<Encoded> table{
        {0x08, bytesOf({0, 255}), {0, 255}},
        {0x09, bytesOf({0x7f, 0x80}), {127, -128}},
        {0x0B, bytesOf({0x01, 0x02, 0xff, 0xfe}), {258, -2}},
        {0x0C, bytesOf({0x00, 0x01, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff}), {65536, -1}},
        {0x0D, bytesOf({0x3f, 0xc0, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x00}), {1.5, -2}},
        {0x0E, bytesOf({0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0x00, 0, 0, 0, 0, 0, 0}), {1.5, -2}},
    };
    for (const Encoded& encoded : table) {
        SCOPED_TRACE(encoded.type);
        const TempFile file("a.idx", idxHeader(encoded.type, {2}) + encoded.bytes);
        EXPECT_EQ(read_idx(file.path(), DType::F64).to_vector(), encoded.values);
    }
}

TEST(Idx, ReadsImagesAsFloatsAndLabelsAsIntegers) {
    const TempFile images("images.gz",
                          gzipped(idxHeader(8, {2, 1, 3}) + bytesOf({1, 2, 3, 4, 5, 6})));
    const Tensor x = read_idx(images.path());
    EXPECT_EQ(x.sizes(), (Dims{2, 1, 3}));
    EXPECT_EQ(x.dtype(), DType::F32);
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    const TempFile labels("labels", idxHeader(8, {3}) + bytesOf({7, 0, 9}));
    const Tensor y = read_idx(labels.path(), DType::I64);
    EXPECT_EQ(y.to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 0, 9}));
    EXPECT_THROW(read_idx(labels.path(), DType::Bool), DTypeError);
}

TEST(Idx, EveryBadFileIsNamedWithPlaceAndRemedy) {
    const std::string good = idxHeader(8, {2, 2}) + bytesOf({1, 2, 3, 4});
    const std::vector<BadFile> table{
        {"text", "a", "hello world", {"not an IDX file", "68 65 6c 6c"}},
        {"empty", "a", "", {"not an IDX file"}},
        {"short magic", "a", bytesOf({0, 0}), {"not an IDX file"}},
        {"unknown type",
         "a",
         bytesOf({0, 0, 0x0A, 1, 0, 0, 0, 0}),
         {"unknown IDX type 0a", "byte 2"}},
        {"no dimension", "a", bytesOf({0, 0, 8, 0}), {"0 dimensions", "byte 3"}},
        {"too many dimensions", "a", bytesOf({0, 0, 8, 200}), {"200 dimensions"}},
        {"cut header", "a", good.substr(0, 9), {"header", "byte 9", "12 bytes"}},
        {"cut values", "a", good.substr(0, 15), {"byte 15", "[2, 2]", "16 bytes"}},
        {"more values", "a", good + "x", {"byte 16", "[2, 2]"}},
        {"a promise above the limit",
         "a",
         idxHeader(8, {0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU}),
         {"2^30"}},
        {"a large promise", "a", idxHeader(8, {1U << 30U}) + "x", {"cut off", "byte 9"}},
        {"cut gzip", "a.gz", gzipped(good).substr(0, 20), {"cut off"}},
    };
    for (const BadFile& bad : table) {
        SCOPED_TRACE(bad.what);
        const TempFile file(bad.name, bad.bytes);
        const std::string message = dataErrorOf([&] { read_idx(file.path()); });
        EXPECT_NE(message.find(file.path()), std::string::npos) << message;
        for (const std::string& part : bad.mentions)
            EXPECT_NE(message.find(part), std::string::npos) << message;
    }
}

}  // namespace
}  // namespace tapescope::engine::data
