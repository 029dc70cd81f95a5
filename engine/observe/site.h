// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>

namespace tapescope::engine {

/// Where in the user's program an operator was called. Public operators take `Site site = {}` last:
/// the default is filled in at the caller, without a macro. Strings have static storage duration.
struct Site {
    const char* file = "";
    const char* function = "";
    std::uint32_t line = 0;

    constexpr Site(std::source_location at =
                       std::source_location::current())  // NOLINT(google-explicit-constructor)
        : file(at.file_name()), function(at.function_name()), line(at.line()) {}
    constexpr Site(const char* file_, const char* function_, std::uint32_t line_)
        : file(file_), function(function_), line(line_) {}
    static constexpr Site none() { return {"", "", 0}; }

    constexpr bool known() const { return line != 0; }
    friend constexpr bool operator==(const Site& a, const Site& b) {
        return a.file == b.file && a.line == b.line;
    }
};

}  // namespace tapescope::engine
