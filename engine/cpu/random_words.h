// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The uniform numbers of a block.
template <class T>
std::array<double, static_cast<std::size_t>(kPerBlock<T>)> uniforms(
    const std::array<std::uint32_t, 4>& w) {
    if constexpr (kWordsPerElement<T> == 1) {
        // As many bits as T's significand has: none rounds up to 1.
        constexpr int kBits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
        const auto u = [](std::uint32_t word) {
            return static_cast<double>(word >> (32 - kBits)) / static_cast<double>(1 << kBits);
        };
        return {u(w[0]), u(w[1]), u(w[2]), u(w[3])};
    } else {
        const auto u = [](std::uint32_t high, std::uint32_t low) {
            const std::uint64_t both = (static_cast<std::uint64_t>(high) << 32) | low;
            return static_cast<double>(both >> 11) * 0x1p-53;
        };
        return {u(w[0], w[1]), u(w[2], w[3])};
    }
}

/// fill(block's uniforms, out values) for every block of out.
template <class T, class Fill>
void drawBlocks(const Tensor& out, const Fill& fill) {
    T* y = out.data<T>();
    const std::int64_t n = out.numel();
    const Words words(n * kWordsPerElement<T>);
    parallelFor(n, kDrawGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; i += kPerBlock<T>) {
            const auto values = fill(uniforms<T>(words.block(i / kPerBlock<T>)));
            const std::int64_t count = std::min(kPerBlock<T>, end - i);
            for (std::int64_t k = 0; k < count; ++k)
                y[i + k] = static_cast<T>(values[static_cast<std::size_t>(k)]);
        }
    });
}

}  // namespace tapescope::engine::cpu
