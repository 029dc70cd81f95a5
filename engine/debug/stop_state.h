// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/debugger.h"

#include <string>
#include <vector>

namespace tapescope::engine::debug {

/// Where the model's thread is: inside or behind an operator call, else at the entry of a backward
/// node or module.
struct Place {
    const OpCall* call = nullptr;
    const BackwardFrame* backward = nullptr;  ///< of the call, or the node being entered
    const ModuleFrame* module = nullptr;      ///< of the call, or the one being entered
};

/// What frames are named after and get their parameters from; root may be null.
struct Program {
    const nn::Module* root = nullptr;
    std::string name;
    std::int64_t step = -1;
};

/// The stack at a place, innermost first: the operator; in backward its node and the modules of the
/// forward call, else the modules it runs in; last the program. Copies tensor handles only. On the
/// model's thread.
std::vector<Frame> buildFrames(const Place& place, const Program& program);

/// "conv2: conv2d", or "conv2d" outside modules.
std::string operatorTitle(std::string_view modulePath, std::string_view op);

}  // namespace tapescope::engine::debug
