// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/arguments.h"

namespace tapescope::app {

/// --pack, of every command that takes models.
inline const OptionDef kPackOption{"--pack", "FILE.so", "a model pack; may be repeated", true};

/// Loads the packs that --pack names, and says on stderr which of the search path's were left out.
/// Throws plugins::UsageError.
void loadPacks(const Arguments& args);

}  // namespace tapescope::app
