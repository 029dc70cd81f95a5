// SPDX-License-Identifier: Apache-2.0
// Rows longer than the operator table's cases have: loops take streams or blocks, then what is
// left.
#include "engine/engine.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace tapescope::engine {
namespace {

constexpr std::int64_t kLengths[] = {1, 63, 64, 65, 127, 128, 1023, 1024, 1025, 1100, 2048, 2111};

template <class T>
Tensor row(DType dtype, const std::vector<T>& values) {
    Tensor x = Tensor::empty({static_cast<std::int64_t>(values.size())}, dtype);
    std::copy(values.begin(), values.end(), x.data<T>());
    return x;
}

template <class T>
void extremesAtEveryPlace(DType dtype, T low, T high) {
    for (const std::int64_t n : kLengths) {
        for (std::int64_t at = 0; at<n; at += n> 200 ? 37 : 1) {
            std::vector<T> values(static_cast<std::size_t>(n), T(3));
            values[static_cast<std::size_t>(at)] = high;
            EXPECT_EQ(*amax(row(dtype, values)).template data<T>(), high) << at << " of " << n;
            EXPECT_EQ(*amin(row(dtype, values)).template data<T>(), n == 1 ? high : T(3));
            values[static_cast<std::size_t>(at)] = low;
            EXPECT_EQ(*amin(row(dtype, values)).template data<T>(), low) << at << " of " << n;
            EXPECT_EQ(*amax(row(dtype, values)).template data<T>(), n == 1 ? low : T(3));
        }
    }
}

TEST(Extremes, AreFoundAtEveryPlaceOfARow) {
    extremesAtEveryPlace<float>(DType::F32, -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::infinity());
    extremesAtEveryPlace<double>(DType::F64, -1e300, 1e300);
    extremesAtEveryPlace<std::int64_t>(DType::I64, INT64_MIN, INT64_MAX);
}

TEST(Extremes, ANaNAtAnyPlaceIsTheResult) {
    for (const std::int64_t n : kLengths) {
        for (std::int64_t at = 0; at<n; at += n> 200 ? 37 : 1) {
            std::vector<float> values(static_cast<std::size_t>(n), 1.0F);
            values[static_cast<std::size_t>(n - 1 - at)] = std::numeric_limits<float>::infinity();
            values[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
            EXPECT_TRUE(std::isnan(*amax(row(DType::F32, values)).data<float>())) << at;
            EXPECT_TRUE(std::isnan(*amin(row(DType::F32, values)).data<float>())) << at;
        }
    }
}

TEST(Products, TakeEveryElementOnce) {
    for (const std::int64_t n : kLengths) {
        for (std::int64_t at = 0; at<n; at += n> 200 ? 37 : 1) {
            std::vector<double> values(static_cast<std::size_t>(n), -1.0);
            values[static_cast<std::size_t>(at)] = 7.0;
            const double expected = n % 2 == 0 ? -7.0 : 7.0;
            EXPECT_EQ(*prod(row(DType::F64, values), 0).data<double>(), expected) << at;
            std::vector<float> single(values.begin(), values.end());
            EXPECT_EQ(*prod(row(DType::F32, single), 0).data<float>(), expected) << at;
        }
    }
}

TEST(Topk, OfA0dTensorIsItselfWhateverIsAskedFor) {  // as PyTorch 2.15
    for (const std::int64_t k : {0, 1}) {
        const auto [value, place] = topk(Tensor::scalar(3.0), k);
        EXPECT_EQ(value.to_vector(), std::vector<double>{3.0});
        EXPECT_EQ(place.to_vector<std::int64_t>(), std::vector<std::int64_t>{0});
    }
}

TEST(Topk, AFewOfALongLineAreTheFirstOfItsSortedForm) {
    std::vector<float> values;
    for (int i = 0; i < 3000; ++i) values.push_back(static_cast<float>((i * 7919) % 101));  // ties
    values[100] = std::numeric_limits<float>::quiet_NaN();
    values[200] = std::numeric_limits<float>::infinity();
    values[300] = -std::numeric_limits<float>::infinity();
    const Tensor x = row(DType::F32, values);
    for (const bool largest : {true, false}) {
        const auto [sorted, order] = sort(x, 0, largest);
        for (const std::int64_t k : {1, 2, 10, 187, 188, 2999}) {
            const auto [first, places] = topk(x, k, 0, largest);
            ASSERT_EQ(first.numel(), k);
            for (std::int64_t i = 0; i < k; ++i) {
                EXPECT_EQ(places.data<std::int64_t>()[i], order.data<std::int64_t>()[i]) << k;
                const float a = first.data<float>()[i];
                const float b = sorted.data<float>()[i];
                EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << k;
            }
        }
    }
}

}  // namespace
}  // namespace tapescope::engine
