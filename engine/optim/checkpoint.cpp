// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/checkpoint.h"

#include "engine/nn/number_text.h"
#include "engine/nn/serialize/safetensors.h"

#include <charconv>

namespace tapescope::engine::optim {

void save_optimizer(const Optimizer& optimizer, const std::string& path) {
    const OptimizerState state = optimizer.state_dict();
    nn::Metadata metadata;
    for (const auto& [name, value] : state.numbers) metadata[name] = nn::numberText(value);
    nn::save_file(nn::NamedTensors(state.tensors.begin(), state.tensors.end()), path, metadata);
}

void load_optimizer(Optimizer& optimizer, const std::string& path) {
    const nn::SafetensorsFile file(path);
    OptimizerState state;
    for (const auto& [name, text] : file.metadata()) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [at, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && at == end) state.numbers[name] = value;
    }
    if (!state.numbers.contains("param_groups.0.size")) {
        throw DataError(path +
                        ": holds no optimiser's state; name a file that save_optimizer "
                        "wrote");
    }
    for (const auto& entry : file.entries()) state.tensors[entry.name] = file.load(entry.name);
    optimizer.load_state_dict(state);
}

}  // namespace tapescope::engine::optim
