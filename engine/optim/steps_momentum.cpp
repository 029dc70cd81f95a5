// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/step_rows.h"
#include "engine/optim/steps.h"

#include <cmath>

namespace tapescope::engine {
namespace {

// ---- nadam_step_. The bias correction is folded into the rates and eps: d = √(v/bc2) + eps is
// (√v + eps·√bc2) / √bc2, so that the row needs no attribute for it.

constexpr ArgDef kMomentArgs[] = {{"param"}, {"grad"}, {"exp_avg"}, {"exp_avg_sq"}};
constexpr AttrDef kNadamAttrs[] = {
    {"grad_rate", AttrKind::Float},    {"momentum_rate", AttrKind::Float},
    {"beta1", AttrKind::Float, "0.9"}, {"beta2", AttrKind::Float, "0.999"},
    {"eps", AttrKind::Float, "1e-08"}, {"weight_decay", AttrKind::Float, "0"},
    {"shrink", AttrKind::Float, "1"},  {"maximize", AttrKind::Bool, "false"}};

struct NadamLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T gradRate = static_cast<T>(a.real(0));
        const T momentumRate = static_cast<T>(a.real(1));
        const T beta1 = static_cast<T>(a.real(2));
        const T fresh1 = static_cast<T>(1 - a.real(2));
        const T beta2 = static_cast<T>(a.real(3));
        const T fresh2 = static_cast<T>(1 - a.real(3));
        const T eps = static_cast<T>(a.real(4));
        const T decay = static_cast<T>(a.real(5));
        const T shrink = static_cast<T>(a.real(6));
        const T sign = a.flag(7) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict expAvg = args[2].data<T>();
        T* __restrict expAvgSq = args[3].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T p = param[i] * shrink;
                const T g = sign * grad[i] + decay * p;
                const T m = beta1 * expAvg[i] + fresh1 * g;
                const T v = beta2 * expAvgSq[i] + fresh2 * g * g;
                expAvg[i] = m;
                expAvgSq[i] = v;
                param[i] = p - (gradRate * g + momentumRate * m) / (std::sqrt(v) + eps);
            }
        });
    }
};

// ---- radam_step_

constexpr AttrDef kRadamAttrs[] = {
    {"step_size", AttrKind::Float},         {"beta1", AttrKind::Float, "0.9"},
    {"beta2", AttrKind::Float, "0.999"},    {"eps", AttrKind::Float, "1e-08"},
    {"weight_decay", AttrKind::Float, "0"}, {"shrink", AttrKind::Float, "1"},
    {"rectified", AttrKind::Bool, "false"}, {"maximize", AttrKind::Bool, "false"}};

struct RadamLoop {
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
        const bool rectified = a.flag(6);
        const T sign = a.flag(7) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict expAvg = args[2].data<T>();
        T* __restrict expAvgSq = args[3].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T p = param[i] * shrink;
                const T g = sign * grad[i] + decay * p;
                const T m = beta1 * expAvg[i] + fresh1 * g;
                const T v = beta2 * expAvgSq[i] + fresh2 * g * g;
                expAvg[i] = m;
                expAvgSq[i] = v;
                param[i] = p - stepSize * (rectified ? m / (std::sqrt(v) + eps) : m);
            }
        });
    }
};

// ---- lion_step_

constexpr ArgDef kLionArgs[] = {{"param"}, {"grad"}, {"exp_avg"}};
constexpr AttrDef kLionAttrs[] = {{"lr", AttrKind::Float},
                                  {"beta1", AttrKind::Float, "0.9"},
                                  {"beta2", AttrKind::Float, "0.99"},
                                  {"shrink", AttrKind::Float, "1"},
                                  {"maximize", AttrKind::Bool, "false"}};

struct LionLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T lr = static_cast<T>(a.real(0));
        const T beta1 = static_cast<T>(a.real(1));
        const T fresh1 = static_cast<T>(1 - a.real(1));
        const T beta2 = static_cast<T>(a.real(2));
        const T fresh2 = static_cast<T>(1 - a.real(2));
        const T shrink = static_cast<T>(a.real(3));
        const T sign = a.flag(4) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict expAvg = args[2].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i];
                const T c = beta1 * expAvg[i] + fresh1 * g;
                expAvg[i] = beta2 * expAvg[i] + fresh2 * g;
                const T p = param[i] * shrink;
                param[i] = c > 0 ? p - lr : c < 0 ? p + lr : p - c * lr;  // c·lr: 0, or NaN
            }
        });
    }
};

// ---- asgd_step_

constexpr ArgDef kAsgdArgs[] = {{"param"}, {"grad"}, {"ax"}};
constexpr AttrDef kAsgdAttrs[] = {{"eta", AttrKind::Float},
                                  {"lambd", AttrKind::Float, "0.0001"},
                                  {"mu", AttrKind::Float, "1"},
                                  {"weight_decay", AttrKind::Float, "0"},
                                  {"maximize", AttrKind::Bool, "false"}};

struct AsgdLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T eta = static_cast<T>(a.real(0));
        const T keep = static_cast<T>(1 - a.real(1) * a.real(0));
        const T mu = static_cast<T>(a.real(2));
        const bool copies = a.real(2) == 1;
        const T decay = static_cast<T>(a.real(3));
        const T sign = a.flag(4) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict average = args[2].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i] + decay * param[i];
                const T p = param[i] * keep - eta * g;
                param[i] = p;
                average[i] = copies ? p : average[i] + (p - average[i]) * mu;
            }
        });
    }
};

}  // namespace

constinit OpDef kNadamStepOp =
    stepRow<kNadamStepOp, NadamLoop, 16>("nadam_step_", kMomentArgs, kNadamAttrs);
constinit OpDef kRadamStepOp =
    stepRow<kRadamStepOp, RadamLoop, 14>("radam_step_", kMomentArgs, kRadamAttrs);
constinit OpDef kLionStepOp =
    stepRow<kLionStepOp, LionLoop, 9>("lion_step_", kLionArgs, kLionAttrs);
constinit OpDef kAsgdStepOp =
    stepRow<kAsgdStepOp, AsgdLoop, 8>("asgd_step_", kAsgdArgs, kAsgdAttrs);

Tensor nadam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                   const Tensor& exp_avg_sq, const NadamStep& step, Site site) {
    const double root2 = std::sqrt(step.bias_correction2);
    return callStep(
        kNadamStepOp, param, grad, {&exp_avg, &exp_avg_sq},
        Attrs(step.grad_rate * root2, step.momentum_rate * root2, step.beta1, step.beta2,
              step.eps * root2, step.weight_decay, step.shrink, step.maximize),
        site);
}

Tensor radam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                   const Tensor& exp_avg_sq, const RadamStep& step, Site site) {
    return callStep(kRadamStepOp, param, grad, {&exp_avg, &exp_avg_sq},
                    Attrs(step.step_size, step.beta1, step.beta2, step.eps, step.weight_decay,
                          step.shrink, step.rectified, step.maximize),
                    site);
}

Tensor lion_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const LionStep& step, Site site) {
    return callStep(kLionStepOp, param, grad, {&exp_avg},
                    Attrs(step.lr, step.beta1, step.beta2, step.shrink, step.maximize), site);
}

Tensor asgd_step_(const Tensor& param, const Tensor& grad, const Tensor& ax, const AsgdStep& step,
                  Site site) {
    return callStep(kAsgdStepOp, param, grad, {&ax},
                    Attrs(step.eta, step.lambd, step.mu, step.weight_decay, step.maximize), site);
}

}  // namespace tapescope::engine
