// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/step_map.h"

#include <gtest/gtest.h>
#include <random>
#include <unordered_map>

namespace tapescope::profiler {
namespace {

TEST(StepMap, AgreesWithTheStandardMapOverManySteps) {
    StepMap<int> map;
    std::mt19937_64 random(5);
    for (int step = 0; step < 30; ++step) {
        std::unordered_map<std::uint64_t, int> naive;
        for (int i = 0; i < 40 * step; ++i) {
            const std::uint64_t key = random() % 997 * 64;  // as addresses: regular, with repeats
            map.set(key, i);
            naive[key] = i;
        }
        EXPECT_EQ(map.size(), naive.size());
        for (std::uint64_t key = 0; key < 997 * 64; key += 64) {
            const int* found = map.find(key);
            const auto expected = naive.find(key);
            ASSERT_EQ(found != nullptr, expected != naive.end()) << key;
            if (found != nullptr) {
                EXPECT_EQ(*found, expected->second);
            }
        }
        map.clear();
        EXPECT_EQ(map.find(64), nullptr);
    }
}

}  // namespace
}  // namespace tapescope::profiler
