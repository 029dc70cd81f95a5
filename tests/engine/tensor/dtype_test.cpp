// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/dtype.h"

#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace tapescope::engine {
namespace {

DType named(const std::string& name) {
    for (const DType dtype : kAllDTypes) {
        if (name == dtypeShortName(dtype)) return dtype;
    }
    throw std::runtime_error("there is no dtype " + name);
}

/// fn(words) for every record of a file in tests/data/dtypes.
template <class Fn>
int forEachRecord(const std::string& file, const Fn& fn) {
    std::ifstream in(std::string(TAPESCOPE_TEST_DATA) + "/dtypes/" + file);
    EXPECT_TRUE(in) << file;
    int records = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        fn(words, line);
        ++records;
    }
    return records;
}

TEST(DType, PromotesEveryPairAsPyTorch) {
    const int records =
        forEachRecord("promotion.txt", [](std::istringstream& words, const std::string& line) {
            std::string kind, a, b, result;
            words >> kind >> a >> b >> result;
            if (kind == "types") {
                EXPECT_EQ(dtypeName(promoteTypes(named(a), named(b))), dtypeName(named(result)))
                    << line;
                return;
            }
            // maximum takes every type and gives the common one.
            const Tensor x = ones(kind == "numbers" ? Dims{} : Dims{2}, {.dtype = named(a)});
            Tensor y;
            if (kind == "zerodim") {
                y = ones({}, {.dtype = named(b)});
            } else if (b == "float") {
                y = wrappedNumber(1.0);
            } else if (b == "int") {
                y = wrappedNumber(std::int64_t{1});
            } else {
                return;  // bool numbers do not exist in C++ expressions
            }
            EXPECT_EQ(dtypeName(maximum(x, y).dtype()), dtypeName(named(result))) << line;
            EXPECT_EQ(dtypeName(maximum(y, x).dtype()), dtypeName(named(result))) << line;
        });
    EXPECT_EQ(records, 2 * 100 + 2 * 30);
}

TEST(DType, ConvertsEveryPairAsPyTorch) {
    const int records =
        forEachRecord("conversion.txt", [](std::istringstream& words, const std::string& line) {
            std::string from, into, value, expected;
            words >> from >> into >> value >> expected;
            const auto tensorOf = [](const std::string& text, DType dtype) {
                if (isFloating(dtype))
                    return Tensor::scalar(std::strtod(text.c_str(), nullptr), dtype);
                const std::int64_t number = std::strtoll(text.c_str(), nullptr, 10);
                const Tensor t = Tensor::empty({}, dtype);
                visitEveryDType(dtype, [&]<class T>() { *t.data<T>() = static_cast<T>(number); });
                return t;
            };
            const Tensor x = tensorOf(value, named(from));
            const Tensor want = tensorOf(expected, named(into));
            // Once alone and once inside a long row, which takes the vector loops.
            for (const Dims& sizes : {Dims{}, Dims{67}}) {
                const Tensor y = to(contiguous(expand(x, sizes)), named(into));
                ASSERT_EQ(dtypeName(y.dtype()), into.empty() ? "" : dtypeName(named(into)));
                const Tensor all = contiguous(expand(want, sizes));
                if (expected == "nan") {
                    for (const double v : y.to_vector()) EXPECT_TRUE(std::isnan(v)) << line;
                } else {
                    EXPECT_EQ(std::memcmp(y.data_ptr(), all.data_ptr(), y.nbytes()), 0)
                        << line << ": " << y.to_string();
                }
            }
        });
    EXPECT_GT(records, 1500);
}

/// Every bit pattern of a 16-bit float, as a tensor, to float32 and back.
template <class T>
void roundTripEveryPattern() {
    std::vector<T> patterns;
    for (std::uint32_t bits = 0; bits < 65536; ++bits)
        patterns.push_back(T::fromBits(static_cast<std::uint16_t>(bits)));
    const Tensor x = Tensor::from<T>(patterns, {65536});
    const Tensor wide = to(x, DType::F32);
    const Tensor back = to(wide, kDTypeOf<T>);
    int nans = 0;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const auto scalar = static_cast<float>(patterns[i]);
        const float vector = wide.data<float>()[i];
        const T narrow = back.data<T>()[i];
        if (std::isnan(scalar)) {
            ++nans;
            ASSERT_TRUE(std::isnan(vector) && std::isnan(static_cast<float>(narrow))) << i;
            ASSERT_TRUE(std::isnan(static_cast<float>(static_cast<T>(scalar)))) << i;
            continue;
        }
        ASSERT_EQ(std::bit_cast<std::uint32_t>(scalar), std::bit_cast<std::uint32_t>(vector)) << i;
        ASSERT_EQ(narrow.bits(), i);
        ASSERT_EQ(static_cast<T>(scalar).bits(), i);
    }
    EXPECT_EQ(nans, 2 * ((1 << (finfo(kDTypeOf<T>).digits - 1)) - 1));
}
TEST(Half, EveryPatternSurvivesFloat32) { roundTripEveryPattern<Half>(); }
TEST(BFloat16, EveryPatternSurvivesFloat32) { roundTripEveryPattern<BFloat16>(); }

/// Between each pair of neighbours: just below the middle goes down, just above goes up, the middle
/// to the even one; by the class and by the loops.
template <class T>
void roundsBetweenNeighbours() {
    const int last = kDTypeOf<T> == DType::F16 ? 0x7BFF : 0x7F7F;
    std::vector<float> values;
    std::vector<std::uint16_t> expected;
    for (int bits = 0; bits < last; ++bits) {
        const auto low = static_cast<float>(T::fromBits(static_cast<std::uint16_t>(bits)));
        const auto high = static_cast<float>(T::fromBits(static_cast<std::uint16_t>(bits + 1)));
        const float middle = low + (high - low) / 2;
        const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
        for (const float sign : {1.0F, -1.0F}) {
            const std::uint16_t signBit = sign < 0 ? 0x8000 : 0;
            const auto add = [&](float value, int rounded) {
                values.push_back(sign * value);
                expected.push_back(static_cast<std::uint16_t>(rounded | signBit));
            };
            add(middle, even);
            add(std::nextafter(middle, 0.0F), bits);
            add(std::nextafter(middle, INFINITY), bits + 1);
        }
    }
    const Tensor x = Tensor::from<float>(values, {static_cast<std::int64_t>(values.size())});
    const Tensor y = to(x, kDTypeOf<T>);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(y.data<T>()[i].bits(), expected[i]) << values[i];
        ASSERT_EQ(static_cast<T>(values[i]).bits(), expected[i]) << values[i];
    }
}
TEST(Half, RoundsToTheNearestTiesToEven) { roundsBetweenNeighbours<Half>(); }
TEST(BFloat16, RoundsToTheNearestTiesToEven) { roundsBetweenNeighbours<BFloat16>(); }

TEST(DType, KnowsItsLimitsAsPyTorch) {
    EXPECT_EQ(finfo(DType::F16).eps, 0.0009765625);
    EXPECT_EQ(finfo(DType::F16).max, 65504.0);
    EXPECT_EQ(finfo(DType::F16).tiny, 6.103515625e-05);
    EXPECT_EQ(finfo(DType::BF16).eps, 0.0078125);
    EXPECT_EQ(finfo(DType::BF16).max, 3.3895313892515355e+38);
    EXPECT_EQ(finfo(DType::BF16).tiny, 1.1754943508222875e-38);
    EXPECT_EQ(finfo(DType::F32).eps, 1.1920928955078125e-07);
    EXPECT_EQ(finfo(DType::F64).max, 1.7976931348623157e+308);
    EXPECT_EQ(iinfo(DType::U8).min, 0);
    EXPECT_EQ(iinfo(DType::U8).max, 255);
    EXPECT_EQ(iinfo(DType::I8).min, -128);
    EXPECT_EQ(iinfo(DType::I16).max, 32767);
    EXPECT_EQ(iinfo(DType::I32).min, -2147483648LL);
    EXPECT_EQ(iinfo(DType::I64).max, INT64_MAX);
    EXPECT_THROW(finfo(DType::I32), DTypeError);
    EXPECT_THROW(iinfo(DType::BF16), DTypeError);
    EXPECT_THROW(iinfo(DType::Bool), DTypeError);
}

/// Tapes hold the numbers.
TEST(DType, KeepsItsNumbers) {
    const char* names[] = {"bool", "i64", "f32", "f64", "f16", "bf16",
                           "i32",  "i16", "i8",  "u8",  "c64"};
    for (int i = 0; i < kDTypeCount; ++i)
        EXPECT_EQ(dtypeShortName(static_cast<DType>(i)), names[i]);
}

TEST(DType, EveryTypeIsCreatedPrintedAndRead) {
    for (const DType dtype : kAllDTypes) {
        if (isComplex(dtype)) continue;  // complex_test.cpp
        const Tensor t = to(arange(0, 3), dtype);
        EXPECT_EQ(t.nbytes(), 3 * itemSize(dtype));
        const std::vector<double> expected =
            dtype == DType::Bool ? std::vector<double>{0, 1, 1} : std::vector<double>{0, 1, 2};
        EXPECT_EQ(t.to_vector(), expected);
        const std::string numbers = dtype == DType::Bool ? "[false,  true,  true]"
                                    : isFloating(dtype)  ? "[0., 1., 2.]"
                                                         : "[0, 1, 2]";
        EXPECT_EQ(t.to_string(),
                  "tensor(" + numbers + ", " + std::string(dtypeShortName(dtype)) + "[3])");
        EXPECT_EQ(full({}, 1, {.dtype = dtype}).item(), 1);
        EXPECT_EQ(zeros({2}, {.dtype = dtype}).to_vector(), (std::vector<double>{0, 0}));
        EXPECT_EQ(eye(2, {.dtype = dtype}).to_vector(), (std::vector<double>{1, 0, 0, 1}));
    }
    EXPECT_EQ(Tensor::from<BFloat16>({BFloat16(0.1F)}, {}).item(), 0.10009765625);
    EXPECT_EQ(Tensor::from<Half>({Half(0.1F)}, {}).item(), 0.0999755859375);
    EXPECT_EQ(Tensor::from<std::int8_t>({std::int8_t{-5}}, {}).item(), -5);
    EXPECT_THROW(Tensor::from<Half>({Half(1)}, {}).data<BFloat16>(), DTypeError);
}

TEST(DType, RefusesNumbersThatDoNotFit) {
    const auto i8 = [] { return ones({2}, {.dtype = DType::I8}); };
    EXPECT_THROW(full({2}, 300, {.dtype = DType::I8}), DTypeError);
    EXPECT_THROW(full({2}, NAN, {.dtype = DType::I32}), DTypeError);
    EXPECT_THROW(full({2}, 0x1p63, {.dtype = DType::I64}), DTypeError);
    EXPECT_THROW(full({2}, 1e6, {.dtype = DType::F16}), DTypeError);
    EXPECT_THROW(fill_(i8(), 300), DTypeError);
    EXPECT_THROW(masked_fill(i8(), eq(i8(), wrappedNumber(1.0)), -INFINITY), DTypeError);
    EXPECT_THROW(pad(i8(), {1, 1}, 300), DTypeError);
    // What PyTorch lets wrap or overflow.
    EXPECT_EQ(full({}, -1, {.dtype = DType::U8}).item(), 255);
    EXPECT_EQ(fill_(full({}, 0, {.dtype = DType::F16}), 1e6).item(), INFINITY);
    EXPECT_EQ(full({}, -INFINITY, {.dtype = DType::F16}).item(), -INFINITY);
    EXPECT_EQ(full({}, 1.5, {.dtype = DType::I32}).item(), 1);
    const Tensor u8 = full({}, 250, {.dtype = DType::U8});
    EXPECT_EQ(add(expand(u8, {1}), wrappedNumber(std::int64_t{300})).item(), 38);
}

}  // namespace
}  // namespace tapescope::engine
