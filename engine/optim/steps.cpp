// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/steps.h"

#include "engine/ops/families.h"
#include "engine/optim/step_rows.h"

#include <cmath>

namespace tapescope::engine {
namespace {

// ---- sgd_step_: param, grad, momentum_buffer?; lr, momentum, dampening, weight_decay, nesterov,
// maximize

constexpr ArgDef kSgdArgs[] = {{"param"}, {"grad"}, {"momentum_buffer", true}};
constexpr AttrDef kSgdAttrs[] = {
    {"lr", AttrKind::Float},
    {"momentum", AttrKind::Float, "0"},
    {"dampening", AttrKind::Float, "0"},
    {"weight_decay", AttrKind::Float, "0"},
    {"nesterov", AttrKind::Bool, "false"},
    {"maximize", AttrKind::Bool, "false"},
};

struct SgdLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const T lr = static_cast<T>(args.attrs.real(0));
        const T momentum = static_cast<T>(args.attrs.real(1));
        const T fresh = static_cast<T>(1 - args.attrs.real(2));
        const T decay = static_cast<T>(args.attrs.real(3));
        const bool nesterov = args.attrs.flag(4);
        const T sign = args.attrs.flag(5) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict buffer = args.has(2) ? args[2].data<T>() : nullptr;
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            if (!buffer) {
                for (std::int64_t i = begin; i < end; ++i)
                    param[i] -= lr * (sign * grad[i] + decay * param[i]);
                return;
            }
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i] + decay * param[i];
                const T b = momentum * buffer[i] + fresh * g;
                buffer[i] = b;
                param[i] -= lr * (nesterov ? g + momentum * b : b);
            }
        });
    }
};

Cost sgdCost(const OpArgs& args, std::span<const Tensor>) {
    return optimStepCost(args, args.has(2) ? 7 : 4);
}

extern OpDef kSgdStepOp;
constinit OpDef kSgdStepOp{.name = "sgd_step_",
                           .family = Family::Nn,
                           .args = kSgdArgs,
                           .attrs = kSgdAttrs,
                           .infer = inferStep<kSgdStepOp>,
                           .inplace = true,
                           .cost = sgdCost,
                           .kernels = {stepKernel<SgdLoop>}};

// ---- adam_step_: param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq?; step_size (lr /
// bias_correction1), beta1, beta2, eps, weight_decay, shrink, bias_correction2, maximize

constexpr ArgDef kAdamArgs[] = {
    {"param"}, {"grad"}, {"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", true}};
constexpr AttrDef kAdamAttrs[] = {{"step_size", AttrKind::Float},
                                  {"beta1", AttrKind::Float, "0.9"},
                                  {"beta2", AttrKind::Float, "0.999"},
                                  {"eps", AttrKind::Float, "1e-08"},
                                  {"weight_decay", AttrKind::Float, "0"},
                                  {"shrink", AttrKind::Float, "1"},
                                  {"bias_correction2", AttrKind::Float, "1"},
                                  {"maximize", AttrKind::Bool, "false"}};

struct AdamLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T stepSize = static_cast<T>(a.real(0));
        const T beta1 = static_cast<T>(a.real(1));
        const T fresh1 = static_cast<T>(1 - a.real(1));
        const T beta2 = static_cast<T>(a.real(2));
        const T fresh2 = static_cast<T>(1 - a.real(2));
        const T eps = static_cast<T>(a.real(3));
        const T decay = static_cast<T>(a.real(4));
        const T shrink = static_cast<T>(a.real(5));
        const T root2 = static_cast<T>(std::sqrt(a.real(6)));
        const T sign = a.flag(7) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict expAvg = args[2].data<T>();
        T* __restrict expAvgSq = args[3].data<T>();
        T* __restrict largest = args.has(4) ? args[4].data<T>() : nullptr;
        const auto update = [=](std::int64_t i, T p, T m, T v) {
            param[i] = p - stepSize * (m / (std::sqrt(v) / root2 + eps));
        };
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; !largest && i < end; ++i) {
                const T p = param[i] * shrink;
                const T g = sign * grad[i] + decay * p;
                const T m = beta1 * expAvg[i] + fresh1 * g;
                const T v = beta2 * expAvgSq[i] + fresh2 * g * g;
                expAvg[i] = m;
                expAvgSq[i] = v;
                update(i, p, m, v);
            }
            for (std::int64_t i = begin; largest && i < end; ++i) {
                const T p = param[i] * shrink;
                const T g = sign * grad[i] + decay * p;
                const T m = beta1 * expAvg[i] + fresh1 * g;
                const T v = beta2 * expAvgSq[i] + fresh2 * g * g;
                const T most = v < largest[i] ? largest[i] : v;  // a NaN in v stays
                expAvg[i] = m;
                expAvgSq[i] = v;
                largest[i] = most;
                update(i, p, m, most);
            }
        });
    }
};

extern OpDef kAdamStepOp;
constinit OpDef kAdamStepOp =
    stepRow<kAdamStepOp, AdamLoop, 15>("adam_step_", kAdamArgs, kAdamAttrs);

}  // namespace

std::span<OpDef* const> optimOps() {
    static constexpr OpDef* kRows[] = {
        &kSgdStepOp,      &kAdamStepOp,   &kRmspropStepOp, &kAdagradStepOp,
        &kAdadeltaStepOp, &kAdamaxStepOp, &kRpropStepOp,   &kNadamStepOp,
        &kRadamStepOp,    &kLionStepOp,   &kAsgdStepOp,
    };
    return kRows;
}

Tensor sgd_step_(const Tensor& param, const Tensor& grad, const Tensor& momentum_buffer,
                 const SgdStep& step, Site site) {
    return callStep(kSgdStepOp, param, grad, {&momentum_buffer},
                    Attrs(step.lr, step.momentum, step.dampening, step.weight_decay, step.nesterov,
                          step.maximize),
                    site);
}

Tensor adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_avg_sq, const Tensor& max_exp_avg_sq, const AdamStep& step,
                  Site site) {
    const double decay = step.decoupled ? 0 : step.weight_decay;
    const double shrink = step.decoupled ? 1 - step.lr * step.weight_decay : 1;
    return callStep(kAdamStepOp, param, grad, {&exp_avg, &exp_avg_sq, &max_exp_avg_sq},
                    Attrs(step.lr / step.bias_correction1, step.beta1, step.beta2, step.eps, decay,
                          shrink, step.bias_correction2, step.maximize),
                    site);
}

Tensor adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_avg_sq, const AdamStep& step, Site site) {
    return adam_step_(param, grad, exp_avg, exp_avg_sq, Tensor(), step, site);
}

}  // namespace tapescope::engine
