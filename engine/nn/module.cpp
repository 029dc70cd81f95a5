// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/module.h"

#include "engine/errors.h"

#include <algorithm>
#include <unordered_set>

namespace tapescope::engine::nn {
namespace {

/// threadState().module is the frame while this lives.
class FrameScope {
public:
    FrameScope(ThreadState& state, const ModuleFrame* frame)
        : m_state(state), m_saved(state.module) {
        state.module = frame;
    }
    ~FrameScope() { m_state.module = m_saved; }
    FrameScope(const FrameScope&) = delete;
    FrameScope& operator=(const FrameScope&) = delete;

private:
    ThreadState& m_state;
    const ModuleFrame* m_saved;
};

std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

bool holdsName(const std::vector<Module::NamedTensor>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

Module::Module(std::string typeName) : m_typeName(std::move(typeName)) {}
Module::~Module() = default;

Tensor Module::call(const Tensor& x, Site site) {
    ThreadState& state = threadState();
    Context& context = *state.context;
    const ModuleFrame* frame = context.internFrame(state.module, m_path, m_typeName, site);
    const FrameScope scope(state, frame);
    if (!context.watched()) return run(x);
    for (Observer* observer : context.observers()) observer->onModuleEnter(*frame);
    Tensor y;
    try {
        y = run(x);
    } catch (...) {
        // Observers pair enter and exit; what they may throw here must not hide why forward failed.
        for (Observer* observer : context.observers()) {
            try {
                observer->onModuleExit(*frame);
            } catch (const Interrupted&) {  // NOLINT(bugprone-empty-catch): see above
            }
        }
        throw;
    }
    for (Observer* observer : context.observers()) observer->onModuleExit(*frame);
    return y;
}

const std::shared_ptr<ModuleHooks>& Module::hooks() {
    if (!m_hooks) m_hooks = std::make_shared<ModuleHooks>();
    return m_hooks;
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
    return {hooks(), hooks()->addBefore(std::move(hook))};
}
HookHandle Module::register_forward_hook(ForwardHook hook) {
    return {hooks(), hooks()->addAfter(std::move(hook))};
}
HookHandle Module::register_full_backward_hook(BackwardHook hook) {
    return {hooks(), hooks()->addBackward(std::move(hook))};
}

Site Module::callSite() {
    const ModuleFrame* frame = threadState().module;
    return frame ? frame->site : Site::none();
}

std::vector<Module::NamedTensor> Module::collect(std::vector<NamedTensor> Module::*which,
                                                 bool recurse) const {
    std::vector<NamedTensor> out;
    std::unordered_set<const TensorImpl*> seen;
    const auto visit = [&](const auto& self, const Module& module) -> void {
        for (const auto& [name, tensor] : module.*which) {
            if (seen.insert(tensor.impl()).second)
                out.emplace_back(joined(module.m_path, name), tensor);
        }
        if (!recurse) return;
        for (const auto& child : module.m_children) self(self, *child);
    };
    visit(visit, *this);
    return out;
}

std::vector<Module::NamedTensor> Module::named_parameters(bool recurse) const {
    return collect(&Module::m_parameters, recurse);
}

std::vector<Module::NamedTensor> Module::named_buffers(bool recurse) const {
    return collect(&Module::m_buffers, recurse);
}

std::vector<Tensor> Module::parameters() const {
    std::vector<Tensor> out;
    for (auto& [name, tensor] : named_parameters()) out.push_back(std::move(tensor));
    return out;
}

const Module* Module::find(std::string_view path) const {
    if (path.empty()) return this;
    const std::size_t dot = path.find('.');
    for (const auto& child : m_children) {
        if (child->m_name != path.substr(0, dot)) continue;
        return child->find(dot == std::string_view::npos ? std::string_view{}
                                                         : path.substr(dot + 1));
    }
    return nullptr;
}

void Module::train(bool on) {
    m_training = on;
    for (const auto& child : m_children) child->train(on);
}

void Module::zero_grad() {
    for (const Tensor& parameter : parameters()) parameter.set_grad({});
}

void Module::checkName(const std::string& name, const char* what) const {
    const std::string where =
        " in module " + m_typeName + (m_path.empty() ? "" : " (" + m_path + ")");
    if (name.empty() || name.find('.') != std::string::npos) {
        throw Error(std::string(what) + " name \"" + name + "\"" + where +
                    " is not valid: give a name without dots");
    }
    const bool taken = holdsName(m_parameters, name) || holdsName(m_buffers, name) ||
                       std::any_of(m_children.begin(), m_children.end(),
                                   [&](const auto& c) { return c->m_name == name; });
    if (taken) {
        throw Error(std::string(what) + " name \"" + name + "\"" + where +
                    " is taken: choose another name");
    }
}

void Module::adopt(const std::string& name, std::shared_ptr<Module> module) {
    checkName(name, "module");
    if (!module) throw Error("module \"" + name + "\" is null: register a module that exists");
    if (module->holds(this)) {
        throw Error("module \"" + name + "\" holds the module it is registered in, " + m_typeName +
                    ": modules form a tree");
    }
    module->m_name = name;
    module->setPath(joined(m_path, name));
    m_children.push_back(std::move(module));
}

void Module::setPath(const std::string& path) {
    m_path = path;
    for (const auto& child : m_children) child->setPath(joined(path, child->m_name));
}

bool Module::holds(const Module* module) const {
    return this == module || std::any_of(m_children.begin(), m_children.end(),
                                         [&](const auto& c) { return c->holds(module); });
}

Tensor Module::register_parameter(const std::string& name, Tensor tensor) {
    checkName(name, "parameter");
    if (!tensor.defined()) return tensor;
    if (!isFloating(tensor.dtype()) || !tensor.is_leaf()) {
        throw Error("parameter \"" + name + "\" of " + m_typeName + ", " +
                    tensor.meta().toString() +
                    (tensor.is_leaf() ? ", is not floating-point: register it as a buffer"
                                      : ", is the result of an operator: register detach() of it"));
    }
    tensor.set_role(MemoryRole::Parameter);
    tensor.set_requires_grad(true);
    m_parameters.emplace_back(name, tensor);
    return tensor;
}

Tensor Module::register_buffer(const std::string& name, Tensor tensor, bool persistent) {
    checkName(name, "buffer");
    if (!tensor.defined()) return tensor;
    if (!persistent) m_transient.push_back(name);
    tensor.set_role(MemoryRole::Buffer);
    m_buffers.emplace_back(name, tensor);
    return tensor;
}

}  // namespace tapescope::engine::nn
