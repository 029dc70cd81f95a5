// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/activations.h"

#include "engine/nn/number_text.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"

namespace tapescope::engine::nn {

Tensor ReLU::forward(const Tensor& x) { return relu(x, callSite()); }
Tensor LeakyReLU::forward(const Tensor& x) { return leaky_relu(x, m_slope, callSite()); }
Tensor ELU::forward(const Tensor& x) { return elu(x, m_alpha, callSite()); }
Tensor GELU::forward(const Tensor& x) { return gelu(x, callSite()); }
Tensor SiLU::forward(const Tensor& x) { return silu(x, callSite()); }
Tensor Softplus::forward(const Tensor& x) { return softplus(x, callSite()); }
Tensor Tanh::forward(const Tensor& x) { return tanh(x, callSite()); }
Tensor Sigmoid::forward(const Tensor& x) { return sigmoid(x, callSite()); }
Tensor Softmax::forward(const Tensor& x) { return softmax(x, m_dim, callSite()); }
Tensor LogSoftmax::forward(const Tensor& x) { return log_softmax(x, m_dim, callSite()); }
Tensor Softmin::forward(const Tensor& x) { return softmin(x, m_dim, callSite()); }

std::string LeakyReLU::details() const { return "slope " + numberText(m_slope); }
std::string ELU::details() const { return "alpha " + numberText(m_alpha); }
std::string Softmax::details() const { return "dim " + std::to_string(m_dim); }
std::string LogSoftmax::details() const { return "dim " + std::to_string(m_dim); }
std::string Softmin::details() const { return "dim " + std::to_string(m_dim); }

}  // namespace tapescope::engine::nn
