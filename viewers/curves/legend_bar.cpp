// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/legend_bar.h"

#include "viewers/common/theme.h"

#include <QContextMenuEvent>
#include <QFontMetrics>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace tapescope::viewers {
namespace {

constexpr int kSwatch = 14, kGap = 4, kSpacing = 12, kLabelLimit = 170;

int labelWidth(const QFontMetrics& metrics, const QString& label) {
    return std::min(kLabelLimit,
                    metrics.horizontalAdvance(label) + 2);  // advances are rounded down
}

}  // namespace

LegendBar::LegendBar(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::current(), &Theme::changed, this, [this] {
        updateGeometry();
        layOut();
        update();
    });
}

QSize LegendBar::sizeHint() const {
    return {200, QFontMetrics(Theme::current().smallFont()).height() + 8};
}

void LegendBar::setItems(std::vector<Item> items) {
    m_items = std::move(items);
    m_hover = -1;
    layOut();
    update();
}

void LegendBar::setValue(int item, const QString& value) {
    auto& mine = m_items[static_cast<std::size_t>(item)];
    if (mine.value == value) return;
    mine.value = value;
    update();
}

void LegendBar::layOut() {
    const Theme& theme = Theme::current();
    const QFontMetrics text(theme.smallFont());
    const int value =
        QFontMetrics(theme.smallMonoFont()).horizontalAdvance(QStringLiteral("0.00e-00"));
    const int overflow = text.horizontalAdvance(QStringLiteral("+000")) + kSpacing;
    m_rects.assign(m_items.size(), {});
    std::vector<int> widths;
    int total = 0;
    for (const Item& item : m_items) {
        widths.push_back(kSwatch + kGap + labelWidth(text, item.label) + kGap + value);
        total += widths.back() + kSpacing;
    }
    std::size_t fit = m_items.size();
    int room = width();
    if (total - kSpacing > room) {
        room -= overflow;
        int used = 0;
        for (fit = 0; fit < widths.size() && used + widths[fit] <= room; ++fit)
            used += widths[fit] + kSpacing;
    }
    m_hidden = static_cast<int>(m_items.size() - fit);
    int x = width() - (m_hidden > 0 ? overflow : 0);
    for (std::size_t i = fit; i-- > 0;) {
        x -= widths[i];
        m_rects[i] = QRect(x, 0, widths[i], height());
        x -= kSpacing;
    }
}

QRect LegendBar::itemRect(int item) const { return m_rects[static_cast<std::size_t>(item)]; }

int LegendBar::itemAt(const QPoint& pos) const {
    for (std::size_t i = 0; i < m_rects.size(); ++i)
        if (m_rects[i].contains(pos)) return static_cast<int>(i);
    return -1;
}

void LegendBar::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter p(this);
    const QFontMetrics text(theme.smallFont());
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        const QRect r = m_rects[i];
        if (r.isEmpty()) continue;
        const Item& item = m_items[i];
        if (static_cast<int>(i) == m_hover) {
            p.setPen(Qt::NoPen);
            p.setBrush(theme.color(Theme::Hover));
            p.drawRoundedRect(r.adjusted(-4, 1, 4, -1), 3, 3);
        }
        const QColor line = item.visible ? item.color : theme.color(Theme::Disabled);
        QPen pen(line, 2.4, Qt::SolidLine, Qt::FlatCap);
        const int y = r.center().y();
        p.setPen(pen);
        if (item.dashed) {
            p.drawLine(r.left(), y, r.left() + 6, y);
            p.drawLine(r.left() + 9, y, r.left() + kSwatch, y);
        } else {
            p.drawLine(r.left(), y, r.left() + kSwatch, y);
        }
        p.setFont(theme.smallFont());
        p.setPen(theme.color(item.visible ? Theme::Text : Theme::Disabled));
        const int width = labelWidth(text, item.label);
        const QRect labelRect(r.left() + kSwatch + kGap, r.top(), width, r.height());
        p.drawText(labelRect, Qt::AlignVCenter | Qt::AlignLeft,
                   text.elidedText(item.label, Qt::ElideMiddle, width));
        if (!item.visible) p.drawLine(labelRect.left(), y, labelRect.right(), y);
        p.setFont(theme.smallMonoFont());
        p.setPen(theme.color(item.visible ? Theme::Muted : Theme::Disabled));
        p.drawText(QRect(labelRect.right() + kGap, r.top(),
                         r.right() - labelRect.right() - kGap + 1, r.height()),
                   Qt::AlignVCenter | Qt::AlignLeft, item.visible ? item.value : QString());
    }
    if (m_hidden > 0) {
        p.setFont(theme.smallFont());
        p.setPen(theme.color(Theme::Muted));
        p.drawText(rect(), Qt::AlignVCenter | Qt::AlignRight, QStringLiteral("+%1").arg(m_hidden));
    }
}

void LegendBar::resizeEvent(QResizeEvent*) { layOut(); }

void LegendBar::mousePressEvent(QMouseEvent* event) {
    const int item = itemAt(event->pos());
    if (event->button() != Qt::LeftButton || item < 0) return QWidget::mousePressEvent(event);
    if (event->modifiers() & Qt::AltModifier) {
        emit soloed(item);
    } else {
        emit toggled(item);
    }
}

void LegendBar::mouseMoveEvent(QMouseEvent* event) {
    const int item = itemAt(event->pos());
    if (item == m_hover) return;
    m_hover = item;
    setCursor(item >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    update();
    emit hovered(item);
}

void LegendBar::leaveEvent(QEvent*) {
    if (m_hover < 0) return;
    m_hover = -1;
    update();
    emit hovered(-1);
}

bool LegendBar::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int item = itemAt(help->pos());
    if (item >= 0) {
        QToolTip::showText(help->globalPos(), m_items[static_cast<std::size_t>(item)].toolTip, this,
                           itemRect(item));
    } else if (m_hidden > 0) {
        QStringList names;
        for (std::size_t i = 0; i < m_items.size(); ++i)
            if (m_rects[i].isEmpty()) names << m_items[i].label;
        QToolTip::showText(help->globalPos(), names.mid(0, 40).join(u'\n'), this);
    }
    return true;
}

void LegendBar::contextMenuEvent(QContextMenuEvent* event) {
    const int item = itemAt(event->pos());
    if (item >= 0) {
        emit menuRequested(item, event->globalPos());
    } else {
        event->ignore();
    }
}

}  // namespace tapescope::viewers
