// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/anomaly.h"

#include "engine/autograd/node.h"
#include "engine/errors.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/tensor/complex.h"

#include <cmath>
#include <string>
#include <vector>

namespace tapescope::engine {
namespace {

/// Row-major position of the first NaN, or -1. Nobody hears of the operators it takes.
std::int64_t firstNan(const Tensor& t) {
    if (!t.defined() || !isDifferentiable(t.dtype())) return -1;
    Context quiet(Context::current().allocator());
    const ContextScope scope(quiet);
    const NoGradGuard guard;
    if (any(isnan(t)).item() == 0) return -1;
    const std::vector<Complex64> values = t.to_vector<Complex64>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i].real()) || std::isnan(values[i].imag()))
            return static_cast<std::int64_t>(i);
    }
    return -1;
}

std::string indexText(std::int64_t position, const Dims& sizes) {
    Dims index = sizes;
    for (int d = sizes.size() - 1; d >= 0; --d) {
        index[d] = position % sizes[d];
        position /= sizes[d];
    }
    return toString(index);
}

}  // namespace

void checkAnomaly(const Node& node, std::span<const Tensor> gradOutputs,
                  std::span<const Tensor> gradInputs) {
    for (std::size_t i = 0; i < gradInputs.size(); ++i) {
        const std::int64_t at = firstNan(gradInputs[i]);
        if (at < 0) continue;
        bool brought = false;
        for (const Tensor& g : gradOutputs) brought = brought || firstNan(g) >= 0;
        std::string text = std::string(node.name()) +
                           " backward returned NaN in the gradient of input " + std::to_string(i) +
                           ", first at " + indexText(at, gradInputs[i].sizes()) + " of " +
                           gradInputs[i].meta().toString();
        text += brought ? "; the NaN was already in the gradient it was given"
                        : "; the gradient it was given had none";
        if (node.site().known()) {
            text += "; the forward call stands";
            if (node.module() && !node.module()->path.empty())
                text += " in module " + node.module()->path;
            text += " at " + std::string(node.site().file) + ":" + std::to_string(node.site().line);
        }
        throw AutogradError(text);
    }
}

}  // namespace tapescope::engine
