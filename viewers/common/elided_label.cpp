// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/elided_label.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace tapescope::viewers {

ElidedLabel::ElidedLabel(QString text, QWidget* parent) : QWidget(parent), m_text(std::move(text)) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    setToolTip(m_text);
    setAccessibleName(m_text);
}

void ElidedLabel::setText(const QString& text) {
    if (text == m_text) return;
    m_text = text;
    setToolTip(text);
    setAccessibleName(text);
    updateGeometry();
    update();
}

QSize ElidedLabel::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(m_text) + 2, metrics.height()};
}

QSize ElidedLabel::minimumSizeHint() const {
    const QFontMetrics metrics(font());
    return {std::min(sizeHint().width(), metrics.averageCharWidth() * 8), metrics.height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(font()).elidedText(m_text, Qt::ElideMiddle, width()));
}

}  // namespace tapescope::viewers
