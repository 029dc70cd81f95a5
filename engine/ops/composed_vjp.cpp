// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/composed_vjp.h"

#include "engine/autograd/autograd.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

void vjpByComposition(const VjpArgs& v, std::span<Tensor> grads, const Composition& composition) {
    const bool second = grad_enabled();
    const GradModeGuard recording(true);
    std::vector<Tensor> inputs(v.savedInputs.begin(), v.savedInputs.end());
    std::vector<Tensor> wanted;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].defined()) continue;
        if (!v.needs[i]) {
            inputs[i] = inputs[i].detach();
            continue;
        }
        // A view of its own: the inner pass ends here, and in second order the graph goes on.
        inputs[i] = second ? view(inputs[i], inputs[i].sizes())
                           : inputs[i].detach().set_requires_grad(true);
        wanted.push_back(inputs[i]);
        places.push_back(i);
    }
    const std::vector<Tensor> outputs = composition(inputs);
    std::vector<Tensor> roots;
    std::vector<Tensor> given;
    for (std::size_t k = 0; k < outputs.size() && k < v.gradOutputs.size(); ++k) {
        if (!v.gradOutputs[k].defined() || !outputs[k].defined() || !outputs[k].requires_grad())
            continue;
        roots.push_back(outputs[k]);
        given.push_back(v.gradOutputs[k]);
    }
    if (roots.empty() || wanted.empty()) return;
    const std::vector<Tensor> found = grad(roots, wanted, given, second, second, true);
    for (std::size_t k = 0; k < found.size(); ++k) grads[places[k]] = found[k];
}

}  // namespace tapescope::engine
