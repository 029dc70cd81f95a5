// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/chart_panel.h"

#include "viewers/common/elided_label.h"
#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/curves/axis_tickers.h"
#include "viewers/curves/cursor_item.h"
#include "viewers/curves/legend_bar.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <qcustomplot.h>

#include <cmath>

namespace tapescope::viewers {
namespace {

constexpr double kMinPixels = 5;  // a shorter drag is a click

}  // namespace

ChartPanel::ChartPanel(QString title, QWidget* parent)
    : QWidget(parent),
      m_title(std::move(title)),
      m_titleLabel(new ElidedLabel(m_title, this)),
      m_note(new QLabel(this)),
      m_header(new QWidget(this)),
      m_legend(new LegendBar(m_header)),
      m_menuButton(new QToolButton(m_header)),
      m_plot(new QCustomPlot(this)),
      m_cursor(nullptr) {
    setFocusPolicy(Qt::StrongFocus);
    setObjectName(QStringLiteral("chart:%1").arg(m_title));
    setAccessibleName(tr("Chart %1").arg(m_title));
    m_note->hide();
    setThemedIcon(m_menuButton, QStringLiteral("settings"));
    m_menuButton->setToolTip(tr("Chart settings and export"));
    m_menuButton->setAutoRaise(true);
    m_menuButton->setIconSize({14, 14});
    m_menuButton->setFocusPolicy(Qt::TabFocus);
    auto* header = new QHBoxLayout(m_header);
    header->setContentsMargins(8, 2, 4, 2);
    header->setSpacing(8);
    header->addWidget(m_titleLabel);
    header->addWidget(m_note);
    header->addWidget(m_legend, 1);
    header->addWidget(m_menuButton);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1);
    layout->setSpacing(0);
    layout->addWidget(m_header);
    layout->addWidget(m_plot, 1);

    m_plot->setInteractions({});
    m_plot->setNoAntialiasingOnDrag(false);
    m_plot->setPlottingHint(QCP::phFastPolylines, true);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    m_plot->axisRect()->setMinimumMargins({44, 6, 14, 0});
    m_plot->addLayer(QStringLiteral("cursor"), m_plot->layer(QStringLiteral("overlay")),
                     QCustomPlot::limAbove);
    m_plot->layer(QStringLiteral("cursor"))->setMode(QCPLayer::lmBuffered);
    m_cursor = new CursorItem(m_plot);
    m_cursor->setLayer(QStringLiteral("cursor"));

    m_settle.setSingleShot(true);
    m_settle.setInterval(100);
    connect(&m_settle, &QTimer::timeout, this, [this] {
        setFast(false);
        queueReplot();
    });
    connect(m_menuButton, &QToolButton::clicked, this,
            [this] { showMenu(m_menuButton->mapToGlobal(QPoint(0, m_menuButton->height())), -1); });
    connect(m_legend, &LegendBar::menuRequested, this,
            [this](int series, const QPoint& pos) { showMenu(pos, series); });
    connect(&Theme::current(), &Theme::changed, this, [this] {
        applyTheme();
        queueReplot();
    });
    ChartPanel::setAxis(XAxis::Step);
    ChartPanel::applyTheme();
}

QSize ChartPanel::minimumSizeHint() const { return {260, 160}; }

void ChartPanel::setNote(const QString& text, const QString& toolTip) {
    m_note->setText(text);
    m_note->setToolTip(toolTip);
    m_note->setVisible(!text.isEmpty());
}

void ChartPanel::addHeaderWidget(QWidget* widget) {
    auto* header = static_cast<QHBoxLayout*>(m_header->layout());
    header->insertWidget(header->count() - 1, widget);
}

void ChartPanel::styleAxis(QCPAxis* axis, bool shown) {
    const Theme& theme = Theme::current();
    axis->setBasePen(QPen(theme.color(Theme::Border), 1));
    axis->setTickPen(QPen(theme.color(Theme::Border), 1));
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLength(0, shown ? 4 : 0);
    axis->setTickLabelFont(theme.smallMonoFont());
    axis->setTickLabelColor(theme.color(Theme::Muted));
    axis->setLabelFont(theme.smallFont());
    axis->setLabelColor(theme.color(Theme::Muted));
    axis->setTickLabelPadding(4);
    axis->setLabelPadding(1);
    axis->grid()->setPen(QPen(theme.color(Theme::Grid), 1));
    axis->grid()->setZeroLinePen(QPen(theme.color(Theme::Border), 1));
    axis->grid()->setSubGridVisible(false);
}

void ChartPanel::applyTheme() {
    const Theme& theme = Theme::current();
    m_titleLabel->setFont(theme.boldFont());
    QPalette warning = palette();
    warning.setColor(QPalette::WindowText, theme.color(Theme::Warning));
    m_note->setPalette(warning);
    m_note->setFont(theme.smallFont());
    m_plot->setBackground(theme.color(Theme::Field));
    styleAxis(m_plot->xAxis, true);
    styleAxis(m_plot->yAxis, true);
    update();
}

void ChartPanel::setAxis(XAxis axis) {
    m_axis = axis;
    switch (axis) {
        case XAxis::Step:
            m_plot->xAxis->setTicker(QSharedPointer<StepTicker>::create());
            m_plot->xAxis->setLabel(tr("step"));
            break;
        case XAxis::Relative:
            m_plot->xAxis->setTicker(QSharedPointer<ElapsedTicker>::create());
            m_plot->xAxis->setLabel(tr("time since the first point"));
            break;
        case XAxis::Wall: {
            auto ticker = QSharedPointer<QCPAxisTickerDateTime>::create();
            ticker->setDateTimeFormat(QStringLiteral("HH:mm:ss\nMMM d"));
            m_plot->xAxis->setTicker(ticker);
            m_plot->xAxis->setLabel(tr("wall time"));
            break;
        }
    }
    m_plot->xAxis->ticker()->setTickCount(5);
    m_cursor->x.reset();
    setSelectedStep(m_selectedStep);
}

void ChartPanel::setXRange(double low, double high) {
    if (!sharesX()) return;
    m_plot->xAxis->setRange(low, high);
    if (!m_userY) scaleY();
    queueReplot();
}

void ChartPanel::setCursor(std::optional<double> x, bool here) {
    if (!sharesX() && !here) x.reset();
    fillCursor(*m_cursor, x, here);
    m_plot->layer(QStringLiteral("cursor"))->replot();
}

void ChartPanel::setSelectedStep(std::int64_t step) {
    m_selectedStep = step;
    m_cursor->selected = step >= 0 && sharesX() ? xOfStep(step) : std::nullopt;
    m_plot->layer(QStringLiteral("cursor"))->replot();
}

void ChartPanel::queueReplot() {
    if (m_selectedStep >= 0 && sharesX()) m_cursor->selected = xOfStep(m_selectedStep);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ChartPanel::replotNow() {
    m_settle.stop();
    setFast(false);
    m_plot->replot(QCustomPlot::rpImmediateRefresh);
}

void ChartPanel::paintVector(QPainter& painter, const QRect& target) {
    const Theme& theme = Theme::current();
    const int head = m_header->height();
    painter.fillRect(target, theme.color(Theme::Field));
    painter.setFont(theme.boldFont());
    painter.setPen(theme.color(Theme::Text));
    painter.drawText(QRect(target.left() + 8, target.top(), target.width() - 16, head),
                     Qt::AlignLeft | Qt::AlignVCenter, m_title);
    painter.save();
    painter.translate(target.left(), target.top());
    painter.translate(m_legend->geometry().topLeft());
    m_legend->render(&painter, {}, {}, QWidget::DrawChildren);
    painter.restore();
    QPicture picture;
    QCPPainter vector;
    vector.begin(&picture);
    m_plot->toPainter(&vector, target.width(), target.height() - head);
    vector.end();
    painter.drawPicture(target.left(), target.top() + head, picture);
}

void ChartPanel::showMenu(const QPoint& globalPos, int series) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillMenu(*menu, series);
    menu->addAction(tr("Show all\tDouble click"), this, &ChartPanel::reset);
    menu->addAction(tr("Enlarge or restore"), this, &ChartPanel::maximizeRequested);
    emit menuAboutToShow(menu, series);
    menu->popup(globalPos);
}

bool ChartPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_plot) return QWidget::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::MouseButtonPress:
            mousePress(static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseMove:
            mouseMove(static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseButtonRelease:
            mouseRelease(static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseButtonDblClick:
            reset();
            return true;
        case QEvent::Wheel:
            wheel(static_cast<QWheelEvent*>(event));
            return true;
        case QEvent::Leave:
            if (m_drag == Drag::None) emit cursorLeft();
            return false;
        default:
            return false;
    }
}

void ChartPanel::mousePress(QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    m_dragFrom = event->position();
    m_moved = false;
    const bool pan =
        event->button() == Qt::MiddleButton ||
        (event->button() == Qt::LeftButton && (event->modifiers() & Qt::ShiftModifier) != 0);
    if (pan) {
        m_drag = Drag::Pan;
        m_plot->setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        m_drag = Drag::Band;
    }
}

void ChartPanel::mouseMove(QMouseEvent* event) {
    const QPointF pos = event->position();
    const QPointF by = pos - m_dragFrom;
    if (m_drag != Drag::None && std::hypot(by.x(), by.y()) >= kMinPixels) m_moved = true;
    if (m_drag == Drag::Pan && m_moved) {
        interacting();
        QCPAxis* x = m_plot->xAxis;
        const double shift = x->pixelToCoord(m_dragFrom.x()) - x->pixelToCoord(pos.x());
        setAxisRange(x, x->range().lower + shift, x->range().upper + shift);
        if (m_userY) {
            QCPAxis* y = m_plot->yAxis;
            const double low = y->pixelToCoord(y->coordToPixel(y->range().lower) - by.y());
            const double high = y->pixelToCoord(y->coordToPixel(y->range().upper) - by.y());
            setAxisRange(y, low, high);
        }
        m_dragFrom = pos;
        return;
    }
    if (m_drag == Drag::Band && m_moved) {
        const QRectF area = m_plot->axisRect()->rect();
        QRectF band = QRectF(m_dragFrom, pos).normalized();
        if (band.height() < 14) {  // a drag along x means x only
            band.setTop(area.top());
            band.setBottom(area.bottom());
        }
        m_cursor->band = band;
    }
    const QRect area = m_plot->axisRect()->rect();
    if (area.contains(pos.toPoint())) {
        emit cursorMoved(m_plot->xAxis->pixelToCoord(pos.x()));
    } else if (m_drag == Drag::None) {
        emit cursorLeft();
    }
    if (m_drag == Drag::Band) m_plot->layer(QStringLiteral("cursor"))->replot();
}

void ChartPanel::mouseRelease(QMouseEvent* event) {
    const Drag drag = std::exchange(m_drag, Drag::None);
    m_plot->unsetCursor();
    const QRectF band = std::exchange(m_cursor->band, QRectF());
    if (drag == Drag::None) return;
    if (!m_moved) {
        if (drag == Drag::Band && m_plot->axisRect()->rect().contains(event->position().toPoint()))
            clicked(event->position());
        return;
    }
    if (drag != Drag::Band || band.isEmpty()) return;
    const QRectF area = m_plot->axisRect()->rect();
    const QRectF r = band.intersected(area);
    const bool zoomX = r.width() >= kMinPixels;
    const bool zoomY = r.height() >= kMinPixels && r.height() < area.height() - 1;
    const double low = m_plot->xAxis->pixelToCoord(r.left()),
                 high = m_plot->xAxis->pixelToCoord(r.right());
    if (zoomY) {
        const double bottom = m_plot->yAxis->pixelToCoord(r.bottom()),
                     top = m_plot->yAxis->pixelToCoord(r.top());
        m_userY = true;
        m_plot->yAxis->setRange(bottom, top);
    }
    if (zoomX) setAxisRange(m_plot->xAxis, low, high);
    queueReplot();
}

void ChartPanel::wheel(QWheelEvent* event) {
    const QPoint delta = event->angleDelta();
    const double notches = (delta.y() != 0 ? delta.y() : delta.x()) / 120.0;
    const QRect area = m_plot->axisRect()->rect();
    const bool alongY =
        (event->modifiers() & Qt::ControlModifier) != 0 || event->position().x() < area.left();
    event->accept();
    interacting();
    if ((event->modifiers() & Qt::ShiftModifier) != 0) {
        QCPAxis* x = m_plot->xAxis;
        const double shift = -notches * 0.1 * x->range().size();
        setAxisRange(x, x->range().lower + shift, x->range().upper + shift);
    } else if (alongY) {
        m_userY = true;
        zoom(m_plot->yAxis, std::pow(0.85, notches), event->position().y());
    } else {
        zoom(m_plot->xAxis, std::pow(0.85, notches), event->position().x());
    }
}

void ChartPanel::zoom(QCPAxis* axis, double factor, double center) {
    const bool vertical = axis->orientation() == Qt::Vertical;
    const QRect area = m_plot->axisRect()->rect();
    // In pixels, so that it is right on log axes too.
    const double first = vertical ? area.bottom() : area.left();
    const double last = vertical ? area.bottom() - area.height() : area.left() + area.width();
    const double low = axis->pixelToCoord(center + (first - center) * factor);
    const double high = axis->pixelToCoord(center + (last - center) * factor);
    setAxisRange(axis, low, high);
}

void ChartPanel::setAxisRange(QCPAxis* axis, double low, double high) {
    // Below this, double has no more digits for the ticks.
    const double smallest = std::max(1e-12, std::max(std::abs(low), std::abs(high)) * 1e-9);
    if (!std::isfinite(low) || !std::isfinite(high) || high - low < smallest) return;
    if (axis == m_plot->xAxis && sharesX()) {
        emit xRangeRequested(low, high);
        return;
    }
    axis->setRange(low, high);
    queueReplot();
}

void ChartPanel::interacting() {
    setFast(true);
    m_settle.start();
}

void ChartPanel::reset() {
    m_userY = false;
    emit resetRequested();
    scaleY();
    queueReplot();
}

void ChartPanel::keyPressEvent(QKeyEvent* event) {
    const QRect area = m_plot->axisRect()->rect();
    const QPointF middle =
        m_cursor->x ? QPointF(m_plot->xAxis->coordToPixel(*m_cursor->x), area.center().y())
                    : QPointF(area.center());
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right: {
            const auto x = neighbour(m_cursor->x, event->key() == Qt::Key_Left ? -1 : 1);
            if (x) emit cursorMoved(*x);
            break;
        }
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            zoom(m_plot->xAxis, 0.7, middle.x());
            break;
        case Qt::Key_Minus:
            zoom(m_plot->xAxis, 1 / 0.7, middle.x());
            break;
        case Qt::Key_F:
        case Qt::Key_Home:
            reset();
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_cursor->x) pickAt(*m_cursor->x);
            break;
        case Qt::Key_Escape:
            if (!m_cursor->x) return QWidget::keyPressEvent(event);
            emit cursorLeft();
            break;
        case Qt::Key_M:
            emit maximizeRequested();
            break;
        default:
            QWidget::keyPressEvent(event);
    }
}

void ChartPanel::contextMenuEvent(QContextMenuEvent* event) { showMenu(event->globalPos(), -1); }

void ChartPanel::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void ChartPanel::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void ChartPanel::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter p(this);
    p.setPen(QPen(theme.color(hasFocus() ? Theme::Accent : Theme::Border), 1));
    p.setBrush(theme.color(Theme::Field));
    p.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace tapescope::viewers
