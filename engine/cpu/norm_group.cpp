// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/norm_group.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/parallel.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

struct Layout {
    Layout(const Tensor& input, std::int64_t groupCount)
        : groups(groupCount), channels(input.sizes()[1]), perGroup(channels / groupCount) {
        for (int d = 2; d < input.dim(); ++d) plane *= input.sizes()[d];
        rows = input.sizes()[0] * groups;
    }
    std::int64_t groups;
    std::int64_t channels;
    std::int64_t perGroup;  ///< channels
    std::int64_t plane = 1;
    std::int64_t rows = 0;  ///< samples times groups
    std::int64_t length() const { return perGroup * plane; }
    /// The first channel of a row.
    std::int64_t channel(std::int64_t row) const { return row % groups * perGroup; }
};

/// fn(row): every group of every sample.
template <class Fn>
void forEachGroup(const Layout& l, const Fn& fn) {
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(l.length(), 1), 1);
    parallelFor(l.rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) fn(row);
    });
}

}  // namespace

void groupNorm(const Tensor& input, std::int64_t groups, const Tensor& weight, const Tensor& bias,
               double eps, const Tensor& out, const Tensor& mean, const Tensor& invstd) {
    const Layout l(input, groups);
    const Tensor x = dense(input);
    const Tensor w = dense(weight);
    const Tensor b = dense(bias);
    const auto count = static_cast<double>(l.length());
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* weights = dataOrNull<T>(w);
        const T* biases = dataOrNull<T>(b);
        forEachGroup(l, [&](std::int64_t row) {
            const T* from = x.data<T>() + row * l.length();
            T* to = out.data<T>() + row * l.length();
            const double average = loops.sum(l.length(), from) / count;
            const double variance = loops.squaredDiff(l.length(), from, average) / count;
            const double inverse = 1 / std::sqrt(variance + eps);
            mean.data<T>()[row] = static_cast<T>(average);
            invstd.data<T>()[row] = static_cast<T>(inverse);
            for (std::int64_t k = 0; k < l.perGroup; ++k) {
                const std::int64_t c = l.channel(row) + k;
                const double scale = inverse * (weights ? static_cast<double>(weights[c]) : 1);
                const double shift = biases ? static_cast<double>(biases[c]) : 0;
                loops.affine(l.plane, from + k * l.plane, static_cast<T>(scale),
                             static_cast<T>(shift - average * scale), to + k * l.plane);
            }
        });
    });
}

// With r = invstd and L elements a group: dx = r w g - (r A + r^3 B (x - mean)) / L, where A and B
// are the group's sums of w g and w g (x - mean).
void groupNormBackward(const Tensor& grad, const Tensor& input, std::int64_t groups,
                       const Tensor& weight, const Tensor& mean, const Tensor& invstd,
                       const Tensor& gradInput, const Tensor& gradWeight, const Tensor& gradBias) {
    const Layout l(input, groups);
    const Tensor g = dense(grad);
    const Tensor x = dense(input);
    const Tensor w = dense(weight);
    const Tensor means = dense(mean);
    const Tensor inverses = dense(invstd);
    const auto count = static_cast<double>(l.length());
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* weights = dataOrNull<T>(w);
        // Of every sample and channel: sums of g and of g (x - mean) r.
        std::vector<double> sums(static_cast<std::size_t>(l.rows * l.perGroup));
        std::vector<double> products(sums.size());
        forEachGroup(l, [&](std::int64_t row) {
            const std::int64_t offset = row * l.length();
            const T average = means.data<T>()[row];
            const auto r = static_cast<double>(inverses.data<T>()[row]);
            double a = 0;
            double b = 0;
            for (std::int64_t k = 0; k < l.perGroup; ++k) {
                const std::int64_t at = offset + k * l.plane;
                double sumG = 0;
                double sumGX = 0;
                loops.sumsAbout(l.plane, g.data<T>() + at, x.data<T>() + at, average, &sumG,
                                &sumGX);
                const auto channel = static_cast<std::size_t>(row * l.perGroup + k);
                sums[channel] = sumG;
                products[channel] = sumGX * r;
                const double factor =
                    weights ? static_cast<double>(weights[l.channel(row) + k]) : 1;
                a += factor * sumG;
                b += factor * sumGX;
            }
            const double alongX = -r * r * r * b / count;
            const double constant = -r * a / count - alongX * static_cast<double>(average);
            for (std::int64_t k = 0; k < l.perGroup; ++k) {
                const std::int64_t at = offset + k * l.plane;
                const double factor =
                    weights ? static_cast<double>(weights[l.channel(row) + k]) : 1;
                loops.combine(l.plane, g.data<T>() + at, x.data<T>() + at,
                              static_cast<T>(r * factor), static_cast<T>(alongX),
                              static_cast<T>(constant), gradInput.data<T>() + at);
            }
        });
        for (std::int64_t c = 0; c < l.channels; ++c) {
            double dw = 0;
            double db = 0;
            for (std::int64_t n = 0; n < l.rows / l.groups; ++n) {
                dw += products[static_cast<std::size_t>(n * l.channels + c)];
                db += sums[static_cast<std::size_t>(n * l.channels + c)];
            }
            gradWeight.data<T>()[c] = static_cast<T>(dw);
            gradBias.data<T>()[c] = static_cast<T>(db);
        }
    });
}

}  // namespace tapescope::engine::cpu
