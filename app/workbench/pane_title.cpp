// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/pane_title.h"

#include "viewers/common/icons.h"
#include "viewers/common/theme.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>

namespace tapescope::app {

using viewers::Theme;

namespace {
constexpr int kHeight = 26;
}

PaneTitle::PaneTitle(QDockWidget* dock)
    : m_dock(dock),
      m_label(new QLabel(dock->windowTitle())),
      m_float(new QToolButton),
      m_close(new QToolButton) {
    setObjectName(QStringLiteral("paneTitle"));
    setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 0, 2, 0);
    row->setSpacing(0);
    row->addWidget(m_label);
    row->addStretch(1);
    const auto setUp = [&](QToolButton* button, const QString& icon, const QString& tip) {
        button->setToolTip(tip);
        button->setAccessibleName(tip);
        button->setAutoRaise(true);
        button->setIconSize({12, 12});
        button->setFocusPolicy(Qt::NoFocus);  // View → Panes does the same with the keyboard
        viewers::setThemedIcon(button, icon);
        QSizePolicy keep = button->sizePolicy();
        keep.setRetainSizeWhenHidden(true);
        button->setSizePolicy(keep);
        button->hide();
        row->addWidget(button);
    };
    setUp(m_float, QStringLiteral("pin"), tr("Float or dock %1").arg(dock->windowTitle()));
    setUp(m_close, QStringLiteral("close"),
          tr("Close %1 (View → Panes shows it again)").arg(dock->windowTitle()));
    connect(m_float, &QToolButton::clicked, dock,
            [dock] { dock->setFloating(!dock->isFloating()); });
    connect(m_close, &QToolButton::clicked, dock, &QWidget::hide);
    connect(&Theme::current(), &Theme::changed, this, &PaneTitle::applyTheme);
    applyTheme();
}

void PaneTitle::setPages(QStackedWidget* pages, const QStringList& titles) {
    m_label->hide();
    m_tabs = new QTabBar;
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    for (const QString& title : titles) m_tabs->addTab(title);
    auto* row = static_cast<QHBoxLayout*>(layout());
    row->setContentsMargins(0, 0, 2, 0);
    row->insertWidget(0, m_tabs, 0, Qt::AlignBottom);
    connect(m_tabs, &QTabBar::currentChanged, pages, &QStackedWidget::setCurrentIndex);
}

QSize PaneTitle::sizeHint() const { return {80, kHeight}; }
QSize PaneTitle::minimumSizeHint() const { return {60, kHeight}; }

void PaneTitle::applyTheme() {
    const Theme& theme = Theme::current();
    m_label->setFont(theme.smallFont());
    setStyleSheet(
        QStringLiteral("#paneTitle{background:%1}QLabel{color:%2}QToolButton{padding:2px}")
            .arg(theme.color(Theme::Window).name(), theme.color(Theme::Muted).name()));
}

void PaneTitle::showButtons(bool on) {
    m_float->setVisible(on);
    m_close->setVisible(on);
}

void PaneTitle::enterEvent(QEnterEvent* event) {
    showButtons(true);
    QWidget::enterEvent(event);
}

void PaneTitle::leaveEvent(QEvent* event) {
    showButtons(false);
    QWidget::leaveEvent(event);
}

}  // namespace tapescope::app
