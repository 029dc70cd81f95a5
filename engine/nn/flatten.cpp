// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/flatten.h"

#include "engine/ops/shape.h"

namespace tapescope::engine::nn {

Flatten::Flatten(std::int64_t start_dim, std::int64_t end_dim)
    : Module("Flatten"), m_startDim(start_dim), m_endDim(end_dim) {}

Tensor Flatten::forward(const Tensor& x) { return flatten(x, m_startDim, m_endDim, callSite()); }

std::string Flatten::details() const {
    return "dims " + std::to_string(m_startDim) + "…" + std::to_string(m_endDim);
}

}  // namespace tapescope::engine::nn
