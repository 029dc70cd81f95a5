// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/random_draws.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/dense.h"
#include "engine/cpu/map.h"
#include "engine/cpu/portable_math.h"
#include "engine/cpu/random_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace tapescope::engine::cpu {
namespace {

/// fill(packed) writes the elements in row-major order, whatever out's strides.
template <class Fill>
void drawInto(const Tensor& out, const Fill& fill) {
    if (out.is_contiguous()) return fill(out);
    const Tensor packed = Tensor::empty(out.sizes(), out.dtype(), MemoryRole::Temporary);
    fill(packed);
    copyTensor(out, packed);
}

double uniform53(std::uint32_t high, std::uint32_t low) {
    const std::array words{high, low};
    double u = 0;
    uniforms<double>(words.data(), 1, &u);
    return u;
}
/// -log(1 - u), u in [0, 1).
double exponentialOf(double u) { return -portableLog(1.0 - u); }

/// Where a rate has so many values that counting through them is slow.
constexpr double kManyPoisson = 1e8;

/// The quantile of u: values are taken off u by their probability, from the likeliest outwards, so
/// that neither tail underflows first. O(sqrt(rate)).
double poissonOf(double rate, double u, double v) {
    if (rate == 0) return 0;
    if (rate > kManyPoisson) {
        std::array pair{u, v};
        drawTable().normals(2, pair.data());
        const double z = pair[0];
        return std::max(0.0, std::floor(rate + std::sqrt(rate) * z + 0.5));
    }
    const double mode = std::floor(rate);
    int sign = 0;
    const double peak =
        std::exp(mode * std::log(rate) - rate - __builtin_lgamma_r(mode + 1, &sign));
    double above = mode;
    double pAbove = peak;
    double below = mode;
    double pBelow = peak;
    u -= peak;
    while (u >= 0 && (pAbove > 0 || pBelow > 0)) {
        above += 1;
        pAbove *= rate / above;
        if (u < pAbove) return above;
        u -= pAbove;
        if (below == 0) {
            pBelow = 0;
            continue;
        }
        pBelow *= below / rate;
        below -= 1;
        if (u < pBelow) return below;
        u -= pBelow;
    }
    return mode;
}

/// One row's running sums, in double.
template <class T>
void runningSums(const T* weights, std::int64_t n, double* sums) {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) sums[i] = total += static_cast<double>(weights[i]);
}

}  // namespace

void uniform(const OpArgs& args, std::span<Tensor> outputs) {
    const double from = args.attrs.real(0);
    const double width = args.attrs.real(1) - from;
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        drawInto(outputs[0], [&](const Tensor& out) {
            drawBlocks<T>(out, [=](double* u, std::int64_t n) {
                for (double& value : std::span(u, static_cast<std::size_t>(n))) {
                    // Rounding must not reach the open end.
                    const T drawn = static_cast<T>(from + width * value);
                    const T end = static_cast<T>(from + width);
                    value = drawn < end || width <= 0
                                ? drawn
                                : std::nextafter(end, std::numeric_limits<T>::lowest());
                }
            });
        });
    });
}

void normal(const OpArgs& args, std::span<Tensor> outputs) {
    const double mean = args.attrs.real(0);
    const double deviation = args.attrs.real(1);
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        drawInto(outputs[0], [&](const Tensor& out) {
            drawBlocks<T>(out, [=](double* u, std::int64_t n) {
                drawTable().normals(n, u);
                for (std::int64_t i = 0; i < n; ++i) u[i] = mean + deviation * u[i];
            });
        });
    });
}

void exponential(const OpArgs& args, std::span<Tensor> outputs) {
    const double lambd = args.attrs.real(0);
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        drawInto(outputs[0], [&](const Tensor& out) {
            drawBlocks<T>(out, [=](double* u, std::int64_t n) {
                for (std::int64_t i = 0; i < n; ++i) u[i] = exponentialOf(u[i]) / lambd;
            });
        });
    });
}

void bernoulliOf(const OpArgs& args, std::span<Tensor> outputs) {
    const double p = args.attrs.real(0);
    visitDType(outputs[0].dtype(), [&]<class T>() {
        drawInto(outputs[0], [&](const Tensor& out) {
            T* y = out.data<T>();
            const Words draw(out.numel());
            parallelFor(out.numel(), kDrawGrain, [&](std::int64_t begin, std::int64_t end) {
                WordReader words(draw);
                for (std::int64_t i = begin; i < end; ++i)
                    y[i] = static_cast<T>(static_cast<double>(words[i]) * 0x1p-32 < p);
            });
        });
    });
}

void randint(std::int64_t low, std::int64_t high, const Tensor& target) {
    const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    visitDType(target.dtype(), [&]<class T>() {
        drawInto(target, [&](const Tensor& out) {
            T* y = out.data<T>();
            const Words draw(2 * out.numel());
            parallelFor(out.numel(), kDrawGrain / 2, [&](std::int64_t begin, std::int64_t end) {
                WordReader words(draw);
                for (std::int64_t i = begin; i < end; ++i) {
                    const std::uint64_t upper = words[2 * i];
                    const std::uint64_t lower = words[2 * i + 1];
                    // The upper half of (upper 2^32 + lower) * range, in pieces of 32 bits.
                    const std::uint64_t r1 = range >> 32;
                    const std::uint64_t r0 = range & 0xFFFFFFFFU;
                    const std::uint64_t middle = upper * r0 + ((lower * r0) >> 32);
                    const std::uint64_t carry = lower * r1 + (middle & 0xFFFFFFFFU);
                    const std::uint64_t picked = upper * r1 + (middle >> 32) + (carry >> 32);
                    const auto value =
                        static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + picked);
                    y[i] = static_cast<T>(value);
                }
            });
        });
    });
}

void normalOf(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& out = outputs[0];
    visitFloating(out.dtype(), [&]<class T>() {
        drawBlocks<T>(out, [](double* u, std::int64_t n) { drawTable().normals(n, u); });
        mapElements<T, T, T, T>(
            kGrain / 2, [](T z, T mean, T deviation) { return mean + deviation * z; }, out, out,
            args[0], args[1]);
    });
}

void poisson(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor rates = dense(args[0]);
    const std::int64_t n = rates.numel();
    visitFloating(rates.dtype(), [&]<class T>() {
        const T* rate = rates.data<T>();
        T* y = outputs[0].data<T>();
        const Words words(4 * n);
        parallelFor(n, kDrawGrain / 16, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto w = words.block(i);
                std::array<double, 2> u;
                uniforms<double>(w.data(), 2, u.data());
                y[i] = static_cast<T>(poissonOf(static_cast<double>(rate[i]), u[0], u[1]));
            }
        });
    });
}

void multinomial(const Tensor& weights, std::int64_t samples, bool replacement, const Tensor& out) {
    const Tensor packed = dense(weights);
    const std::int64_t n = packed.size(-1);
    const std::int64_t rows = n == 0 ? 0 : packed.numel() / n;
    auto* y = out.data<std::int64_t>();
    const std::int64_t perRow = replacement ? samples : n;
    const Words draw(2 * rows * perRow);
    const auto numel = static_cast<std::size_t>(packed.numel());
    std::vector<double> allKeys(numel);
    std::vector<std::int64_t> allOrders(replacement ? 0U : numel);
    visitFloating(packed.dtype(), [&]<class T>() {
        const T* all = packed.data<T>();
        parallelFor(rows, 1, [&](std::int64_t begin, std::int64_t end) {
            WordReader words(draw);
            for (std::int64_t row = begin; row < end; ++row) {
                const T* w = all + row * n;
                std::int64_t* const to = y + row * samples;
                double* const keys = allKeys.data() + row * n;
                const auto uniformAt = [&](std::int64_t i) {
                    const std::int64_t at = 2 * (row * perRow + i);
                    const std::uint32_t high = words[at];
                    return uniform53(high, words[at + 1]);
                };
                if (replacement) {
                    runningSums(w, n, keys);
                    for (std::int64_t k = 0; k < samples; ++k) {
                        const double level = uniformAt(k) * keys[n - 1];
                        const auto hit = std::upper_bound(keys, keys + n, level) - keys;
                        // Rounding may put the level on the last sum: then the last that adds.
                        auto at = std::min<std::int64_t>(hit, n - 1);
                        while (at > 0 && w[at] == T(0)) --at;
                        to[k] = at;
                    }
                    continue;
                }
                for (std::int64_t i = 0; i < n; ++i) {
                    const double draws = exponentialOf(uniformAt(i));
                    const auto weight = static_cast<double>(w[i]);
                    keys[i] = weight > 0 ? draws / weight : std::numeric_limits<double>::infinity();
                }
                std::int64_t* const order = allOrders.data() + row * n;
                std::iota(order, order + n, std::int64_t{0});
                std::partial_sort(order, order + samples, order + n,
                                  [=](std::int64_t a, std::int64_t b) {
                                      return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
                                  });
                std::copy(order, order + samples, to);
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
