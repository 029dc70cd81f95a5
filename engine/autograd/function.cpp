// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/function.h"

#include "engine/autograd/autograd_meta.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/composite_call.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <set>

namespace tapescope::engine {
namespace {

bool holds(const std::vector<Tensor>& list, const Tensor& t) {
    return std::any_of(list.begin(), list.end(), [&](const Tensor& o) { return same(o, t); });
}

/// Stands where a gradient must not be differentiated again.
class OnceDifferentiated final : public Node {
public:
    explicit OnceDifferentiated(std::string_view name) : m_name(name) {}
    void apply(std::span<const Tensor>, std::span<Tensor>) override {
        throw AutogradError(std::string(m_name) +
                            " backward: the function is marked once_differentiable and cannot be "
                            "differentiated twice");
    }
    std::string_view name() const override { return m_name; }

private:
    std::string_view m_name;
};

}  // namespace

/// The backward of one call of a custom function.
class FunctionNode final : public Node {
public:
    FunctionNode(const detail::FunctionDef& def, std::span<const Tensor* const> arguments,
                 std::uint64_t forwardId, Site site)
        : m_def(def), m_ownEdges(arguments.size()), m_inputs(arguments.size()) {
        m_context.m_node = this;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const bool tensor = arguments[i] && arguments[i]->defined();
            if (tensor) m_inputs[i] = arguments[i]->meta();
            if (tensor && grad_enabled()) m_ownEdges[i] = gradientEdge(*arguments[i]);
            m_context.m_needs.push_back(static_cast<bool>(m_ownEdges[i].node));
        }
        m_edges = m_ownEdges;
        m_sequence = nextNodeSequence();
        m_forwardId = forwardId;
        m_site = site;
        const ThreadState& state = threadState();
        m_module = inGradient(state) ? state.backward->module : state.module;
    }

    FunctionContext& context() { return m_context; }
    bool needed() const {
        return std::any_of(m_ownEdges.begin(), m_ownEdges.end(),
                           [](const Edge& e) { return static_cast<bool>(e.node); });
    }

    /// Hangs this node on what forward returned.
    void connect(std::span<const Tensor* const> arguments, std::vector<Tensor>& outputs) {
        for (const Tensor& dirty : m_context.m_dirty) {
            if (!holds(outputs, dirty)) {
                throw AutogradError(std::string(name()) +
                                    ": an input marked dirty is not returned; return every tensor "
                                    "that was written in place");
            }
            if (needed() && dirty.requires_grad() && dirty.is_leaf()) {
                throw AutogradError(std::string(name()) +
                                    ": a leaf tensor that requires a gradient is marked dirty; "
                                    "write to a clone()");
            }
            if (needed() && dirty.is_view()) {
                throw AutogradError(std::string(name()) +
                                    ": a view is marked dirty; write the base, or a clone()");
            }
        }
        m_outputCount = static_cast<int>(outputs.size());
        const Ref<Node> self = Ref<Node>::share(this);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            Tensor& out = outputs[i];
            if (!out.defined()) {
                throw AutogradError(std::string(name()) + ": output " + std::to_string(i) +
                                    " is an undefined tensor");
            }
            m_outputs.push_back(out.meta());
            if (!needed()) continue;
            const bool isInput = std::any_of(arguments.begin(), arguments.end(),
                                             [&](const Tensor* a) { return a && same(*a, out); });
            if (isInput && !holds(m_context.m_dirty, out)) out = out.detach();
            if (!isDifferentiable(out.dtype()) || holds(m_context.m_nonDifferentiable, out))
                continue;
            out.impl()->ensureAutograd().replaceHistory(*out.impl(), self, static_cast<int>(i));
            out.impl()->requiresGrad = true;
        }
        if (needed()) save(outputs);
        m_context.m_toSave.clear();
        m_context.m_dirty.clear();
        m_context.m_nonDifferentiable.clear();
    }

    void apply(std::span<const Tensor> gradOutputs, std::span<Tensor> gradInputs) override {
        std::vector<Tensor> grads(gradOutputs.begin(), gradOutputs.end());
        if (m_context.m_materialize) {
            for (std::size_t i = 0; i < grads.size(); ++i) {
                if (!grads[i].defined() && isDifferentiable(m_outputs[i].dtype))
                    grads[i] = zeros(m_outputs[i].sizes, {.dtype = m_outputs[i].dtype});
            }
        }
        const bool refuseSecond = m_def.onceDifferentiable && grad_enabled();
        std::vector<Tensor> given;
        {
            const GradModeGuard mode(grad_enabled() && !m_def.onceDifferentiable);
            given = m_def.backward(m_context, std::move(grads));
        }
        take(given, gradInputs);
        if (!refuseSecond) return;
        for (Tensor& g : gradInputs) {
            if (!g.defined()) continue;
            g = g.detach();
            g.impl()->ensureAutograd().replaceHistory(
                *g.impl(), Ref<Node>::adopt(new OnceDifferentiated(name())), 0);
            g.impl()->requiresGrad = true;
        }
    }

    void releaseSaved() override {
        m_saved.clear();
        m_released = true;
    }
    std::string_view name() const override { return m_def.op.name; }
    const OpDef* op() const override { return &m_def.op; }
    std::vector<Tensor> savedForInspection() const override {
        std::vector<Tensor> out;
        for (const Saved& saved : m_saved) {
            if (saved.tensor.peek().defined()) out.push_back(saved.tensor.peek());
        }
        return out;
    }

    std::vector<Tensor> unpack() {
        if (m_released) {
            throw AutogradError(std::string(name()) +
                                " backward: what this graph saved was freed by an earlier "
                                "backward; pass retain_graph=true to the earlier call to go "
                                "through it twice");
        }
        std::vector<Tensor> out;
        for (const Saved& saved : m_saved)
            out.push_back(saved.tensor.defined() ? saved.tensor.unpack(*this, saved.slot)
                                                 : Tensor());
        return out;
    }

private:
    struct Saved {
        SavedTensor tensor;
        int slot = 0;
    };

    void save(const std::vector<Tensor>& outputs) {
        for (const Tensor& t : m_context.m_toSave) {
            Saved saved;
            if (t.defined()) {
                const auto at = std::find_if(outputs.begin(), outputs.end(),
                                             [&](const Tensor& o) { return same(o, t); });
                const bool output = at != outputs.end();
                saved.slot = static_cast<int>(output ? at - outputs.begin() : 0);
                const auto as = output           ? SavedTensor::As::Output
                                : t.impl()->view ? SavedTensor::As::InputAlias
                                                 : SavedTensor::As::Input;
                saved.tensor = SavedTensor(t, as, *this, saved.slot);
            }
            m_saved.push_back(std::move(saved));
        }
    }

    void take(std::vector<Tensor>& given, std::span<Tensor> gradInputs) const {
        while (given.size() > gradInputs.size() && !given.back().defined()) given.pop_back();
        if (given.size() != gradInputs.size()) {
            throw AutogradError(std::string(name()) + " backward: " + std::to_string(given.size()) +
                                " gradients were returned where " +
                                std::to_string(gradInputs.size()) +
                                " are due, one for every argument of forward");
        }
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (!m_ownEdges[i].node || !given[i].defined()) continue;
            Dims broadcast;
            if (given[i].sizes() != m_inputs[i].sizes) {
                if (!broadcastShapes(given[i].sizes(), m_inputs[i].sizes, broadcast) ||
                    broadcast != given[i].sizes()) {
                    throw AutogradError(std::string(name()) +
                                        " backward: the gradient of argument " + std::to_string(i) +
                                        " has shape " + toString(given[i].sizes()) + " where " +
                                        toString(m_inputs[i].sizes) + " is due");
                }
                given[i] = sum_to_size(given[i], m_inputs[i].sizes);
            }
            gradInputs[i] = std::move(given[i]);
        }
    }

    const detail::FunctionDef& m_def;
    std::vector<Edge> m_ownEdges;
    std::vector<TensorMeta> m_inputs;
    std::vector<TensorMeta> m_outputs;
    FunctionContext m_context;
    std::vector<Saved> m_saved;
    bool m_released = false;
};

std::vector<Tensor> FunctionContext::saved_tensors() const { return m_node->unpack(); }

namespace detail {

std::vector<Tensor> applyFunction(const FunctionDef& def, std::vector<const Tensor*> arguments,
                                  const FunctionForward& forward, Site site) {
    std::vector<const Tensor*> tensors;
    for (const Tensor* t : arguments) {
        if (t) tensors.push_back(t);
    }
    const Attrs none;
    CompositeCall call(def.op, tensors, none, site);
    const ThreadState& state = threadState();
    if (inGradient(state)) site = state.backward->site;
    const Ref<FunctionNode> node =
        Ref<FunctionNode>::adopt(new FunctionNode(def, arguments, call.id(), site));
    try {
        std::vector<Tensor> outputs;
        {
            const NoGradGuard guard;
            outputs = forward(node->context());
        }
        node->connect(arguments, outputs);
        call.end(outputs);
        return outputs;
    } catch (const Error& error) {
        call.fail(error.what());
        throw;
    }
}

FunctionDef defineFunction(std::string_view name, FunctionDef::Backward backward, bool once) {
    static constexpr ArgDef kInputs[] = {{.name = "inputs", .optional = true, .list = true}};
    FunctionDef def;
    def.op.name = name;
    def.op.family = Family::Nn;
    def.op.args = kInputs;
    def.backward = backward;
    def.onceDifferentiable = once;
    return def;
}

std::string_view shortTypeName(const char* mangled) {
    int status = 0;
    char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 && text ? text : mangled;
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): __cxa_demangle's contract
    if (const std::size_t at = name.rfind("::"); at != std::string::npos) name.erase(0, at + 2);
    // Types and their names live as long as the program.
    static auto* names = new std::set<std::string>;
    return *names->insert(std::move(name)).first;
}

}  // namespace detail
}  // namespace tapescope::engine
