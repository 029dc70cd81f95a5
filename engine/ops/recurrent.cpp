// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/recurrent.h"

#include "engine/ops/checks.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <functional>
#include <vector>

namespace tapescope::engine {

namespace {

/// The parameters of one layer and direction.
struct Direction {
    Tensor weightIh;
    Tensor weightHh;
    Tensor biasIh;
    Tensor biasHh;
};

Tensor sumOf(const Tensor& a, const Tensor& b, Site site) {
    if (!a.defined()) return b;
    return b.defined() ? add(a, b, site) : a;
}

/// input [T, B, in] and the first states [B, H] (cell states undefined but for LSTM) to the outputs
/// [T, B, H] and the cell states.
using Layer = std::function<std::pair<Tensor, Tensor>(
    const Tensor& input, const Tensor& h0, const Tensor& c0, const Direction& d, bool reverse)>;

Layer rnnLayer(bool relu, Site site) {
    return [relu, site](const Tensor& x, const Tensor& h0, const Tensor&, const Direction& d,
                        bool reverse) -> std::pair<Tensor, Tensor> {
        const Tensor gates = linear(x, d.weightIh, sumOf(d.biasIh, d.biasHh, site), site);
        return {rnn_layer(gates, h0, d.weightHh, relu, reverse, site), Tensor()};
    };
}
Layer lstmLayer(Site site) {
    return [site](const Tensor& x, const Tensor& h0, const Tensor& c0, const Direction& d,
                  bool reverse) {
        const Tensor gates = linear(x, d.weightIh, sumOf(d.biasIh, d.biasHh, site), site);
        return lstm_layer(gates, h0, c0, d.weightHh, reverse, site);
    };
}
Layer gruLayer(Site site) {
    return [site](const Tensor& x, const Tensor& h0, const Tensor&, const Direction& d,
                  bool reverse) -> std::pair<Tensor, Tensor> {
        const Tensor gates = linear(x, d.weightIh, d.biasIh, site);
        return {gru_layer(gates, h0, d.weightHh, d.biasHh, reverse, site), Tensor()};
    };
}

/// One step of a layer for input [B, in] or [in].
std::pair<Tensor, Tensor> step(std::string_view op, const Tensor& input, const Tensor& hx,
                               const Tensor& cx, const Direction& d, const Layer& layer,
                               Site site) {
    const bool single = input.dim() == 1;
    if (input.dim() != 1 && input.dim() != 2)
        throw ShapeError(message(op, ": input ", input.sizes(), " must be [B, in] or [in]"));
    if (hx.dim() != input.dim() || (cx.defined() && cx.dim() != input.dim()))
        throw ShapeError(message(op, ": the state ", hx.sizes(),
                                 " must have as many dimensions as input ", input.sizes()));
    const auto batched = [&](const Tensor& x) {
        return single && x.defined() ? unsqueeze(x, 0, site) : x;
    };
    const auto [output, cells] =
        layer(unsqueeze(batched(input), 0, site), batched(hx), batched(cx), d, false);
    const auto back = [&](const Tensor& x) {
        if (!x.defined()) return x;
        const Tensor state = squeeze(x, 0, site);
        return single ? squeeze(state, 0, site) : state;
    };
    return {back(output), back(cells)};
}

struct Sequence {
    Tensor output;
    Tensor hidden;
    Tensor cell;
};

/// All layers and directions.
Sequence run(std::string_view op, const Tensor& input, const Tensor& h0, const Tensor& c0,
             std::span<const Tensor> weights, const RecurrentParams& p, const Layer& layer,
             Site site) {
    if (input.dim() == 2) {
        const int at = p.batch_first ? 0 : 1;
        const auto wide = [&](const Tensor& x) { return x.defined() ? unsqueeze(x, 1, site) : x; };
        Sequence one =
            run(op, unsqueeze(input, at, site), wide(h0), wide(c0), weights, p, layer, site);
        one.output = squeeze(one.output, at, site);
        one.hidden = squeeze(one.hidden, 1, site);
        if (one.cell.defined()) one.cell = squeeze(one.cell, 1, site);
        return one;
    }
    checkRank(op, "input", input, 3, p.batch_first ? "[B, T, in]" : "[T, B, in]");
    checkRank(op, "the state", h0, 3, "[layers * directions, B, H]");
    const std::int64_t directions = p.bidirectional ? 2 : 1;
    const std::size_t each = p.has_biases ? 4 : 2;
    if (p.num_layers < 1 ||
        weights.size() != static_cast<std::size_t>(p.num_layers * directions) * each)
        throw Error(message(op, ": ", p.num_layers, " layers of ", directions, " directions need ",
                            static_cast<int>(each), " tensors each, but ",
                            static_cast<int>(weights.size()), " were given"));
    if (h0.size(0) != p.num_layers * directions ||
        (c0.defined() && c0.size(0) != p.num_layers * directions))
        throw ShapeError(message(op, ": the state ", h0.sizes(), " must have ",
                                 p.num_layers * directions, " layers and directions in front"));
    Tensor x = p.batch_first ? transpose(input, 0, 1, site) : input;
    if (x.size(0) == 0)
        throw ShapeError(message(op, ": the sequence ", input.sizes(), " is empty"));
    std::vector<Tensor> lastHidden;
    std::vector<Tensor> lastCell;
    for (std::int64_t l = 0; l < p.num_layers; ++l) {
        std::vector<Tensor> outputs;
        for (std::int64_t d = 0; d < directions; ++d) {
            const std::int64_t at = l * directions + d;
            const std::size_t from = static_cast<std::size_t>(at) * each;
            Direction parameters{weights[from], weights[from + 1], {}, {}};
            if (p.has_biases) {
                parameters.biasIh = weights[from + 2];
                parameters.biasHh = weights[from + 3];
            }
            const bool reverse = d == 1;
            const auto [output, cells] =
                layer(x, select(h0, 0, at, site), c0.defined() ? select(c0, 0, at, site) : Tensor(),
                      parameters, reverse);
            const std::int64_t last = reverse ? 0 : output.size(0) - 1;
            lastHidden.push_back(select(output, 0, last, site));
            if (cells.defined()) lastCell.push_back(select(cells, 0, last, site));
            outputs.push_back(output);
        }
        x = directions == 1 ? outputs[0] : cat(outputs, -1, site);
        if (p.dropout > 0 && l + 1 < p.num_layers) x = dropout(x, p.dropout, p.training, site);
    }
    return {p.batch_first ? transpose(x, 0, 1, site) : x, stack(lastHidden, 0, site),
            lastCell.empty() ? Tensor() : stack(lastCell, 0, site)};
}

}  // namespace

Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& weight_ih,
                     const Tensor& weight_hh, const Tensor& bias_ih, const Tensor& bias_hh,
                     Site site) {
    return step("rnn_tanh_cell", input, hx, {}, {weight_ih, weight_hh, bias_ih, bias_hh},
                rnnLayer(false, site), site)
        .first;
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& weight_ih,
                     const Tensor& weight_hh, const Tensor& bias_ih, const Tensor& bias_hh,
                     Site site) {
    return step("rnn_relu_cell", input, hx, {}, {weight_ih, weight_hh, bias_ih, bias_hh},
                rnnLayer(true, site), site)
        .first;
}
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& weight_ih,
                const Tensor& weight_hh, const Tensor& bias_ih, const Tensor& bias_hh, Site site) {
    return step("gru_cell", input, hx, {}, {weight_ih, weight_hh, bias_ih, bias_hh}, gruLayer(site),
                site)
        .first;
}
std::pair<Tensor, Tensor> lstm_cell(const Tensor& input, const std::pair<Tensor, Tensor>& hx,
                                    const Tensor& weight_ih, const Tensor& weight_hh,
                                    const Tensor& bias_ih, const Tensor& bias_hh, Site site) {
    return step("lstm_cell", input, hx.first, hx.second, {weight_ih, weight_hh, bias_ih, bias_hh},
                lstmLayer(site), site);
}

std::pair<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx,
                                   std::span<const Tensor> weights, const RecurrentParams& params,
                                   Site site) {
    Sequence s = run("rnn_tanh", input, hx, {}, weights, params, rnnLayer(false, site), site);
    return {s.output, s.hidden};
}
std::pair<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx,
                                   std::span<const Tensor> weights, const RecurrentParams& params,
                                   Site site) {
    Sequence s = run("rnn_relu", input, hx, {}, weights, params, rnnLayer(true, site), site);
    return {s.output, s.hidden};
}
std::pair<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx,
                              std::span<const Tensor> weights, const RecurrentParams& params,
                              Site site) {
    Sequence s = run("gru", input, hx, {}, weights, params, gruLayer(site), site);
    return {s.output, s.hidden};
}
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::pair<Tensor, Tensor>& hx,
                                        std::span<const Tensor> weights,
                                        const RecurrentParams& params, Site site) {
    Sequence s = run("lstm", input, hx.first, hx.second, weights, params, lstmLayer(site), site);
    return {s.output, s.hidden, s.cell};
}

}  // namespace tapescope::engine
