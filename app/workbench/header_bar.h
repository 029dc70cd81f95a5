// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QHBoxLayout;
class QLabel;
class QMenuBar;

namespace tapescope::app {

/// The window's one row on top: menus, the run in front, perspectives, run and step buttons,
/// palette and theme.
class HeaderBar final : public QWidget {
    Q_OBJECT

public:
    explicit HeaderBar(QWidget* parent = nullptr);

    QMenuBar* menus() const { return m_menus; }
    void setRunTitle(const QString& name, const QString& detail, const QString& toolTip);
    void setPerspectives(const QList<QAction*>& actions);
    /// Groups of buttons, with a gap between groups.
    void setTools(const QList<QList<QAction*>>& groups);

private:
    void applyTheme();

    QMenuBar* m_menus;
    QLabel* m_name;
    QLabel* m_detail;
    QHBoxLayout* m_perspectives;
    QHBoxLayout* m_tools;
};

}  // namespace tapescope::app
