// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/dropout.h"

#include "engine/errors.h"
#include "engine/nn/number_text.h"
#include "engine/ops/nn_functional.h"

namespace tapescope::engine::nn {

Dropout::Dropout(double p) : Module("Dropout"), m_p(p) {
    if (!(p >= 0 && p <= 1)) throw Error("Dropout: p must lie in [0, 1], but is " + numberText(p));
}

Tensor Dropout::forward(const Tensor& x) { return dropout(x, m_p, is_training(), callSite()); }

std::string Dropout::details() const { return "p " + numberText(m_p); }

}  // namespace tapescope::engine::nn
