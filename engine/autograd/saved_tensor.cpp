// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/saved_tensor.h"

#include "engine/autograd/autograd_meta.h"
#include "engine/errors.h"

namespace tapescope::engine {
namespace {

std::string atSite(const Site& site) {
    return site.known() ? " at " + std::string(site.file) + ":" + std::to_string(site.line)
                        : std::string();
}

[[noreturn]] void refuseInference(const Node& node, const Tensor& tensor) {
    throw AutogradError(std::string(node.name()) + ": the tensor " + tensor.meta().toString() +
                        " was made in inference mode and cannot be saved for backward; make a "
                        "clone() to get a normal tensor");
}

}  // namespace

SavedTensorsHooks::SavedTensorsHooks(Pack pack, Unpack unpack)
    : SavedTensorsHooks(std::make_shared<const Pair>(
          Pair{[pack = std::move(pack)](const Tensor& t, const Node&) { return pack(t); },
               std::move(unpack)})) {}

SavedTensorsHooks::SavedTensorsHooks(std::shared_ptr<const Pair> pair)
    : m_pair(std::move(pair)), m_outer(threadState().savedHooks) {
    threadState().savedHooks = this;
}

SavedTensor::SavedTensor(const Tensor& tensor, As as, const Node& node, int index)
    : m_version(tensor.version()), m_slot(index), m_as(as), m_requiresGrad(tensor.requires_grad()) {
    if (tensor.impl()->inference) refuseInference(node, tensor);
    if (const SavedTensorsHooks* hooks = threadState().savedHooks) {
        const auto pair = hooks->pair();
        if (m_requiresGrad && as != As::Output) {
            const Edge edge = gradientEdge(tensor);
            m_fn = edge.node;
            m_slot = edge.slot;
        }
        // Hooks may run operators, which must neither be recorded nor saved themselves.
        const GradModeGuard noGrad(false);
        ThreadState& state = threadState();
        state.savedHooks = nullptr;
        struct Restore {
            ThreadState& state;
            const SavedTensorsHooks* hooks;
            ~Restore() { state.savedHooks = hooks; }
        } const restore{state, hooks};
        m_packed = std::make_unique<Packed>(Packed{pair->pack(tensor.detach(), node), pair});
        return;
    }
    if (as == As::Input) {
        m_tensor = tensor;
    } else {
        m_tensor = tensor.detach();
        if (as == As::InputAlias && m_requiresGrad) {
            const Edge edge = gradientEdge(tensor);
            m_fn = edge.node;
            m_slot = edge.slot;
        }
    }
    const MemoryRole role = tensor.storage()->role();
    if (role == MemoryRole::Activation || role == MemoryRole::Temporary)
        tensor.set_role(MemoryRole::Saved);
}

void SavedTensor::checkVersion(const Node& node) const {
    if (m_tensor.version() == m_version) return;
    const Storage& storage = *m_tensor.storage();
    std::string culprit = "an in-place write";
    if (storage.lastWriter())
        culprit = std::string(storage.lastWriter()->name) + atSite(storage.lastWriteSite());
    throw InPlaceError(std::string(node.name()) + " backward: the " +
                       (m_as == As::Output ? "output " : "input ") + m_tensor.meta().toString() +
                       " that " + std::string(node.name()) + atSite(node.site()) +
                       " saved as version " + std::to_string(m_version) + " is now at version " +
                       std::to_string(m_tensor.version()) + ": " + culprit +
                       " overwrote it; use the out-of-place form there, or write to a clone()");
}

Tensor SavedTensor::unpack(Node& node, int index) const {
    Tensor restored;
    if (m_packed) {
        restored = m_packed->hooks->unpack(m_packed->value);
        if (!restored.defined()) {
            throw AutogradError(std::string(node.name()) +
                                " backward: the unpack hook returned an undefined tensor; it must "
                                "make the tensor that was packed");
        }
        restored = restored.detach();
    } else {
        if (!m_tensor.defined()) return {};
        checkVersion(node);
        if (m_as == As::Input || !m_requiresGrad) return m_tensor;
        restored = m_tensor.detach();
    }
    if (!m_requiresGrad) return restored;
    AutogradMeta& meta = restored.impl()->ensureAutograd();
    meta.gradFn = m_as == As::Output ? Ref<Node>::share(&node) : m_fn;
    meta.outputNr = m_as == As::Output ? index : m_slot;
    restored.impl()->requiresGrad = true;
    return restored;
}

}  // namespace tapescope::engine
