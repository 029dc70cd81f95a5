// SPDX-License-Identifier: Apache-2.0
// What a module tells of itself as a whole: its tree, its state, its table.
#include "engine/autograd/autograd_meta.h"
#include "engine/errors.h"
#include "engine/nn/module.h"
#include "engine/ops/pointwise.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tapescope::engine::nn {
namespace {

std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

/// tensor, and with it every handle to it, becomes a handle to value's memory.
void setData(const Tensor& tensor, const Tensor& value) {
    TensorImpl& to = *tensor.impl();
    const TensorImpl& from = *value.impl();
    to.storage = from.storage;
    to.sizes = from.sizes;
    to.strides = from.strides;
    to.offset = from.offset;
    to.numel = from.numel;
    to.dtype = from.dtype;
    to.contiguous = from.contiguous;
    if (to.autograd) to.autograd->accumulator = nullptr;  // it expects gradients of the old dtype
}

void convert(const Tensor& tensor, DType dtype) {
    if (!isFloating(tensor.dtype()) || tensor.dtype() == dtype) return;
    const MemoryRole role = tensor.storage()->role();
    const Tensor gradient = tensor.grad();
    const Tensor converted = engine::to(tensor.detach(), dtype, Site::none());
    converted.set_role(role);
    setData(tensor, converted);
    if (gradient.defined()) tensor.set_grad(engine::to(gradient, dtype, Site::none()));
}

std::string listText(const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return "";
    std::string text = std::string("; ") + what + ": ";
    for (std::size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
    return text;
}

bool passedOver(const std::string& name) {
    return name == "num_batches_tracked" || name.ends_with(".num_batches_tracked");
}

std::string grouped(std::int64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

struct Row {
    std::string name;
    std::string details;
    std::int64_t count;
};

std::size_t columns(const std::string& utf8) {
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

}  // namespace

std::vector<Module::NamedModule> Module::named_modules() const {
    std::vector<NamedModule> out;
    std::unordered_set<const Module*> seen;
    const auto visit = [&](const auto& self, const std::string& path,
                           const Module& module) -> void {
        if (!seen.insert(&module).second) return;
        out.emplace_back(path, &module);
        for (const auto& child : module.m_children) self(self, joined(path, child->m_name), *child);
    };
    visit(visit, "", *this);
    return out;
}

std::vector<Module::NamedModule> Module::named_children() const {
    std::vector<NamedModule> out;
    for (const auto& child : m_children) out.emplace_back(child->m_name, child.get());
    return out;
}

void Module::apply(const std::function<void(Module&)>& fn) {
    for (const auto& child : m_children) child->apply(fn);
    fn(*this);
}

void Module::to(DType dtype) {
    if (!isFloating(dtype)) {
        throw DTypeError("Module::to: parameters can only be floating-point, not " +
                         std::string(dtypeName(dtype)) + "; convert single tensors with to()");
    }
    const NoGradGuard guard;
    for (auto* list : {&m_parameters, &m_buffers}) {
        for (const auto& [name, tensor] : *list) convert(tensor, dtype);
    }
    for (const auto& child : m_children) child->to(dtype);
}

Tensor Module::to(const Tensor& x, DType dtype, Site site) { return engine::to(x, dtype, site); }

void Module::requires_grad_(bool on) {
    for (Tensor& parameter : parameters()) parameter.set_requires_grad(on);
}

void Module::collectState(const std::string& prefix, std::vector<StateSlot>& out) const {
    for (const auto& [name, tensor] : m_parameters) out.push_back({joined(prefix, name), tensor});
    for (const auto& [name, tensor] : m_buffers) {
        if (std::find(m_transient.begin(), m_transient.end(), name) == m_transient.end())
            out.push_back({joined(prefix, name), tensor});
    }
    for (const auto& child : m_children) child->collectState(joined(prefix, child->m_name), out);
}

std::vector<Module::NamedTensor> Module::state_dict() const {
    std::vector<StateSlot> slots;
    collectState("", slots);
    std::vector<NamedTensor> out;
    for (const StateSlot& slot : slots) out.emplace_back(slot.name, slot.tensor.detach());
    return out;
}

Module::LoadResult Module::load_state_dict(const std::vector<NamedTensor>& state, bool strict) {
    std::vector<StateSlot> slots;
    collectState("", slots);
    std::unordered_map<std::string, const Tensor*> given;
    for (const auto& [name, tensor] : state) {
        if (!tensor.defined()) throw Error("load_state_dict: " + name + " is an undefined tensor");
        given.emplace(name, &tensor);
    }
    LoadResult result;
    std::vector<std::string> shapes;
    std::unordered_set<std::string> known;
    for (const StateSlot& slot : slots) {
        known.insert(slot.name);
        const auto at = given.find(slot.name);
        if (at == given.end()) {
            result.missing.push_back(slot.name);
        } else if (at->second->sizes() != slot.tensor.sizes()) {
            shapes.push_back(slot.name + " (" + slot.tensor.meta().toString() + " here, " +
                             at->second->meta().toString() + " in the state)");
        }
    }
    for (const auto& [name, tensor] : state) {
        if (!known.contains(name) && !passedOver(name)) result.unexpected.push_back(name);
    }
    const bool names = strict && !(result.missing.empty() && result.unexpected.empty());
    if (names || !shapes.empty()) {
        throw Error("load_state_dict: the state does not fit " + m_typeName +
                    (strict ? listText("missing", result.missing) +
                                  listText("unexpected", result.unexpected)
                            : "") +
                    listText("other shapes", shapes) +
                    (names ? "; pass strict = false to load the names that fit" : ""));
    }
    const NoGradGuard guard;
    for (const StateSlot& slot : slots) {
        const auto at = given.find(slot.name);
        if (at != given.end()) copy_(slot.tensor, *at->second, Site::none());
    }
    return result;
}

std::string Module::summary() const {
    std::vector<Row> rows;
    std::size_t width = 0;
    std::size_t detailWidth = 0;
    const auto visit = [&](const auto& self, const Module& module, const std::string& indent,
                           const std::string& name) -> void {
        std::int64_t own = 0;
        for (const auto& [n, tensor] : module.m_parameters) own += tensor.numel();
        const std::string label = indent + (name.empty() ? "" : name + ": ") + module.m_typeName;
        rows.push_back({label, module.details(), own});
        width = std::max(width, columns(label));
        detailWidth = std::max(detailWidth, columns(rows.back().details));
        for (const auto& child : module.m_children)
            self(self, *child, indent + "  ", child->m_name);
    };
    visit(visit, *this, "", m_name);
    std::string text;
    for (const Row& row : rows) {
        text += row.name + std::string(width - columns(row.name) + 2, ' ') + row.details;
        if (row.count > 0) {
            const std::string count = grouped(row.count);
            text += std::string(detailWidth - columns(row.details) + 2, ' ') +
                    std::string(count.size() < 12 ? 12 - count.size() : 0, ' ') + count;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    std::int64_t total = 0;
    std::int64_t trainable = 0;
    std::int64_t bytes = 0;
    for (const auto& [name, tensor] : named_parameters()) {
        total += tensor.numel();
        trainable += tensor.requires_grad() ? tensor.numel() : 0;
        bytes += static_cast<std::int64_t>(tensor.nbytes());
    }
    std::int64_t buffers = 0;
    for (const auto& [name, tensor] : named_buffers()) buffers += tensor.numel();
    return text + grouped(total) + " parameters (" + grouped(trainable) + " trainable, " +
           grouped(bytes) + " bytes), " + grouped(buffers) + " values in buffers\n";
}

}  // namespace tapescope::engine::nn
