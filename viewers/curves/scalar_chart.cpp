// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/scalar_chart.h"

#include "viewers/common/theme.h"
#include "viewers/curves/axis_tickers.h"
#include "viewers/curves/cursor_item.h"
#include "viewers/curves/legend_bar.h"
#include "viewers/curves/series_plottable.h"
#include "viewers/models/format.h"

#include <QMenu>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

ScalarChart::ScalarChart(const QString& title, QWidget* parent)
    : ChartPanel(title, parent),
      m_plottable(new SeriesPlottable(plot()->xAxis, plot()->yAxis, &m_series)) {
    connect(legend(), &LegendBar::toggled, this,
            [this](int i) { setSeriesVisible(i, !m_series[static_cast<std::size_t>(i)].visible); });
    connect(legend(), &LegendBar::soloed, this, &ScalarChart::solo);
    connect(legend(), &LegendBar::hovered, this, &ScalarChart::setHovered);
    applyScale();
}

// The plottable points into m_series, and QCustomPlot deletes it only later.
ScalarChart::~ScalarChart() { plot()->removePlottable(m_plottable); }

void ScalarChart::setSeries(std::vector<ChartSeries> series) {
    for (ChartSeries& s : series) {
        const auto old = std::find_if(m_series.begin(), m_series.end(),
                                      [&](const ChartSeries& o) { return o.key() == s.key(); });
        if (old != m_series.end()) {
            s.smoothed = std::move(old->smoothed);
            s.visible = old->visible;
        }
        s.follow(m_smoothing);
    }
    m_series = std::move(series);
    m_plottable->options.hovered = -1;
    updateLegend();
    updateNote();
    if (!userY()) scaleY();
    if (cursorItem()->x) setCursor(cursorItem()->x, cursorItem()->box);
    queueReplot();
}

void ScalarChart::setSmoothing(double weight) {
    m_smoothing = weight;
    for (ChartSeries& s : m_series) s.follow(weight);
    updateLegend();
    queueReplot();
}

void ScalarChart::setLogY(bool on) {
    if (m_logY == on) return;
    m_logY = on;
    applyScale();
    scaleY();
    queueReplot();
}

void ScalarChart::applyScale() {
    plot()->yAxis->setScaleType(m_logY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (m_logY) {
        plot()->yAxis->setTicker(QSharedPointer<LogTicker>::create());
    } else {
        plot()->yAxis->setTicker(QSharedPointer<ValueTicker>::create());
    }
    plot()->yAxis->ticker()->setTickCount(6);
}

void ScalarChart::setAxis(XAxis axis) {
    ChartPanel::setAxis(axis);
    m_plottable->options.axis = axis;
}

std::optional<ScalarSeries::Extent> ScalarChart::xExtent() const {
    bool found = false;
    const QCPRange range = m_plottable->getKeyRange(found);
    if (!found) return std::nullopt;
    return ScalarSeries::Extent{range.lower, range.upper};
}

void ScalarChart::scaleY() {
    bool found = false;
    QCPRange range = m_plottable->getValueRange(found, m_logY ? QCP::sdPositive : QCP::sdBoth,
                                                plot()->xAxis->range());
    if (!found) range = m_logY ? QCPRange(0.1, 10) : QCPRange(0, 1);
    if (m_logY) {
        const double pad = std::max(1.02, std::pow(range.upper / range.lower, 0.05));
        plot()->yAxis->setRange(range.lower / pad, range.upper * pad);
        return;
    }
    double pad = range.size() * 0.06;
    if (pad <= 0) pad = range.upper == 0 ? 1 : std::abs(range.upper) * 0.1;  // one value only
    plot()->yAxis->setRange(range.lower - pad, range.upper + pad);
}

void ScalarChart::setFast(bool fast) { m_plottable->options.fast = fast; }

double ScalarChart::shownValue(const ChartSeries& s, std::size_t seq) const {
    return s.smooth ? s.smoothed.at(*s.data, seq) : s.data->point(seq).value;
}

QString ScalarChart::xText(const ChartSeries& s, std::size_t seq) const {
    const storage::ScalarPoint point = s.data->point(seq);
    const QString step = tr("step %1").arg(format::exactCount(point.step));
    switch (axis()) {
        case XAxis::Step:
            return step;
        case XAxis::Relative:
            return step + QStringLiteral(u" · ") +
                   format::duration((point.wall - s.data->firstWall()) * 1e9);
        case XAxis::Wall:
            break;
    }
    return step + QStringLiteral(u" · ") + format::wallTime(point.wall);
}

void ScalarChart::fillCursor(CursorItem& cursor, std::optional<double> x, bool here) {
    cursor.rows.clear();
    cursor.x = x;
    cursor.box = here;
    if (!x) {
        updateLegend();
        return;
    }
    const int hovered = m_plottable->options.hovered;
    std::optional<double> snapped;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const ChartSeries& s = m_series[i];
        if (!s.data || s.data->empty()) continue;
        const auto seq = s.data->nearest(axis(), *x);
        const storage::ScalarPoint point = s.data->point(*seq);
        const double value = shownValue(s, *seq);
        legend()->setValue(static_cast<int>(i), format::number(value));
        if (!s.visible) continue;
        const auto [block, k] = s.data->locate(*seq);
        const double at = s.data->x(*block, k, axis());
        // The line snaps to the nearest point of any curve; the values are those of the curves' own
        // nearest points.
        if (!snapped || std::abs(at - *x) < std::abs(*snapped - *x)) {
            snapped = at;
            cursor.title = xText(s, *seq);
        }
        QString text = format::number(value);
        if (s.smooth && std::isfinite(point.value))
            text += tr("  (raw %1)").arg(format::number(point.value));
        // A curve that ends far from the cursor says where its value is from.
        const bool elsewhere =
            std::abs(at - *x) * plot()->axisRect()->width() > 24 * plot()->xAxis->range().size();
        if (elsewhere) text += tr(" @%1").arg(format::exactCount(point.step));
        cursor.rows.push_back(
            {s.color, s.label, text, elsewhere ? NAN : value, static_cast<int>(i) == hovered});
    }
    if (snapped) cursor.x = snapped;
    std::stable_sort(cursor.rows.begin(), cursor.rows.end(),
                     [](const auto& a, const auto& b) { return a.emphasised > b.emphasised; });
}

void ScalarChart::updateLegend() {
    std::vector<LegendBar::Item> items;
    for (const ChartSeries& s : m_series) {
        LegendBar::Item item;
        item.label = s.label;
        item.color = s.color;
        item.dashed = s.dashed;
        item.visible = s.visible;
        if (s.data && !s.data->empty()) {
            const storage::ScalarPoint last = s.data->last();
            item.value = format::number(shownValue(s, s.data->size() - 1));
            item.toolTip = tr("%1 of %2\nlast: %3 at step %4, %5 points\nClick: hide or show · "
                              "Alt+click: show alone")
                               .arg(s.tag, s.runName, format::exactNumber(last.value),
                                    format::exactCount(last.step),
                                    format::exactCount(static_cast<std::int64_t>(s.data->size())));
        } else {
            item.toolTip = s.tag;
        }
        items.push_back(std::move(item));
    }
    legend()->setItems(std::move(items));
}

void ScalarChart::updateNote() {
    std::size_t nonFinite = 0;
    for (const ChartSeries& s : m_series)
        if (s.data) nonFinite += s.data->nonFiniteCount();
    setNote(nonFinite > 0 ? tr("%n NaN/Inf", nullptr, static_cast<int>(nonFinite)) : QString(),
            tr("Points that are NaN or infinite are marked at the chart's edge; the average leaves "
               "them out."));
}

void ScalarChart::setSeriesVisible(int series, bool visible) {
    m_series[static_cast<std::size_t>(series)].visible = visible;
    updateLegend();
    if (!userY()) scaleY();
    queueReplot();
}

void ScalarChart::solo(int series) {
    const auto others = std::count_if(m_series.begin(), m_series.end(),
                                      [](const ChartSeries& s) { return s.visible; });
    const bool isAlone = others == 1 && m_series[static_cast<std::size_t>(series)].visible;
    for (std::size_t i = 0; i < m_series.size(); ++i)
        m_series[i].visible = isAlone || static_cast<int>(i) == series;
    updateLegend();
    if (!userY()) scaleY();
    queueReplot();
}

void ScalarChart::setHovered(int series) {
    if (m_plottable->options.hovered == series) return;
    m_plottable->options.hovered = series;
    queueReplot();
}

void ScalarChart::clicked(const QPointF& pos) {
    const int series = m_plottable->seriesAt(pos, 24);
    if (series >= 0) emit tagPicked(m_series[static_cast<std::size_t>(series)].tag);
    pickAt(plot()->xAxis->pixelToCoord(pos.x()));
}

void ScalarChart::pickAt(double x) {
    std::optional<storage::ScalarPoint> best;
    double distance = INFINITY;
    for (const ChartSeries& s : m_series) {
        if (!s.visible || !s.data || s.data->empty()) continue;
        const auto seq = s.data->nearest(axis(), x);
        const auto [block, k] = s.data->locate(*seq);
        const double d = std::abs(s.data->x(*block, k, axis()) - x);
        if (d >= distance) continue;
        distance = d;
        best = s.data->point(*seq);
    }
    if (best) emit stepPicked(best->step);
}

std::optional<double> ScalarChart::xOfStep(std::int64_t step) const {
    if (axis() == XAxis::Step) return static_cast<double>(step);
    for (const ChartSeries& s : m_series) {
        if (!s.data || s.data->empty()) continue;
        const auto seq = s.data->nearest(XAxis::Step, static_cast<double>(step));
        if (s.data->point(*seq).step != step) continue;
        const auto [block, k] = s.data->locate(*seq);
        return s.data->x(*block, k, axis());
    }
    return std::nullopt;
}

std::optional<double> ScalarChart::neighbour(std::optional<double> x, int direction) const {
    std::optional<double> best;
    const QCPRange range = plot()->xAxis->range();
    const double from = x.value_or(direction > 0 ? range.lower : range.upper);
    for (const ChartSeries& s : m_series) {
        if (!s.visible || !s.data || s.data->empty()) continue;
        const std::size_t seq = *s.data->nearest(axis(), from);
        for (const std::size_t candidate : {seq - 1, seq, seq + 1}) {
            if (candidate >= s.data->size()) continue;  // also seq - 1 of 0
            const auto [block, k] = s.data->locate(candidate);
            const double at = s.data->x(*block, k, axis());
            if (direction > 0 ? at <= from : at >= from) continue;
            if (!best || std::abs(at - from) < std::abs(*best - from)) best = at;
        }
    }
    return best;
}

void ScalarChart::fillMenu(QMenu& menu, int) {
    QAction* log = menu.addAction(tr("Logarithmic y axis"));
    log->setCheckable(true);
    log->setChecked(m_logY);
    connect(log, &QAction::toggled, this, [this](bool on) {
        setLogY(on);
        emit logYToggled(on);
    });
    QMenu* curves = menu.addMenu(tr("Curves"));
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        QAction* action = curves->addAction(m_series[i].label);
        action->setCheckable(true);
        action->setChecked(m_series[i].visible);
        connect(action, &QAction::toggled, this,
                [this, i](bool on) { setSeriesVisible(static_cast<int>(i), on); });
    }
}

void ScalarChart::applyTheme() {
    ChartPanel::applyTheme();
    updateLegend();
}

}  // namespace tapescope::viewers
