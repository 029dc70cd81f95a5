// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/checkpoint.h"

#include "engine/nn/module.h"

#include <functional>
#include <vector>

namespace tapescope::engine::nn {

Tensor checkpoint_sequential(const Module& sequence, std::int64_t segments, const Tensor& input,
                             CheckpointOptions options, Site site) {
    std::vector<std::function<Tensor(const Tensor&)>> functions;
    for (const auto& child : sequence.children()) {
        functions.emplace_back([child, site](const Tensor& x) { return child->call(x, site); });
    }
    return engine::checkpoint_sequential(functions, segments, input, options, site);
}

}  // namespace tapescope::engine::nn
