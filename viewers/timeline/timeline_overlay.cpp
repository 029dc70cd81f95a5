// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/timeline/event_text.h"
#include "viewers/timeline/timeline_canvas.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

void TimelineCanvas::paintRuler(QPainter& p) const {
    const Theme& theme = Theme::current();
    const QRect area = rowsArea();
    p.fillRect(QRect(0, 0, width(), kRuler), theme.color(Theme::Raised));
    p.setPen(theme.color(Theme::Border));
    p.drawLine(0, kRuler - 1, width(), kRuler - 1);
    p.save();
    p.setClipRect(QRect(area.left(), 0, area.width(), kRuler));
    p.setFont(theme.smallMonoFont());
    const double tick = tickNs(m_scene.axis, 110);
    for (double t = std::floor(static_cast<double>(m_scene.axis.t0) / tick) * tick;
         t < static_cast<double>(m_scene.axis.t1()); t += tick) {
        const int x = area.left() +
                      static_cast<int>(std::lround(m_scene.axis.x(static_cast<std::int64_t>(t))));
        p.setPen(theme.color(Theme::Border));
        p.drawLine(x, kRuler - 8, x, kRuler - 2);
        p.setPen(theme.color(Theme::Muted));
        p.drawText(QRect(x + 4, 0, 140, kRuler - 2), Qt::AlignLeft | Qt::AlignVCenter,
                   format::durationTick(t, tick));
    }
    // Marks stand in the ruler, with their length.
    p.translate(area.left(), 0);
    for (const TimeRange& mark : m_marks) paintSpan(p, mark, theme.color(Theme::Warning), 3);
    if (!m_area.empty()) paintSpan(p, m_area, theme.color(Theme::Accent), 3);
    p.restore();
    p.setFont(theme.smallFont());
    p.setPen(theme.color(Theme::Muted));
    p.drawText(QRect(8, 0, m_gutter - 12, kRuler - 2), Qt::AlignLeft | Qt::AlignVCenter,
               tr("%1 shown").arg(format::duration(m_scene.axis.nsPerPx * m_scene.axis.width)));
    if (hasFocus()) {
        p.setPen(theme.color(Theme::Accent));
        p.drawLine(0, 0, width(), 0);
    }
}

void TimelineCanvas::paintSpan(QPainter& p, TimeRange range, const QColor& color, int y) const {
    const int x0 = m_scene.axis.pixel(range.beginNs),
              x1 = std::max(x0 + 1, m_scene.axis.pixel(range.endNs));
    if (x1 < 0 || x0 > m_scene.axis.width) return;
    const QString text = format::duration(static_cast<double>(range.lengthNs()));
    QFont font = Theme::current().smallMonoFont();
    font.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(font);
    const int textWidth = metrics.horizontalAdvance(text) + 10;
    p.setPen(QPen(color, 1));
    p.drawLine(x0, y, x0, kRuler - 2);
    p.drawLine(x1, y, x1, kRuler - 2);
    p.drawLine(x0, kRuler / 2, x1, kRuler / 2);
    int left = (std::max(0, x0) + std::min(m_scene.axis.width, x1) - textWidth) / 2;
    if (x1 - x0 < textWidth + 8) left = x1 + 4;  // beside a span too short for its text
    const QRect label(left, y, textWidth, kRuler - 2 * y);
    p.setPen(Qt::NoPen);
    p.setBrush(color);
    p.drawRoundedRect(label, 3, 3);
    p.setBrush(Qt::NoBrush);
    p.setPen(Theme::textOn(color));
    p.setFont(font);
    p.drawText(label, Qt::AlignCenter, text);
}

void TimelineCanvas::paintGutter(QPainter& p) const {
    const Theme& theme = Theme::current();
    const QRect area = rowsArea();
    p.save();
    p.setClipRect(QRect(0, kRuler, width(), height() - kRuler));
    p.fillRect(QRect(0, kRuler, m_gutter, height() - kRuler), theme.color(Theme::Panel));
    p.setPen(theme.color(Theme::Border));
    p.drawLine(m_gutter - 1, kRuler, m_gutter - 1, height());
    const TimelineData& data = *m_scene.data;
    const int origin = area.top() - m_scene.scrollY;
    QFont bold = theme.smallFont();
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(theme.smallFont());
    for (const LanePlace& lane : m_scene.layout.lanes) {
        p.setFont(bold);
        p.setPen(theme.color(Theme::Text));
        const QString text = laneText(data, lane.lane);
        p.drawText(QRect(8, origin + lane.y, m_gutter - 14, m_painter.style().textHeight() + 2),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(bold).elidedText(text, Qt::ElideMiddle, m_gutter - 14));
    }
    paintGroups(p);
    paintChartNames(p);
    p.setFont(theme.smallFont());
    p.setPen(theme.color(Theme::Muted));
    for (std::size_t i = 0; i < m_scene.layout.rows.size(); ++i) {
        const RowPlace& place = m_scene.layout.rows[i];
        const TimelineRow& row = data.rows[place.row];
        if (row.kind == RowKind::Event && row.label.empty()) continue;
        // One label a group of rows.
        if (i > 0 && data.rows[m_scene.layout.rows[i - 1].row].kind == row.kind &&
            data.rows[m_scene.layout.rows[i - 1].row].lane == row.lane)
            continue;
        p.drawText(QRect(16, origin + place.y, m_gutter - 22, place.height),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   row.label.empty() ? rowKindText(row.kind)
                                     : metrics.elidedText(QString::fromStdString(row.label),
                                                          Qt::ElideMiddle, m_gutter - 22));
    }
    if (m_scene.layout.memoryY >= 0) {
        const int top = origin + m_scene.layout.memoryY;
        p.setFont(bold);
        p.setPen(theme.color(Theme::Text));
        p.drawText(QRect(8, top, m_gutter - 14, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("memory"));
        p.setFont(theme.smallMonoFont());
        p.setPen(theme.color(Theme::Muted));
        const double peak = memoryPeak(data, m_scene.axis.range());
        p.drawText(QRect(8, top + 18, m_gutter - 16, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("peak %1").arg(format::bytes(peak)));
        if (m_pointer && area.contains(*m_pointer)) {
            const double now = memoryAt(data, m_scene.axis.t(m_pointer->x() - area.left()));
            p.setPen(theme.color(Theme::Text));
            if (now >= 0)
                p.drawText(QRect(8, top + 34, m_gutter - 16, 16), Qt::AlignLeft | Qt::AlignVCenter,
                           tr("here %1").arg(format::bytes(now)));
        }
    }
    p.restore();
}

void TimelineCanvas::paintGrid(QPainter& p) const {
    QColor line = Theme::current().color(Theme::Muted);
    line.setAlpha(28);
    p.setPen(line);
    const double tick = tickNs(m_scene.axis, 110);
    for (double t = std::floor(static_cast<double>(m_scene.axis.t0) / tick) * tick;
         t < static_cast<double>(m_scene.axis.t1()); t += tick) {
        const int x = static_cast<int>(std::lround(m_scene.axis.x(static_cast<std::int64_t>(t))));
        p.drawLine(x, 0, x, m_scene.height);
    }
}

void TimelineCanvas::paintBands(QPainter& p) const {
    const Theme& theme = Theme::current();
    const auto band = [&](TimeRange range, const QColor& fill, const QColor& edge) {
        const int x0 = m_scene.axis.pixel(range.beginNs), x1 = m_scene.axis.pixel(range.endNs);
        if (range.empty() || x1 < 0 || x0 > m_scene.axis.width) return;
        p.fillRect(QRect(x0, 0, std::max(1, x1 - x0), m_scene.height), fill);
        p.setPen(edge);
        p.drawLine(x0, 0, x0, m_scene.height);
        p.drawLine(x1, 0, x1, m_scene.height);
    };
    QColor step = theme.color(Theme::Accent);
    step.setAlpha(18);
    QColor stepEdge = theme.color(Theme::Accent);
    stepEdge.setAlpha(110);
    band(m_stepBand, step, stepEdge);
    band(m_area, theme.color(Theme::AccentSoft), theme.color(Theme::Accent));
    QColor mark = theme.color(Theme::Warning);
    mark.setAlpha(120);
    for (const TimeRange& range : m_marks) {
        p.setPen(mark);
        for (const std::int64_t t : {range.beginNs, range.endNs}) {
            const int x = m_scene.axis.pixel(t);
            if (x >= 0 && x <= m_scene.axis.width) p.drawLine(x, 0, x, m_scene.height);
        }
    }
}

void TimelineCanvas::paintSelection(QPainter& p) const {
    if (!m_selected) return;
    const QRect r = eventRect(*m_selected).translated(-rowsArea().topLeft());
    if (r.isEmpty()) return;
    const Theme& theme = Theme::current();
    // Two lines, so that it is seen on any fill.
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme.color(Theme::Field), 1));
    p.drawRect(r.adjusted(1, 1, -2, -2));
    p.setPen(QPen(theme.color(Theme::Accent), 2));
    p.drawRect(r.adjusted(-1, -1, 0, 0));
}

void TimelineCanvas::paintHover(QPainter& p) const {
    if (!m_pointer || m_drag != Drag::None || m_help) return;
    const Theme& theme = Theme::current();
    const QRect area = rowsArea();
    if (!area.contains(*m_pointer)) return;
    const QPoint at = *m_pointer - area.topLeft();
    QColor line = theme.color(Theme::Muted);
    line.setAlpha(140);
    p.setPen(line);
    p.drawLine(at.x(), 0, at.x(), area.height());
    if (!m_hover) return;
    const QRect r = eventRect(*m_hover).translated(-area.topLeft());
    p.setPen(QPen(theme.color(Theme::Text), 1));
    p.setBrush(Qt::NoBrush);
    if (!r.isEmpty()) p.drawRect(r.adjusted(0, 0, -1, -1));

    const QFont font = theme.smallFont(), mono = theme.smallMonoFont();
    QFont bold = font;
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics text(font), title(bold), digits(mono);
    constexpr int kPad = 8, kGap = 10, kLimit = 380;
    QString head = eventTitle(*m_scene.data, *m_hover);
    head = title.elidedText(head, Qt::ElideMiddle, kLimit);
    auto fields = eventFields(*m_scene.data, *m_hover, m_graph.get());
    int labels = 0, values = 0;
    for (EventField& field : fields) {
        field.value = digits.elidedText(field.value, Qt::ElideMiddle, kLimit);
        labels = std::max(labels, text.horizontalAdvance(field.label));
        values = std::max(values, digits.horizontalAdvance(field.value));
    }
    const int line1 = text.height() + 2;
    QRect box(at.x() + 14, at.y() + 16,
              std::max(labels + kGap + values, title.horizontalAdvance(head)) + 2 * kPad + 2,
              static_cast<int>(fields.size() + 1) * line1 + 2 * kPad);
    if (box.right() > area.width()) box.moveRight(std::max(box.width(), at.x() - 10));
    if (box.bottom() > area.height()) box.moveBottom(std::max(box.height(), at.y() - 10));
    if (box.top() < -kRuler) box.moveTop(-kRuler);
    QColor fill = theme.color(Theme::Raised);
    fill.setAlpha(245);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(theme.color(Theme::Border));
    p.setBrush(fill);
    p.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    int y = box.top() + kPad;
    p.setFont(bold);
    p.setPen(theme.color(Theme::Text));
    p.drawText(QRect(box.left() + kPad, y, box.width(), line1), Qt::AlignLeft | Qt::AlignVCenter,
               head);
    for (const EventField& field : fields) {
        y += line1;
        p.setFont(font);
        p.setPen(theme.color(Theme::Muted));
        p.drawText(QRect(box.left() + kPad, y, labels, line1), Qt::AlignLeft | Qt::AlignVCenter,
                   field.label);
        p.setFont(mono);
        p.setPen(theme.color(Theme::Text));
        p.drawText(QRect(box.left() + kPad + labels + kGap, y, values + 2, line1),
                   Qt::AlignLeft | Qt::AlignVCenter, field.value);
    }
}

void TimelineCanvas::paintHelp(QPainter& p) const {
    const Theme& theme = Theme::current();
    const std::pair<QString, QString> keys[] = {
        {QStringLiteral("W S"), tr("zoom in, out (at the pointer)")},
        {QStringLiteral("A D"), tr("move left, right; with Shift faster")},
        {tr("Wheel"), tr("zoom; with Shift sideways; over the names up and down")},
        {tr("Drag"), tr("select a stretch of time")},
        {tr("Shift or middle drag"), tr("move")},
        {QStringLiteral("F"), tr("fit the selection, or all")},
        {QStringLiteral("0  Home"), tr("fit all")},
        {QStringLiteral("M"), tr("mark and measure the selection; Shift+M removes all marks")},
        {QStringLiteral("R"), tr("select the time of the event")},
        {QStringLiteral(u". ,  → ←"), tr("next, previous event of the row")},
        {QStringLiteral(u"↑ ↓"), tr("what encloses it, what it encloses")},
        {QStringLiteral("[ ]"),
         tr("from a kernel back to its launch, from a launch to its kernels")},
        {QStringLiteral("C"), tr("fold or unfold the group; Shift+C all processes")},
        {QStringLiteral("Q"), tr("show or hide the queues of the streams")},
        {QStringLiteral("/"), tr("search by name; Enter or N next, Shift back")},
        {QStringLiteral("Esc"), tr("select nothing")},
        {QStringLiteral("?"), tr("this help")}};
    const QFont font = theme.font(), mono = theme.monoFont();
    const QFontMetrics text(font), code(mono);
    int left = 0, right = 0;
    for (const auto& [key, what] : keys) {
        left = std::max(left, code.horizontalAdvance(key));
        right = std::max(right, text.horizontalAdvance(what));
    }
    const int line = text.height() + 4;
    constexpr int kPad = 16, kGap = 20;
    QRect box(0, 0, left + kGap + right + 2 * kPad + 4,
              static_cast<int>(std::size(keys)) * line + 2 * kPad + line);
    box.moveCenter(rect().center());
    QColor shade = theme.color(Theme::Window);
    shade.setAlpha(150);
    p.fillRect(rect(), shade);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(theme.color(Theme::Border));
    p.setBrush(theme.color(Theme::Raised));
    p.drawRoundedRect(QRectF(box), 6, 6);
    p.setFont(theme.boldFont());
    p.setPen(theme.color(Theme::Text));
    int y = box.top() + kPad - 4;
    p.drawText(QRect(box.left() + kPad, y, box.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
               tr("Timeline keys"));
    for (const auto& [key, what] : keys) {
        y += line;
        p.setFont(mono);
        p.setPen(theme.color(Theme::Accent));
        p.drawText(QRect(box.left() + kPad, y, left + 4, line), Qt::AlignLeft | Qt::AlignVCenter,
                   key);
        p.setFont(font);
        p.setPen(theme.color(Theme::Text));
        p.drawText(QRect(box.left() + kPad + left + kGap, y, right + 4, line),
                   Qt::AlignLeft | Qt::AlignVCenter, what);
    }
}

}  // namespace tapescope::viewers
