// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <span>
#include <tuple>
#include <utility>

// Recurrent cells and layers with torch's parameter layout: weight_ih [gates * H, in], weight_hh
// [gates * H, H], bias_* [gates * H] or undefined; gates in the order i, f, g, o (LSTM) and r, z, n
// (GRU).
namespace tapescope::engine {

/// One step. input [B, in] or [in], states [B, H] or [H].
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& weight_ih,
                     const Tensor& weight_hh, const Tensor& bias_ih = {},
                     const Tensor& bias_hh = {}, Site site = {});
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& weight_ih,
                     const Tensor& weight_hh, const Tensor& bias_ih = {},
                     const Tensor& bias_hh = {}, Site site = {});
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& weight_ih,
                const Tensor& weight_hh, const Tensor& bias_ih = {}, const Tensor& bias_hh = {},
                Site site = {});
/// The new hidden and cell state.
std::pair<Tensor, Tensor> lstm_cell(const Tensor& input, const std::pair<Tensor, Tensor>& hx,
                                    const Tensor& weight_ih, const Tensor& weight_hh,
                                    const Tensor& bias_ih = {}, const Tensor& bias_hh = {},
                                    Site site = {});

struct RecurrentParams {
    bool has_biases = true;
    std::int64_t num_layers = 1;
    double dropout = 0;  ///< between layers, while training
    bool training = false;
    bool bidirectional = false;
    bool batch_first = false;
};
/// input [T, B, in] ([B, T, in] if batch_first, [T, in] for one sequence); hx [layers * directions,
/// B, H]. weights: for each layer, for each direction weight_ih, weight_hh and, if has_biases,
/// bias_ih, bias_hh. Gives the last layer's outputs [T, B, directions * H] and the last states.
std::pair<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx,
                                   std::span<const Tensor> weights,
                                   const RecurrentParams& params = {}, Site site = {});
std::pair<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx,
                                   std::span<const Tensor> weights,
                                   const RecurrentParams& params = {}, Site site = {});
std::pair<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx,
                              std::span<const Tensor> weights, const RecurrentParams& params = {},
                              Site site = {});
/// output, h_n, c_n.
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::pair<Tensor, Tensor>& hx,
                                        std::span<const Tensor> weights,
                                        const RecurrentParams& params = {}, Site site = {});

// One layer and direction over a whole sequence, the operators behind all of the above. gates [T,
// B, k * H]: the input's share of every gate, biases included (of GRU's the state's apart).
// reverse: from the last time to the first.
Tensor rnn_layer(const Tensor& gates, const Tensor& h0, const Tensor& weight_hh, bool relu,
                 bool reverse = false, Site site = {});
/// output and cell states [T, B, H].
std::pair<Tensor, Tensor> lstm_layer(const Tensor& gates, const Tensor& h0, const Tensor& c0,
                                     const Tensor& weight_hh, bool reverse = false, Site site = {});
Tensor gru_layer(const Tensor& gates, const Tensor& h0, const Tensor& weight_hh,
                 const Tensor& bias_hh = {}, bool reverse = false, Site site = {});

}  // namespace tapescope::engine
