// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/steps.h"

#include "engine/cpu/parallel.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/shape.h"

#include <cmath>

namespace tapescope::engine {
namespace {

/// Every tensor is floating, contiguous, and of the parameter's sizes and dtype.
void inferStep(const char* op, std::span<const ArgDef> names, const OpArgs& args,
               OutputMetas& out) {
    const Tensor& param = args[0];
    checkFloating(op, "param", param);
    for (std::size_t i = 0; i < args.inputs.size(); ++i) {
        if (!args.has(static_cast<int>(i))) continue;
        const Tensor& t = *args.inputs[i];
        if (t.sizes() != param.sizes() || t.dtype() != param.dtype()) {
            throw ShapeError(message(op, ": ", names[i].name, " is ", t.meta().toString(),
                                     ", but param is ", param.meta().toString(),
                                     "; they must agree"));
        }
        if (!t.is_contiguous()) {
            throw ShapeError(message(op, ": ", names[i].name,
                                     " is not contiguous; pass contiguous(", names[i].name, ")"));
        }
    }
    out.add(param.sizes(), param.dtype());
}

/// The dispatcher notes the write to input 0 only.
void noteStateWrite(const Tensor& state) {
    const OpCall* call = threadState().op;
    state.storage()->noteWrite(call ? call->op : nullptr, call ? call->site : Site::none());
}

// ---- sgd_step_: param, grad, momentum_buffer?; lr, momentum, dampening, weight_decay, nesterov

constexpr ArgDef kSgdArgs[] = {{"param"}, {"grad"}, {"momentum_buffer", true}};
constexpr AttrDef kSgdAttrs[] = {{"lr", AttrKind::Float},
                                 {"momentum", AttrKind::Float, "0"},
                                 {"dampening", AttrKind::Float, "0"},
                                 {"weight_decay", AttrKind::Float, "0"},
                                 {"nesterov", AttrKind::Bool, "false"}};

void inferSgd(const OpArgs& args, OutputMetas& out) { inferStep("sgd_step_", kSgdArgs, args, out); }

template <class T>
void sgdLoop(const OpArgs& args) {
    const T lr = static_cast<T>(args.attrs.real(0));
    const T momentum = static_cast<T>(args.attrs.real(1));
    const T fresh = static_cast<T>(1 - args.attrs.real(2));
    const T decay = static_cast<T>(args.attrs.real(3));
    const bool nesterov = args.attrs.flag(4);
    T* __restrict param = args[0].data<T>();
    const T* __restrict grad = args[1].data<T>();
    T* __restrict buffer = args.has(2) ? args[2].data<T>() : nullptr;
    cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
        if (!buffer) {
            for (std::int64_t i = begin; i < end; ++i)
                param[i] -= lr * (grad[i] + decay * param[i]);
            return;
        }
        for (std::int64_t i = begin; i < end; ++i) {
            const T g = grad[i] + decay * param[i];
            const T b = momentum * buffer[i] + fresh * g;
            buffer[i] = b;
            param[i] -= lr * (nesterov ? g + momentum * b : b);
        }
    });
}

void sgdKernel(const OpArgs& args, std::span<Tensor>) {
    visitFloating(args[0].dtype(), [&]<class T>() { sgdLoop<T>(args); });
    if (args.has(2)) noteStateWrite(args[2]);
}

Cost sgdCost(const OpArgs& args, std::span<const Tensor>) {
    const auto bytes = static_cast<std::int64_t>(args[0].nbytes());
    const std::int64_t state = args.has(2) ? bytes : 0;
    return {.flops = static_cast<double>(args[0].numel()) * (args.has(2) ? 7 : 4),
            .bytesRead = 2 * bytes + state,
            .bytesWritten = bytes + state};
}

constinit OpDef kSgdStepOp{.name = "sgd_step_",
                           .family = Family::Nn,
                           .args = kSgdArgs,
                           .attrs = kSgdAttrs,
                           .infer = inferSgd,
                           .inplace = true,
                           .cost = sgdCost,
                           .kernels = {sgdKernel}};

// ---- adam_step_: param, grad, exp_avg, exp_avg_sq; lr, beta1, beta2, eps, weight_decay,
// bias_correction1/2, decoupled

constexpr ArgDef kAdamArgs[] = {{"param"}, {"grad"}, {"exp_avg"}, {"exp_avg_sq"}};
constexpr AttrDef kAdamAttrs[] = {{"lr", AttrKind::Float},
                                  {"beta1", AttrKind::Float, "0.9"},
                                  {"beta2", AttrKind::Float, "0.999"},
                                  {"eps", AttrKind::Float, "1e-08"},
                                  {"weight_decay", AttrKind::Float, "0"},
                                  {"bias_correction1", AttrKind::Float, "1"},
                                  {"bias_correction2", AttrKind::Float, "1"},
                                  {"decoupled", AttrKind::Bool, "false"}};

void inferAdam(const OpArgs& args, OutputMetas& out) {
    inferStep("adam_step_", kAdamArgs, args, out);
}

template <class T>
void adamLoop(const OpArgs& args) {
    const Attrs& a = args.attrs;
    const double lr = a.real(0);
    const double weightDecay = a.real(4);
    const bool decoupled = a.flag(7);
    const T beta1 = static_cast<T>(a.real(1));
    const T fresh1 = static_cast<T>(1 - a.real(1));
    const T beta2 = static_cast<T>(a.real(2));
    const T fresh2 = static_cast<T>(1 - a.real(2));
    const T eps = static_cast<T>(a.real(3));
    const T gradDecay = decoupled ? T(0) : static_cast<T>(weightDecay);
    const T shrink = decoupled ? static_cast<T>(1 - lr * weightDecay) : T(1);
    const T stepSize = static_cast<T>(lr / a.real(5));
    const T root2 = static_cast<T>(std::sqrt(a.real(6)));
    T* __restrict param = args[0].data<T>();
    const T* __restrict grad = args[1].data<T>();
    T* __restrict expAvg = args[2].data<T>();
    T* __restrict expAvgSq = args[3].data<T>();
    cpu::parallelFor(args[0].numel(), cpu::kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const T p = param[i] * shrink;
            const T g = grad[i] + gradDecay * p;
            const T m = beta1 * expAvg[i] + fresh1 * g;
            const T v = beta2 * expAvgSq[i] + fresh2 * g * g;
            expAvg[i] = m;
            expAvgSq[i] = v;
            param[i] = p - stepSize * (m / (std::sqrt(v) / root2 + eps));
        }
    });
}

void adamKernel(const OpArgs& args, std::span<Tensor>) {
    visitFloating(args[0].dtype(), [&]<class T>() { adamLoop<T>(args); });
    noteStateWrite(args[2]);
    noteStateWrite(args[3]);
}

Cost adamCost(const OpArgs& args, std::span<const Tensor>) {
    const auto bytes = static_cast<std::int64_t>(args[0].nbytes());
    return {.flops = static_cast<double>(args[0].numel()) * 15,
            .bytesRead = 4 * bytes,
            .bytesWritten = 3 * bytes};
}

constinit OpDef kAdamStepOp{.name = "adam_step_",
                            .family = Family::Nn,
                            .args = kAdamArgs,
                            .attrs = kAdamAttrs,
                            .infer = inferAdam,
                            .inplace = true,
                            .cost = adamCost,
                            .kernels = {adamKernel}};

}  // namespace

std::span<OpDef* const> optimOps() {
    static constexpr OpDef* kRows[] = {&kSgdStepOp, &kAdamStepOp};
    return kRows;
}

Tensor sgd_step_(const Tensor& param, const Tensor& grad, const Tensor& momentum_buffer,
                 const SgdStep& step, Site site) {
    const Tensor dense = contiguous(grad, site);
    return call1(kSgdStepOp, {&param, &dense, &momentum_buffer},
                 Attrs(step.lr, step.momentum, step.dampening, step.weight_decay, step.nesterov),
                 site);
}

Tensor adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                  const Tensor& exp_avg_sq, const AdamStep& step, Site site) {
    const Tensor dense = contiguous(grad, site);
    return call1(kAdamStepOp, {&param, &dense, &exp_avg, &exp_avg_sq},
                 Attrs(step.lr, step.beta1, step.beta2, step.eps, step.weight_decay,
                       step.bias_correction1, step.bias_correction2, step.decoupled),
                 site);
}

}  // namespace tapescope::engine
