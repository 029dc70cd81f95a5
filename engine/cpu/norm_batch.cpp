// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/norm.h"
#include "engine/cpu/parallel.h"

#include <algorithm>
#include <cmath>

namespace tapescope::engine::cpu {

namespace {

/// input [N, C, ...] as N x C planes of `plane` elements.
struct Layout {
    explicit Layout(const Tensor& input) : batch(input.sizes()[0]), channels(input.sizes()[1]) {
        for (int d = 2; d < input.dim(); ++d) plane *= input.sizes()[d];
    }
    std::int64_t batch;
    std::int64_t channels;
    std::int64_t plane = 1;
    std::int64_t perChannel() const { return batch * plane; }
    std::int64_t offset(std::int64_t n, std::int64_t c) const { return (n * channels + c) * plane; }
};

/// fn(c) for every channel; channels are split over the threads, so that each sum runs in one
/// order.
template <class Fn>
void forEachChannel(const Layout& layout, const Fn& fn) {
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(layout.perChannel(), 1), 1);
    parallelFor(layout.channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) fn(c);
    });
}

template <class T>
T at(const T* values, std::int64_t c, T otherwise) {
    return values ? values[c] : otherwise;
}

/// old + (fresh - old) * momentum, element c of a strided [C] tensor.
template <class T>
void fold(const Tensor& running, std::int64_t c, double fresh, double momentum) {
    T& value = running.data<T>()[c * running.strides()[0]];
    value = static_cast<T>((1 - momentum) * static_cast<double>(value) + momentum * fresh);
}

}  // namespace

void batchNormStatistics(const Tensor& input, const Tensor& runningMean, const Tensor& runningVar,
                         double momentum, double eps, const Tensor& mean, const Tensor& invstd) {
    const Layout layout(input);
    const Tensor x = dense(input);
    const auto count = static_cast<double>(layout.perChannel());
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* data = x.data<T>();
        T* means = mean.data<T>();
        T* invstds = invstd.data<T>();
        forEachChannel(layout, [&](std::int64_t c) {
            double sum = 0;
            for (std::int64_t n = 0; n < layout.batch; ++n)
                sum += loops.sum(layout.plane, data + layout.offset(n, c));
            const double center = sum / count;
            double squares = 0;
            for (std::int64_t n = 0; n < layout.batch; ++n)
                squares += loops.squaredDiff(layout.plane, data + layout.offset(n, c), center);
            means[c] = static_cast<T>(center);
            invstds[c] = static_cast<T>(1 / std::sqrt(squares / count + eps));
            if (runningMean.defined()) fold<T>(runningMean, c, center, momentum);
            if (runningVar.defined()) fold<T>(runningVar, c, squares / (count - 1), momentum);
        });
    });
}

void batchNormFromRunning(const Tensor& runningMean, const Tensor& runningVar, double eps,
                          const Tensor& mean, const Tensor& invstd) {
    copyTensor(mean, runningMean);
    visitFloating(runningVar.dtype(), [&]<class T>() {
        const T* variances = runningVar.data<T>();
        T* invstds = invstd.data<T>();
        for (std::int64_t c = 0; c < invstd.numel(); ++c)
            invstds[c] = static_cast<T>(
                1 / std::sqrt(static_cast<double>(variances[c * runningVar.strides()[0]]) + eps));
    });
}

void batchNormApply(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Tensor& mean, const Tensor& invstd, const Tensor& out) {
    const Layout layout(input);
    const Tensor x = dense(input);
    const Tensor w = dense(weight);
    const Tensor b = dense(bias);
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* data = x.data<T>();
        const T* weights = dataOrNull<T>(w);
        const T* biases = dataOrNull<T>(b);
        const T* means = mean.data<T>();
        const T* invstds = invstd.data<T>();
        T* to = out.data<T>();
        const std::int64_t grain =
            std::max<std::int64_t>(kGrain / std::max<std::int64_t>(layout.plane, 1), 1);
        parallelFor(layout.batch * layout.channels, grain,
                    [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t p = begin; p < end; ++p) {
                            const std::int64_t c = p % layout.channels;
                            const T scale = invstds[c] * at(weights, c, T(1));
                            const T shift = at(biases, c, T(0)) - means[c] * scale;
                            loops.affine(layout.plane, data + p * layout.plane, scale, shift,
                                         to + p * layout.plane);
                        }
                    });
    });
}

void batchNormBackward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                       const Tensor& mean, const Tensor& invstd, bool training,
                       const Tensor& gradInput, const Tensor& gradWeight, const Tensor& gradBias) {
    const Layout layout(input);
    const Tensor g = dense(grad);
    const Tensor x = dense(input);
    const Tensor w = dense(weight);
    const Tensor m = dense(mean);
    const Tensor s = dense(invstd);
    const auto count = static_cast<double>(layout.perChannel());
    visitFloating(x.dtype(), [&]<class T>() {
        const NnLoops<T>& loops = nnLoops<T>();
        const T* grads = g.data<T>();
        const T* data = x.data<T>();
        const T* weights = dataOrNull<T>(w);
        const T* means = m.data<T>();
        const T* invstds = s.data<T>();
        T* to = gradInput.data<T>();
        forEachChannel(layout, [&](std::int64_t c) {
            double sumG = 0;
            double sumGX = 0;  // of g * (x - mean)
            for (std::int64_t n = 0; n < layout.batch; ++n)
                loops.sumsAbout(layout.plane, grads + layout.offset(n, c),
                                data + layout.offset(n, c), means[c], &sumG, &sumGX);
            const auto scale = static_cast<double>(invstds[c]);
            gradWeight.data<T>()[c] = static_cast<T>(sumGX * scale);
            gradBias.data<T>()[c] = static_cast<T>(sumG);
            // dx = w * invstd * (g - mean(g) - (x - mean) * invstd^2 * mean(g * (x - mean))), as a
            // * g + b * x + shift.
            const double a = scale * static_cast<double>(at(weights, c, T(1)));
            const double b = training ? -a * scale * scale * sumGX / count : 0;
            const double shift =
                training ? -a * sumG / count - b * static_cast<double>(means[c]) : 0;
            for (std::int64_t n = 0; n < layout.batch; ++n)
                loops.combine(layout.plane, grads + layout.offset(n, c), data + layout.offset(n, c),
                              static_cast<T>(a), static_cast<T>(b), static_cast<T>(shift),
                              to + layout.offset(n, c));
        });
    });
}

}  // namespace tapescope::engine::cpu
