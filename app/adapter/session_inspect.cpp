// SPDX-License-Identifier: Apache-2.0
// Looking at a model that stands: stack, scopes, tensors, sources.
#include "app/adapter/base64.h"
#include "app/adapter/evaluate.h"
#include "app/adapter/session_impl.h"
#include "engine/debug/breakpoint_match.h"
#include "engine/debug/element_runs.h"
#include "engine/debug/slice.h"
#include "engine/debug/tensor_bytes.h"
#include "engine/tensor/complex.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

namespace tapescope::app {
namespace {

using engine::Tensor;
using engine::debug::Frame;
using engine::debug::NamedTensor;
using engine::debug::StopState;

constexpr std::int64_t kFramesPerStop = 1000;        // ids: deeper stacks are cut
constexpr std::int64_t kMaxReadBytes = 32LL << 20U;  // as base64 well below the largest message
constexpr std::int64_t kMaxSliceElements = 1'000'000;
constexpr std::int64_t kDefaultSliceElements = 10'000;
constexpr int kDefaultBins = 64;

struct ScopeDef {
    const char* name;
    std::vector<NamedTensor> Frame::*tensors;
};
constexpr std::array kScopes{
    ScopeDef{"Inputs", &Frame::inputs}, ScopeDef{"Outputs", &Frame::outputs},
    ScopeDef{"Parameters", &Frame::parameters}, ScopeDef{"Gradients", &Frame::gradients},
    ScopeDef{"Saved", &Frame::saved}};

std::string baseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

template <class T>
Json elementJson(T value) {
    if constexpr (engine::kIsFloatingElement<T>) {
        return jsonNumber(static_cast<double>(value));
    } else {
        return value;
    }
}

}  // namespace

std::shared_ptr<const StopState> Session::Impl::requireStop() const {
    if (!debuggee) throw RequestError("No model is launched.");
    if (ended) throw RequestError("The model's run has ended: launch it again in a new session.");
    std::shared_ptr<const StopState> state = debugger.state();
    if (!state) throw RequestError("The model is running: pause it first.");
    return state;
}

std::int64_t Session::Impl::frameId(std::size_t index) const {
    return stopSerial * kFramesPerStop + static_cast<std::int64_t>(index) + 1;
}

const Frame& Session::Impl::frameOf(const StopState& state, std::int64_t id) const {
    const std::int64_t index = id - frameId(0);
    if (index < 0 || index >= static_cast<std::int64_t>(state.frames.size())) {
        throw RequestError("The frame " + std::to_string(id) +
                           " is not of this stop: ask for stackTrace again.");
    }
    return state.frames[static_cast<std::size_t>(index)];
}

Json Session::Impl::sourceOf(const engine::Site& site) const {
    const std::string path = site.file;
    Json out{{"name", baseName(path)}, {"path", path}};
    const auto& files = debuggee->run().entry().sources;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].path == path) out["sourceReference"] = i + 1;
    }
    return out;
}

Json Session::Impl::stackTrace(const Json& arguments) {
    const auto state = requireStop();
    const auto total = static_cast<std::int64_t>(state->frames.size());
    const std::int64_t shown = std::min(total, kFramesPerStop);
    if (const std::int64_t thread = optionalInteger(arguments, "threadId").value_or(1);
        thread != 1) {
        throw RequestError("There is no thread " + std::to_string(thread) +
                           ": the training loop is thread 1.");
    }
    const std::int64_t start = optionalInteger(arguments, "startFrame").value_or(0);
    const std::int64_t levels = optionalInteger(arguments, "levels").value_or(0);
    if (start < 0 || levels < 0) {
        throw RequestError(
            "The arguments \"startFrame\" and \"levels\" count frames: they cannot be negative.");
    }
    const std::int64_t first = std::min(start, shown);
    const std::int64_t end = levels > 0 ? first + std::min(levels, shown - first) : shown;
    Json frames = Json::array();
    for (std::int64_t i = first; i < end; ++i) {
        const Frame& frame = state->frames[static_cast<std::size_t>(i)];
        Json out{{"id", frameId(static_cast<std::size_t>(i))},
                 {"name", frame.name},
                 {"line", 0},
                 {"column", 0}};
        if (frame.site.known()) {
            out["source"] = sourceOf(frame.site);
            out["line"] = frame.site.line - 1 + firstLine;
            out["column"] = firstLine;
        } else {
            out["presentationHint"] = "label";
        }
        frames.push_back(std::move(out));
    }
    return {{"stackFrames", std::move(frames)}, {"totalFrames", total}};
}

Json Session::Impl::scopes(const Json& arguments) {
    const auto state = requireStop();
    const std::int64_t id = integerArgument(arguments, "frameId");
    const Frame& frame = frameOf(*state, id);
    const auto index = static_cast<std::size_t>(id - frameId(0));
    Json list = Json::array();
    for (const ScopeDef& scope : kScopes) {
        const std::vector<NamedTensor>& tensors = frame.*scope.tensors;
        if (tensors.empty()) continue;
        const bool inputs = scope.tensors == &Frame::inputs;
        const auto [known, isNew] = scopeReferences.try_emplace({index, scope.name}, 0);
        if (isNew) known->second = store.addScope(tensors, inputs ? frame.attrs : std::string());
        const std::size_t count = tensors.size() + (inputs && !frame.attrs.empty() ? 1 : 0);
        list.push_back({{"name", scope.name},
                        {"variablesReference", known->second},
                        {"namedVariables", count},
                        {"expensive", false}});
    }
    return {{"scopes", std::move(list)}};
}

Json Session::Impl::variables(const Json& arguments) {
    requireStop();
    const std::int64_t reference = integerArgument(arguments, "variablesReference");
    const std::string filter = optionalText(arguments, "filter").value_or("");
    if (!filter.empty() && filter != "named" && filter != "indexed") {
        throw RequestError("The argument \"filter\" must be \"named\" or \"indexed\".");
    }
    const std::int64_t start = optionalInteger(arguments, "start").value_or(0);
    const std::int64_t count = optionalInteger(arguments, "count").value_or(0);
    const bool fits = reference > 0 && reference <= INT32_MAX;
    return {{"variables",
             store.children(fits ? static_cast<int>(reference) : 0, filter, start, count)}};
}

Json Session::Impl::evaluate(const Json& arguments) {
    const auto state = requireStop();
    const std::string expression = textArgument(arguments, "expression");
    const std::optional<std::int64_t> id = optionalInteger(arguments, "frameId");
    const Frame& frame = id ? frameOf(*state, *id) : state->frames.front();
    const Tensor tensor = evaluateTensor(expression, frame, model());
    Json result = store.tensorVariable(expression, tensor, expression);
    result["result"] = result["value"];
    for (const char* unused : {"name", "value", "evaluateName"}) result.erase(unused);
    return result;
}

Json Session::Impl::readMemory(const Json& arguments) {
    requireStop();
    const std::string reference = textArgument(arguments, "memoryReference");
    const Tensor& tensor = store.tensor(reference);
    const std::int64_t offset = optionalInteger(arguments, "offset").value_or(0);
    const std::int64_t count = integerArgument(arguments, "count");
    if (count < 0) throw RequestError("The argument \"count\" must be 0 or more.");
    const auto total = static_cast<std::int64_t>(tensor.nbytes());
    Json body{{"address", std::to_string(offset)}};
    if (offset < 0 || offset >= total) {
        body["unreadableBytes"] = count;
        return body;
    }
    const std::int64_t readable = std::min(count, total - offset);
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(readable, kMaxReadBytes)));
    engine::debug::copyBytes(tensor, static_cast<std::size_t>(offset), bytes);
    body["data"] = base64(bytes);
    if (readable < count) body["unreadableBytes"] = count - readable;
    return body;
}

Json Session::Impl::tensorStats(const Json& arguments) {
    requireStop();
    const Tensor& tensor = store.tensor(textArgument(arguments, "memoryReference"));
    const std::int64_t bins = optionalInteger(arguments, "bins").value_or(kDefaultBins);
    if (bins < 0 || bins > engine::debug::kMaxHistogramBins) {
        throw RequestError("The argument \"bins\" is " + std::to_string(bins) +
                           ": it takes 0 (no histogram) to " +
                           std::to_string(engine::debug::kMaxHistogramBins) + ".");
    }
    const engine::debug::TensorStats stats =
        engine::debug::tensorStats(tensor, static_cast<int>(bins));
    return {{"shape", std::vector<std::int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
            {"dtype", engine::dtypeShortName(tensor.dtype())},
            {"device", engine::deviceName(tensor.device())},
            {"numel", stats.numel},
            {"nan", stats.nanCount},
            {"inf", stats.infCount},
            {"magnitudes", stats.magnitudes},
            {"min", jsonNumber(stats.min)},
            {"mean", jsonNumber(stats.mean)},
            {"max", jsonNumber(stats.max)},
            {"std", jsonNumber(stats.std)},
            {"edges", stats.edges},
            {"counts", stats.counts}};
}

Json Session::Impl::tensorSlice(const Json& arguments) {
    requireStop();
    const Tensor& tensor = store.tensor(textArgument(arguments, "memoryReference"));
    const Tensor view =
        engine::debug::applySlice(tensor, optionalText(arguments, "slice").value_or(""));
    const std::int64_t limit =
        optionalInteger(arguments, "maxElements").value_or(kDefaultSliceElements);
    if (limit < 0) throw RequestError("The argument \"maxElements\" must be 0 or more.");
    const std::int64_t count = std::min({view.numel(), limit, kMaxSliceElements});
    Json values = Json::array();
    Json parts = Json::array();
    const auto forEach = [&]<class T>(const auto& put) {
        engine::debug::forEachRun<T>(view, 0, count,
                                     [&](const T* from, std::int64_t n, std::int64_t stride) {
                                         for (std::int64_t i = 0; i < n; ++i) put(from[i * stride]);
                                     });
    };
    const bool complex = engine::isComplex(view.dtype());
    if (complex) {
        forEach.operator()<engine::Complex64>([&](engine::Complex64 z) {
            values.push_back(elementJson(std::hypot(z.real(), z.imag())));
            parts.push_back(elementJson(z.real()));
            parts.push_back(elementJson(z.imag()));
        });
    } else {
        engine::visitEveryDType(view.dtype(), [&]<class T>() {
            forEach.template operator()<T>([&](T value) { values.push_back(elementJson(value)); });
        });
    }
    Json answer = {{"shape", std::vector<std::int64_t>(view.sizes().begin(), view.sizes().end())},
                   {"values", std::move(values)},
                   {"truncated", count < view.numel()}};
    if (complex) answer["parts"] = std::move(parts);
    return answer;
}

Json Session::Impl::source(const Json& arguments) {
    if (!debuggee) throw RequestError("No model is launched: sources are a model's.");
    const auto& files = debuggee->run().entry().sources;
    const Json& given = objectArgument(arguments, "source");
    std::int64_t reference = optionalInteger(arguments, "sourceReference").value_or(0);
    if (reference == 0) reference = optionalInteger(given, "sourceReference").value_or(0);
    const std::string path = optionalText(given, "path").value_or("");
    for (std::size_t i = 0; i < files.size(); ++i) {
        const bool wanted = reference > 0 ? reference == static_cast<std::int64_t>(i) + 1
                                          : engine::debug::samePath(path, files[i].path);
        if (wanted) return {{"content", files[i].text}, {"mimeType", "text/x-c++src"}};
    }
    throw RequestError("The model carries no source \"" +
                       (path.empty() ? std::to_string(reference) : path) +
                       "\": open it from your own checkout.");
}

}  // namespace tapescope::app
