// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/graph_state.h"

#include <QString>

namespace tapescope::viewers {

/// Rich text about a box: operator, shapes in and out, attributes, module, site, cost. Everything
/// of the tape is escaped.
QString boxToolTip(const GraphState& state, int box);
QString chipToolTip(const GraphState& state, const SceneChip& chip);
/// "12.4 ms", "1.2 GFLOP", "183 MB"; empty for GraphHeat::Kind or an unknown value.
QString heatText(GraphHeat heat, double value);

}  // namespace tapescope::viewers
