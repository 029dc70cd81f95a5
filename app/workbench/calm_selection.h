// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAbstractItemView;

namespace tapescope::app {

/// Selected rows get a quiet fill instead of the accent itself, and keep their text colours;
/// follows the theme.
void calmSelection(QAbstractItemView* view);

}  // namespace tapescope::app
