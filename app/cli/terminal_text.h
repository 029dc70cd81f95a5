// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tapescope::app {

/// Text from a tape or of a file's name for the terminal: control characters, which could move the
/// cursor or set colours, stand as "\x1b". Line feeds stay.
std::string printable(std::string_view text);

}  // namespace tapescope::app
