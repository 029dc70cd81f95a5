// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"

#include <string>
#include <vector>

namespace tapescope::app {

/// The models of a shared library: a pack built with plugins/api/pack.h. It stays loaded. Throws
/// plugins::UsageError naming the file and the remedy: no such file, no shared library, one that
/// lacks the pack's symbols or needs others, one built against other headers, or with a model whose
/// name is taken. Nothing is registered then. Not while models run.
void loadPack(const std::string& path);

/// The folders in which packs are found without being named: those of TAPESCOPE_PACK_PATH
/// (separated by colons), then $XDG_DATA_HOME/tapescope/packs (~/.local/share/…).
std::vector<std::string> packFolders();

/// Why packs in packFolders() were left out, one line each. They are looked for once, when the
/// models are first asked for.
const std::vector<std::string>& packProblems();

}  // namespace tapescope::app
