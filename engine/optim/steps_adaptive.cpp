// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/step_rows.h"
#include "engine/optim/steps.h"

#include <cmath>

namespace tapescope::engine {
namespace {

// ---- rmsprop_step_

constexpr ArgDef kRmspropArgs[] = {
    {"param"}, {"grad"}, {"square_avg"}, {"momentum_buffer", true}, {"grad_avg", true}};
constexpr AttrDef kRmspropAttrs[] = {{"lr", AttrKind::Float},
                                     {"alpha", AttrKind::Float, "0.99"},
                                     {"eps", AttrKind::Float, "1e-08"},
                                     {"weight_decay", AttrKind::Float, "0"},
                                     {"momentum", AttrKind::Float, "0"},
                                     {"maximize", AttrKind::Bool, "false"}};

struct RmspropLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T lr = static_cast<T>(a.real(0));
        const T alpha = static_cast<T>(a.real(1));
        const T fresh = static_cast<T>(1 - a.real(1));
        const T eps = static_cast<T>(a.real(2));
        const T decay = static_cast<T>(a.real(3));
        const T momentum = static_cast<T>(a.real(4));
        const T sign = a.flag(5) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict squares = args[2].data<T>();
        T* __restrict buffer = args.has(3) ? args[3].data<T>() : nullptr;
        T* __restrict average = args.has(4) ? args[4].data<T>() : nullptr;
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i] + decay * param[i];
                const T v = alpha * squares[i] + fresh * g * g;
                squares[i] = v;
                T spread = v;
                if (average) {
                    const T m = average[i] + fresh * (g - average[i]);
                    average[i] = m;
                    spread = v - m * m;
                }
                T update = g / (std::sqrt(spread) + eps);
                if (buffer) {
                    update = momentum * buffer[i] + update;
                    buffer[i] = update;
                }
                param[i] -= lr * update;
            }
        });
    }
};

// ---- adagrad_step_

constexpr ArgDef kAdagradArgs[] = {{"param"}, {"grad"}, {"state_sum"}};
constexpr AttrDef kAdagradAttrs[] = {{"lr", AttrKind::Float},
                                     {"weight_decay", AttrKind::Float, "0"},
                                     {"eps", AttrKind::Float, "1e-10"},
                                     {"maximize", AttrKind::Bool, "false"}};

struct AdagradLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const T lr = static_cast<T>(args.attrs.real(0));
        const T decay = static_cast<T>(args.attrs.real(1));
        const T eps = static_cast<T>(args.attrs.real(2));
        const T sign = args.attrs.flag(3) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict sums = args[2].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i] + decay * param[i];
                const T s = sums[i] + g * g;
                sums[i] = s;
                param[i] -= lr * (g / (std::sqrt(s) + eps));
            }
        });
    }
};

// ---- adadelta_step_

constexpr ArgDef kAdadeltaArgs[] = {{"param"}, {"grad"}, {"square_avg"}, {"acc_delta"}};
constexpr AttrDef kAdadeltaAttrs[] = {{"lr", AttrKind::Float, "1"},
                                      {"rho", AttrKind::Float, "0.9"},
                                      {"eps", AttrKind::Float, "1e-06"},
                                      {"weight_decay", AttrKind::Float, "0"},
                                      {"maximize", AttrKind::Bool, "false"}};

struct AdadeltaLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T lr = static_cast<T>(a.real(0));
        const T rho = static_cast<T>(a.real(1));
        const T fresh = static_cast<T>(1 - a.real(1));
        const T eps = static_cast<T>(a.real(2));
        const T decay = static_cast<T>(a.real(3));
        const T sign = a.flag(4) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict squares = args[2].data<T>();
        T* __restrict deltas = args[3].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i] + decay * param[i];
                const T v = rho * squares[i] + fresh * g * g;
                const T delta = std::sqrt(deltas[i] + eps) / std::sqrt(v + eps) * g;
                squares[i] = v;
                deltas[i] = rho * deltas[i] + fresh * delta * delta;
                param[i] -= lr * delta;
            }
        });
    }
};

// ---- adamax_step_

constexpr ArgDef kAdamaxArgs[] = {{"param"}, {"grad"}, {"exp_avg"}, {"exp_inf"}};
constexpr AttrDef kAdamaxAttrs[] = {
    {"step_size", AttrKind::Float},         {"beta1", AttrKind::Float, "0.9"},
    {"beta2", AttrKind::Float, "0.999"},    {"eps", AttrKind::Float, "1e-08"},
    {"weight_decay", AttrKind::Float, "0"}, {"maximize", AttrKind::Bool, "false"}};

struct AdamaxLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T stepSize = static_cast<T>(a.real(0));
        const T beta1 = static_cast<T>(a.real(1));
        const T fresh1 = static_cast<T>(1 - a.real(1));
        const T beta2 = static_cast<T>(a.real(2));
        const T eps = static_cast<T>(a.real(3));
        const T decay = static_cast<T>(a.real(4));
        const T sign = a.flag(5) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict expAvg = args[2].data<T>();
        T* __restrict expInf = args[3].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const T g = sign * grad[i] + decay * param[i];
                const T m = beta1 * expAvg[i] + fresh1 * g;
                const T old = beta2 * expInf[i];
                const T now = std::abs(g) + eps;
                const T u = now < old || old != old ? old : now;  // NaN on either side stays
                expAvg[i] = m;
                expInf[i] = u;
                param[i] -= stepSize * (m / u);
            }
        });
    }
};

// ---- rprop_step_

constexpr ArgDef kRpropArgs[] = {{"param"}, {"grad"}, {"prev"}, {"step_size"}};
constexpr AttrDef kRpropAttrs[] = {{"etaminus", AttrKind::Float, "0.5"},
                                   {"etaplus", AttrKind::Float, "1.2"},
                                   {"step_size_min", AttrKind::Float, "1e-06"},
                                   {"step_size_max", AttrKind::Float, "50"},
                                   {"maximize", AttrKind::Bool, "false"}};

struct RpropLoop {
    template <class T>
    static void run(const OpArgs& args) {
        const Attrs& a = args.attrs;
        const T etaMinus = static_cast<T>(a.real(0));
        const T etaPlus = static_cast<T>(a.real(1));
        const T least = static_cast<T>(a.real(2));
        const T most = static_cast<T>(a.real(3));
        const T sign = a.flag(4) ? T(-1) : T(1);
        T* __restrict param = args[0].data<T>();
        const T* __restrict grad = args[1].data<T>();
        T* __restrict prev = args[2].data<T>();
        T* __restrict sizes = args[3].data<T>();
        cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                T g = sign * grad[i];
                const T turn = g * prev[i];
                T size = sizes[i] * (turn > 0 ? etaPlus : turn < 0 ? etaMinus : T(1));
                size = size < least ? least : size > most ? most : size;
                if (turn < 0) g = 0;
                sizes[i] = size;
                prev[i] = g;
                param[i] -= g > 0 ? size : g < 0 ? -size : g * size;  // g·size: 0, or NaN
            }
        });
    }
};

}  // namespace

constinit OpDef kRmspropStepOp =
    stepRow<kRmspropStepOp, RmspropLoop, 10>("rmsprop_step_", kRmspropArgs, kRmspropAttrs);
constinit OpDef kAdagradStepOp =
    stepRow<kAdagradStepOp, AdagradLoop, 9>("adagrad_step_", kAdagradArgs, kAdagradAttrs);
constinit OpDef kAdadeltaStepOp =
    stepRow<kAdadeltaStepOp, AdadeltaLoop, 18>("adadelta_step_", kAdadeltaArgs, kAdadeltaAttrs);
constinit OpDef kAdamaxStepOp =
    stepRow<kAdamaxStepOp, AdamaxLoop, 12>("adamax_step_", kAdamaxArgs, kAdamaxAttrs);
constinit OpDef kRpropStepOp =
    stepRow<kRpropStepOp, RpropLoop, 7>("rprop_step_", kRpropArgs, kRpropAttrs);

Tensor rmsprop_step_(const Tensor& param, const Tensor& grad, const Tensor& square_avg,
                     const Tensor& momentum_buffer, const Tensor& grad_avg, const RmspropStep& step,
                     Site site) {
    return callStep(
        kRmspropStepOp, param, grad, {&square_avg, &momentum_buffer, &grad_avg},
        Attrs(step.lr, step.alpha, step.eps, step.weight_decay, step.momentum, step.maximize),
        site);
}

Tensor adagrad_step_(const Tensor& param, const Tensor& grad, const Tensor& state_sum,
                     const AdagradStep& step, Site site) {
    return callStep(kAdagradStepOp, param, grad, {&state_sum},
                    Attrs(step.lr, step.weight_decay, step.eps, step.maximize), site);
}

Tensor adadelta_step_(const Tensor& param, const Tensor& grad, const Tensor& square_avg,
                      const Tensor& acc_delta, const AdadeltaStep& step, Site site) {
    return callStep(kAdadeltaStepOp, param, grad, {&square_avg, &acc_delta},
                    Attrs(step.lr, step.rho, step.eps, step.weight_decay, step.maximize), site);
}

Tensor adamax_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                    const Tensor& exp_inf, const AdamaxStep& step, Site site) {
    return callStep(
        kAdamaxStepOp, param, grad, {&exp_avg, &exp_inf},
        Attrs(step.step_size, step.beta1, step.beta2, step.eps, step.weight_decay, step.maximize),
        site);
}

Tensor rprop_step_(const Tensor& param, const Tensor& grad, const Tensor& prev,
                   const Tensor& step_size, const RpropStep& step, Site site) {
    return callStep(
        kRpropStepOp, param, grad, {&prev, &step_size},
        Attrs(step.etaminus, step.etaplus, step.step_size_min, step.step_size_max, step.maximize),
        site);
}

}  // namespace tapescope::engine
