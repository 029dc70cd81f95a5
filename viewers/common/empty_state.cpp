// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/empty_state.h"

#include "viewers/common/icons.h"
#include "viewers/common/theme.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace tapescope::viewers {
namespace {

void paint(QPainter& painter, const QRect& area, const QString& iconName, const QColor& iconColor,
           const QString& title, const QString& hint) {
    const Theme& theme = Theme::current();
    constexpr int kIcon = 32, kGap = 8;
    const int width = std::max(80, std::min(area.width() - 32, 460));
    const int left = area.center().x() - width / 2;
    const QFont titleFont = theme.boldFont(), hintFont = theme.font();
    const int flags = Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap;
    const int titleHeight =
        QFontMetrics(titleFont).boundingRect(QRect(0, 0, width, 1000), flags, title).height();
    const int hintHeight =
        QFontMetrics(hintFont).boundingRect(QRect(0, 0, width, 1000), flags, hint).height();
    const bool withIcon =
        area.height() > kIcon + titleHeight + hintHeight + 3 * kGap && !iconName.isEmpty();
    const int total = (withIcon ? kIcon + kGap : 0) + titleHeight + kGap / 2 + hintHeight;
    int y = area.center().y() - total / 2;
    if (withIcon) {
        icon(iconName, iconColor)
            .paint(&painter, QRect(area.center().x() - kIcon / 2, y, kIcon, kIcon));
        y += kIcon + kGap;
    }
    painter.setFont(titleFont);
    painter.setPen(theme.color(Theme::Text));
    painter.drawText(QRect(left, y, width, titleHeight), flags, title);
    y += titleHeight + kGap / 2;
    painter.setFont(hintFont);
    painter.setPen(theme.color(Theme::Muted));
    painter.drawText(QRect(left, y, width, hintHeight), flags, hint);
}

}  // namespace

void paintEmptyState(QPainter& painter, const QRect& area, const QString& iconName,
                     const QString& title, const QString& hint) {
    paint(painter, area, iconName, Theme::current().color(Theme::Disabled), title, hint);
}

EmptyState::EmptyState(QString iconName, QString title, QString hint, QWidget* parent)
    : QWidget(parent),
      m_iconName(std::move(iconName)),
      m_title(std::move(title)),
      m_hint(std::move(hint)) {
    connect(&Theme::current(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void EmptyState::setTexts(const QString& title, const QString& hint) {
    m_title = title;
    m_hint = hint;
    m_error = false;
    update();
}

void EmptyState::setError(const QString& title, const QString& message) {
    m_title = title;
    m_hint = message;
    m_error = true;
    update();
}

void EmptyState::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(Theme::Panel));
    paint(painter, rect(), m_error ? QStringLiteral("warning") : m_iconName,
          theme.color(m_error ? Theme::Warning : Theme::Disabled), m_title, m_hint);
}

}  // namespace tapescope::viewers
