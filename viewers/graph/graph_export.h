// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/graph_state.h"

#include <QString>

namespace tapescope::viewers {

/// The whole graph as it is open now, without current node, selection and matches. PNG is drawn at
/// twice the normal size, smaller where it would be over kMaxExportPixels. False: the file cannot
/// be written or there is no graph; `error` says so.
bool exportGraphPng(const GraphState& state, const QString& path, QString* error);
bool exportGraphSvg(const GraphState& state, const QString& path, QString* error);

constexpr double kMaxExportPixels = 64e6;

}  // namespace tapescope::viewers
