// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module_hooks.h"
#include "engine/observe/context.h"
#include "engine/tensor/tensor.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tapescope::engine::nn {

class Module;

/// Shared handle to a registered submodule: conv1(x) calls it.
template <class M>
class ModuleRef {
public:
    ModuleRef() = default;
    explicit ModuleRef(std::shared_ptr<M> module) : m_module(std::move(module)) {}
    M* operator->() const { return m_module.get(); }
    M& operator*() const { return *m_module; }
    const std::shared_ptr<M>& ptr() const { return m_module; }
    explicit operator bool() const { return m_module != nullptr; }
    Tensor operator()(const Tensor& x, Site site = {}) const { return m_module->call(x, site); }

private:
    std::shared_ptr<M> m_module;
};

/// Base of every model and layer: a tree with named parameters and buffers. Not copyable; owned by
/// its parent.
///   struct Net : nn::Module {
///       Net() : Module("Net") { fc = register_module<nn::Linear>("fc", 64, 10); }
///       Tensor forward(const Tensor& x) override { return relu(fc(x)); }
///       nn::ModuleRef<nn::Linear> fc;
///   };
class Module {
public:
    explicit Module(std::string typeName);
    virtual ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    virtual Tensor forward(const Tensor& x) = 0;
    /// Runs forward inside this module's frame: observers see enter and exit, operators get the
    /// path. Library layers pass callSite() on to their operators, so that a site is always a line
    /// of the user's model.
    Tensor call(const Tensor& x, Site site = {});
    Tensor operator()(const Tensor& x, Site site = {}) { return call(x, site); }

    /// Hooks around forward and on the gradients that pass this module; see module_hooks.h. They
    /// run for call(), not for a bare forward().
    HookHandle register_forward_pre_hook(ForwardPreHook hook);
    HookHandle register_forward_hook(ForwardHook hook);
    HookHandle register_full_backward_hook(BackwardHook hook);

    /// The configuration as shown beside the name: "1→32, 3×3, padding 1". Empty for containers and
    /// models.
    virtual std::string details() const { return {}; }

    const std::string& type_name() const { return m_typeName; }
    const std::string& path() const { return m_path; }  ///< "" for the root, "layer1.0" below
    const std::string& name() const { return m_name; }
    bool is_training() const { return m_training; }

    using NamedTensor = std::pair<std::string, Tensor>;
    /// Depth first, in registration order; names are full paths ("conv1.weight"). A tensor shared
    /// by two modules comes once, under its first name.
    std::vector<NamedTensor> named_parameters(bool recurse = true) const;
    std::vector<NamedTensor> named_buffers(bool recurse = true) const;
    std::vector<Tensor> parameters() const;
    const std::vector<std::shared_ptr<Module>>& children() const { return m_children; }
    using NamedModule = std::pair<std::string, const Module*>;
    /// This module under "", then every module below by path, depth first; a shared one once.
    std::vector<NamedModule> named_modules() const;
    std::vector<NamedModule> named_children() const;
    /// fn for every module below, children before their parent, this one last.
    void apply(const std::function<void(Module&)>& fn);
    /// Null if there is no module of that path below this one; "" is this one.
    const Module* find(std::string_view path) const;

    void train(bool on = true);
    void eval() { train(false); }
    /// Drops the gradients (set_to_none).
    void zero_grad();
    /// Floating-point parameters and buffers, with their gradients, become dtype; handles to them
    /// see it. Throws DTypeError unless dtype is floating.
    void to(DType dtype);
    /// The operator of that name, which the method would hide in a model's forward.
    static Tensor to(const Tensor& x, DType dtype, Site site = {});
    /// Of every parameter.
    void requires_grad_(bool on = true);

    /// Parameters and persistent buffers, detached, by path below this module, in registration
    /// order. A shared tensor comes under each of its names.
    std::vector<NamedTensor> state_dict() const;
    struct LoadResult {
        std::vector<std::string> missing;
        std::vector<std::string> unexpected;
    };
    /// Copies a state into the parameters and buffers, converting dtypes. Throws Error, before
    /// anything is changed, for names that are missing or unexpected (only if strict) and shapes
    /// that differ: all of them in one sentence. num_batches_tracked, which PyTorch's batch norm
    /// has, is passed over.
    LoadResult load_state_dict(const std::vector<NamedTensor>& state, bool strict = true);

    /// A table of the modules with their details and numbers of parameters, and the totals.
    std::string summary() const;

    /// Throws Error if the name is taken, empty or holds a dot, or the module is null or holds this
    /// one.
    template <class M, class... Args>
    ModuleRef<M> register_module(const std::string& name, Args&&... args) {
        auto module = std::make_shared<M>(std::forward<Args>(args)...);
        adopt(name, module);
        return ModuleRef<M>(std::move(module));
    }
    void adopt(const std::string& name, std::shared_ptr<Module> module);

protected:
    /// Marks the storage's role and requires_grad; an undefined tensor is a parameter switched off
    /// (bias=false). Throws Error as register_module, and for a tensor that is not floating or the
    /// result of an operator.
    Tensor register_parameter(const std::string& name, Tensor tensor);
    /// persistent: part of state_dict().
    Tensor register_buffer(const std::string& name, Tensor tensor, bool persistent = true);
    /// Where this module was called from, during forward.
    static Site callSite();

private:
    void checkName(const std::string& name, const char* what) const;
    bool holds(const Module* module) const;
    void setPath(const std::string& path);
    struct StateSlot {
        std::string name;
        Tensor tensor;
    };
    void collectState(const std::string& prefix, std::vector<StateSlot>& out) const;
    std::vector<NamedTensor> collect(std::vector<NamedTensor> Module::*which, bool recurse) const;

    std::string m_typeName;
    std::string m_name;
    std::string m_path;
    bool m_training = true;
    std::vector<NamedTensor> m_parameters;
    std::vector<NamedTensor> m_buffers;
    std::vector<std::string> m_transient;  // buffers that are not persistent
    std::vector<std::shared_ptr<Module>> m_children;
    std::shared_ptr<ModuleHooks> m_hooks;

    const std::shared_ptr<ModuleHooks>& hooks();
    Tensor run(const Tensor& x) { return m_hooks ? m_hooks->run(*this, x) : forward(x); }
};

}  // namespace tapescope::engine::nn
