// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/module_graph.h"

namespace tapescope::viewers {

/// Puts runs of at least kMinFold siblings of equal structure (types, operators, shapes) into a
/// fold each. Renumbers the groups so that parents keep smaller indices than their children.
void foldEqualGroups(ModuleGraph& graph);

}  // namespace tapescope::viewers
