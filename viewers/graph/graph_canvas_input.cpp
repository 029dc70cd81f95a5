// SPDX-License-Identifier: GPL-3.0-or-later
// GraphCanvas: pointer and keys.
#include "viewers/graph/graph_canvas.h"
#include "viewers/graph/graph_painter.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cmath>

namespace tapescope::viewers {

namespace {

constexpr double kWheelStep = 1.2;  // zoom per notch
constexpr double kPanStep = 60;     // px per notch or arrow key

}  // namespace

void GraphCanvas::setHover(const QPointF& pos) {
    const bool onMap = minimapShown() && minimapRect().contains(pos);
    const QPointF at = toScene(pos);
    const int box = onMap || m_state.empty() ? -1 : m_state.boxAt(at);
    bool dot = false;
    bool hand = false;
    if (box >= 0) {
        const SceneBox& b = m_state.scene().boxes[box];
        const GraphPlace place = m_state.place(box);
        const bool readable = m_scale >= kTextScale;
        dot = readable && !(place.op.empty() && place.module.empty()) && dotRect(b).contains(at);
        const bool opener = readable && b.group >= 0 && openerRect(b).contains(at);
        const int chip = readable ? GraphState::chipAt(b, at) : -1;
        hand = dot || opener || (chip >= 0 && b.chips[chip].fromNode >= 0);
    }
    setCursor(hand ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (box == m_hoverBox && dot == m_hoverDot) return;
    m_hoverBox = box;
    m_hoverDot = dot;
    update();
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
    m_pressed = event->position();
    m_pressedOrigin = m_origin;
    m_dragging = false;
    m_onMinimap = minimapShown() && minimapRect().contains(event->position());
    if (m_onMinimap) minimapTo(event->position());
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & (Qt::LeftButton | Qt::MiddleButton))) {
        setHover(event->position());
        return;
    }
    if (m_onMinimap) {
        minimapTo(event->position());
        return;
    }
    const QPointF moved = event->position() - m_pressed;
    if (!m_dragging && moved.manhattanLength() < QApplication::startDragDistance()) return;
    m_dragging = true;
    setCursor(Qt::ClosedHandCursor);
    m_origin = m_pressedOrigin - moved / m_scale;
    m_place = Place::Own;
    keepInside();
    update();
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
    const bool click = !m_dragging && !m_onMinimap && event->button() == Qt::LeftButton;
    m_dragging = false;
    m_onMinimap = false;
    setCursor(Qt::ArrowCursor);
    if (!click || m_state.empty()) return;
    const QPointF at = toScene(event->position());
    const int box = m_state.boxAt(at);
    if (box >= 0 && m_scale >= kTextScale) {
        const SceneBox& b = m_state.scene().boxes[box];
        const GraphPlace place = m_state.place(box);
        const bool canBreak = !(place.op.empty() && place.module.empty());
        if (canBreak && dotRect(b).contains(at)) {
            emit breakpointClicked(box);
            return;
        }
        if (b.group >= 0 && openerRect(b).contains(at)) {
            toggleGroup(b.group);
            return;
        }
        const int chip = GraphState::chipAt(b, at);
        if (chip >= 0 && b.chips[chip].fromNode >= 0) {
            const int node = b.chips[chip].fromNode;
            m_state.reveal(node);
            sceneChanged();
            const int target = m_state.scene().boxOfNode[node];
            choose(target);
            showBox(target, false);
            return;
        }
    }
    choose(box);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || m_state.empty()) return;
    m_dragging = true;  // the release that follows is no click
    const QPointF at = toScene(event->position());
    const int box = m_state.boxAt(at);
    if (box < 0) return;
    const SceneBox& b = m_state.scene().boxes[box];
    if (m_scale >= kTextScale &&
        (dotRect(b).contains(at) || (b.group >= 0 && openerRect(b).contains(at)))) {
        return;  // two clicks on the same button
    }
    if (b.group >= 0) {
        toggleGroup(b.group);
    } else if (m_state.operatorAt(b.node) != nullptr) {
        emit activated(b.node);
    }
}

void GraphCanvas::leaveEvent(QEvent*) {
    m_hoverBox = -1;
    m_hoverDot = false;
    update();
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
    const QPointF notches = QPointF(event->angleDelta()) / 120;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomBy(std::pow(kWheelStep, notches.y()), event->position());
    } else {
        QPointF pixels =
            event->pixelDelta().isNull() ? notches * kPanStep : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier) pixels = {pixels.y() + pixels.x(), 0};
        m_origin -= pixels / m_scale;
        m_place = Place::Own;
        keepInside();
        update();
    }
    event->accept();
}

/// +1, −1: the box that runs next or before among those visible.
void GraphCanvas::moveSelection(int direction) {
    const GraphScene& scene = m_state.scene();
    const auto seqOf = [&](const SceneBox& box) -> std::int64_t {
        if (box.node >= 0) return m_state.graph().nodes[box.node].seq;
        return m_state.graph().groups[box.group].firstSeq;
    };
    const int selected = m_state.selectedBox();
    const std::int64_t from =
        selected >= 0 ? seqOf(scene.boxes[selected]) : (direction > 0 ? -1 : INT64_MAX);
    int best = -1;
    for (int i = 0; i < static_cast<int>(scene.boxes.size()); ++i) {
        const SceneBox& box = scene.boxes[i];
        const std::int64_t seq = seqOf(box);
        if (box.open || seq < 0 || (direction > 0 ? seq <= from : seq >= from)) continue;
        if (best < 0 ||
            (direction > 0 ? seq < seqOf(scene.boxes[best]) : seq > seqOf(scene.boxes[best])))
            best = i;
    }
    if (best < 0) return;
    choose(best);
    showBox(best, false);
}

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    if (m_state.empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const bool ctrl = (event->modifiers() & Qt::ControlModifier) != 0;
    const int node = m_state.selectedNode();
    const int group = m_state.selectedGroup();
    const int box = m_state.selectedBox();
    const QPointF middle(width() / 2.0, height() / 2.0);
    switch (event->key()) {
        case Qt::Key_F:
            if (ctrl) {
                emit searchRequested();
            } else {
                fit();
            }
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            if (ctrl) {
                zoomBy(kWheelStep, middle);
            } else if (group >= 0 && !m_state.isOpen(group)) {
                toggleGroup(group);
            }
            return;
        case Qt::Key_Minus:
            if (ctrl) {
                zoomBy(1 / kWheelStep, middle);
            } else {
                // The group itself, or the one around the selection.
                int open = group >= 0 && m_state.isOpen(group) ? group : -1;
                if (open < 0 && node >= 0) open = m_state.graph().nodes[node].group;
                if (open < 0 && group >= 0) open = m_state.graph().groups[group].parent;
                if (open < 0 || m_state.graph().groups[open].kind == GraphGroup::Kind::Column)
                    return;
                toggleGroup(open);
                choose(m_state.scene().boxOfGroup[open]);
            }
            return;
        case Qt::Key_Down:
            moveSelection(1);
            return;
        case Qt::Key_Up:
            moveSelection(-1);
            return;
        case Qt::Key_Left: {
            const int parent = node >= 0    ? m_state.graph().nodes[node].group
                               : group >= 0 ? m_state.graph().groups[group].parent
                                            : -1;
            if (parent < 0 || m_state.graph().groups[parent].kind == GraphGroup::Kind::Column)
                return;
            choose(m_state.scene().boxOfGroup[parent]);
            showBox(m_state.selectedBox(), false);
            return;
        }
        case Qt::Key_Right:
            if (group >= 0 && !m_state.isOpen(group)) toggleGroup(group);
            if (group >= 0) {
                // Into the group: its first operator, or group, in order of execution.
                const GraphGroup& g = m_state.graph().groups[group];
                int child = -1;
                for (const int n : g.nodes) {
                    if (m_state.graph().nodes[n].seq == static_cast<std::int64_t>(g.firstSeq))
                        child = m_state.scene().boxOfNode[n];
                }
                if (child < 0 && !g.groups.empty())
                    child = m_state.scene().boxOfGroup[g.groups.front()];
                if (child >= 0) {
                    choose(child);
                    showBox(child, false);
                }
            }
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (group >= 0) {
                toggleGroup(group);
            } else if (m_state.operatorAt(node) != nullptr) {
                emit activated(node);
            }
            return;
        case Qt::Key_F9:
            if (box >= 0) emit breakpointClicked(box);
            return;
        case Qt::Key_Home:
            emit showCurrentRequested();
            return;
        case Qt::Key_Escape:
            if (box < 0) break;
            choose(-1);
            return;
        case Qt::Key_Menu:
            emit menuRequested(box, mapToGlobal(middle.toPoint()));
            return;
        default:
            break;
    }
    QWidget::keyPressEvent(event);
}

void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) {
    if (m_state.empty()) return;
    const int box = event->reason() == QContextMenuEvent::Mouse
                        ? m_state.boxAt(toScene(event->pos()))
                        : m_state.selectedBox();
    if (box >= 0 && event->reason() == QContextMenuEvent::Mouse) choose(box);
    emit menuRequested(box, event->globalPos());
}

}  // namespace tapescope::viewers
