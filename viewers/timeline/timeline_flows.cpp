// SPDX-License-Identifier: GPL-3.0-or-later
// What GPU activity adds to the canvas: lines from cause to effect, titles of groups, names of
// charts.
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/models/gpu_view.h"
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_charts.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

constexpr int kFoldedStrip = 5;  // pixels, under a title

}  // namespace

void TimelineCanvas::updateFlows() {
    m_flows.clear();
    m_related.clear();
    if (!m_selected || !m_scene.data->gpu) return;
    const GpuRelations r = gpuRelations(*m_scene.data, *m_selected);
    m_related = r.ranges;
    if (r.op) m_related.push_back(*r.op);
    if (r.launch) {
        m_flows.push_back({*r.launch, *m_selected});
        m_related.push_back(*r.launch);
        if (r.op) m_flows.push_back({*r.op, *r.launch});
        return;
    }
    if (r.op) m_flows.push_back({*r.op, *m_selected});
    for (const EventRef work : r.work) m_flows.push_back({*m_selected, work});
}

void TimelineCanvas::jumpAlong(bool forward) {
    if (!m_selected || !m_scene.data->gpu) return;
    const GpuRelations r = gpuRelations(*m_scene.data, *m_selected);
    std::optional<EventRef> next;
    if (forward) {
        if (!r.work.empty()) next = r.work.front();
    } else {
        next = r.launch ? r.launch : r.op;
        if (!next && !r.ranges.empty()) next = r.ranges.front();
    }
    if (!next) return;
    pick(next);
    select(next, true);
}

QPointF TimelineCanvas::anchor(EventRef event, bool bottom) const {
    const RowPlace* place = m_scene.layout.placeOf(event.row);
    if (place == nullptr) return {NAN, NAN};
    // Far ends are cut, or their lines would overflow the painter's coordinates.
    const double far = 4.0 * m_scene.axis.width + 1000;
    const double x = std::clamp(m_scene.axis.x(m_scene.data->startOf(event)), -far, far);
    return {x + 0.5,
            static_cast<double>(place->y + (bottom ? place->height : 0) - m_scene.scrollY)};
}

void TimelineCanvas::paintFlows(QPainter& p) const {
    if (m_flows.empty() && m_related.empty()) return;
    const Theme& theme = Theme::current();
    // Over the titles of groups, which lie between host and device.
    p.save();
    p.setClipRect(rowsArea());
    p.translate(rowsArea().topLeft());
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme.color(Theme::Accent), 1));
    for (const EventRef event : m_related) {
        const QRect r = eventRect(event).translated(-rowsArea().topLeft());
        if (!r.isEmpty()) p.drawRect(r.adjusted(0, 0, -1, -1));
    }
    p.setRenderHint(QPainter::Antialiasing);
    QColor line = theme.color(Theme::Accent);
    line.setAlpha(m_flows.size() > 24 ? 120 : 210);
    for (const Flow& flow : m_flows) {
        const RowPlace* from = m_scene.layout.placeOf(flow.from.row);
        const RowPlace* to = m_scene.layout.placeOf(flow.to.row);
        if (from == nullptr || to == nullptr) continue;
        const bool down = from->y <= to->y;
        const QPointF a = anchor(flow.from, down), b = anchor(flow.to, !down);
        const double width = m_scene.axis.width;
        if ((a.x() < 0 && b.x() < 0) || (a.x() > width && b.x() > width)) continue;
        const double bend = std::max(12.0, std::abs(b.y() - a.y()) * 0.5) * (down ? 1 : -1);
        QPainterPath path(a);
        path.cubicTo(a + QPointF(0, bend), b - QPointF(0, bend), b);
        p.setPen(QPen(line, 1.4));
        p.setBrush(Qt::NoBrush);
        p.drawPath(path);
        // The head says which end is the effect.
        const double head = down ? -5 : 5;
        QPainterPath arrow(b);
        arrow.lineTo(b + QPointF(-3.5, head));
        arrow.lineTo(b + QPointF(3.5, head));
        arrow.closeSubpath();
        p.fillPath(arrow, line);
    }
    p.restore();
}

void TimelineCanvas::paintGroups(QPainter& p) const {
    const Theme& theme = Theme::current();
    const int origin = rowsArea().top() - m_scene.scrollY;
    QFont bold = theme.smallFont();
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(bold);
    const int right = rowsArea().right() + 1;
    for (const GroupPlace& place : m_scene.layout.groups) {
        const QRect title(0, origin + place.y, right, place.height);
        if (title.bottom() < kRuler || title.top() > height()) continue;
        const TimelineGroup& group = m_scene.data->groups[place.group];
        p.fillRect(title, theme.color(place.level == 0 ? Theme::Raised : Theme::Panel));
        const int indent = place.level == 0 ? 8 : 12;
        QPainterPath mark;  // points down while open
        const QPointF at(indent + 4, title.center().y() + 0.5);
        if (place.folded) {
            mark.moveTo(at + QPointF(-2, -4));
            mark.lineTo(at + QPointF(3, 0));
            mark.lineTo(at + QPointF(-2, 4));
        } else {
            mark.moveTo(at + QPointF(-4, -2));
            mark.lineTo(at + QPointF(4, -2));
            mark.lineTo(at + QPointF(0, 3));
        }
        mark.closeSubpath();
        p.save();
        p.setRenderHint(QPainter::Antialiasing);
        p.fillPath(mark, theme.color(Theme::Muted));
        p.restore();
        if (place.folded)
            paintFolded(p, m_scene, place.group,
                        {m_gutter, title.bottom() - kFoldedStrip, right - m_gutter, kFoldedStrip},
                        m_painter.style());
        p.setFont(bold);
        p.setPen(theme.color(Theme::Text));
        const QRect text = title.adjusted(indent + 12, 0, -8, 0);
        p.drawText(
            text, Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(QString::fromStdString(group.title), Qt::ElideMiddle, text.width()));
    }
}

void TimelineCanvas::paintChartNames(QPainter& p) const {
    const Theme& theme = Theme::current();
    const QRect area = rowsArea();
    const int origin = area.top() - m_scene.scrollY;
    const QFontMetrics metrics(theme.smallFont());
    const int line = m_painter.style().textHeight();
    std::optional<std::int64_t> t;
    if (m_pointer && area.contains(*m_pointer)) t = m_scene.axis.t(m_pointer->x() - area.left());
    for (const ChartPlace& place : m_scene.layout.charts) {
        const TimelineChart& chart = m_scene.data->charts[place.chart];
        QRect at(16, origin + place.y, m_gutter - 22, line);
        if (at.top() > height() || at.top() + place.height < kRuler) continue;
        const auto text = [&](const QString& s, Qt::Alignment side, const QColor& color,
                              const QFont& font) {
            p.setFont(font);
            p.setPen(color);
            p.drawText(at, side | Qt::AlignVCenter, s);
        };
        text(metrics.elidedText(QString::fromStdString(chart.label), Qt::ElideRight, at.width()),
             Qt::AlignLeft, theme.color(Theme::Muted), theme.smallFont());
        text(chartSummary(*m_scene.data, chart, m_scene.axis.range()), Qt::AlignRight,
             theme.color(Theme::Text), theme.smallFont());
        if (chart.kind != TimelineChart::Kind::Memory) {
            at.translate(0, line);
            if (t && place.height >= 2 * line)
                text(chartValues(chart, *t, m_scene.axis.nsPerPx).value(0), Qt::AlignRight,
                     theme.color(Theme::Text), theme.smallFont());
            continue;
        }
        double below = 0;
        for (int band = 0; band < 3; ++band) {
            const ScalarSeriesPtr& curve = chart.curves[static_cast<std::size_t>(band)];
            if (!curve) continue;
            at.translate(0, line);
            p.fillRect(QRect(at.left(), at.center().y() - 4, 8, 8), memoryBandColor(band));
            const QRect whole = at;
            at.adjust(12, 0, 0, 0);
            const double now = t ? stepAt(*curve, *t) : NAN;
            const QString value =
                std::isfinite(now) ? format::bytes(std::max(0.0, now - below)) : QString();
            const int room = at.width() - metrics.horizontalAdvance(value) - 4;
            text(metrics.elidedText(memoryBandText(band), Qt::ElideRight, room), Qt::AlignLeft,
                 theme.color(Theme::Muted), theme.smallFont());
            text(value, Qt::AlignRight, theme.color(Theme::Text), theme.smallFont());
            if (std::isfinite(now)) below = now;
            at = whole;
        }
    }
}

}  // namespace tapescope::viewers
