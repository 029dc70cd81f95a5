// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

#include <tuple>
#include <utility>

namespace tapescope::engine::nn {

/// What run() gives forward besides x, and what forward gives back besides its output: forward
/// alone takes and leaves nothing.
template <class T>
struct Passing {
    T in{};
    T out{};
    bool wanted = false;
};

struct RecurrentOptions {
    std::int64_t num_layers = 1;
    bool bias = true;
    bool batch_first = false;
    double dropout = 0;  ///< on the outputs of every layer but the last, while training
    bool bidirectional = false;
};

/// What RNN, GRU and LSTM share: parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0,
/// then those with "_reverse", then the next layer's, uniform within 1/sqrt(hidden_size).
class RecurrentBase : public Module {
public:
    std::int64_t hidden_size() const { return m_hidden; }
    std::string details() const override;

protected:
    /// gates: rows of the weights for each hidden unit. Throws Error for sizes below 1, or dropout
    /// outside [0, 1].
    RecurrentBase(std::string typeName, std::int64_t gates, std::int64_t input_size,
                  std::int64_t hidden_size, const RecurrentOptions& options);
    const RecurrentOptions& options() const { return m_options; }
    const std::vector<Tensor>& weights() const { return m_weights; }
    /// Zeros as the first state for x where `given` is undefined.
    Tensor firstState(const Tensor& x, const Tensor& given) const;

private:
    std::int64_t m_input;
    std::int64_t m_hidden;
    RecurrentOptions m_options;
    std::vector<Tensor> m_weights;
};

/// h = tanh (or relu) of W_ih x + b_ih + W_hh h + b_hh. x [T, B, in] ([B, T, in] if batch_first,
/// [T, in] without a batch).
class RNN final : public RecurrentBase {
public:
    enum class Nonlinearity : std::uint8_t { Tanh, Relu };
    RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {},
        Nonlinearity nonlinearity = Nonlinearity::Tanh);
    /// The outputs alone, from a zero state.
    Tensor forward(const Tensor& x) override;
    /// Outputs and last states [layers * directions, B, H]; hx may be undefined.
    std::pair<Tensor, Tensor> run(const Tensor& x, const Tensor& hx = {}, Site site = {});

private:
    Nonlinearity m_nonlinearity;
    Passing<Tensor> m_state;
};

/// Gated recurrent unit; as RNN.
class GRU final : public RecurrentBase {
public:
    GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
    Tensor forward(const Tensor& x) override;
    std::pair<Tensor, Tensor> run(const Tensor& x, const Tensor& hx = {}, Site site = {});

private:
    Passing<Tensor> m_state;
};

/// Long short-term memory; as RNN, with a cell state.
class LSTM final : public RecurrentBase {
public:
    using State = std::pair<Tensor, Tensor>;  ///< h, c
    LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {});
    Tensor forward(const Tensor& x) override;
    std::pair<Tensor, State> run(const Tensor& x, const State& hx = {}, Site site = {});

private:
    Passing<State> m_state;
};

/// One step of the layers above. Parameters weight_ih, weight_hh, bias_ih, bias_hh. x [B, in] or
/// [in].
class RecurrentCellBase : public Module {
public:
    std::string details() const override;
    Tensor weight_ih;
    Tensor weight_hh;
    Tensor bias_ih;  ///< undefined without bias
    Tensor bias_hh;

protected:
    RecurrentCellBase(std::string typeName, std::int64_t gates, std::int64_t input_size,
                      std::int64_t hidden_size, bool bias);
    Tensor firstState(const Tensor& x, const Tensor& given) const;
};
class RNNCell final : public RecurrentCellBase {
public:
    RNNCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true,
            RNN::Nonlinearity nonlinearity = RNN::Nonlinearity::Tanh);
    Tensor forward(const Tensor& x) override;
    Tensor run(const Tensor& x, const Tensor& hx = {}, Site site = {});

private:
    RNN::Nonlinearity m_nonlinearity;
    Passing<Tensor> m_state;
};
class GRUCell final : public RecurrentCellBase {
public:
    GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true);
    Tensor forward(const Tensor& x) override;
    Tensor run(const Tensor& x, const Tensor& hx = {}, Site site = {});

private:
    Passing<Tensor> m_state;
};
class LSTMCell final : public RecurrentCellBase {
public:
    LSTMCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true);
    Tensor forward(const Tensor& x) override;
    LSTM::State run(const Tensor& x, const LSTM::State& hx = {}, Site site = {});

private:
    Passing<LSTM::State> m_state;
};

}  // namespace tapescope::engine::nn
