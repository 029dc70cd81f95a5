// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/header_bar.h"

#include "viewers/common/theme.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QToolButton>

namespace tapescope::app {

using viewers::Theme;

HeaderBar::HeaderBar(QWidget* parent)
    : QWidget(parent),
      m_menus(new QMenuBar),
      m_name(new QLabel),
      m_detail(new QLabel),
      m_perspectives(new QHBoxLayout),
      m_tools(new QHBoxLayout) {
    setObjectName(QStringLiteral("headerBar"));
    setAttribute(Qt::WA_StyledBackground);
    m_menus->setNativeMenuBar(false);
    m_menus->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    m_name->setObjectName(QStringLiteral("runName"));
    m_detail->setObjectName(QStringLiteral("runDetail"));
    // The run's name gives way before any button does.
    m_detail->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_perspectives->setSpacing(2);
    m_tools->setSpacing(2);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(4, 3, 6, 3);
    row->setSpacing(12);
    row->addWidget(m_menus, 0, Qt::AlignVCenter);
    row->addWidget(m_name);
    row->addWidget(m_detail, 1);
    row->addLayout(m_perspectives);
    row->addLayout(m_tools);
    connect(&Theme::current(), &Theme::changed, this, &HeaderBar::applyTheme);
    applyTheme();
}

void HeaderBar::applyTheme() {
    const Theme& theme = Theme::current();
    m_name->setFont(theme.boldFont());
    setStyleSheet(
        QStringLiteral(
            "#headerBar{background:%1;border-bottom:1px solid %2}"
            "QMenuBar{background:transparent;border:0}"
            "QMenuBar::item{background:transparent;padding:4px 8px;border-radius:4px;color:%3}"
            "QMenuBar::item:selected{background:%4}"
            "#runDetail{color:%5}"
            "QToolButton#perspective{padding:4px 10px;color:%5}"
            "QToolButton#perspective:checked{color:%3;background:%6}")
            .arg(theme.color(Theme::Window).name(), theme.color(Theme::Border).name(),
                 theme.color(Theme::Text).name(), theme.color(Theme::Raised).name(),
                 theme.color(Theme::Muted).name(),
                 theme.color(Theme::AccentSoft).name(QColor::HexArgb)));
}

void HeaderBar::setRunTitle(const QString& name, const QString& detail, const QString& toolTip) {
    m_name->setText(name);
    m_detail->setText(detail);
    m_name->setToolTip(toolTip);
    m_detail->setToolTip(toolTip);
}

void HeaderBar::setPerspectives(const QList<QAction*>& actions) {
    for (QAction* action : actions) {
        auto* button = new QToolButton;
        button->setObjectName(QStringLiteral("perspective"));
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setAutoRaise(true);
        m_perspectives->addWidget(button);
    }
}

void HeaderBar::setTools(const QList<QList<QAction*>>& groups) {
    bool first = true;
    for (const QList<QAction*>& group : groups) {
        if (!first) m_tools->addSpacing(10);
        first = false;
        for (QAction* action : group) {
            auto* button = new QToolButton;
            button->setDefaultAction(action);
            button->setToolButtonStyle(Qt::ToolButtonIconOnly);
            button->setAutoRaise(true);
            button->setAccessibleName(action->toolTip());
            m_tools->addWidget(button);
        }
    }
}

}  // namespace tapescope::app
