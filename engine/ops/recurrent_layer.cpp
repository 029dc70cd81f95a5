// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/recurrent.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composed_vjp.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/recurrent.h"
#include "engine/ops/reduce.h"
#include "engine/ops/sequence_rows.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <functional>

namespace tapescope::engine {

namespace {

const Tensor& optional(const OpArgs& a, int i) { return a.has(i) ? a[i] : undefinedTensor(); }

/// gates [T, B, count * H] against a state [B, H]; returns [T, B, H].
Dims checkLayer(std::string_view op, const Tensor& gates, const Tensor& state, const Tensor& weight,
                std::int64_t count) {
    checkRank(op, "gates", gates, 3, "[T, B, gates]");
    checkRank(op, "state", state, 2, "[B, H]");
    checkRank(op, "weight_hh", weight, 2, "[gates, H]");
    checkFloating(op, "gates", gates);
    checkSameDType(op, "gates", gates, "state", state);
    checkSameDType(op, "gates", gates, "weight_hh", weight);
    const std::int64_t hidden = state.size(1);
    if (gates.size(1) != state.size(0) || gates.size(2) != checkedMul(op, count, hidden) ||
        weight.sizes() != Dims{count * hidden, hidden})
        throw ShapeError(message(op, ": gates ", gates.sizes(), ", state ", state.sizes(),
                                 " and weight_hh ", weight.sizes(),
                                 " do not fit: they must be [T, B, ", count, " * H], [B, H] and [",
                                 count, " * H, H]"));
    return {gates.size(0), gates.size(1), hidden};
}
void checkLike(std::string_view op, std::string_view what, const OpArgs& a, int i,
               const Dims& sizes) {
    if (!a.has(i)) return;
    if (a[i].sizes() != sizes)
        throw ShapeError(message(op, ": ", what, " ", a[i].sizes(), " must be ", sizes));
}

/// The states before each step [T * B, H].
Tensor statesBefore(const Tensor& first, const Tensor& output, bool reverse) {
    const std::int64_t times = output.size(0);
    const Tensor one = unsqueeze(first, 0);
    const Tensor rest = narrow(output, 0, reverse ? 1 : 0, times - 1);
    const Tensor parts[] = {reverse ? rest : one, reverse ? one : rest};
    return reshape(cat(parts, 0), {times * output.size(1), output.size(2)});
}
Tensor flatRows(const Tensor& x) { return reshape(x, {x.size(0) * x.size(1), x.size(2)}); }
/// dW = dgates^T h, over all times at once.
Tensor weightGradient(const Tensor& dgates, const Tensor& states) {
    return mm(transpose(flatRows(dgates), 0, 1), states);
}

/// step(t) for every time in order, returning what to stack at t.
Tensor overTimes(std::int64_t times, bool reverse,
                 const std::function<Tensor(std::int64_t)>& step) {
    std::vector<Tensor> all(static_cast<std::size_t>(times));
    for (std::int64_t i = 0; i < times; ++i) {
        const std::int64_t t = reverse ? times - 1 - i : i;
        all[static_cast<std::size_t>(t)] = step(t);
    }
    return stack(all);
}

// --- rnn_layer: gates, h0, weight_hh; relu, reverse
// ------------------------------------------------

void inferRnn(const OpArgs& a, OutputMetas& out) {
    out.add(checkLayer("rnn_layer", a[0], a[1], a[2], 1), a[0].dtype());
}
void rnnKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::rnnLayerInto(a[0], a[1], a[2], a.attrs.flag(0), a.attrs.flag(1), out[0]);
}
void vjpRnn(const VjpArgs& v, std::span<Tensor> grads) {
    const bool relu = v.attrs.flag(0);
    const bool reverse = v.attrs.flag(1);
    if (v.meta(0).sizes[0] == 0) return;
    if (grad_enabled())
        return vjpByComposition(v, grads, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
            Tensor h = in[1];
            const Tensor wt = transpose(in[2], 0, 1);
            return {overTimes(in[0].size(0), reverse, [&](std::int64_t t) {
                const Tensor sum = add(select(in[0], 0, t), mm(h, wt));
                h = relu ? engine::relu(sum) : tanh(sum);
                return h;
            })};
        });
    Outputs all = call(kRnnLayerBackward, {&v.grad(), &v.output(0), &v.input(2)},
                       Attrs(relu, reverse), Site());
    grads[0] = all[0];
    grads[1] = all[1];
    if (v.need(2))
        grads[2] = weightGradient(all[0], statesBefore(v.input(1), v.output(0), reverse));
}
void inferRnnBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "rnn_layer_backward";
    checkRank(kOp, "grad", a[0], 3, "[T, B, H]");
    checkFloating(kOp, "grad", a[0]);
    checkLike(kOp, "output", a, 1, a[0].sizes());
    checkLike(kOp, "weight_hh", a, 2, {a[0].size(2), a[0].size(2)});
    for (const int i : {1, 2}) checkSameDType(kOp, "grad", a[0], "other", a[i]);
    out.add(a[0].sizes(), a[0].dtype());
    out.add({a[0].size(1), a[0].size(2)}, a[0].dtype());
}
void rnnBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::rnnLayerBackwardInto(a[0], a[1], a[2], a.attrs.flag(0), a.attrs.flag(1), out[0], out[1]);
}

// --- lstm_layer: gates, h0, c0, weight_hh; reverse
// -------------------------------------------------

void inferLstm(const OpArgs& a, OutputMetas& out) {
    const Dims sizes = checkLayer("lstm_layer", a[0], a[1], a[3], 4);
    checkLike("lstm_layer", "c0", a, 2, a[1].sizes());
    checkSameDType("lstm_layer", "gates", a[0], "c0", a[2]);
    out.add(sizes, a[0].dtype());
    out.add(sizes, a[0].dtype());
    out.add(a[0].sizes(), a[0].dtype());
}
void lstmKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::lstmLayerInto(a[0], a[1], a[2], a[3], a.attrs.flag(0), out[0], out[1], out[2]);
}
void vjpLstm(const VjpArgs& v, std::span<Tensor> grads) {
    const bool reverse = v.attrs.flag(0);
    if (v.meta(0).sizes[0] == 0) return;
    if (!v.grad(0).defined() && !v.grad(1).defined()) return;
    if (grad_enabled())
        return vjpByComposition(v, grads, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
            Tensor h = in[1];
            Tensor c = in[2];
            const Tensor wt = transpose(in[3], 0, 1);
            std::vector<Tensor> cells(static_cast<std::size_t>(in[0].size(0)));
            const Tensor output = overTimes(in[0].size(0), reverse, [&](std::int64_t t) {
                const auto gate = chunk(add(select(in[0], 0, t), mm(h, wt)), 4, -1);
                c = add(mul(sigmoid(gate[1]), c), mul(sigmoid(gate[0]), tanh(gate[2])));
                h = mul(sigmoid(gate[3]), tanh(c));
                cells[static_cast<std::size_t>(t)] = c;
                return h;
            });
            return {output, stack(cells)};
        });
    Outputs all =
        call(kLstmLayerBackward,
             {&v.grad(0), &v.grad(1), &v.output(2), &v.output(1), &v.input(2), &v.input(3)},
             Attrs(reverse), Site());
    for (unsigned i = 0; i < 3; ++i) grads[i] = all[static_cast<int>(i)];
    if (v.need(3))
        grads[3] = weightGradient(all[0], statesBefore(v.input(1), v.output(0), reverse));
}
void inferLstmBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "lstm_layer_backward";
    const Dims sizes = checkLayer(kOp, a[2], a[4], a[5], 4);
    checkLike(kOp, "grad", a, 0, sizes);
    checkLike(kOp, "grad_cells", a, 1, sizes);
    checkLike(kOp, "cells", a, 3, sizes);
    for (const int i : {0, 1, 3})
        if (a.has(i)) checkSameDType(kOp, "gates", a[2], "other", a[i]);
    out.add(a[2].sizes(), a[2].dtype());
    out.add(a[4].sizes(), a[2].dtype());
    out.add(a[4].sizes(), a[2].dtype());
}
void lstmBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::lstmLayerBackwardInto(optional(a, 0), optional(a, 1), a[2], a[3], a[4], a[5],
                               a.attrs.flag(0), out[0], out[1], out[2]);
}

// --- gru_layer: gates, h0, weight_hh, bias_hh?; reverse
// --------------------------------------------

void inferGru(const OpArgs& a, OutputMetas& out) {
    const Dims sizes = checkLayer("gru_layer", a[0], a[1], a[2], 3);
    checkLike("gru_layer", "bias_hh", a, 3, {3 * sizes[2]});
    if (a.has(3)) checkSameDType("gru_layer", "gates", a[0], "bias_hh", a[3]);
    out.add(sizes, a[0].dtype());
    out.add({sizes[0], sizes[1], 4 * sizes[2]}, a[0].dtype());
}
void gruKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::gruLayerInto(a[0], a[1], a[2], optional(a, 3), a.attrs.flag(0), out[0], out[1]);
}
void vjpGru(const VjpArgs& v, std::span<Tensor> grads) {
    // What the gates were (output 1) is kept for backward and carries no gradient.
    if (!v.grad().defined() || v.meta(0).sizes[0] == 0) return;
    const bool reverse = v.attrs.flag(0);
    if (grad_enabled())
        return vjpByComposition(v, grads, [&](std::span<const Tensor> in) -> std::vector<Tensor> {
            Tensor h = in[1];
            return {overTimes(in[0].size(0), reverse, [&](std::int64_t t) {
                const auto x = chunk(select(in[0], 0, t), 3, -1);
                const auto s =
                    chunk(linear(h, in[2], in.size() > 3 ? in[3] : undefinedTensor()), 3, -1);
                const Tensor r = sigmoid(add(x[0], s[0]));
                const Tensor z = sigmoid(add(x[1], s[1]));
                const Tensor n = tanh(add(x[2], mul(r, s[2])));
                h = add(n, mul(z, sub(h, n)));
                return h;
            })};
        });
    Outputs all =
        call(kGruLayerBackward, {&v.grad(), &v.output(1), &v.output(0), &v.input(1), &v.input(2)},
             Attrs(reverse), Site());
    grads[0] = all[0];
    grads[1] = all[2];
    if (v.need(2))
        grads[2] = weightGradient(all[1], statesBefore(v.input(1), v.output(0), reverse));
    if (v.inputCount() > 3 && v.need(3)) grads[3] = sum(flatRows(all[1]), {0});
}
void inferGruBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "gru_layer_backward";
    checkRank(kOp, "grad", a[0], 3, "[T, B, H]");
    checkFloating(kOp, "grad", a[0]);
    const Dims& sizes = a[0].sizes();
    checkLike(kOp, "kept", a, 1, {sizes[0], sizes[1], 4 * sizes[2]});
    checkLike(kOp, "output", a, 2, sizes);
    checkLike(kOp, "h0", a, 3, {sizes[1], sizes[2]});
    checkLike(kOp, "weight_hh", a, 4, {3 * sizes[2], sizes[2]});
    for (const int i : {1, 2, 3, 4}) checkSameDType(kOp, "grad", a[0], "other", a[i]);
    const Dims gates{sizes[0], sizes[1], 3 * sizes[2]};
    out.add(gates, a[0].dtype());
    out.add(gates, a[0].dtype());
    out.add({sizes[1], sizes[2]}, a[0].dtype());
}
void gruBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::gruLayerBackwardInto(a[0], a[1], a[2], a[3], a[4], a.attrs.flag(0), out[0], out[1],
                              out[2]);
}

Cost costLayer(const OpArgs& a, std::span<const Tensor> outputs) {
    Cost cost;
    for (const Tensor* t : a.inputs)
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    for (const Tensor& t : outputs) cost.bytesWritten += static_cast<std::int64_t>(t.nbytes());
    // The product with the state, and about ten operations a gate.
    const double gates = static_cast<double>(a[0].numel());
    cost.flops = gates * (2.0 * static_cast<double>(outputs[0].sizes().back()) + 10.0);
    return cost;
}

constexpr ArgDef kRnnArgs[] = {{"gates"}, {"h0"}, {"weight_hh"}};
constexpr ArgDef kRnnBackwardArgs[] = {{"grad"}, {"output"}, {"weight_hh"}};
constexpr ArgDef kLstmArgs[] = {{"gates"}, {"h0"}, {"c0"}, {"weight_hh"}};
constexpr ArgDef kLstmBackwardArgs[] = {{.name = "grad", .optional = true},
                                        {.name = "grad_cells", .optional = true},
                                        {"gates"},
                                        {"cells"},
                                        {"c0"},
                                        {"weight_hh"}};
constexpr ArgDef kGruArgs[] = {
    {"gates"}, {"h0"}, {"weight_hh"}, {.name = "bias_hh", .optional = true}};
constexpr ArgDef kGruBackwardArgs[] = {{"grad"}, {"kept"}, {"output"}, {"h0"}, {"weight_hh"}};
constexpr AttrDef kReluReverse[] = {{"relu", AttrKind::Bool, "false"},
                                    {"reverse", AttrKind::Bool, "false"}};
constexpr AttrDef kReverse[] = {{"reverse", AttrKind::Bool, "false"}};

constexpr OpDef layerRow(std::string_view name, std::span<const ArgDef> args,
                         std::span<const AttrDef> attrs, InferFn infer, VjpFn vjp,
                         std::uint32_t saveInputs, std::uint32_t saveOutputs, KernelFn kernel) {
    return {.name = name,
            .family = Family::Nn,
            .args = args,
            .attrs = attrs,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = saveInputs,
            .saveOutputs = saveOutputs,
            .cost = costLayer,
            .kernels = {kernel}};
}

}  // namespace

constinit OpDef kRnnLayer =
    layerRow("rnn_layer", kRnnArgs, kReluReverse, inferRnn, vjpRnn, 0b111, 0b1, rnnKernel);
constinit OpDef kRnnLayerBackward = layerRow("rnn_layer_backward", kRnnBackwardArgs, kReluReverse,
                                             inferRnnBackward, nullptr, 0, 0, rnnBackwardKernel);
// Outputs: output, cell states, the gates after their activations.
constinit OpDef kLstmLayer =
    layerRow("lstm_layer", kLstmArgs, kReverse, inferLstm, vjpLstm, 0b1111, 0b111, lstmKernel);
constinit OpDef kLstmLayerBackward = layerRow("lstm_layer_backward", kLstmBackwardArgs, kReverse,
                                              inferLstmBackward, nullptr, 0, 0, lstmBackwardKernel);
// Outputs: output; r, z, n and the state's share of n.
constinit OpDef kGruLayer =
    layerRow("gru_layer", kGruArgs, kReverse, inferGru, vjpGru, 0b1111, 0b11, gruKernel);
constinit OpDef kGruLayerBackward = layerRow("gru_layer_backward", kGruBackwardArgs, kReverse,
                                             inferGruBackward, nullptr, 0, 0, gruBackwardKernel);

Tensor rnn_layer(const Tensor& gates, const Tensor& h0, const Tensor& weight_hh, bool relu,
                 bool reverse, Site site) {
    return call1(kRnnLayer, {&gates, &h0, &weight_hh}, Attrs(relu, reverse), site);
}
std::pair<Tensor, Tensor> lstm_layer(const Tensor& gates, const Tensor& h0, const Tensor& c0,
                                     const Tensor& weight_hh, bool reverse, Site site) {
    Outputs out = call(kLstmLayer, {&gates, &h0, &c0, &weight_hh}, Attrs(reverse), site);
    return {out[0], out[1]};
}
Tensor gru_layer(const Tensor& gates, const Tensor& h0, const Tensor& weight_hh,
                 const Tensor& bias_hh, bool reverse, Site site) {
    return call1(kGruLayer, {&gates, &h0, &weight_hh, &bias_hh}, Attrs(reverse), site);
}

}  // namespace tapescope::engine
