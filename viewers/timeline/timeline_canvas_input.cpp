// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_charts.h"

#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tapescope::viewers {
namespace {

constexpr int kMinDrag = 4;       // pixels; less is a click
constexpr double kKeyZoom = 0.8;  // a press of W
constexpr double kKeyPan = 0.12;  // of the width, a press of D

}  // namespace

std::optional<EventRef> TimelineCanvas::eventAt(const QPoint& pos) const {
    const QRect area = rowsArea();
    if (!area.contains(pos)) return std::nullopt;
    const int place = m_scene.layout.rowAt(pos.y() - area.top() + m_scene.scrollY);
    if (place < 0) return std::nullopt;
    const std::size_t row = m_scene.layout.rows[static_cast<std::size_t>(place)].row;
    const double px = pos.x() - area.left();
    if (const auto hit = m_scene.data->at(row, m_scene.axis.t(px + 0.5))) return hit;
    // Narrow events: the longest one that touches this pixel or the ones beside it.
    const TimelineRow& events = m_scene.data->rows[row];
    const std::int64_t from = m_scene.axis.t(px - 1), to = m_scene.axis.t(px + 2);
    std::optional<EventRef> best;
    std::size_t looked = 0;
    for (std::size_t i = events.firstEndingAfter(from);
         i < events.size() && events.startNs(i) < to && looked < 4096; ++i, ++looked)
        if (!best || events.endNs(i) - events.startNs(i) > m_scene.data->durationOf(*best))
            best = EventRef{row, i};
    return best;
}

void TimelineCanvas::pick(std::optional<EventRef> event) {
    m_selected = event;
    updateFlows();
    update();
    emit eventPicked(event);
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    if (m_help) setHelpVisible(false);
    if (event->button() == Qt::LeftButton && event->pos().y() >= kRuler &&
        event->pos().x() < width() - m_scroll->width()) {
        const GroupPlace* title =
            m_scene.layout.groupAt(event->pos().y() - kRuler + m_scene.scrollY);
        if (title != nullptr) return toggleGroup(title->group);
    }
    m_dragFrom = event->pos();
    m_dragAxis = m_scene.axis;
    m_dragScroll = m_scroll->value();
    m_dragged = false;
    const bool pan =
        event->button() == Qt::MiddleButton ||
        (event->button() == Qt::LeftButton && (event->modifiers() & Qt::ShiftModifier) != 0);
    if (pan) {
        m_drag = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        m_drag = Drag::Area;
    }
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
    m_pointer = event->pos();
    const QPoint by = event->pos() - m_dragFrom;
    if (m_drag != Drag::None && (m_dragged || by.manhattanLength() >= kMinDrag)) {
        m_dragged = true;
        if (m_drag == Drag::Pan) {
            userMoved();
            setAxis(m_dragAxis.panned(-by.x()));
            m_scroll->setValue(m_dragScroll - by.y());
        } else {
            const int left = rowsArea().left();
            const int a = std::min(m_dragFrom.x(), event->pos().x()) - left;
            const int b = std::max(m_dragFrom.x(), event->pos().x()) - left;
            setArea(
                {m_scene.axis.t(std::max(0, a)), m_scene.axis.t(std::min(b, m_scene.axis.width))});
        }
        m_hover.reset();
        return;
    }
    m_hover = eventAt(event->pos());
    update();
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
    const Drag drag = std::exchange(m_drag, Drag::None);
    unsetCursor();
    if (drag != Drag::Area) return;
    if (m_dragged) {
        m_selected.reset();
        updateFlows();
        emit areaPicked(m_area);
        return;
    }
    if (!m_area.empty()) {
        setArea({});
        emit areaPicked({});
    }
    pick(eventAt(event->pos()));
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !eventAt(event->pos())) return;
    pick(eventAt(event->pos()));
    fitSelection();
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
    event->accept();
    const QPoint delta = event->angleDelta();
    const QRect area = rowsArea();
    const bool overGutter = event->position().x() < area.left();
    if (overGutter && delta.y() != 0) {
        m_scroll->setValue(m_scroll->value() - delta.y() / 2);
        return;
    }
    userMoved();
    const bool sideways =
        (event->modifiers() & Qt::ShiftModifier) != 0 || std::abs(delta.x()) > std::abs(delta.y());
    if (sideways) {
        const int amount = delta.x() != 0 ? delta.x() : delta.y();
        setAxis(m_scene.axis.panned(-amount / 120.0 * 0.1 * area.width()));
    } else {
        setAxis(m_scene.axis.zoomed(std::pow(kKeyZoom, delta.y() / 120.0),
                                    event->position().x() - area.left()));
    }
}

void TimelineCanvas::leaveEvent(QEvent*) {
    m_pointer.reset();
    m_hover.reset();
    update();
}

double TimelineCanvas::zoomCenter() const {
    const QRect area = rowsArea();
    return m_pointer && area.contains(*m_pointer) ? m_pointer->x() - area.left()
                                                  : area.width() / 2.0;
}

void TimelineCanvas::moveKeys(int key, bool fast) {
    userMoved();
    const double strength = fast ? 2.5 : 1;
    switch (key) {
        case Qt::Key_W:
            setAxis(m_scene.axis.zoomed(std::pow(kKeyZoom, strength), zoomCenter()));
            break;
        case Qt::Key_S:
            setAxis(m_scene.axis.zoomed(std::pow(1 / kKeyZoom, strength), zoomCenter()));
            break;
        case Qt::Key_A:
            setAxis(m_scene.axis.panned(-kKeyPan * strength * m_scene.axis.width));
            break;
        default:
            setAxis(m_scene.axis.panned(kKeyPan * strength * m_scene.axis.width));
            break;
    }
}

void TimelineCanvas::step(int direction) {
    if (!m_selected) {
        // Nothing selected: the first operator in view.
        for (std::size_t r = m_scene.data->rows.size(); r-- > 0;) {
            const RowKind kind = m_scene.data->rows[r].kind;
            if ((kind != RowKind::Operator && kind != RowKind::Stream) ||
                m_scene.data->rows[r].depth != 0 || m_scene.layout.placeOf(r) == nullptr)
                continue;
            const std::size_t i = m_scene.data->rows[r].firstEndingAfter(m_scene.axis.t0);
            if (i >= m_scene.data->rows[r].size()) continue;
            pick(EventRef{r, i});
            select(m_selected, true);
            return;
        }
        return;
    }
    const std::size_t next =
        m_selected->index + static_cast<std::size_t>(direction);  // 0 − 1 wraps beyond any size
    if (next >= m_scene.data->rows[m_selected->row].size()) return;
    pick(EventRef{m_selected->row, next});
    select(m_selected, true);
}

void TimelineCanvas::climb(int direction) {
    if (!m_selected) return;
    const auto& rows = m_scene.data->rows;
    const std::int64_t begin = m_scene.data->startOf(*m_selected),
                       end = m_scene.data->endOf(*m_selected);
    for (std::size_t r = m_selected->row + static_cast<std::size_t>(direction);
         r < rows.size() && rows[r].lane == rows[m_selected->row].lane;
         r += static_cast<std::size_t>(direction)) {
        // Up: what covers our start. Down: the first that begins inside.
        const std::size_t i = rows[r].firstEndingAfter(begin);
        if (i >= rows[r].size()) continue;
        const bool found = direction < 0 ? rows[r].startNs(i) <= begin && rows[r].endNs(i) >= end
                                         : rows[r].startNs(i) >= begin && rows[r].startNs(i) < end;
        if (!found) continue;
        pick(EventRef{r, i});
        select(m_selected, true);
        return;
    }
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
    const bool shift = (event->modifiers() & Qt::ShiftModifier) != 0;
    if ((event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0)
        return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_A:
        case Qt::Key_S:
        case Qt::Key_D:
            moveKeys(event->key(), shift);
            break;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            zoom(kKeyZoom);
            break;
        case Qt::Key_Minus:
            zoom(1 / kKeyZoom);
            break;
        case Qt::Key_F:
            fitSelection();
            break;
        case Qt::Key_Home:
        case Qt::Key_0:
            fitAll();
            break;
        case Qt::Key_M:
            if (shift) {
                clearMarks();
            } else {
                toggleMark();
            }
            break;
        case Qt::Key_R:
            if (m_selected) {
                setArea({m_scene.data->startOf(*m_selected), m_scene.data->endOf(*m_selected)});
                m_selected.reset();
                updateFlows();
                emit areaPicked(m_area);
            }
            break;
        case Qt::Key_Period:
        case Qt::Key_Right:
            step(1);
            break;
        case Qt::Key_Comma:
        case Qt::Key_Left:
            step(-1);
            break;
        case Qt::Key_Up:
            climb(-1);
            break;
        case Qt::Key_Down:
            climb(1);
            break;
        case Qt::Key_BracketLeft:
        case Qt::Key_BracketRight:
            jumpAlong(event->key() == Qt::Key_BracketRight);
            break;
        case Qt::Key_C:
            foldByKey(shift);
            break;
        case Qt::Key_Q:
            setQueuesVisible(!m_queues);
            break;
        case Qt::Key_Slash:
            emit searchRequested();
            break;
        case Qt::Key_N:
            emit nextMatchRequested(!shift);
            break;
        case Qt::Key_Question:
            setHelpVisible(!m_help);
            break;
        case Qt::Key_PageUp:
            m_scroll->setValue(m_scroll->value() - m_scroll->pageStep());
            break;
        case Qt::Key_PageDown:
            m_scroll->setValue(m_scroll->value() + m_scroll->pageStep());
            break;
        case Qt::Key_Escape:
            if (m_help) {
                setHelpVisible(false);
            } else if (m_selected || !m_area.empty()) {
                setArea({});
                emit areaPicked({});
                pick(std::nullopt);
            } else {
                QWidget::keyPressEvent(event);
            }
            break;
        default:
            QWidget::keyPressEvent(event);
    }
}

void TimelineCanvas::foldByKey(bool all) {
    const auto& groups = m_scene.data->groups;
    if (groups.empty()) return;
    if (all) {
        // All processes shut, or everything open.
        FoldedGroups shut;
        if (m_folded.empty())
            for (const TimelineGroup& group : groups)
                if (group.parent < 0) shut.insert(group.key);
        return setFolded(std::move(shut));
    }
    // The group of the selection, else the one under the pointer.
    if (m_selected && m_scene.data->isGpu(*m_selected))
        return toggleGroup(m_scene.data->rows[m_selected->row].group);
    if (!m_pointer) return;
    const int y = m_pointer->y() - kRuler + m_scene.scrollY;
    for (auto place = m_scene.layout.groups.rbegin(); place != m_scene.layout.groups.rend();
         ++place)
        if (place->y <= y) return toggleGroup(place->group);
}

bool TimelineCanvas::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int y = help->pos().y() - kRuler + m_scene.scrollY;
    QString text;
    if (help->pos().y() >= kRuler) {
        if (const GroupPlace* title = m_scene.layout.groupAt(y))
            text = QString::fromStdString(m_scene.data->groups[title->group].tip);
        const int x = help->pos().x() - rowsArea().left();
        if (const ChartPlace* place = m_scene.layout.chartAt(y); place != nullptr) {
            const TimelineChart& chart = m_scene.data->charts[place->chart];
            text = x < 0 ? QString::fromStdString(chart.tip)
                   : chart.kind == TimelineChart::Kind::Queue
                       ? queueText(chart, m_scene.axis, x)
                       : outOfMemoryText(chart, m_scene.axis, x);
        }
        const int row = m_scene.layout.rowAt(y);
        if (text.isEmpty() && help->pos().x() < m_gutter && row >= 0)
            text = QString::fromStdString(
                m_scene.data->rows[m_scene.layout.rows[static_cast<std::size_t>(row)].row].tip);
    }
    if (text.isEmpty()) {
        QToolTip::hideText();
    } else {
        QToolTip::showText(help->globalPos(), text.left(2000).toHtmlEscaped(), this);
    }
    return true;
}

void TimelineCanvas::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Mouse)
        if (const auto hit = eventAt(event->pos())) pick(hit);
    emit menuRequested(event->globalPos());
}

void TimelineCanvas::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void TimelineCanvas::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

}  // namespace tapescope::viewers
