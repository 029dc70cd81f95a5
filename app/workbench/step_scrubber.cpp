// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/step_scrubber.h"

#include "viewers/common/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace tapescope::app {

using viewers::Theme;

namespace {
constexpr double kMargin = 8;
}

StepScrubber::StepScrubber(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("stepScrubber"));
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(tr("Step shown"));
    setToolTip(
        tr("The step every view shows. Drag, or use ← and →; double click or End follows the "
           "newest."));
    connect(&Theme::current(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize StepScrubber::sizeHint() const { return {260, 24}; }
QSize StepScrubber::minimumSizeHint() const { return {120, 24}; }

void StepScrubber::setSteps(std::int64_t first, std::int64_t last, std::int64_t total) {
    if (first == m_first && last == m_last && total == m_total) return;
    m_first = first;
    m_last = last;
    m_total = total;
    update();
}

void StepScrubber::setStep(std::int64_t step) {
    if (step == m_step) return;
    m_step = step;
    update();
}

void StepScrubber::setStoppedAt(std::int64_t step) {
    if (step == m_stoppedAt) return;
    m_stoppedAt = step;
    update();
}

double StepScrubber::xOf(std::int64_t step) const {
    const double end = static_cast<double>(std::max({m_total - 1, m_last, m_first + 1}));
    const double t = (static_cast<double>(step - m_first)) / (end - static_cast<double>(m_first));
    return kMargin + std::clamp(t, 0.0, 1.0) * (width() - 2 * kMargin);
}

std::int64_t StepScrubber::stepAt(double x) const {
    const double end = static_cast<double>(std::max({m_total - 1, m_last, m_first + 1}));
    const double t = (x - kMargin) / (width() - 2 * kMargin);
    return m_first + std::llround(std::clamp(t, 0.0, 1.0) * (end - static_cast<double>(m_first)));
}

void StepScrubber::choose(std::int64_t step) {
    if (m_last < 0) return;
    step = std::clamp(step, m_first, m_last);
    if (step == m_step) return;
    m_step = step;
    update();
    emit stepChosen(step);
}

void StepScrubber::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    const double y = height() / 2.0;
    p.setPen(QPen(theme.color(Theme::Border), 2));
    p.drawLine(QPointF(kMargin, y), QPointF(width() - kMargin, y));
    if (m_last < 0) return;
    const bool follows = m_step < 0;
    p.setPen(QPen(theme.color(Theme::Muted), 2));
    p.drawLine(QPointF(xOf(m_first), y), QPointF(xOf(m_last), y));
    if (m_stoppedAt >= 0) {
        p.setPen(QPen(theme.color(viewers::Category::Stopped), 2));
        const double x = xOf(m_stoppedAt);
        p.drawLine(QPointF(x, y - 7), QPointF(x, y + 7));
    }
    // A hollow handle follows the newest step, a full one holds a chosen step.
    const QPointF at(xOf(shown()), y);
    p.setPen(QPen(theme.color(Theme::Accent), 2));
    p.setBrush(follows ? theme.color(Theme::Window) : theme.color(Theme::Accent));
    p.drawEllipse(at, 4.5, 4.5);
    if (hasFocus()) {
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(theme.color(Theme::Accent), 1));
        p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
}

void StepScrubber::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) choose(stepAt(event->position().x()));
}

void StepScrubber::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons().testFlag(Qt::LeftButton)) choose(stepAt(event->position().x()));
}

void StepScrubber::mouseDoubleClickEvent(QMouseEvent*) {
    m_step = -1;
    update();
    emit stepChosen(-1);
}

void StepScrubber::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
            choose(shown() - 1);
            return;
        case Qt::Key_Right:
            choose(shown() + 1);
            return;
        case Qt::Key_PageDown:
            choose(shown() - 10);
            return;
        case Qt::Key_PageUp:
            choose(shown() + 10);
            return;
        case Qt::Key_Home:
            choose(m_first);
            return;
        case Qt::Key_End:
            mouseDoubleClickEvent(nullptr);
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

void StepScrubber::wheelEvent(QWheelEvent* event) {
    choose(shown() + (event->angleDelta().y() > 0 ? 1 : -1));
    event->accept();
}

}  // namespace tapescope::app
