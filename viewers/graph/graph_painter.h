// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/graph_state.h"

#include <QRectF>

class QPainter;

namespace tapescope::viewers {

struct GraphPaintOptions {
    QRectF visible;    ///< in scene coordinates
    double scale = 1;  ///< scene to device: decides how much detail is drawn
    int hoverBox = -1;
    bool hoverDot = false;  ///< the pointer is where a click sets a breakpoint
    bool marks = true;      ///< current, selection, matches; off for exports
};

/// Below this scale no text and straight lines.
constexpr double kTextScale = 0.45;

/// Draws what is visible. The painter's transform is scene to device. O(visible boxes and lines).
void paintGraph(QPainter& painter, const GraphState& state, const GraphPaintOptions& options);

/// Texts and widths in the theme's fonts; long names are shortened in the middle.
SceneStyle themedSceneStyle();

/// Where a box's title stands, and where a click sets a breakpoint (empty: nowhere).
QRectF contentRect(const SceneBox& box);
QRectF dotRect(const SceneBox& box);
/// The + or − of a group.
QRectF openerRect(const SceneBox& box);

}  // namespace tapescope::viewers
