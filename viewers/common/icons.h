// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QString>

class QAbstractButton;
class QAction;

namespace tapescope::viewers {

/// The monochrome icon resources/icons/<name>.svg in the theme's text colour (or the given one).
/// Asserts that it exists.
QIcon icon(const QString& name);
QIcon icon(const QString& name, const QColor& color);
/// The program's own icon, in colour.
QIcon appIcon();

/// Gives the button or action an icon that follows the theme.
void setThemedIcon(QAction* action, const QString& name);
void setThemedIcon(QAbstractButton* button, const QString& name);

}  // namespace tapescope::viewers
