// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/containers.h"

#include "engine/errors.h"

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

std::string ModuleList::details() const { return countText(size()); }

}  // namespace tapescope::engine::nn
