// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tapescope::engine::nn {

class Module;

/// Gets what the module is called with; may return another input (or an undefined tensor).
using ForwardPreHook = std::function<Tensor(Module&, const Tensor& input)>;
/// Gets what it was called with and returned; may return another output.
using ForwardHook = std::function<Tensor(Module&, const Tensor& input, const Tensor& output)>;
/// Gets the gradients of the module's input (undefined where it needs none) and output; may return
/// another gradient of the input.
using BackwardHook =
    std::function<Tensor(Module&, const Tensor& grad_input, const Tensor& grad_output)>;

/// What was registered at one module. Hooks run in the order of their registration and may remove
/// themselves.
class ModuleHooks : public std::enable_shared_from_this<ModuleHooks> {
public:
    int addBefore(ForwardPreHook hook);
    int addAfter(ForwardHook hook);
    int addBackward(BackwardHook hook);
    void remove(int id);
    /// module's forward with these hooks around it.
    Tensor run(Module& module, Tensor input);

private:
    class Link;
    template <class Hook>
    using List = std::vector<std::pair<int, Hook>>;

    Tensor runBackwardHooks(Module& module, const Tensor& gradInput, const Tensor& gradOutput);

    int m_nextId = 0;
    List<ForwardPreHook> m_before;
    List<ForwardHook> m_after;
    List<BackwardHook> m_backward;
};

/// Takes a hook away again. Copies mean the same hook; outliving the module is fine.
class HookHandle {
public:
    HookHandle() = default;
    HookHandle(const std::shared_ptr<ModuleHooks>& hooks, int id) : m_hooks(hooks), m_id(id) {}
    void remove() {
        if (const auto hooks = m_hooks.lock()) hooks->remove(m_id);
    }

private:
    std::weak_ptr<ModuleHooks> m_hooks;
    int m_id = 0;
};

}  // namespace tapescope::engine::nn
