// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/module_hooks.h"

#include "engine/autograd/autograd_meta.h"
#include "engine/nn/module.h"

namespace tapescope::engine::nn {

/// A joint in the graph at a module's input or output: passes a gradient on and tells of it.
class ModuleHooks::Link final : public Node {
public:
    /// Returns a gradient to put in its place, or an undefined tensor.
    using Passing = std::function<Tensor(const Tensor&)>;

    /// t with a link behind it: its gradient goes through `passing` on its way to t.
    static Tensor behind(const Tensor& t, Passing passing) {
        Tensor linked = t.detach();
        Ref<Node> link = Ref<Node>::adopt(new Link(gradientEdge(t), std::move(passing)));
        linked.impl()->ensureAutograd().replaceHistory(*linked.impl(), std::move(link), 0);
        linked.impl()->requiresGrad = true;
        return linked;
    }

    void apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) override {
        Tensor replaced = m_passing(gradOutputs[0]);
        gradInputs[0] = replaced.defined() ? std::move(replaced) : gradOutputs[0];
    }
    std::string_view name() const override { return "module_hook"; }

private:
    Link(Edge to, Passing passing) : m_to(std::move(to)), m_passing(std::move(passing)) {
        m_edges = {&m_to, 1};
        m_sequence = nextNodeSequence();
        m_module = threadState().module;
    }

    Edge m_to;
    Passing m_passing;
};

int ModuleHooks::addBefore(ForwardPreHook hook) {
    m_before.emplace_back(m_nextId, std::move(hook));
    return m_nextId++;
}
int ModuleHooks::addAfter(ForwardHook hook) {
    m_after.emplace_back(m_nextId, std::move(hook));
    return m_nextId++;
}
int ModuleHooks::addBackward(BackwardHook hook) {
    m_backward.emplace_back(m_nextId, std::move(hook));
    return m_nextId++;
}

void ModuleHooks::remove(int id) {
    const auto isIt = [id](const auto& entry) { return entry.first == id; };
    std::erase_if(m_before, isIt);
    std::erase_if(m_after, isIt);
    std::erase_if(m_backward, isIt);
}

Tensor ModuleHooks::runBackwardHooks(Module& module, const Tensor& gradInput,
                                     const Tensor& gradOutput) {
    Tensor current = gradInput;
    for (const auto& [id, hook] : List<BackwardHook>(m_backward)) {
        if (Tensor replaced = hook(module, current, gradOutput); replaced.defined())
            current = std::move(replaced);
    }
    return current;
}

Tensor ModuleHooks::run(Module& module, Tensor input) {
    for (const auto& [id, hook] : List<ForwardPreHook>(m_before)) {
        if (Tensor replaced = hook(module, input); replaced.defined()) input = std::move(replaced);
    }
    const auto self = shared_from_this();
    const bool backward = !m_backward.empty() && grad_enabled();
    const bool inputNeeds = backward && input.requires_grad();
    const auto gradOutput = std::make_shared<Tensor>();
    if (inputNeeds) {
        input = Link::behind(input, [self, &module, gradOutput](const Tensor& g) {
            return self->runBackwardHooks(module, g, *gradOutput);
        });
    }
    Tensor output = module.forward(input);
    for (const auto& [id, hook] : List<ForwardHook>(m_after)) {
        if (Tensor replaced = hook(module, input, output); replaced.defined())
            output = std::move(replaced);
    }
    if (!backward || !output.requires_grad()) return output;
    return Link::behind(output, [self, &module, gradOutput, inputNeeds](const Tensor& g) {
        *gradOutput = g;
        if (!inputNeeds) self->runBackwardHooks(module, {}, g);
        return Tensor();
    });
}

}  // namespace tapescope::engine::nn
