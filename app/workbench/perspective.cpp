// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/perspective.h"

#include "app/workbench/pane_title.h"

#include <QDockWidget>
#include <QSettings>

namespace tapescope::app {

namespace {
constexpr int kLayoutVersion =
    1;  // raise when panes are renamed: an old state would then hide them
}

Perspective::Perspective(const QString& id, QWidget* parent)
    : QMainWindow(parent, Qt::Widget), m_id(id) {
    setObjectName(id + QStringLiteral("Perspective"));
    setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setDocumentMode(true);
    setContextMenuPolicy(Qt::NoContextMenu);
}

QDockWidget* Perspective::addPane(const QString& id, const QString& title, QWidget* content,
                                  Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(id);
    dock->setWidget(content);
    dock->setTitleBarWidget(new PaneTitle(dock));
    dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable |
                      QDockWidget::DockWidgetFloatable);
    addDockWidget(area, dock);
    return dock;
}

void Perspective::rememberDefault() { m_default = saveState(kLayoutVersion); }

void Perspective::resetLayout() {
    restoreState(m_default, kLayoutVersion);
    if (m_sizes) m_sizes(size());
}

void Perspective::saveLayout(QSettings& settings) const {
    // A perspective never shown has no sizes worth keeping.
    if (m_sized) settings.setValue(QStringLiteral("layout/") + m_id, saveState(kLayoutVersion));
}

void Perspective::restoreLayout(QSettings& settings) {
    const QByteArray state = settings.value(QStringLiteral("layout/") + m_id).toByteArray();
    if (!state.isEmpty() && restoreState(state, kLayoutVersion)) m_sized = true;
}

void Perspective::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (m_sized) return;
    m_sized = true;
    if (m_sizes) m_sizes(size());
}

}  // namespace tapescope::app
