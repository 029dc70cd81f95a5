// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QDockWidget;
class QLabel;
class QStackedWidget;
class QTabBar;
class QToolButton;

namespace tapescope::app {

/// A dock's title: its name, or the tabs of its pages, and buttons to float and close it that show
/// under the pointer.
class PaneTitle final : public QWidget {
    Q_OBJECT

public:
    explicit PaneTitle(QDockWidget* dock);
    /// Shows tabs that switch these pages in place of the name; tab i belongs to page i.
    void setPages(QStackedWidget* pages, const QStringList& titles);
    QTabBar* tabs() const { return m_tabs; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void applyTheme();
    void showButtons(bool on);

    QDockWidget* m_dock;
    QLabel* m_label;
    QTabBar* m_tabs = nullptr;
    QToolButton* m_float;
    QToolButton* m_close;
};

}  // namespace tapescope::app
