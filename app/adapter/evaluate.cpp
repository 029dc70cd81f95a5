// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/evaluate.h"

#include "app/adapter/protocol.h"
#include "engine/debug/slice.h"
#include "engine/text.h"

#include <string_view>
#include <vector>

namespace tapescope::app {
namespace {

using engine::Tensor;
using engine::debug::Frame;
using engine::debug::NamedTensor;

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// Everything an expression may start with; the frame's own names go before the model's.
std::vector<NamedTensor> visibleTensors(const Frame& frame, const engine::nn::Module* root) {
    std::vector<NamedTensor> all;
    for (const auto* scope :
         {&frame.inputs, &frame.outputs, &frame.parameters, &frame.gradients, &frame.saved}) {
        all.insert(all.end(), scope->begin(), scope->end());
    }
    if (!root) return all;
    for (auto& [name, tensor] : root->named_parameters()) all.push_back({name, tensor});
    for (auto& [name, tensor] : root->named_buffers()) all.push_back({name, tensor});
    return all;
}

const Tensor* findTensor(const std::vector<NamedTensor>& all, std::string_view name) {
    for (const NamedTensor& each : all) {
        if (each.name == name) return each.tensor.defined() ? &each.tensor : nullptr;
    }
    return nullptr;
}

Tensor lookUp(std::string_view name, const Frame& frame, const engine::nn::Module* root) {
    const std::vector<NamedTensor> all = visibleTensors(frame, root);
    if (const Tensor* found = findTensor(all, name)) return *found;
    constexpr std::string_view kGrad = ".grad";
    if (name.ends_with(kGrad)) {
        const std::string_view owner = name.substr(0, name.size() - kGrad.size());
        if (const Tensor* found = findTensor(all, owner)) {
            if (Tensor grad = found->grad(); grad.defined()) return grad;
            throw RequestError(
                std::string(owner) +
                " has no gradient here: it is there from backward on, until zero_grad.");
        }
    }
    std::vector<std::string> names;
    for (const NamedTensor& each : all) names.push_back(each.name);
    const std::string hint = engine::didYouMean(name, names);
    throw RequestError(
        "There is no tensor \"" + std::string(name) + "\" in the frame \"" + frame.name + "\"" +
        (hint.empty() ? ": give one of its scopes or a parameter's full name." : hint));
}

}  // namespace

Tensor evaluateTensor(const std::string& expression, const Frame& frame,
                      const engine::nn::Module* root) {
    std::string_view rest = trim(expression);
    const std::size_t bracket = rest.find('[');
    const std::string_view name = trim(rest.substr(0, bracket));
    if (name.empty()) {
        throw RequestError(
            "The expression names no tensor: write for example input[0, :, 2:5] or "
            "conv1.weight.grad.");
    }
    Tensor tensor = lookUp(name, frame, root);
    rest = bracket == std::string_view::npos ? std::string_view() : rest.substr(bracket);
    while (!rest.empty()) {
        const std::size_t end = rest.find(']');
        if (rest.front() != '[' || end == std::string_view::npos) {
            throw RequestError(
                "The expression \"" + expression +
                "\" is not a tensor's name with slices in brackets, as in input[0, :, 2:5].");
        }
        tensor = engine::debug::applySlice(tensor, rest.substr(1, end - 1));
        rest = trim(rest.substr(end + 1));
    }
    return tensor;
}

}  // namespace tapescope::app
