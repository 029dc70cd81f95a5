// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/layered_layout.h"

namespace tapescope::viewers {

/// As layoutLayered, but a drawing wider than maxWidth whose parts are not connected (an
/// optimizer's steps) is broken into rows of them, in order of each part's first node. Graphs with
/// ports stay in one piece.
LayoutStats layoutPacked(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges,
                         const LayoutOptions& options, double maxWidth);

}  // namespace tapescope::viewers
