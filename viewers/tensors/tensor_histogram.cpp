// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_histogram.h"

#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

std::vector<double> niceTicks(double low, double high, int count) {
    std::vector<double> ticks;
    const double extent = high - low;
    if (!(extent > 0) || !std::isfinite(extent) || count < 1) return ticks;
    const double rough = extent / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power * 10;
    for (const double m : {1.0, 2.0, 5.0}) {
        if (power * m >= rough) {
            step = power * m;
            break;
        }
    }
    for (double i = std::ceil(low / step); i * step <= high + extent * 1e-9; ++i)
        ticks.push_back(i * step);
    return ticks;
}

TensorHistogram::TensorHistogram(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setMinimumSize(160, 100);
    setAccessibleName(tr("Histogram"));
    m_logButton = new QToolButton(this);
    m_logButton->setObjectName(QStringLiteral("histogramLog"));
    m_logButton->setCheckable(true);
    m_logButton->setAutoRaise(true);
    m_logButton->setText(tr("log"));
    m_logButton->setToolTip(tr("Logarithmic counts"));
    m_logButton->setAccessibleName(m_logButton->toolTip());
    connect(m_logButton, &QToolButton::toggled, this, &TensorHistogram::setLogarithmic);
    connect(&Theme::current(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TensorHistogram::setStats(std::optional<TensorStats> stats) {
    m_stats = std::move(stats);
    m_hover = -1;
    update();
}

void TensorHistogram::setLogarithmic(bool on) {
    m_log = on;
    m_logButton->setChecked(on);
    update();
}

void TensorHistogram::setStale(bool stale) {
    m_stale = stale;
    update();
}

bool TensorHistogram::empty() const {
    return !m_stats || m_stats->counts.empty() ||
           m_stats->edges.size() != m_stats->counts.size() + 1 ||
           !(m_stats->edges.back() > m_stats->edges.front());
}

double TensorHistogram::most() const {
    return std::max(1.0, *std::ranges::max_element(m_stats->counts));
}

QString TensorHistogram::summary() const {
    if (!m_stats) return {};
    const qint64 left = m_stats->nanCount + m_stats->infCount;
    return tr("%1 of %2 values are finite · NaN %3 · Inf %4")
        .arg(format::exactCount(m_stats->numel - left), format::exactCount(m_stats->numel),
             format::exactCount(m_stats->nanCount), format::exactCount(m_stats->infCount));
}

QRectF TensorHistogram::plotRect(const QRectF& area) const {
    const QFontMetricsF metrics(Theme::current().smallFont());
    const double line = metrics.height();
    const double left = metrics.horizontalAdvance(QStringLiteral("00.0 M")) + 16;
    return area.adjusted(left, line + 16, -16, -(line + 12));
}

/// Logarithmic: 0 at the bottom, 1 clearly above it, so that single outliers are seen.
double TensorHistogram::heightOf(double count) const {
    if (count <= 0) return 0;
    if (!m_log) return count / most();
    const double decades = std::log10(most()) + 1;
    return (std::log10(count) + 1) / std::max(1.0, decades);
}

int TensorHistogram::binAt(const QPointF& pos) const {
    const QRectF plot = plotRect(rect());
    if (empty() || !plot.contains(pos)) return -1;
    const std::vector<double>& edges = m_stats->edges;
    const double value =
        edges.front() + (pos.x() - plot.left()) / plot.width() * (edges.back() - edges.front());
    const auto it = std::ranges::upper_bound(edges, value);
    return static_cast<int>(std::clamp<std::ptrdiff_t>(
        it - edges.begin() - 1, 0, static_cast<std::ptrdiff_t>(m_stats->counts.size()) - 1));
}

void TensorHistogram::paintCountAxis(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    std::vector<double> ticks =
        niceTicks(0, most(), std::max(2, static_cast<int>(plot.height() / 48)));
    if (m_log) {
        ticks = {0};
        for (double t = 1; t <= most(); t *= 10) ticks.push_back(t);
    }
    for (const double tick : ticks) {
        if (!m_log && tick != std::floor(tick)) continue;  // counts are whole
        const double y = plot.bottom() - heightOf(tick) * plot.height();
        painter.setPen(theme.color(Theme::Grid));
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        painter.setPen(theme.color(Theme::Muted));
        painter.drawText(QRectF(plot.left() - 100, y - 10, 94, 20),
                         Qt::AlignRight | Qt::AlignVCenter, format::count(tick));
    }
}

void TensorHistogram::paintValueAxis(QPainter& painter, const QRectF& plot) const {
    const Theme& theme = Theme::current();
    const double low = m_stats->edges.front();
    const double high = m_stats->edges.back();
    const auto xOf = [&](double v) {
        return plot.left() + (v - low) / (high - low) * plot.width();
    };
    const double line = QFontMetricsF(painter.font()).height();
    for (const double tick :
         niceTicks(low, high, std::max(2, static_cast<int>(plot.width() / 80)))) {
        painter.setPen(theme.color(Theme::Border));
        painter.drawLine(QPointF(xOf(tick), plot.bottom()), QPointF(xOf(tick), plot.bottom() + 4));
        painter.setPen(theme.color(Theme::Muted));
        const bool zero = std::abs(tick) < (high - low) * 1e-9;
        painter.drawText(QRectF(xOf(tick) - 50, plot.bottom() + 4, 100, line + 2),
                         Qt::AlignHCenter | Qt::AlignTop,
                         zero ? QStringLiteral("0") : format::number(tick));
    }
    if (low < 0 && high > 0) {
        painter.setPen(QPen(theme.color(Theme::Muted), 1, Qt::DashLine));
        painter.drawLine(QPointF(xOf(0), plot.top()), QPointF(xOf(0), plot.bottom()));
    }
}

void TensorHistogram::paintInto(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::current();
    painter.fillRect(area, theme.color(Theme::Field));
    painter.setFont(theme.smallFont());
    painter.setPen(theme.color(Theme::Muted));
    if (empty()) {
        QString text = tr("Asking for the histogram…");
        if (m_stats)
            text = m_stats->numel == 0
                       ? tr("The tensor has no elements.")
                       : tr("No histogram: there are no finite values, or only one.");
        if (m_stats && m_stats->numel > 0) text += u'\n' + summary();
        painter.drawText(area, Qt::AlignCenter, text);
        return;
    }
    const QRectF plot = plotRect(area);
    const QFontMetricsF metrics(painter.font());
    QString line = summary();
    if (m_hover >= 0) {
        const auto i = static_cast<std::size_t>(m_hover);
        line = tr("[%1, %2): %3 values")
                   .arg(format::number(m_stats->edges[i]), format::number(m_stats->edges[i + 1]),
                        format::exactCount(static_cast<std::int64_t>(m_stats->counts[i])));
    }
    painter.drawText(
        QRectF(area.left() + 8, area.top() + 4, area.width() - 72, metrics.height() + 4),
        Qt::AlignLeft | Qt::AlignVCenter,
        metrics.elidedText(line, Qt::ElideRight, area.width() - 80));
    paintCountAxis(painter, plot);
    const double low = m_stats->edges.front();
    const double scale = plot.width() / (m_stats->edges.back() - low);
    QColor bar = theme.color(Theme::Accent);
    if (m_stale) bar = Theme::mix(bar, theme.color(Theme::Field), 0.6);
    for (std::size_t i = 0; i < m_stats->counts.size(); ++i) {
        if (m_stats->counts[i] <= 0) continue;
        const double x0 = plot.left() + (m_stats->edges[i] - low) * scale;
        const double x1 = plot.left() + (m_stats->edges[i + 1] - low) * scale;
        // Never invisible: one value among millions is what is looked for.
        const double h = std::max(1.0, heightOf(m_stats->counts[i]) * plot.height());
        const double gap = x1 - x0 > 4 ? 1 : 0;
        painter.fillRect(
            QRectF(x0, plot.bottom() - h, std::max(1.0, x1 - x0 - gap), h),
            static_cast<int>(i) == m_hover ? Theme::mix(bar, theme.color(Theme::Text), 0.4) : bar);
    }
    paintValueAxis(painter, plot);
    painter.setPen(theme.color(Theme::Border));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
}

void TensorHistogram::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintInto(painter, rect());
}

void TensorHistogram::mouseMoveEvent(QMouseEvent* event) {
    const int bin = binAt(event->position());
    if (bin == m_hover) return;
    m_hover = bin;
    update();
}

void TensorHistogram::leaveEvent(QEvent*) {
    m_hover = -1;
    update();
}

void TensorHistogram::resizeEvent(QResizeEvent*) {
    const QSize size = m_logButton->sizeHint();
    m_logButton->setGeometry(width() - size.width() - 8, 4, size.width(), size.height());
}

}  // namespace tapescope::viewers
