// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/random_kernels.h"

#include "engine/cpu/parallel.h"
#include "engine/cpu/portable_math.h"
#include "engine/cpu/strided.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/random.h"

#include <cmath>
#include <numeric>
#include <type_traits>

namespace tapescope::engine::cpu {
namespace {

/// A multiple of the words of a counter and of a Box-Muller pair.
constexpr std::int64_t kDrawGrain = 8192;

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
constexpr std::int64_t kWordsPerElement = std::is_same_v<T, double> ? 2 : 1;
/// Elements one block of four words gives.
template <class T>
constexpr std::int64_t kPerBlock = 4 / kWordsPerElement<T>;

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

}  // namespace

void rand(const OpArgs&, std::span<Tensor> outputs) {
    const auto draw = [&]<class T>() {
        drawBlocks<T>(outputs[0], [](const auto& u) { return u; });
    };
    if (outputs[0].dtype() == DType::F16) return draw.operator()<Half>();
    if (outputs[0].dtype() == DType::BF16) return draw.operator()<BFloat16>();
    visitFloating(outputs[0].dtype(), draw);
}

void randn(const OpArgs&, std::span<Tensor> outputs) {
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        drawBlocks<T>(outputs[0], [](const auto& u) {
            auto z = u;
            for (std::size_t k = 0; k < u.size(); k += 2) {
                const double radius =
                    std::sqrt(-2.0 * portableLog(1.0 - u[k]));  // 1 - u is in (0, 1]
                double sine = 0;
                double cosine = 0;
                portableSinCosTurns(u[k + 1], sine, cosine);
                z[k] = radius * cosine;
                z[k + 1] = radius * sine;
            }
            return z;
        });
    });
}

void randperm(const OpArgs&, std::span<Tensor> outputs) {
    auto* y = outputs[0].data<std::int64_t>();
    const std::int64_t n = outputs[0].numel();
    const Words draw(n);
    WordReader words(draw);
    std::iota(y, y + n, std::int64_t{0});
    for (std::int64_t i = n - 1; i > 0; --i) {
        const auto j =
            (static_cast<std::uint64_t>(words[i]) * static_cast<std::uint64_t>(i + 1)) >> 32;
        std::swap(y[i], y[j]);
    }
}

void bernoulli(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& p = args[0];
    const Tensor& out = outputs[0];
    const auto plan =
        planStrided<2>(out.sizes(), {out.strides(), broadcastStrides(p, out.sizes())});
    visitFloating(out.dtype(), [&]<class T>() {
        const T* probability = p.data<T>();
        T* y = out.data<T>();
        const std::int64_t step = plan.innerStride(1);
        forEachRow(plan, 0, plan.numel, [&](const auto& at, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) {
                const T value = probability[at[1] + i * step];
                if (!(value >= T(0) && value <= T(1)))
                    throw Error("bernoulli: the probability " + std::to_string(value) +
                                " is not between 0 and 1");
            }
        });
        const Words draw(out.numel());
        parallelRows(plan, kDrawGrain, [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
            WordReader words(draw);
            // out is contiguous: its offset counts the elements.
            for (std::int64_t i = 0; i < n; ++i) {
                const double u = static_cast<double>(words[at[0] + i]) * 0x1p-32;
                y[at[0] + i] = u < static_cast<double>(probability[at[1] + i * step]) ? T(1) : T(0);
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
