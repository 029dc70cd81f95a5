// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/banner.h"

#include "viewers/common/icons.h"
#include "viewers/common/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace tapescope::app {

using viewers::Theme;

Banner::Banner(QWidget* parent)
    : QFrame(parent),
      m_icon(new QLabel),
      m_text(new QLabel),
      m_action(new QToolButton),
      m_close(new QToolButton) {
    setObjectName(QStringLiteral("banner"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 6, 6, 6);
    row->setSpacing(8);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    row->addWidget(m_action);
    row->addWidget(m_close, 0, Qt::AlignTop);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_action->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_close->setToolTip(tr("Close this message"));
    m_close->setAccessibleName(m_close->toolTip());
    viewers::setThemedIcon(m_close, QStringLiteral("close"));
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
    connect(m_action, &QToolButton::clicked, this, [this] {
        hide();
        if (m_run) m_run();
    });
    connect(&Theme::current(), &Theme::changed, this, &Banner::applyTheme);
    hide();
}

void Banner::showMessage(Kind kind, const QString& text, const QString& actionText,
                         std::function<void()> action) {
    m_kind = kind;
    m_text->setText(text);
    m_action->setText(actionText);
    m_action->setVisible(!actionText.isEmpty());
    m_run = std::move(action);
    applyTheme();
    show();
}

void Banner::dismiss(Kind upTo) {
    if (m_kind <= upTo) hide();
}

QString Banner::text() const { return m_text->text(); }

void Banner::applyTheme() {
    const Theme& theme = Theme::current();
    const QColor color = theme.color(m_kind == Kind::Error     ? Theme::Bad
                                     : m_kind == Kind::Warning ? Theme::Warning
                                                               : Theme::Accent);
    const QColor fill = Theme::mix(theme.color(Theme::Panel), color, 0.12);
    setStyleSheet(QStringLiteral("#banner{background:%1;border:0;border-left:3px solid %2;"
                                 "border-bottom:1px solid %3}#banner QToolButton{border-color:%3}")
                      .arg(fill.name(), color.name(), theme.color(Theme::Border).name()));
    const QString name = m_kind == Kind::Error     ? QStringLiteral("error")
                         : m_kind == Kind::Warning ? QStringLiteral("warning")
                                                   : QStringLiteral("info");
    m_icon->setPixmap(viewers::icon(name, color).pixmap(16, 16));
}

}  // namespace tapescope::app
