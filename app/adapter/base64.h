// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tapescope::app {

/// RFC 4648, with padding.
std::string base64(std::span<const std::byte> bytes);

}  // namespace tapescope::app
