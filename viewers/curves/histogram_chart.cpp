// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/histogram_chart.h"

#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/curves/axis_tickers.h"
#include "viewers/curves/cursor_item.h"
#include "viewers/curves/legend_bar.h"
#include "viewers/curves/ridge_plottable.h"
#include "viewers/models/format.h"
#include "viewers/models/histogram_grid.h"

#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

constexpr int kMaxColumns = 1024;
constexpr int kRows = 128;

}  // namespace

HistogramChart::HistogramChart(const QString& title, QWidget* parent)
    : ChartPanel(title, parent),
      m_map(new QCPColorMap(plot()->xAxis, plot()->yAxis)),
      m_ridgePlot(new RidgePlottable(plot()->xAxis, plot()->yAxis)) {
    m_map->setInterpolate(false);
    m_map->setTightBoundary(false);
    m_map->setSelectable(QCP::stNone);
    auto* mode = new QToolButton(this);
    mode->setObjectName(QStringLiteral("ridge"));
    mode->setCheckable(true);
    mode->setAutoRaise(true);
    mode->setIconSize({14, 14});
    mode->setToolTip(tr("Outlines instead of a heat map"));
    mode->setFocusPolicy(Qt::TabFocus);
    setThemedIcon(mode, QStringLiteral("ridge"));
    connect(mode, &QToolButton::toggled, this, &HistogramChart::setRidge);
    addHeaderWidget(mode);
    // The heat map is binned for what is visible.
    const auto refill = [this] {
        if (!m_ridge) fillMap();
    };
    connect(plot()->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, refill);
    connect(plot()->yAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, refill);
    HistogramChart::applyTheme();
    showMode();
}

void HistogramChart::showMode() {
    m_map->setVisible(!m_ridge);
    m_ridgePlot->setVisible(m_ridge);
    if (m_ridge) {
        plot()->xAxis->setTicker(QSharedPointer<ValueTicker>::create());
        plot()->xAxis->setLabel(tr("value"));
        plot()->yAxis->setTicker(QSharedPointer<StepTicker>::create());
        plot()->yAxis->setRangeReversed(true);
    } else {
        plot()->yAxis->setTicker(QSharedPointer<ValueTicker>::create());
        plot()->yAxis->setRangeReversed(false);
    }
    plot()->xAxis->ticker()->setTickCount(5);
    plot()->yAxis->ticker()->setTickCount(6);
}

void HistogramChart::setRidge(bool on) {
    if (m_ridge == on) return;
    m_ridge = on;
    if (auto* button = findChild<QToolButton*>(QStringLiteral("ridge"))) {
        const QSignalBlocker blocker(button);
        button->setChecked(on);
    }
    setCursor(std::nullopt, false);
    if (!on) setAxis(axis());
    showMode();
    if (on) {
        scaleY();
    } else {
        emit resetRequested();  // the common x range comes from the owner
        scaleY();
    }
    setSelectedStep(-1);
    queueReplot();
}

void HistogramChart::setAxis(XAxis axis) {
    ChartPanel::setAxis(axis);
    showMode();
}

void HistogramChart::setData(HistogramSeriesPtr series, const QString& runName,
                             const QColor& color) {
    m_data = std::move(series);
    std::vector<LegendBar::Item> legendItems;
    if (!runName.isEmpty()) {
        LegendBar::Item item;
        item.label = runName;
        item.color = color;
        legendItems.push_back(std::move(item));
    }
    legend()->setItems(std::move(legendItems));
    std::int64_t nan = 0, inf = 0;
    for (const auto& item : m_data->items) {
        nan += item->nanCount;
        inf += item->infCount;
    }
    setNote(nan + inf > 0 ? tr("%1 NaN, %2 Inf")
                                .arg(format::count(static_cast<double>(nan)),
                                     format::count(static_cast<double>(inf)))
                          : QString(),
            tr("Values that are NaN or infinite are in no bin."));
    m_ridgePlot->setItems(m_data->items);
    if (!userY()) scaleY();
    if (!m_ridge) fillMap();
    queueReplot();
}

double HistogramChart::x(std::size_t i) const {
    const storage::Histogram& item = *m_data->items[i];
    switch (axis()) {
        case XAxis::Step:
            return static_cast<double>(item.step);
        case XAxis::Relative:
            return item.wall - m_data->items.front()->wall;
        case XAxis::Wall:
            break;
    }
    return item.wall;
}

std::optional<double> HistogramChart::xOfStep(std::int64_t step) const {
    if (axis() == XAxis::Step) return static_cast<double>(step);
    return std::nullopt;
}

std::optional<std::size_t> HistogramChart::nearest(double at) const {
    if (!m_data || m_data->items.empty()) return std::nullopt;
    std::size_t best = 0;
    for (std::size_t i = 1; i < m_data->items.size(); ++i)
        if (std::abs(x(i) - at) < std::abs(x(best) - at)) best = i;
    return best;
}

std::optional<ScalarSeries::Extent> HistogramChart::xExtent() const {
    if (!m_data || m_data->items.empty() || m_ridge) return std::nullopt;
    return ScalarSeries::Extent{x(0), x(m_data->items.size() - 1)};
}

void HistogramChart::scaleY() {
    if (!m_data || m_data->items.empty()) return;
    std::vector<const storage::Histogram*> all;
    for (const auto& item : m_data->items) all.push_back(item.get());
    const ValueRange values = massRange(all, 0.001);
    const double pad = (values.high - values.low) * 0.03;
    if (!m_ridge) {
        plot()->yAxis->setRange(values.low - pad, values.high + pad);
        return;
    }
    plot()->xAxis->setRange(values.low - pad, values.high + pad);
    const double first = static_cast<double>(all.front()->step),
                 last = static_cast<double>(all.back()->step);
    const double span = std::max(1.0, last - first);
    plot()->yAxis->setRange(first - span * 0.42,
                            last + span * 0.04);  // room for the oldest outline
}

void HistogramChart::fillMap() {
    if (m_filling || !m_data || m_data->items.empty()) return;
    m_filling = true;
    const QCPRange keys = plot()->xAxis->range(), values = plot()->yAxis->range();
    // One column a histogram while they are few, spread evenly otherwise; a column shows the last
    // histogram before it.
    const auto& items = m_data->items;
    const double first = std::max(x(0), keys.lower),
                 last = std::min(x(items.size() - 1), keys.upper);
    const double spacing =
        items.size() > 1 ? (x(items.size() - 1) - x(0)) / static_cast<double>(items.size() - 1) : 1;
    const double span = std::max(last - first, 0.0);
    const int columns =
        std::clamp(static_cast<int>(spacing > 0 ? span / spacing + 1.5 : 1), 1, kMaxColumns);
    m_map->data()->setSize(columns, kRows);
    const double half = (values.upper - values.lower) / kRows / 2;
    m_map->data()->setRange(
        columns > 1 ? QCPRange(first, last) : QCPRange(first - spacing / 2, first + spacing / 2),
        QCPRange(values.lower + half, values.upper - half));
    double highest = 0;
    std::size_t at = 0;
    for (int c = 0; c < columns; ++c) {
        const double key = columns > 1 ? first + span * c / (columns - 1) : first;
        while (at + 1 < items.size() && x(at + 1) <= key + spacing * 0.5) ++at;
        double total = 0;
        for (const double count : items[at]->counts) total += count;
        const auto density = rebin(*items[at], values.lower, values.upper, kRows);
        for (int r = 0; r < kRows; ++r) {
            // The square root keeps the tails visible beside a sharp peak.
            const double d =
                total > 0 ? std::sqrt(density[static_cast<std::size_t>(r)] / total) : 0;
            m_map->data()->setCell(c, r, d > 0 ? d : NAN);
            highest = std::max(highest, d);
        }
    }
    m_map->setDataRange({0, highest > 0 ? highest : 1});
    m_filling = false;
}

void HistogramChart::setFast(bool fast) { m_ridgePlot->fast = fast; }

void HistogramChart::fillCursor(CursorItem& cursor, std::optional<double> x, bool here) {
    cursor.rows.clear();
    cursor.x.reset();
    cursor.box = here;
    if (!x || m_ridge) return;
    const auto i = nearest(*x);
    if (!i) return;
    const storage::Histogram& item = *m_data->items[*i];
    cursor.x = this->x(*i);
    cursor.title = tr("step %1").arg(format::exactCount(item.step));
    double count = 0;
    for (const double c : item.counts) count += c;
    const double mean = count > 0 ? item.sum / count : NAN;
    const double deviation =
        count > 0 ? std::sqrt(std::max(0.0, item.sumSquares / count - mean * mean)) : NAN;
    const QColor color = Theme::current().color(Theme::Muted);
    const auto row = [&](const QString& label, double value) {
        cursor.rows.push_back({color, label, format::number(value), NAN, false});
    };
    row(tr("max"), item.max);
    row(tr("mean"), mean);
    row(tr("std"), deviation);
    row(tr("min"), item.min);
    cursor.rows.push_back({color, tr("values"), format::count(count), NAN, false});
    if (item.nanCount + item.infCount > 0)
        cursor.rows.push_back({Theme::current().color(Theme::NaN), tr("NaN, Inf"),
                               format::exactCount(item.nanCount) + QStringLiteral(", ") +
                                   format::exactCount(item.infCount),
                               NAN, true});
}

std::optional<double> HistogramChart::neighbour(std::optional<double> from, int direction) const {
    if (!m_data || m_data->items.empty() || m_ridge) return std::nullopt;
    const std::size_t i = *nearest(
        from.value_or(direction > 0 ? plot()->xAxis->range().lower : plot()->xAxis->range().upper));
    const std::size_t next =
        i + static_cast<std::size_t>(direction);  // 0 - 1 wraps to a size no series has
    return x(next < m_data->items.size() && from ? next : i);
}

void HistogramChart::clicked(const QPointF& pos) {
    if (m_data) emit tagPicked(QString::fromStdString(m_data->tag));
    pickAt(plot()->xAxis->pixelToCoord(pos.x()));
}

void HistogramChart::pickAt(double at) {
    if (m_ridge) return;
    if (const auto i = nearest(at)) emit stepPicked(m_data->items[*i]->step);
}

void HistogramChart::fillMenu(QMenu& menu, int) {
    QAction* action = menu.addAction(tr("Outlines instead of a heat map"));
    action->setCheckable(true);
    action->setChecked(m_ridge);
    connect(action, &QAction::toggled, this, &HistogramChart::setRidge);
}

void HistogramChart::applyTheme() {
    ChartPanel::applyTheme();
    QCPColorGradient gradient;
    gradient.clearColorStops();
    const Theme& theme = Theme::current();
    constexpr int kStops = 32;
    for (int i = 0; i <= kStops; ++i) {
        const double t = static_cast<double>(i) / kStops;
        // On white the scale runs light to dark, so that "little" always is close to the
        // background.
        QColor color(theme.sequential(theme.dark() ? t : 1 - t));
        if (t < 0.15) color = Theme::mix(theme.color(Theme::Field), color, t / 0.15);
        gradient.setColorStopAt(t, color);
    }
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    gradient.setLevelCount(128);
    m_map->setGradient(gradient);
}

}  // namespace tapescope::viewers
