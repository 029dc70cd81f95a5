// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/cursor_item.h"

#include "viewers/common/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

CursorItem::CursorItem(QCustomPlot* plot) : QCPAbstractItem(plot) { setSelectable(false); }

double CursorItem::selectTest(const QPointF&, bool, QVariant*) const { return -1; }

void CursorItem::draw(QCPPainter* painter) {
    const Theme& theme = Theme::current();
    const QRectF area = mParentPlot->axisRect()->rect();
    painter->setClipRect(area);
    const auto inside = [&area](double px) {
        return px >= area.left() - 1 && px <= area.right() + 1;
    };
    painter->setAntialiasing(false);
    if (selected) {
        const double px = std::round(mParentPlot->xAxis->coordToPixel(*selected));
        if (inside(px)) {
            painter->setPen(QPen(theme.color(Theme::Accent), 1));
            painter->drawLine(QLineF(px, area.top(), px, area.bottom()));
            painter->setPen(Qt::NoPen);
            painter->setBrush(theme.color(Theme::Accent));
            painter->drawPolygon(QPolygonF(
                {{px - 4, area.bottom()}, {px + 4, area.bottom()}, {px, area.bottom() - 6}}));
            painter->setBrush(Qt::NoBrush);
        }
    }
    if (!band.isEmpty()) {
        painter->setPen(QPen(theme.color(Theme::Accent), 1));
        painter->setBrush(theme.color(Theme::AccentSoft));
        painter->drawRect(band.intersected(area));
        painter->setBrush(Qt::NoBrush);
    }
    if (!x) return;
    const double px = std::round(mParentPlot->xAxis->coordToPixel(*x));
    if (!inside(px)) return;
    painter->setPen(QPen(theme.color(Theme::Muted), 1, Qt::DashLine));
    painter->drawLine(QLineF(px, area.top(), px, area.bottom()));
    painter->setAntialiasing(true);
    for (const Row& row : rows) {
        if (!std::isfinite(row.y)) continue;
        painter->setPen(QPen(theme.color(Theme::Field), 1.5));
        painter->setBrush(row.color);
        const double radius = row.emphasised ? 4.5 : 3.5;
        painter->drawEllipse(QPointF(px, mParentPlot->yAxis->coordToPixel(row.y)), radius, radius);
    }
    painter->setBrush(Qt::NoBrush);
    if (box && band.isEmpty()) drawBox(painter, area, px);
}

void CursorItem::drawBox(QCPPainter* painter, const QRectF& area, double px) const {
    const Theme& theme = Theme::current();
    const QFont font = theme.smallFont(), mono = theme.smallMonoFont();
    const QFontMetricsF text(font), digits(mono);
    constexpr double kPad = 8, kSwatch = 10, kGap = 6, kLabelLimit = 220;
    const std::size_t n = std::min(rows.size(), kMaxRows);
    double labelWidth = 0, valueWidth = 0;
    for (std::size_t i = 0; i < n; ++i) {
        labelWidth =
            std::max(labelWidth, std::min(kLabelLimit, text.horizontalAdvance(rows[i].label)));
        valueWidth = std::max(valueWidth, digits.horizontalAdvance(rows[i].value));
    }
    const QString more =
        rows.size() > n ? QCustomPlot::tr("+%1 more").arg(rows.size() - n) : QString();
    const double line = std::ceil(std::max(text.height(), digits.height())) + 2;
    const double inner = std::max({kSwatch + kGap + labelWidth + 2 * kGap + valueWidth,
                                   text.horizontalAdvance(title), text.horizontalAdvance(more)});
    const double height = 2 * kPad + line * (1 + static_cast<double>(n) + (more.isEmpty() ? 0 : 1));
    QRectF r(px + 12, area.top() + 8, inner + 2 * kPad, height);
    if (r.right() > area.right()) r.moveRight(px - 12);
    if (r.left() < area.left()) r.moveLeft(area.left());
    r.moveTopLeft({std::round(r.left()) + 0.5, std::round(r.top()) + 0.5});
    QColor fill = theme.color(Theme::Raised);
    fill.setAlpha(240);
    painter->setClipping(false);  // a chart may be lower than its box
    painter->setPen(QPen(theme.color(Theme::Border), 1));
    painter->setBrush(fill);
    painter->drawRoundedRect(r, 4, 4);
    painter->setBrush(Qt::NoBrush);
    double y = r.top() + kPad;
    painter->setFont(font);
    painter->setPen(theme.color(Theme::Muted));
    painter->drawText(QRectF(r.left() + kPad, y, inner, line), Qt::AlignLeft | Qt::AlignVCenter,
                      title);
    for (std::size_t i = 0; i < n; ++i) {
        y += line;
        const Row& row = rows[i];
        painter->fillRect(QRectF(r.left() + kPad, y + line / 2 - 1.5, kSwatch, 3), row.color);
        painter->setFont(font);
        painter->setPen(theme.color(row.emphasised ? Theme::Text : Theme::Muted));
        const double left = r.left() + kPad + kSwatch + kGap;
        painter->drawText(QRectF(left, y, labelWidth + 1, line), Qt::AlignLeft | Qt::AlignVCenter,
                          text.elidedText(row.label, Qt::ElideMiddle, labelWidth + 1));
        painter->setFont(mono);
        painter->setPen(theme.color(Theme::Text));
        painter->drawText(QRectF(r.right() - kPad - valueWidth - 1, y, valueWidth + 1, line),
                          Qt::AlignRight | Qt::AlignVCenter, row.value);
    }
    if (!more.isEmpty()) {
        painter->setFont(font);
        painter->setPen(theme.color(Theme::Muted));
        painter->drawText(QRectF(r.left() + kPad, y + line, inner, line),
                          Qt::AlignLeft | Qt::AlignVCenter, more);
    }
}

}  // namespace tapescope::viewers
