// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_canvas.h"

#include "viewers/common/theme.h"

#include <QFontMetrics>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace tapescope::viewers {

TimelineCanvas::TimelineCanvas(QWidget* parent)
    : QWidget(parent), m_scroll(new QScrollBar(Qt::Vertical, this)) {
    setObjectName(QStringLiteral("timelineCanvas"));
    setAccessibleName(tr("Timeline"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    m_scene.data = std::make_shared<const TimelineData>();
    m_scroll->setFocusPolicy(Qt::NoFocus);
    connect(m_scroll, &QScrollBar::valueChanged, this, [this](int value) {
        m_scene.scrollY = value;
        contentChanged();
    });
    const auto restyle = [this] {
        m_painter.style().rebuild();
        relayout();
    };
    connect(&Theme::current(), &Theme::changed, this, restyle);
    restyle();
}

QRect TimelineCanvas::rowsArea() const {
    const int bar = m_scroll->isVisibleTo(this) ? m_scroll->width() : 0;
    return {m_gutter, kRuler, std::max(1, width() - m_gutter - bar),
            std::max(1, height() - kRuler)};
}

void TimelineCanvas::contentChanged() {
    m_stale = true;
    update();
}

void TimelineCanvas::relayout() {
    const int visible = std::max(1, height() - kRuler);
    // Streams and counters have longer names than the rows of a thread.
    m_gutter = QFontMetrics(Theme::current().smallFont()).averageCharWidth() *
                   (m_scene.data->groups.empty() ? 15 : 23) +
               16;
    m_scene.layout = TimelineLayout::of(*m_scene.data, m_painter.style().textHeight(), visible,
                                        m_folded, m_queues);
    const bool needed = m_scene.layout.height > visible;
    m_scroll->setVisible(needed);
    const int barWidth = m_scroll->sizeHint().width();
    m_scroll->setGeometry(width() - barWidth, kRuler, barWidth, visible);
    m_scroll->setRange(0, std::max(0, m_scene.layout.height - visible));
    m_scroll->setPageStep(visible);
    m_scroll->setSingleStep(24);
    m_scene.scrollY = m_scroll->value();
    const QRect area = rowsArea();
    m_scene.height = area.height();
    if (m_fitAll) {
        const TimeRange all{m_scene.data->beginNs,
                            std::max(m_scene.data->endNs, m_scene.data->beginNs + 1)};
        m_scene.axis = TimeAxis::fit(all, area.width());
        m_scene.axis = m_scene.axis.zoomed(kAirAtEnds, area.width() / 2.0);
    } else if (m_scene.axis.width != area.width()) {
        m_scene.axis.width = area.width();
    }
    contentChanged();
    emit rangeChanged();
}

void TimelineCanvas::setData(TimelinePtr timeline) {
    const auto selected = keyOf(m_selected), hover = keyOf(m_hover);
    m_scene.data = timeline ? std::move(timeline) : std::make_shared<const TimelineData>();
    m_selected = find(selected);
    m_hover = find(hover);
    for (const TimelineGroup& group : m_scene.data->groups)
        if (m_seenGroups.insert(group.key).second && group.startsFolded) m_folded.insert(group.key);
    updateFlows();
    relayout();
}

void TimelineCanvas::setFolded(FoldedGroups folded) {
    m_folded = std::move(folded);
    relayout();
}

void TimelineCanvas::forgetFolded() {
    m_folded.clear();
    m_seenGroups.clear();
}

void TimelineCanvas::toggleGroup(std::size_t group) {
    if (group >= m_scene.data->groups.size()) return;
    const std::uint64_t key = m_scene.data->groups[group].key;
    if (m_folded.erase(key) == 0) m_folded.insert(key);
    relayout();
}

void TimelineCanvas::setQueuesVisible(bool on) {
    m_queues = on;
    relayout();
}

std::optional<TimelineCanvas::EventKey> TimelineCanvas::keyOf(std::optional<EventRef> event) const {
    if (!event) return std::nullopt;
    const TimelineRow& row = m_scene.data->rows[event->row];
    return EventKey{row.lane, row.kind, row.depth, row.startNs(event->index)};
}

std::optional<EventRef> TimelineCanvas::find(const std::optional<EventKey>& key) const {
    if (!key) return std::nullopt;
    for (std::size_t r = 0; r < m_scene.data->rows.size(); ++r) {
        const TimelineRow& row = m_scene.data->rows[r];
        if (row.lane != key->lane || row.kind != key->kind || row.depth != key->depth) continue;
        // An event of no duration ends when it starts.
        for (std::size_t i = row.firstEndingAfter(key->startNs - 1);
             i < row.size() && row.startNs(i) <= key->startNs; ++i)
            if (row.startNs(i) == key->startNs) return EventRef{r, i};
    }
    return std::nullopt;
}

void TimelineCanvas::setAxis(const TimeAxis& axis) {
    TimeAxis clamped = axis;
    clamped.width = rowsArea().width();
    m_scene.axis = clamped.clampedTo(
        {m_scene.data->beginNs, std::max(m_scene.data->endNs, m_scene.data->beginNs + 1)});
    contentChanged();
    emit rangeChanged();
}

void TimelineCanvas::setVisibleRange(TimeRange range) {
    m_fitAll = false;
    setAxis(TimeAxis::fit(range, rowsArea().width()));
}

void TimelineCanvas::fitAll() {
    m_fitAll = true;
    relayout();
}

void TimelineCanvas::userMoved() { m_fitAll = false; }

void TimelineCanvas::fitSelection() {
    TimeRange range = m_area;
    if (m_selected) range = {m_scene.data->startOf(*m_selected), m_scene.data->endOf(*m_selected)};
    if (range.empty()) {
        if (m_selected)
            range.endNs = range.beginNs + 1;
        else
            return fitAll();
    }
    const std::int64_t margin = std::max<std::int64_t>(1, range.lengthNs() / 8);
    setVisibleRange({range.beginNs - margin, range.endNs + margin});
    if (m_selected) ensureRowVisible(m_selected->row);
}

void TimelineCanvas::zoom(double factor) {
    userMoved();
    setAxis(m_scene.axis.zoomed(factor, rowsArea().width() / 2.0));
}

void TimelineCanvas::ensureRowVisible(std::size_t row) {
    if (m_scene.layout.placeOf(row) == nullptr && row < m_scene.data->rows.size()) {
        // It is in a folded group, or that is in one.
        for (auto group = static_cast<int>(m_scene.data->rows[row].group);
             group >= 0 && static_cast<std::size_t>(group) < m_scene.data->groups.size();
             group = m_scene.data->groups[static_cast<std::size_t>(group)].parent)
            m_folded.erase(m_scene.data->groups[static_cast<std::size_t>(group)].key);
        relayout();
    }
    for (const RowPlace& place : m_scene.layout.rows) {
        if (place.row != row) continue;
        if (place.y < m_scroll->value()) m_scroll->setValue(place.y - 4);
        if (place.y + place.height > m_scroll->value() + m_scene.height)
            m_scroll->setValue(place.y + place.height + 4 - m_scene.height);
    }
}

void TimelineCanvas::select(std::optional<EventRef> event, bool reveal) {
    m_selected = event;
    updateFlows();
    update();
    if (!event || !reveal) return;
    ensureRowVisible(event->row);
    const TimeAxis& axis = m_scene.axis;
    const double x0 = axis.x(m_scene.data->startOf(*event)),
                 x1 = axis.x(m_scene.data->endOf(*event));
    if (x0 >= 0 && x1 <= axis.width && x1 - x0 >= 3) return;
    userMoved();
    if (x1 - x0 < 3 ||
        x1 - x0 > axis.width) {  // unreadable at this zoom: show it with its neighbourhood
        const std::int64_t length = std::max<std::int64_t>(1, m_scene.data->durationOf(*event));
        const std::int64_t middle = m_scene.data->startOf(*event) + length / 2;
        setVisibleRange({middle - length * 8, middle + length * 8});
    } else {
        setAxis(axis.panned((x0 + x1) / 2 - axis.width / 2.0));
    }
}

void TimelineCanvas::setArea(TimeRange area) {
    m_area = area;
    update();
}

void TimelineCanvas::setSearch(const NameMatch& match, bool searching) {
    m_scene.match = match;
    m_scene.searching = searching;
    contentChanged();
}

void TimelineCanvas::setLit(storage::ModuleId module, std::vector<bool> sites) {
    m_scene.litModule = module;
    m_scene.litSites = std::move(sites);
    contentChanged();
}

void TimelineCanvas::setStepBand(TimeRange step) {
    m_stepBand = step;
    update();
}

void TimelineCanvas::toggleMark() {
    TimeRange range = m_area;
    if (m_selected) range = {m_scene.data->startOf(*m_selected), m_scene.data->endOf(*m_selected)};
    if (range.empty()) return;
    const auto old = std::find(m_marks.begin(), m_marks.end(), range);
    if (old != m_marks.end()) {
        m_marks.erase(old);
    } else {
        m_marks.push_back(range);
    }
    update();
}

void TimelineCanvas::clearMarks() {
    m_marks.clear();
    update();
}

void TimelineCanvas::setHelpVisible(bool on) {
    m_help = on;
    update();
}

QRect TimelineCanvas::eventRect(EventRef event) const {
    const QRect area = rowsArea();
    for (const RowPlace& place : m_scene.layout.rows) {
        if (place.row != event.row) continue;
        const int x0 = std::max(0, m_scene.axis.pixel(m_scene.data->startOf(event)));
        const int x1 = std::min(area.width(), m_scene.axis.pixel(m_scene.data->endOf(event)));
        if (x1 < 0 || x0 > area.width()) return {};
        const QRect rect(area.left() + x0, area.top() + place.y - m_scene.scrollY,
                         std::max(1, x1 - x0), place.height);
        return rect.intersected(area);
    }
    return {};
}

void TimelineCanvas::resizeEvent(QResizeEvent*) { relayout(); }

void TimelineCanvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QRect area = rowsArea();
    if (std::exchange(m_stale, false)) m_painter.paint(m_scene, devicePixelRatioF());
    painter.drawImage(area.topLeft(), m_painter.image());
    painter.fillRect(QRect(area.right() + 1, kRuler, width() - area.right(), height() - kRuler),
                     Theme::current().color(Theme::Panel));  // behind the scroll bar
    painter.save();
    painter.setClipRect(area);
    painter.translate(area.topLeft());
    paintGrid(painter);
    paintBands(painter);
    paintSelection(painter);
    painter.restore();
    paintGutter(painter);
    paintFlows(painter);
    paintRuler(painter);
    painter.save();
    painter.translate(area.topLeft());
    paintHover(painter);
    painter.restore();
    if (m_help) paintHelp(painter);
}

void TimelineCanvas::paintVector(QPainter& painter, const QSize& size) {
    const QRect area = rowsArea();
    painter.fillRect(QRect(QPoint(), size), Theme::current().color(Theme::Panel));
    painter.save();
    painter.setClipRect(area);
    painter.translate(area.topLeft());
    m_painter.paintVector(painter, m_scene);
    paintGrid(painter);
    paintBands(painter);
    paintSelection(painter);
    painter.restore();
    paintGutter(painter);
    paintFlows(painter);
    paintRuler(painter);
}

}  // namespace tapescope::viewers
