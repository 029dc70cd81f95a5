// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Random words, many counters at once; see loops.h for the rules of this folder.
namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

/// Counters computed side by side; as many as keep the loops from being unrolled instead of
/// vectorised.
constexpr std::int64_t kCounters = 64;

/// word[k][i] = word k of Philox4x32-10(seed, counter + i): as Generator::philox, see there.
inline void philoxBlocks(std::uint64_t seed, std::uint64_t counter,
                         std::uint32_t (&word)[4][kCounters]) {
    for (std::int64_t i = 0; i < kCounters; ++i) {
        const std::uint64_t at = counter + static_cast<std::uint64_t>(i);
        word[0][i] = static_cast<std::uint32_t>(at);
        word[1][i] = static_cast<std::uint32_t>(at >> 32);
        word[2][i] = 0;
        word[3][i] = 0;
    }
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < kCounters; ++i) {
            const std::uint64_t a = std::uint64_t{0xD2511F53} * word[0][i];
            const std::uint64_t b = std::uint64_t{0xCD9E8D57} * word[2][i];
            word[0][i] = static_cast<std::uint32_t>(b >> 32) ^ word[1][i] ^ key0;
            word[1][i] = static_cast<std::uint32_t>(b);
            word[2][i] = static_cast<std::uint32_t>(a >> 32) ^ word[3][i] ^ key1;
            word[3][i] = static_cast<std::uint32_t>(a);
        }
        key0 += 0x9E3779B9U;
        key1 += 0xBB67AE85U;
    }
}

}  // namespace
}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
