// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/cumulative_kernels.h"

#include "engine/cpu/lines.h"
#include "engine/ops/checks.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tapescope::engine::cpu {
namespace {

int dimOf(const OpArgs& args) {
    return wrapDim("cumulative", args.attrs.integer(0), args[0].dim());
}

template <bool largest>
void extremes(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    if (x.numel() == 0) return;
    const Lines from(x, dimOf(args));
    const Lines to(outputs[0], dimOf(args));
    const std::int64_t n = from.length();
    visitDType(x.dtype(), [&]<class T>() {
        const T* const source = x.data<T>();
        T* const values = outputs[0].data<T>();
        auto* const indices = outputs[1].data<std::int64_t>();
        from.forEach(2, [&](std::int64_t line) {
            const T* const in = source + from.offset(line);
            const std::int64_t at = to.offset(line);
            T best = in[0];
            std::int64_t index = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const T now = in[i * from.stride()];
                if (isNan(now) || (!isNan(best) && (largest ? now >= best : now <= best))) {
                    best = now;
                    index = i;
                }
                values[at + i * to.stride()] = best;
                indices[at + i * to.stride()] = index;
            }
        });
    });
}

/// log(exp(a) + exp(b))
double logAddExp(double a, double b) {
    const double high = std::max(a, b);
    const double low = std::min(a, b);
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    if (high == low && std::isinf(high)) return high;
    return high + std::log1p(std::exp(low - high));
}
/// exp(a - b) for a <= b, and 1 rather than NaN for two equal infinities.
double expDiff(double a, double b) { return a == b ? 1.0 : std::exp(a - b); }

}  // namespace

void cumprod(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    if (x.numel() == 0) return;
    const Lines from(x, dimOf(args));
    const Lines to(outputs[0], dimOf(args));
    visitDType(outputs[0].dtype(), [&]<class T>() {
        using Acc = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
        visitDType(x.dtype(), [&]<class S>() {
            const S* const source = x.data<S>();
            T* const out = outputs[0].data<T>();
            from.forEach(2, [&](std::int64_t line) {
                const S* const in = source + from.offset(line);
                T* const into = out + to.offset(line);
                Acc product{1};
                for (std::int64_t i = 0; i < from.length(); ++i) {
                    product *= static_cast<Acc>(in[i * from.stride()]);
                    into[i * to.stride()] = static_cast<T>(product);
                }
            });
        });
    });
}

void cummax(const OpArgs& args, std::span<Tensor> outputs) { extremes<true>(args, outputs); }
void cummin(const OpArgs& args, std::span<Tensor> outputs) { extremes<false>(args, outputs); }

void logcumsumexp(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    if (x.numel() == 0) return;
    const Lines from(x, dimOf(args));
    const Lines to(outputs[0], dimOf(args));
    visitFloating(x.dtype(), [&]<class T>() {
        const T* const source = x.data<T>();
        T* const out = outputs[0].data<T>();
        from.forEach(32, [&](std::int64_t line) {
            const T* const in = source + from.offset(line);
            T* const into = out + to.offset(line);
            double total = -std::numeric_limits<double>::infinity();
            for (std::int64_t i = 0; i < from.length(); ++i) {
                total = logAddExp(total, static_cast<double>(in[i * from.stride()]));
                into[i * to.stride()] = static_cast<T>(total);
            }
        });
    });
}

void logcumsumexpGrad(const OpArgs& args, std::span<Tensor> outputs) {
    if (args[0].numel() == 0) return;
    const int dim = dimOf(args);
    const Lines g(args[0], dim);
    const Lines x(args[1], dim);
    const Lines y(args[2], dim);
    const Lines to(outputs[0], dim);
    const std::int64_t n = g.length();
    const bool forward = args.attrs.flag(1);
    visitFloating(args[0].dtype(), [&]<class T>() {
        const T* const gs = args[0].data<T>();
        const T* const xs = args[1].data<T>();
        const T* const ys = args[2].data<T>();
        T* const out = outputs[0].data<T>();
        g.forEach(32, [&](std::int64_t line) {
            const auto at = [line](const T* data, const Lines& lines, std::int64_t i) {
                return static_cast<double>(data[lines.offset(line) + i * lines.stride()]);
            };
            T* const into = out + to.offset(line);
            double total = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t i = forward ? k : n - 1 - k;
                const double yi = at(ys, y, i);
                if (forward) {
                    // t_i = t_{i-1} exp(y_{i-1} - y_i) + g_i exp(x_i - y_i)
                    const double before = i > 0 ? at(ys, y, i - 1) : yi;
                    total = total * expDiff(before, yi) + at(gs, g, i) * expDiff(at(xs, x, i), yi);
                    into[i * to.stride()] = static_cast<T>(total);
                } else {
                    // t_i = g_i + t_{i+1} exp(y_i - y_{i+1}), times exp(x_i - y_i)
                    const double after = i + 1 < n ? at(ys, y, i + 1) : yi;
                    total = at(gs, g, i) + total * expDiff(yi, after);
                    into[i * to.stride()] = static_cast<T>(total * expDiff(at(xs, x, i), yi));
                }
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
