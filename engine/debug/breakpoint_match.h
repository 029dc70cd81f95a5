// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/debugger.h"

#include <string>
#include <string_view>
#include <vector>

namespace tapescope::engine::debug {

/// `*` stands for any run of characters, `?` for one; everything else for itself.
bool globMatch(std::string_view pattern, std::string_view text) noexcept;

/// True if one path is the other or ends with it at a separator: sites name files relative to the
/// source tree, front ends by full path. '\' counts as '/'.
bool samePath(std::string_view a, std::string_view b) noexcept;

/// Every module path below root, depth first, without the root's "".
std::vector<std::string> modulePaths(const nn::Module& root);

/// Whether a breakpoint of the fitting kind stops here; false for any other kind.
bool matchesOperator(const Breakpoint& breakpoint, std::string_view op, const ModuleFrame* module);
bool matchesModule(const Breakpoint& breakpoint, const ModuleFrame& module);
bool matchesBackward(const Breakpoint& breakpoint, std::string_view op, const ModuleFrame* module);
bool matchesLine(const Breakpoint& breakpoint, const Site& site);

}  // namespace tapescope::engine::debug
