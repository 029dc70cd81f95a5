// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/nll.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/index_kernels.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/shape_kernels.h"

#include <algorithm>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// fn(i, class, place of the class in x) for the targets [begin, end) that count.
template <class Fn>
void forEachTarget(const NllArgs& a, const std::int64_t* target, std::int64_t begin,
                   std::int64_t end, const Fn& fn) {
    for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t c = target[i];
        if (c == a.ignoreIndex) continue;
        const std::int64_t n = i / a.plane;
        fn(i, c, (n * a.classes + c) * a.plane + i % a.plane);
    }
}

/// The sum of fn(i, class, place) over the targets, in an order that threads do not change.
template <class Fn>
double sumOverTargets(const NllArgs& a, const Fn& fn) {
    const Tensor target = dense(a.target);
    const auto* classes = target.data<std::int64_t>();
    const std::int64_t count = a.batch * a.plane;
    std::vector<double> partial(static_cast<std::size_t>((count + kGrain - 1) / kGrain));
    parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        double total = 0;
        forEachTarget(a, classes, begin, end, [&](std::int64_t i, std::int64_t c, std::int64_t at) {
            total += fn(i, c, at);
        });
        partial[static_cast<std::size_t>(begin / kGrain)] = total;
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

template <class T>
T weightOf(const T* weights, std::int64_t c) {
    return weights ? weights[c] : T(1);
}

}  // namespace

void nllCheck(std::string_view op, const NllArgs& args) {
    const Tensor target = dense(args.target);
    const auto* classes = target.data<std::int64_t>();
    for (std::int64_t i = 0; i < args.batch * args.plane; ++i)
        if ((classes[i] < 0 || classes[i] >= args.classes) && classes[i] != args.ignoreIndex)
            checkIndexRange(op, Tensor::from<std::int64_t>({classes[i]}, {1}), 1, args.classes);
}

double nllWeight(const NllArgs& args, DType dtype) {
    const Tensor weight = dense(args.weight);
    return visitFloating(dtype, [&]<class T>() {
        const T* weights = dataOrNull<T>(weight);
        return sumOverTargets(args, [&](std::int64_t, std::int64_t c, std::int64_t) {
            return static_cast<double>(weightOf(weights, c));
        });
    });
}

void nllTerms(const NllArgs& args, const Tensor& x, const Tensor& out) {
    fillZero(out);
    const Tensor input = dense(x);
    const Tensor weight = dense(args.weight);
    const Tensor target = dense(args.target);
    visitFloating(x.dtype(), [&]<class T>() {
        const T* values = input.data<T>();
        const T* weights = dataOrNull<T>(weight);
        const auto* classes = target.data<std::int64_t>();
        T* to = out.data<T>();
        parallelFor(args.batch * args.plane, kGrain, [&](std::int64_t begin, std::int64_t end) {
            forEachTarget(args, classes, begin, end,
                          [&](std::int64_t i, std::int64_t c, std::int64_t at) {
                              to[i] = -values[at] * weightOf(weights, c);
                          });
        });
    });
}

void nllSum(const NllArgs& args, const Tensor& x, bool mean, const Tensor& out) {
    const Tensor input = dense(x);
    const Tensor weight = dense(args.weight);
    visitFloating(x.dtype(), [&]<class T>() {
        const T* values = input.data<T>();
        const T* weights = dataOrNull<T>(weight);
        double total = sumOverTargets(args, [&](std::int64_t, std::int64_t c, std::int64_t at) {
            return -static_cast<double>(values[at]) * static_cast<double>(weightOf(weights, c));
        });
        // No target that counts: 0 / 0 is NaN, as in PyTorch.
        if (mean) total /= nllWeight(args, x.dtype());
        *out.data<T>() = static_cast<T>(total);
    });
}

void nllBackward(const NllArgs& args, const Tensor& grad, bool mean, const Tensor& out) {
    fillZero(out);
    const Tensor g = dense(grad);
    const Tensor weight = dense(args.weight);
    const Tensor target = dense(args.target);
    const double scale = mean ? 1 / nllWeight(args, out.dtype()) : 1;
    visitFloating(out.dtype(), [&]<class T>() {
        const T* from = g.data<T>();
        const T* weights = dataOrNull<T>(weight);
        const auto* classes = target.data<std::int64_t>();
        const std::int64_t step = g.dim() == 0 && args.target.dim() > 0 ? 0 : 1;
        const T factor = static_cast<T>(-scale);
        T* to = out.data<T>();
        parallelFor(args.batch * args.plane, kGrain, [&](std::int64_t begin, std::int64_t end) {
            forEachTarget(args, classes, begin, end,
                          [&](std::int64_t i, std::int64_t c, std::int64_t at) {
                              to[at] = factor * weightOf(weights, c) * from[i * step];
                          });
        });
    });
}

}  // namespace tapescope::engine::cpu
