// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa/draw_loops.h"
#include "engine/cpu/isa/philox.h"
#include "engine/cpu/isa/portable_math.h"

namespace tapescope::engine::cpu::TAPESCOPE_ISA {
namespace {

using Int = std::int64_t;

void words(std::uint64_t seed, std::uint64_t counter, Int blocks, std::uint32_t* out) {
    std::uint32_t word[4][kCounters];
    for (Int at = 0; at < blocks; at += kCounters) {
        philoxBlocks(seed, counter + static_cast<std::uint64_t>(at), word);
        const Int count = blocks - at < kCounters ? blocks - at : kCounters;
        std::uint32_t* const to = out + 4 * at;
        for (Int i = 0; i < count; ++i) {
            to[4 * i] = word[0][i];
            to[4 * i + 1] = word[1][i];
            to[4 * i + 2] = word[2][i];
            to[4 * i + 3] = word[3][i];
        }
    }
}

void normals(Int n, double* u) {
    constexpr Int kPairs = 64;
    double radius[kPairs];
    double turns[kPairs];
    for (Int at = 0; at < n; at += 2 * kPairs) {
        double* const pair = u + at;
        const Int count = (n - at < 2 * kPairs ? n - at : 2 * kPairs) / 2;
        for (Int i = 0; i < count; ++i) {
            radius[i] = pair[2 * i];
            turns[i] = pair[2 * i + 1];
        }
        // 1 - u is in (0, 1].
        for (Int i = 0; i < count; ++i)
            radius[i] = __builtin_sqrt(-2.0 * portableLogOf(1.0 - radius[i]));
        for (Int i = 0; i < count; ++i) {
            const PortableSinCos both = portableSinCosOfTurns(turns[i]);
            turns[i] = radius[i] * both.sine;
            radius[i] = radius[i] * both.cosine;
        }
        for (Int i = 0; i < count; ++i) {
            pair[2 * i] = radius[i];
            pair[2 * i + 1] = turns[i];
        }
    }
}

}  // namespace

extern constexpr DrawTable kDrawTable{words, normals};

}  // namespace tapescope::engine::cpu::TAPESCOPE_ISA
