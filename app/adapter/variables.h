// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/protocol.h"
#include "engine/debug/debugger.h"
#include "engine/debug/tensor_stats.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tapescope::app {

/// What a client may look into at one stop: scopes, tensors and their rows, by the numbers DAP
/// calls references. Holds handles of the model's tensors, so it is cleared before the model goes
/// on. Numbers are never reused: one of an earlier stop is refused. One thread.
class VariableStore final {
public:
    void clear();

    int addScope(const std::vector<engine::debug::NamedTensor>& tensors,
                 const std::string& attributes = {});
    /// The Variable object of a tensor; expression is what evaluates to it.
    Json tensorVariable(const std::string& name, const engine::Tensor& tensor,
                        const std::string& expression);
    /// filter: "", "named" or "indexed". count 0 = all, up to kMaxRows. Throws RequestError for an
    /// unknown reference.
    Json children(int reference, const std::string& filter, std::int64_t start, std::int64_t count);
    /// Throws RequestError for an unknown one.
    const engine::Tensor& tensor(const std::string& memoryReference) const;

    static constexpr std::int64_t kMaxRows = 10'000;

private:
    struct Entry {
        bool isScope = false;
        std::vector<engine::debug::NamedTensor> scope;
        std::string attributes;
        engine::Tensor tensor;
        std::string expression;
        std::optional<engine::debug::TensorStats> stats;
    };
    Entry& at(int reference);
    int addTensor(const engine::Tensor& tensor, const std::string& expression);
    static const engine::debug::TensorStats& statsOf(Entry& entry);
    void appendProperties(Json& out, Entry& entry) const;
    void appendRows(Json& out, int reference, std::int64_t start, std::int64_t count);

    std::map<int, Entry> m_entries;
    std::unordered_map<const engine::TensorImpl*, int> m_known;
    int m_next = 1;
};

/// "f32[64,1,8,8] cpu  min -0.42  mean 0.13  max 1", led by "NaN 3 " or "Inf 1 " when there are
/// any; a tensor of one element shows its value instead.
std::string describeTensor(const engine::Tensor& tensor, const engine::debug::TensorStats& stats);

}  // namespace tapescope::app
