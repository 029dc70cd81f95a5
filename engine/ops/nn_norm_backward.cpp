// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/nn_norm_backward.h"

#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

Tensor normalizationInputGrad(const Tensor& g, const Tensor& x, const Dims& dims, double eps) {
    const Tensor centered = sub(x, mean(x, dims, true));
    const Tensor invstd = rsqrt(add(mean(square(centered), dims, true), eps));
    const Tensor normalized = mul(centered, invstd);
    const Tensor along = mul(normalized, mean(mul(g, normalized), dims, true));
    return mul(invstd, sub(sub(g, mean(g, dims, true)), along));
}
Tensor normalizedOver(const Tensor& x, const Dims& dims, double eps) {
    const Tensor centered = sub(x, mean(x, dims, true));
    return mul(centered, rsqrt(add(mean(square(centered), dims, true), eps)));
}

// With c = x - mean, r = invstd, gw = g * weight and m() the mean over the statistics' dimensions:
//   dx = r (gw - m(gw)) - r^3 c m(gw c)      (dx = r gw where the statistics are not the input's)
//   dweight = sum(g c r), dbias = sum(g)
// and this differentiates <A, dx> + <B, dweight> + <C, dbias>.
void vjpNormBackward(const VjpArgs& v, const NormBackward& norm, std::span<Tensor> grads) {
    const auto seen = [&](const Tensor& t) {
        return norm.view.empty() ? t : reshape(t, norm.view);
    };
    const Tensor g = seen(v.input(0));
    const Tensor r = reshape(v.input(3), norm.statisticsShape);
    const Tensor c = sub(seen(v.input(1)), reshape(v.input(2), norm.statisticsShape));
    const bool weighted = v.inputCount() > 4 && v.input(4).defined();
    const Tensor w = weighted ? reshape(v.input(4), norm.weightShape) : Tensor();
    const auto m = [&](const Tensor& t) { return mean(t, norm.overStatistics, true); };
    const auto total = [&](const Tensor& t) { return sum(t, norm.overStatistics, true); };

    Tensor byG, byC, byR, byW;
    const auto addTo = [](Tensor& sumSoFar, const Tensor& t) {
        sumSoFar = sumSoFar.defined() ? add(sumSoFar, t) : t;
    };
    if (v.grad(0).defined()) {
        const Tensor a = seen(v.grad(0));
        const Tensor gw = weighted ? mul(g, w) : g;
        Tensor byGw = mul(r, a);
        if (norm.fromInput) {
            const Tensor cube = mul(square(r), r);
            const Tensor alongG = m(mul(gw, c));
            const Tensor alongA = m(mul(a, c));
            byGw = sub(sub(byGw, mul(r, m(a))), mul(mul(cube, c), alongA));
            addTo(byC, neg(mul(cube, add(mul(a, alongG), mul(gw, alongA)))));
            addTo(byR, sub(total(mul(a, sub(gw, m(gw)))),
                           mul(mul(square(r), 3), mul(total(mul(a, c)), alongG))));
        } else {
            addTo(byR, total(mul(a, gw)));
        }
        addTo(byG, weighted ? mul(byGw, w) : byGw);
        if (weighted) addTo(byW, mul(byGw, g));
    }
    if (v.grad(1).defined()) {
        const Tensor b = reshape(v.grad(1), norm.weightShape);
        addTo(byG, mul(b, mul(c, r)));
        addTo(byC, mul(b, mul(g, r)));
        addTo(byR, total(mul(b, mul(g, c))));
    }
    if (v.grad(2).defined()) addTo(byG, expand(reshape(v.grad(2), norm.weightShape), g.sizes()));

    if (v.need(0) && byG.defined()) grads[0] = reshape(byG, v.meta(0).sizes);
    if (v.need(1) && byC.defined()) grads[1] = reshape(byC, v.meta(1).sizes);
    if (v.need(2) && byC.defined()) grads[2] = reshape(neg(total(byC)), v.meta(2).sizes);
    if (v.need(3) && byR.defined()) grads[3] = reshape(byR, v.meta(3).sizes);
    if (weighted && v.need(4) && byW.defined()) {
        // An empty list of dimensions would mean all of them.
        const Tensor shared = norm.overWeight.empty() ? byW : sum(byW, norm.overWeight, true);
        grads[4] = reshape(shared, v.meta(4).sizes);
    }
}

}  // namespace tapescope::engine
