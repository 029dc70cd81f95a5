// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/empty_state.h"
#include "viewers/common/picture.h"
#include "viewers/common/theme.h"
#include "viewers/curves/chart_grid.h"
#include "viewers/curves/chart_grouping.h"
#include "viewers/curves/curves_view_impl.h"
#include "viewers/curves/histogram_chart.h"
#include "viewers/curves/scalar_chart.h"

#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QMenu>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStackedLayout>

#include <algorithm>
#include <set>

namespace tapescope::viewers {

void CurvesView::Impl::scheduleRebuild() {
    if (!rebuildTimer.isActive()) rebuildTimer.start();
}

QStringList CurvesView::Impl::scalarTags() const {
    std::set<QString> tags;
    for (const Run* run : visibleRuns())
        for (const auto& [tag, series] : run->session->snapshot().scalars)
            tags.insert(QString::fromStdString(tag));
    return {tags.begin(), tags.end()};
}

bool CurvesView::Impl::passesFilter(const QString& text) const {
    const QString pattern = filter->text().trimmed();
    if (pattern.isEmpty()) return true;
    const QRegularExpression regex(pattern, QRegularExpression::CaseInsensitiveOption);
    return regex.isValid() ? regex.match(text).hasMatch()
                           : text.contains(pattern, Qt::CaseInsensitive);
}

std::vector<ChartSeries> CurvesView::Impl::seriesFor(const QStringList& tags,
                                                     const QString& title) const {
    const auto shown = visibleRuns();
    std::vector<ChartSeries> result;
    const Theme& theme = Theme::current();
    for (qsizetype t = 0; t < tags.size(); ++t) {
        for (const Run* run : shown) {
            const auto& scalars = run->session->snapshot().scalars;
            const auto found = scalars.find(tags[t].toStdString());
            if (found == scalars.end()) continue;
            ChartSeries series;
            series.runId = run->session->path();
            series.runName = runName(*run);
            series.tag = tags[t];
            series.data = found->second;
            // "train/loss" in the chart "loss" is "train".
            QString part = tags[t];
            if (tags.size() > 1 && part.endsWith(u'/' + title)) part.chop(title.size() + 1);
            series.label = shown.size() == 1  ? part
                           : tags.size() == 1 ? series.runName
                                              : series.runName + u' ' + part;
            series.color = theme.series(shown.size() == 1 ? static_cast<int>(t) : run->color);
            series.dashed = shown.size() > 1 && tags.size() > 1 && t > 0;
            result.push_back(std::move(series));
        }
    }
    return result;
}

ScalarChart* CurvesView::Impl::makeScalarChart(const QString& title) {
    auto* chart = new ScalarChart(title, grid);
    chart->setAxis(axis);
    chart->setSmoothing(smoothing);
    chart->setLogY(logY);
    connectChart(chart);
    return chart;
}

void CurvesView::Impl::connectChart(ChartPanel* chart) {
    connect(chart, &ChartPanel::cursorMoved, q, [this, chart](double x) {
        for (ChartPanel* each : panels()) each->setCursor(x, each == chart);
    });
    connect(chart, &ChartPanel::cursorLeft, q, [this] {
        for (ChartPanel* each : panels()) each->setCursor(std::nullopt, false);
    });
    connect(chart, &ChartPanel::xRangeRequested, q, [this](double low, double high) {
        userX = ScalarSeries::Extent{low, high};
        applyXRange();
    });
    connect(chart, &ChartPanel::resetRequested, q, [this] {
        userX.reset();
        applyXRange();
    });
    connect(chart, &ChartPanel::stepPicked, q, [this](qint64 step) {
        if (selection != nullptr) {
            selection->setStep(step);
        } else {
            for (ChartPanel* each : panels()) each->setSelectedStep(step);
        }
    });
    connect(chart, &ChartPanel::tagPicked, q, [this](const QString& tag) {
        if (selection != nullptr) selection->setTag(tag);
    });
    connect(chart, &ChartPanel::maximizeRequested, q, [this, chart] {
        grid->setMaximized(grid->maximized() == chart ? nullptr : chart);
        chart->setFocus();
    });
    connect(chart, &ChartPanel::menuAboutToShow, q,
            [this, chart](QMenu* menu, int series) { extendMenu(menu, chart, series); });
    chart->setSelectedStep(selection != nullptr ? selection->step() : -1);
}

QList<ChartPanel*> CurvesView::Impl::panels() const {
    QList<ChartPanel*> all;
    for (ScalarChart* chart : scalarCharts) all << chart;
    for (const auto& [tag, chart] : histogramCharts) all << chart;
    return all;
}

void CurvesView::Impl::rebuild() {
    rebuildTimer.stop();
    rebuildScalars();
    rebuildHistograms();
    arrange();
    applyXRange();
    updateEmptyState();
}

void CurvesView::Impl::rebuildScalars() {
    std::vector<ScalarChart*> charts;
    for (const ChartPlan& plan : planCharts(scalarTags(), chosenCharts)) {
        const bool wanted = passesFilter(plan.title) ||
                            std::any_of(plan.tags.begin(), plan.tags.end(),
                                        [this](const QString& tag) { return passesFilter(tag); });
        if (!wanted) continue;
        const auto old =
            std::find_if(scalarCharts.begin(), scalarCharts.end(),
                         [&](const ScalarChart* c) { return c->title() == plan.title; });
        ScalarChart* chart = old != scalarCharts.end() ? *old : makeScalarChart(plan.title);
        if (old != scalarCharts.end()) scalarCharts.erase(old);
        auto series = seriesFor(plan.tags, plan.title);
        const auto& before = chart->series();
        const bool same = std::equal(series.begin(), series.end(), before.begin(), before.end(),
                                     [](const ChartSeries& a, const ChartSeries& b) {
                                         return a.data == b.data && a.label == b.label &&
                                                a.color == b.color && a.key() == b.key() &&
                                                a.dashed == b.dashed;
                                     });
        if (!same) chart->setSeries(std::move(series));
        charts.push_back(chart);
    }
    // deleteLater: the chart may be the one whose menu asked for this.
    for (ScalarChart* gone : scalarCharts) {
        gone->hide();
        gone->deleteLater();
    }
    scalarCharts = std::move(charts);
}

void CurvesView::Impl::rebuildHistograms() {
    std::map<QString, HistogramChart*> charts;
    const auto shown = visibleRuns();
    if (histograms && !shown.empty()) {
        // Several runs would hide each other: the one in front, or the first.
        const Run* front = shown.front();
        for (const Run* run : shown)
            if (selection != nullptr && run->session->path() == selection->run()) front = run;
        for (const auto& [tag, series] : front->session->snapshot().histograms) {
            const QString title = QString::fromStdString(tag);
            if (!series || series->items.empty() || !passesFilter(title)) continue;
            HistogramChart*& chart = charts[title];
            if (const auto old = histogramCharts.find(title); old != histogramCharts.end()) {
                chart = old->second;
                histogramCharts.erase(old);
            } else {
                chart = new HistogramChart(title, grid);
                chart->setAxis(axis);
                connectChart(chart);
            }
            chart->setData(series, shown.size() > 1 ? runName(*front) : QString(),
                           Theme::current().series(front->color));
        }
    }
    for (const auto& [title, gone] : histogramCharts) {
        gone->hide();
        gone->deleteLater();
    }
    histogramCharts = std::move(charts);
}

void CurvesView::Impl::arrange() {
    QList<QWidget*> widgets;
    for (ChartPanel* chart : panels()) widgets << chart;
    grid->setCharts(widgets);
}

void CurvesView::Impl::applyXRange() {
    std::optional<ScalarSeries::Extent> range = userX;
    if (!range) {
        for (const ChartPanel* chart : panels()) {
            const auto extent = chart->xExtent();
            if (!extent) continue;
            if (!range) range = extent;
            range->low = std::min(range->low, extent->low);
            range->high = std::max(range->high, extent->high);
        }
        if (range) {
            const double span = range->high - range->low;
            const double pad = span > 0 ? span * 0.01 : 0.5;
            range->low -= pad;
            range->high += pad;
        }
    }
    if (!range) return;
    for (ChartPanel* chart : panels()) chart->setXRange(range->low, range->high);
}

void CurvesView::Impl::updateEmptyState() {
    const bool any = !scalarCharts.empty() || !histogramCharts.empty();
    stack->setCurrentWidget(any ? static_cast<QWidget*>(scroll) : empty);
    if (any) return;
    const auto shown = visibleRuns();
    if (runs.empty()) {
        empty->setTexts(
            CurvesView::tr("No run is open"),
            CurvesView::tr(
                "Start a run, or open a tape: its scalars and histograms are drawn here, live."));
        return;
    }
    if (shown.empty()) {
        empty->setTexts(CurvesView::tr("All runs are hidden"),
                        CurvesView::tr("Tick a run in the list of runs to draw its curves."));
        return;
    }
    const TapeSnapshot& snapshot = shown.front()->session->snapshot();
    if (!snapshot.status.ok()) {
        empty->setError(CurvesView::tr("The tape cannot be read"),
                        QString::fromStdString(snapshot.status.message()));
        return;
    }
    if (!filter->text().trimmed().isEmpty() && !scalarTags().isEmpty()) {
        empty->setTexts(CurvesView::tr("No tag matches \u201c%1\u201d").arg(filter->text()),
                        CurvesView::tr("Clear the filter to see all %n tag(s).", nullptr,
                                       static_cast<int>(scalarTags().size())));
        return;
    }
    if (snapshot.loading) {
        empty->setTexts(CurvesView::tr("Reading %1").arg(runName(*shown.front())), QString());
        return;
    }
    if (const QString why = snapshot.whyNo(CurvesView::tr("scalars or histograms"));
        !why.isEmpty()) {
        empty->setTexts(CurvesView::tr("No scalars"), why);
        return;
    }
    empty->setTexts(CurvesView::tr("No scalars yet"),
                    CurvesView::tr("Curves appear as soon as the run records a scalar, such as "
                                   "train/loss, or a histogram."));
}

void CurvesView::Impl::extendMenu(QMenu* menu, ChartPanel* chart, int series) {
    if (const auto* scalars = qobject_cast<ScalarChart*>(chart)) {
        const auto& all = scalars->series();
        if (series >= 0 && static_cast<std::size_t>(series) < all.size()) {
            const QString tag = all[static_cast<std::size_t>(series)].tag;
            QMenu* move = menu->addMenu(CurvesView::tr("Show %1 in").arg(tag));
            for (const ScalarChart* other : scalarCharts) {
                if (other == scalars) continue;
                const QString title = other->title();
                move->addAction(title, q, [this, tag, title] { q->setChartOf(tag, title); });
            }
            move->addAction(CurvesView::tr("a chart of its own"), q,
                            [this, tag] { q->setChartOf(tag, tag); });
        }
        QMenu* add = menu->addMenu(CurvesView::tr("Tags in this chart"));
        for (const QString& tag : scalarTags()) {
            QAction* action = add->addAction(tag);
            action->setCheckable(true);
            action->setChecked(std::any_of(all.begin(), all.end(),
                                           [&tag](const ChartSeries& s) { return s.tag == tag; }));
            const QString title = chart->title();
            connect(action, &QAction::toggled, q, [this, tag, title](bool on) {
                // Taken out of its default chart, a tag gets one of its own.
                q->setChartOf(tag, on                           ? title
                                   : defaultChart(tag) != title ? defaultChart(tag)
                                                                : tag);
            });
        }
    }
    menu->addSeparator();
    menu->addAction(CurvesView::tr("Copy picture of all charts"), q,
                    [this] { QApplication::clipboard()->setPixmap(grid->grab()); });
    menu->addAction(CurvesView::tr("Save all charts as PNG…"), q,
                    [this] { exportDialog(&CurvesView::exportPng, QStringLiteral("png")); });
    menu->addAction(CurvesView::tr("Save all charts as SVG…"), q,
                    [this] { exportDialog(&CurvesView::exportSvg, QStringLiteral("svg")); });
    menu->addAction(CurvesView::tr("Save all points as CSV…"), q,
                    [this] { exportDialog(&CurvesView::exportCsv, QStringLiteral("csv")); });
}

void CurvesView::Impl::exportDialog(bool (CurvesView::*save)(const QString&) const,
                                    const QString& suffix) {
    const QString path =
        askSavePath(q, CurvesView::tr("Save curves"), QStringLiteral("curves"), suffix);
    if (!path.isEmpty() && !(q->*save)(path)) tellCannotWrite(q, path);
}

}  // namespace tapescope::viewers
