// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

#include <span>
#include <string_view>

namespace tapescope::plugins {

/// What the build put into the library, by path below the source tree.
std::span<const EmbeddedFile> embeddedFiles();
/// Throws engine::Error if the build left it out.
EmbeddedFile embeddedFile(std::string_view path);

}  // namespace tapescope::plugins
