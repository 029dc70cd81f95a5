// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QLabel;

namespace tapescope::app {

/// What an empty pane says: what would fill it, and how. Centred, muted, wrapped.
QLabel* emptyText(const QString& text);

}  // namespace tapescope::app
