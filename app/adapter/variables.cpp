// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/variables.h"

#include "engine/debug/element_runs.h"
#include "engine/debug/slice.h"
#include "engine/tensor/complex.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

using engine::Tensor;
using engine::debug::NamedTensor;
using engine::debug::TensorStats;

constexpr int kPropertyCount = 12;
constexpr std::string_view kReferencePrefix = "tensor-";

std::string shortNumber(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", value);
    return text.data();
}

template <class T>
std::string elementText(T value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else {
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
        std::string out(text.data(), end);
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(value)) return "NaN";
            if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
        }
        return out;
    }
}

/// The element at a row-major position.
std::string elementText(const Tensor& tensor, std::int64_t at) {
    if (engine::isComplex(tensor.dtype())) {
        engine::Complex64 value;
        engine::debug::copyElements(tensor, at, std::span(&value, 1));
        return engine::complexText(value);
    }
    return engine::visitEveryDType(tensor.dtype(), [&]<class T>() {
        T value{};
        engine::debug::copyElements<T>(tensor, at, std::span(&value, 1));
        return elementText(static_cast<engine::Widened<T>>(value));
    });
}

/// "input[3]" of "input", "input[3, 0]" of "input[3]".
std::string rowExpression(const std::string& expression, std::int64_t row) {
    if (expression.empty()) return {};
    if (!expression.ends_with(']')) return expression + "[" + std::to_string(row) + "]";
    return expression.substr(0, expression.size() - 1) + ", " + std::to_string(row) + "]";
}

Json plainVariable(const std::string& name, const std::string& value) {
    return {{"name", name}, {"value", value}, {"variablesReference", 0}};
}

}  // namespace

std::string describeTensor(const Tensor& tensor, const TensorStats& stats) {
    std::string text;
    if (stats.nanCount > 0) text += "NaN " + std::to_string(stats.nanCount) + " ";
    if (stats.infCount > 0) text += "Inf " + std::to_string(stats.infCount) + " ";
    text += tensor.meta().toString() + " " + std::string(engine::deviceName(tensor.device()));
    if (tensor.numel() == 1) return text + "  " + elementText(tensor, 0);
    if (!std::isnan(stats.min)) {
        text += stats.magnitudes ? "  |z| min " : "  min ";
        text += shortNumber(stats.min) + "  mean " + shortNumber(stats.mean) + "  max " +
                shortNumber(stats.max);
    }
    return text;
}

void VariableStore::clear() {
    m_entries.clear();
    m_known.clear();
}

int VariableStore::addScope(const std::vector<NamedTensor>& tensors,
                            const std::string& attributes) {
    Entry entry;
    entry.isScope = true;
    entry.scope = tensors;
    entry.attributes = attributes;
    m_entries.emplace(m_next, std::move(entry));
    return m_next++;
}

int VariableStore::addTensor(const Tensor& tensor, const std::string& expression) {
    const auto [known, isNew] = m_known.try_emplace(tensor.impl(), m_next);
    if (!isNew) return known->second;
    Entry entry;
    entry.tensor = tensor;
    entry.expression = expression;
    m_entries.emplace(m_next, std::move(entry));
    return m_next++;
}

VariableStore::Entry& VariableStore::at(int reference) {
    const auto found = m_entries.find(reference);
    if (found == m_entries.end()) {
        throw RequestError("The variables reference " + std::to_string(reference) +
                           " is not of this stop: ask for scopes again.");
    }
    return found->second;
}

const Tensor& VariableStore::tensor(const std::string& memoryReference) const {
    int reference = 0;
    if (memoryReference.starts_with(kReferencePrefix)) {
        const char* const begin = memoryReference.data() + kReferencePrefix.size();
        const char* const end = memoryReference.data() + memoryReference.size();
        if (std::from_chars(begin, end, reference).ptr != end) reference = 0;
    }
    const auto found = m_entries.find(reference);
    if (found == m_entries.end() || found->second.isScope) {
        throw RequestError("The memory reference \"" + memoryReference +
                           "\" is not of this stop: ask for variables again.");
    }
    return found->second.tensor;
}

const TensorStats& VariableStore::statsOf(Entry& entry) {
    if (!entry.stats) entry.stats = engine::debug::tensorStats(entry.tensor);
    return *entry.stats;
}

Json VariableStore::tensorVariable(const std::string& name, const Tensor& tensor,
                                   const std::string& expression) {
    const int reference = addTensor(tensor, expression);
    Entry& entry = at(reference);
    Json variable{{"name", name},
                  {"value", describeTensor(tensor, statsOf(entry))},
                  {"type", tensor.meta().toString()},
                  {"variablesReference", reference},
                  {"memoryReference", std::string(kReferencePrefix) + std::to_string(reference)},
                  {"namedVariables", kPropertyCount},
                  {"indexedVariables", tensor.dim() > 0 ? tensor.size(0) : 0}};
    if (!expression.empty()) variable["evaluateName"] = expression;
    return variable;
}

void VariableStore::appendProperties(Json& out, Entry& entry) const {
    const Tensor& tensor = entry.tensor;
    const TensorStats& stats = statsOf(entry);
    const auto add = [&](const std::string& name, const std::string& value) {
        out.push_back(plainVariable(name, value));
    };
    add("shape", engine::toString(tensor.sizes()));
    add("dtype", std::string(engine::dtypeName(tensor.dtype())));
    add("device", std::string(engine::deviceName(tensor.device())));
    add("strides", engine::toString(tensor.strides()));
    add("version", std::to_string(tensor.version()));
    add("requires_grad", tensor.requires_grad() ? "true" : "false");
    add("NaN", std::to_string(stats.nanCount));
    add("Inf", std::to_string(stats.infCount));
    const std::string of = stats.magnitudes ? "|z| " : "";
    add(of + "min", elementText(stats.min));
    add(of + "mean", elementText(stats.mean));
    add(of + "max", elementText(stats.max));
    add(of + "std", elementText(stats.std));
}

void VariableStore::appendRows(Json& out, int reference, std::int64_t start, std::int64_t count) {
    const Tensor tensor = at(reference).tensor;  // copies: new entries follow
    const std::string expression = at(reference).expression;
    if (tensor.dim() == 0) return;
    const std::int64_t rows = tensor.size(0);
    const std::int64_t first = std::clamp<std::int64_t>(start, 0, rows);
    const std::int64_t wanted = count > 0 ? count : kMaxRows;
    const std::int64_t end = first + std::min({rows - first, wanted, kMaxRows});
    for (std::int64_t row = first; row < end; ++row) {
        const std::string name = "[" + std::to_string(row) + "]";
        if (tensor.dim() == 1) {
            Json variable = plainVariable(name, elementText(tensor, row));
            variable["type"] = engine::dtypeShortName(tensor.dtype());
            if (!expression.empty()) variable["evaluateName"] = rowExpression(expression, row);
            out.push_back(std::move(variable));
        } else {
            const Tensor view = engine::debug::applySlice(tensor, std::to_string(row));
            out.push_back(tensorVariable(name, view, rowExpression(expression, row)));
        }
    }
}

Json VariableStore::children(int reference, const std::string& filter, std::int64_t start,
                             std::int64_t count) {
    Json out = Json::array();
    Entry& entry = at(reference);
    if (entry.isScope) {
        if (filter == "indexed") return out;
        const std::vector<NamedTensor> tensors = entry.scope;  // copies: new entries follow
        const std::string attributes = entry.attributes;
        for (const NamedTensor& each : tensors)
            out.push_back(tensorVariable(each.name, each.tensor, each.name));
        if (!attributes.empty()) out.push_back(plainVariable("attributes", attributes));
        return out;
    }
    if (filter != "indexed" && start <= 0) appendProperties(out, entry);
    if (filter != "named") appendRows(out, reference, start, count);
    return out;
}

}  // namespace tapescope::app
