// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace tapescope::viewers {

/// Where a breakpoint of the graph stands. Written as the debug adapter's function breakpoints are:
/// `conv2d`, `conv*`, `conv2` (module), `conv2: conv2d`, `backward:conv2: conv2d` (see
/// docs/dap.md).
struct GraphPlace {
    std::string op;      ///< operator or pattern with * and ?; empty: the module's entry
    std::string module;  ///< module path; empty: any module
    bool backward = false;
    friend bool operator==(const GraphPlace&, const GraphPlace&) = default;
};

/// The function breakpoint's text of a place.
std::string breakpointName(const GraphPlace& place);

/// A function breakpoint as the graph shows it.
struct GraphBreakpoint {
    std::string name;      ///< as breakpointName() writes it
    bool verified = true;  ///< false: drawn hollow
    bool enabled = true;   ///< false: drawn grey
    int hits = 0;
};

/// How a breakpoint concerns one node or module.
enum class PlaceMatch {
    None,
    Pattern,  ///< by operator name or pattern, in any module
    Exact     ///< names this operator in this module, or this module
};

/// Does the breakpoint `name` stop at this place? A name without a colon is an operator (or
/// pattern) or a module's path.
PlaceMatch matchBreakpoint(const std::string& name, const GraphPlace& place);

}  // namespace tapescope::viewers
