// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QAction;

namespace tapescope::app {

/// Every command with its keys, by menu, and the keys that belong to single views.
class KeysDialog final : public QDialog {
    Q_OBJECT

public:
    KeysDialog(const QList<QAction*>& commands, QWidget* parent);
};

}  // namespace tapescope::app
