// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/draw_isa.h"
#include "engine/cpu/parallel.h"
#include "engine/observe/context.h"
#include "engine/random.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

// How kernels take words from the Context's Generator.
namespace tapescope::engine::cpu {

/// A multiple of the words of a counter and of a Box-Muller pair.
inline constexpr std::int64_t kDrawGrain = 8192;

/// The words of one draw, in order.
class Words {
public:
    explicit Words(std::int64_t count)
        : m_seed(Context::current().generator().seed()),
          m_first(Context::current().generator().reserve(count)) {}
    std::array<std::uint32_t, 4> block(std::int64_t i) const {
        return Generator::philox(m_seed, m_first + static_cast<std::uint64_t>(i));
    }
    /// Blocks i to i + count, one after the other.
    void blocks(std::int64_t i, std::int64_t count, std::uint32_t* words) const {
        drawTable().words(m_seed, m_first + static_cast<std::uint64_t>(i), count, words);
    }

private:
    std::uint64_t m_seed;
    std::uint64_t m_first;
};

/// Reads single words, computing each block once while they come in order.
class WordReader {
public:
    explicit WordReader(const Words& words) : m_words(words) {}
    std::uint32_t operator[](std::int64_t i) {
        if (i / 4 != m_index) {
            m_index = i / 4;
            m_block = m_words.block(m_index);
        }
        return m_block[static_cast<std::size_t>(i % 4)];
    }

private:
    const Words& m_words;
    std::int64_t m_index = -1;
    std::array<std::uint32_t, 4> m_block{};
};

template <class T>
inline constexpr std::int64_t kWordsPerElement = std::is_same_v<T, double> ? 2 : 1;
/// Elements one block of four words gives.
template <class T>
inline constexpr std::int64_t kPerBlock = 4 / kWordsPerElement<T>;

/// One uniform number from each word, or from each two of them.
template <class T>
void uniforms(const std::uint32_t* words, std::int64_t n, double* u) {
    if constexpr (kWordsPerElement<T> == 1) {
        // As many bits as T's significand has: none rounds up to 1.
        constexpr int kBits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
        for (std::int64_t i = 0; i < n; ++i)
            u[i] = static_cast<double>(static_cast<std::int32_t>(words[i] >> (32 - kBits))) /
                   static_cast<double>(1 << kBits);
    } else {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::uint64_t both =
                (static_cast<std::uint64_t>(words[2 * i]) << 32) | words[2 * i + 1];
            u[i] = static_cast<double>(both >> 11) * 0x1p-53;
        }
    }
}

/// out = what change(u, n) makes of uniform numbers, in place, where they lie in order and whole
/// blocks at a time.
template <class T, class Change>
void drawBlocks(const Tensor& out, const Change& change) {
    constexpr std::int64_t kWords = 1024;
    constexpr std::int64_t kRun = kWords / kWordsPerElement<T>;
    T* y = out.data<T>();
    const std::int64_t n = out.numel();
    const Words draw(n * kWordsPerElement<T>);
    parallelFor(n, kDrawGrain, [&](std::int64_t begin, std::int64_t end) {
        std::array<std::uint32_t, kWords> words;
        std::array<double, kRun> u;
        for (std::int64_t i = begin; i < end; i += kRun) {
            const std::int64_t count = std::min(kRun, end - i);
            const std::int64_t blocks = (count + kPerBlock<T> - 1) / kPerBlock<T>;
            draw.blocks(i / kPerBlock<T>, blocks, words.data());
            uniforms<T>(words.data(), blocks * kPerBlock<T>, u.data());
            change(u.data(), blocks * kPerBlock<T>);
            for (std::int64_t k = 0; k < count; ++k)
                y[i + k] = static_cast<T>(u[static_cast<std::size_t>(k)]);
        }
    });
}

}  // namespace tapescope::engine::cpu
