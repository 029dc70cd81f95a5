// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/recurrent.h"

#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/nn/number_text.h"
#include "engine/ops/recurrent.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <utility>

namespace tapescope::engine::nn {

namespace {

void checkSizes(const std::string& type, std::int64_t input, std::int64_t hidden) {
    if (input < 1 || hidden < 1)
        throw Error(type + ": input_size and hidden_size must be at least 1, but are " +
                    std::to_string(input) + " and " + std::to_string(hidden));
}

Tensor fresh(const Dims& sizes, std::int64_t hidden) {
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    return init::uniform_(Tensor::empty(sizes), -bound, bound);
}

/// fn() with `given` on the way in and the result wanted; nothing is left behind if it throws.
template <class T, class Fn>
Tensor runWith(Passing<T>& state, const T& given, const Fn& fn) {
    state = {given, T{}, true};
    try {
        Tensor output = fn();
        state.wanted = false;
        return output;
    } catch (...) {
        state = {};
        throw;
    }
}

RecurrentParams paramsOf(const RecurrentOptions& o, bool training) {
    return {.has_biases = o.bias,
            .num_layers = o.num_layers,
            .dropout = o.dropout,
            .training = training,
            .bidirectional = o.bidirectional,
            .batch_first = o.batch_first};
}

}  // namespace

RecurrentBase::RecurrentBase(std::string typeName, std::int64_t gates, std::int64_t input_size,
                             std::int64_t hidden_size, const RecurrentOptions& options)
    : Module(std::move(typeName)), m_input(input_size), m_hidden(hidden_size), m_options(options) {
    checkSizes(type_name(), input_size, hidden_size);
    if (options.num_layers < 1)
        throw Error(type_name() + ": num_layers must be at least 1, but is " +
                    std::to_string(options.num_layers));
    if (!(options.dropout >= 0 && options.dropout <= 1))
        throw Error(type_name() + ": dropout must lie in [0, 1], but is " +
                    numberText(options.dropout));
    const std::int64_t directions = options.bidirectional ? 2 : 1;
    for (std::int64_t l = 0; l < options.num_layers; ++l) {
        for (std::int64_t d = 0; d < directions; ++d) {
            const std::string suffix = "_l" + std::to_string(l) + (d == 1 ? "_reverse" : "");
            const std::int64_t inputs = l == 0 ? input_size : directions * hidden_size;
            const std::int64_t rows = gates * hidden_size;
            const auto add = [&](const std::string& name, const Dims& sizes) {
                m_weights.push_back(register_parameter(name + suffix, fresh(sizes, hidden_size)));
            };
            add("weight_ih", {rows, inputs});
            add("weight_hh", {rows, hidden_size});
            if (!options.bias) continue;
            add("bias_ih", {rows});
            add("bias_hh", {rows});
        }
    }
}

std::string RecurrentBase::details() const {
    std::string text = std::to_string(m_input) + "→" + std::to_string(m_hidden);
    if (m_options.num_layers > 1) text += ", " + std::to_string(m_options.num_layers) + " layers";
    if (m_options.bidirectional) text += ", bidirectional";
    if (m_options.dropout > 0) text += ", dropout " + numberText(m_options.dropout);
    if (!m_options.bias) text += ", no bias";
    return text + (m_options.batch_first ? ", batch first" : "");
}

Tensor RecurrentBase::firstState(const Tensor& x, const Tensor& given) const {
    if (given.defined()) return given;
    const std::int64_t layers = m_options.num_layers * (m_options.bidirectional ? 2 : 1);
    Dims sizes{layers};
    if (x.dim() == 3) sizes.push_back(x.size(m_options.batch_first ? 0 : 1));
    sizes.push_back(m_hidden);
    return zeros(sizes, {.dtype = x.dtype()});
}

RNN::RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options,
         Nonlinearity nonlinearity)
    : RecurrentBase("RNN", 1, input_size, hidden_size, options), m_nonlinearity(nonlinearity) {}

Tensor RNN::forward(const Tensor& x) {
    const Tensor first = firstState(x, std::exchange(m_state.in, Tensor()));
    const auto fn = m_nonlinearity == Nonlinearity::Relu ? rnn_relu : rnn_tanh;
    auto [output, state] = fn(x, first, weights(), paramsOf(options(), is_training()), callSite());
    if (m_state.wanted) m_state.out = std::move(state);
    return output;
}
std::pair<Tensor, Tensor> RNN::run(const Tensor& x, const Tensor& hx, Site site) {
    Tensor output = runWith(m_state, hx, [&] { return call(x, site); });
    return {std::move(output), std::exchange(m_state.out, Tensor())};
}

GRU::GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : RecurrentBase("GRU", 3, input_size, hidden_size, options) {}

Tensor GRU::forward(const Tensor& x) {
    const Tensor first = firstState(x, std::exchange(m_state.in, Tensor()));
    auto [output, state] = gru(x, first, weights(), paramsOf(options(), is_training()), callSite());
    if (m_state.wanted) m_state.out = std::move(state);
    return output;
}
std::pair<Tensor, Tensor> GRU::run(const Tensor& x, const Tensor& hx, Site site) {
    Tensor output = runWith(m_state, hx, [&] { return call(x, site); });
    return {std::move(output), std::exchange(m_state.out, Tensor())};
}

LSTM::LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : RecurrentBase("LSTM", 4, input_size, hidden_size, options) {}

Tensor LSTM::forward(const Tensor& x) {
    const State given = std::exchange(m_state.in, State());
    const State first{firstState(x, given.first), firstState(x, given.second)};
    auto [output, h, c] = lstm(x, first, weights(), paramsOf(options(), is_training()), callSite());
    if (m_state.wanted) m_state.out = {std::move(h), std::move(c)};
    return output;
}
std::pair<Tensor, LSTM::State> LSTM::run(const Tensor& x, const State& hx, Site site) {
    Tensor output = runWith(m_state, hx, [&] { return call(x, site); });
    return {std::move(output), std::exchange(m_state.out, State())};
}

RecurrentCellBase::RecurrentCellBase(std::string typeName, std::int64_t gates,
                                     std::int64_t input_size, std::int64_t hidden_size, bool bias)
    : Module(std::move(typeName)) {
    checkSizes(type_name(), input_size, hidden_size);
    const std::int64_t rows = gates * hidden_size;
    weight_ih = register_parameter("weight_ih", fresh({rows, input_size}, hidden_size));
    weight_hh = register_parameter("weight_hh", fresh({rows, hidden_size}, hidden_size));
    bias_ih = register_parameter("bias_ih", bias ? fresh({rows}, hidden_size) : Tensor());
    bias_hh = register_parameter("bias_hh", bias ? fresh({rows}, hidden_size) : Tensor());
}

std::string RecurrentCellBase::details() const {
    return std::to_string(weight_ih.size(1)) + "→" + std::to_string(weight_hh.size(1)) +
           (bias_ih.defined() ? "" : ", no bias");
}

Tensor RecurrentCellBase::firstState(const Tensor& x, const Tensor& given) const {
    if (given.defined()) return given;
    Dims sizes;
    if (x.dim() == 2) sizes.push_back(x.size(0));
    sizes.push_back(weight_hh.size(1));
    return zeros(sizes, {.dtype = x.dtype()});
}

RNNCell::RNNCell(std::int64_t input_size, std::int64_t hidden_size, bool bias,
                 RNN::Nonlinearity nonlinearity)
    : RecurrentCellBase("RNNCell", 1, input_size, hidden_size, bias),
      m_nonlinearity(nonlinearity) {}

Tensor RNNCell::forward(const Tensor& x) {
    const Tensor h = firstState(x, std::exchange(m_state.in, Tensor()));
    const auto fn = m_nonlinearity == RNN::Nonlinearity::Relu ? rnn_relu_cell : rnn_tanh_cell;
    return fn(x, h, weight_ih, weight_hh, bias_ih, bias_hh, callSite());
}
Tensor RNNCell::run(const Tensor& x, const Tensor& hx, Site site) {
    return runWith(m_state, hx, [&] { return call(x, site); });
}

GRUCell::GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias)
    : RecurrentCellBase("GRUCell", 3, input_size, hidden_size, bias) {}

Tensor GRUCell::forward(const Tensor& x) {
    const Tensor h = firstState(x, std::exchange(m_state.in, Tensor()));
    return gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh, callSite());
}
Tensor GRUCell::run(const Tensor& x, const Tensor& hx, Site site) {
    return runWith(m_state, hx, [&] { return call(x, site); });
}

LSTMCell::LSTMCell(std::int64_t input_size, std::int64_t hidden_size, bool bias)
    : RecurrentCellBase("LSTMCell", 4, input_size, hidden_size, bias) {}

Tensor LSTMCell::forward(const Tensor& x) {
    const LSTM::State given = std::exchange(m_state.in, LSTM::State());
    LSTM::State next = lstm_cell(x, {firstState(x, given.first), firstState(x, given.second)},
                                 weight_ih, weight_hh, bias_ih, bias_hh, callSite());
    if (m_state.wanted) m_state.out.second = std::move(next.second);
    return next.first;
}
LSTM::State LSTMCell::run(const Tensor& x, const LSTM::State& hx, Site site) {
    Tensor h = runWith(m_state, hx, [&] { return call(x, site); });
    return {std::move(h), std::exchange(m_state.out.second, Tensor())};
}

}  // namespace tapescope::engine::nn
