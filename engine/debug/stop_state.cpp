// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/stop_state.h"

#include <algorithm>
#include <bit>

namespace tapescope::engine::debug {
namespace {

std::string_view pathOf(const ModuleFrame* module) {
    return module ? std::string_view(module->path) : std::string_view();
}

/// The operator's argument names; those of a list argument are numbered: tensors0, tensors1.
std::string inputName(const OpDef& op, std::size_t i) {
    const auto& args = op.args;
    if (args.empty()) return "input" + std::to_string(i);
    const std::size_t last = args.size() - 1;
    if (i < last || (i == last && !args[last].list)) return std::string(args[i].name);
    if (args[last].list) return std::string(args[last].name) + std::to_string(i - last);
    return "input" + std::to_string(i);
}

std::string numbered(std::string_view name, std::size_t i, std::size_t count) {
    return count == 1 ? std::string(name) : std::string(name) + std::to_string(i);
}

std::vector<NamedTensor> namedInputs(const OpCall& call) {
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const Tensor& tensor = *call.inputs[i];
        if (tensor.defined()) named.push_back({inputName(*call.op, i), tensor});
    }
    return named;
}

std::vector<NamedTensor> namedList(std::string_view name, std::span<const Tensor> tensors) {
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].defined()) named.push_back({numbered(name, i, tensors.size()), tensors[i]});
    }
    return named;
}

/// A node of an operator keeps its row's saved inputs, then its saved outputs; anything else is
/// numbered.
std::vector<NamedTensor> namedSaved(const BackwardFrame& node) {
    std::vector<std::string> names;
    if (node.op) {
        for (std::size_t i = 0; i < node.op->args.size(); ++i) {
            if (node.op->saveInputs >> i & 1U) names.push_back(inputName(*node.op, i));
        }
        const auto outputs = static_cast<std::size_t>(std::popcount(node.op->saveOutputs));
        for (std::size_t i = 0; i < outputs; ++i) names.push_back(numbered("output", i, outputs));
    }
    if (names.size() != node.saved.size()) return namedList("saved", node.saved);
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (node.saved[i].defined()) named.push_back({names[i], node.saved[i]});
    }
    return named;
}

const nn::Module* findModule(const Program& program, const ModuleFrame* frame) {
    if (!program.root || !frame) return nullptr;
    const nn::Module* module = program.root->find(frame->path);
    // A second tree in the same run (a teacher, a discriminator) may use the same path.
    return module && module->type_name() == frame->typeName ? module : nullptr;
}

void addParameters(Frame& frame, const nn::Module* module, bool recurse) {
    if (!module) return;
    for (const auto& [name, tensor] : module->named_parameters(recurse)) {
        if (!tensor.defined()) continue;
        frame.parameters.push_back({name, tensor});
        if (Tensor grad = tensor.grad(); grad.defined()) {
            frame.gradients.push_back({name + ".grad", std::move(grad)});
        }
    }
    for (const auto& [name, tensor] : module->named_buffers(recurse)) {
        if (tensor.defined()) frame.parameters.push_back({name, tensor});
    }
}

void addBackward(Frame& frame, const BackwardFrame& node) {
    frame.gradients = namedList("grad_output", node.gradOutputs);
    frame.saved = namedSaved(node);
}

Frame operatorFrame(const OpCall& call, const Program& program) {
    Frame frame;
    frame.kind = Frame::Kind::Operator;
    frame.op = call.op->name;
    frame.modulePath = pathOf(call.module);
    frame.name = operatorTitle(frame.modulePath, frame.op);
    frame.site = call.site;
    frame.inputs = namedInputs(call);
    frame.outputs = namedList("output", call.outputs);
    if (call.attrs) frame.attrs = attrsText(*call.op, *call.attrs);
    if (call.backward) addBackward(frame, *call.backward);
    addParameters(frame, findModule(program, call.module), /*recurse=*/false);
    return frame;
}

Frame nodeFrame(const BackwardFrame& node, const Program& program) {
    Frame frame;
    frame.kind = Frame::Kind::BackwardNode;
    frame.op = node.op ? node.op->name : node.name;
    frame.modulePath = pathOf(node.module);
    frame.name = operatorTitle(frame.modulePath, frame.op) + " (backward)";
    frame.site = node.site;
    addBackward(frame, node);
    addParameters(frame, findModule(program, node.module), /*recurse=*/false);
    return frame;
}

void pushModules(std::vector<Frame>& frames, const ModuleFrame* module, const Program& program) {
    for (; module; module = module->parent) {
        Frame frame;
        frame.kind = Frame::Kind::Module;
        frame.modulePath = module->path;
        frame.name =
            (module->path.empty() ? "" : module->path + " ") + "(" + module->typeName + ")";
        frame.site = module->site;
        addParameters(frame, findModule(program, module), /*recurse=*/true);
        frames.push_back(std::move(frame));
    }
}

Frame programFrame(const Program& program) {
    Frame frame;
    frame.kind = Frame::Kind::Program;
    frame.name = program.name.empty() ? "program" : program.name;
    if (program.step >= 0) frame.name += ", step " + std::to_string(program.step);
    addParameters(frame, program.root, /*recurse=*/true);
    return frame;
}

}  // namespace

std::string operatorTitle(std::string_view modulePath, std::string_view op) {
    std::string title(modulePath);
    if (!title.empty()) title += ": ";
    return title.append(op);
}

std::vector<Frame> buildFrames(const Place& place, const Program& program) {
    std::vector<Frame> frames;
    if (place.call) frames.push_back(operatorFrame(*place.call, program));
    // A module entered while backward runs (recomputed activations) stands above the node that
    // asked for it.
    const bool entersModule = !place.call && place.module;
    if (entersModule || !place.backward) pushModules(frames, place.module, program);
    for (const BackwardFrame* node = place.backward; node; node = node->parent) {
        frames.push_back(nodeFrame(*node, program));
        pushModules(frames, node->module, program);
    }
    frames.push_back(programFrame(program));
    return frames;
}

}  // namespace tapescope::engine::debug
