// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/containers.h"

#include "engine/errors.h"
#include "engine/text.h"

namespace tapescope::engine::nn {
namespace {

Module& childAt(const Module& container, std::size_t index) {
    const auto& children = container.children();
    if (index >= children.size()) {
        throw IndexError(container.type_name() + ": index " + std::to_string(index) +
                         " is outside its " + std::to_string(children.size()) + " modules");
    }
    return *children[index];
}

std::string countText(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " module" : " modules");
}

}  // namespace

void Sequential::push_back(std::shared_ptr<Module> module) {
    adopt(std::to_string(size()), std::move(module));
}

Module& Sequential::operator[](std::size_t index) const { return childAt(*this, index); }

Tensor Sequential::forward(const Tensor& x) {
    const Site site = callSite();
    Tensor y = x;
    for (const auto& child : children()) y = child->call(y, site);
    return y;
}

std::string Sequential::details() const { return countText(size()); }

void ModuleList::push_back(std::shared_ptr<Module> module) {
    adopt(std::to_string(size()), std::move(module));
}

Module& ModuleList::operator[](std::size_t index) const { return childAt(*this, index); }

Tensor ModuleList::forward(const Tensor&) {
    throw Error("ModuleList has no forward: call its elements, or use Sequential" +
                placeSuffix(path(), callSite()));
}

ModuleDict::ModuleDict(std::initializer_list<Entry> entries) : Module("ModuleDict") {
    for (const Entry& entry : entries) insert(entry.first, entry.second);
}

void ModuleDict::insert(const std::string& name, std::shared_ptr<Module> module) {
    adopt(name, std::move(module));
}

std::vector<std::string> ModuleDict::keys() const {
    std::vector<std::string> names;
    for (const auto& child : children()) names.push_back(child->name());
    return names;
}

Module& ModuleDict::operator[](const std::string& name) const {
    for (const auto& child : children()) {
        if (child->name() == name) return *child;
    }
    throw Error("ModuleDict has no module \"" + name + "\"" + didYouMean(name, keys()) +
                placeSuffix(path(), Site::none()));
}

Tensor ModuleDict::forward(const Tensor&) {
    throw Error("ModuleDict has no forward: call its modules by name" +
                placeSuffix(path(), callSite()));
}

std::string ModuleDict::details() const { return countText(size()); }

ParameterList::ParameterList(const std::vector<Tensor>& parameters) : Module("ParameterList") {
    for (const Tensor& parameter : parameters) append(parameter);
}

void ParameterList::append(const Tensor& parameter) {
    const std::string name = std::to_string(size());
    if (!parameter.defined())
        throw Error("ParameterList: parameter " + name + " is an undefined tensor; leave it out");
    m_list.push_back(register_parameter(name, parameter));
}

const Tensor& ParameterList::operator[](std::size_t index) const {
    if (index >= size()) {
        throw IndexError("ParameterList: index " + std::to_string(index) + " is outside its " +
                         std::to_string(size()) + " parameters");
    }
    return m_list[index];
}

Tensor ParameterList::forward(const Tensor&) {
    throw Error("ParameterList has no forward: use its parameters in an expression" +
                placeSuffix(path(), callSite()));
}

std::string ParameterList::details() const {
    return std::to_string(size()) + (size() == 1 ? " parameter" : " parameters");
}

std::string ModuleList::details() const { return countText(size()); }

}  // namespace tapescope::engine::nn
