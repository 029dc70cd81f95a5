// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/curves/curves_view.h"
#include "viewers/models/tape_session.h"

#include <QHash>
#include <QPointer>
#include <QTimer>

#include <map>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QScrollArea;
class QSlider;
class QStackedLayout;
class QToolButton;

namespace tapescope::viewers {

class ChartGrid;
class ChartPanel;
class EmptyState;
class HistogramChart;
class ScalarChart;
struct ChartSeries;

struct CurvesView::Impl final {
    struct Run {
        TapeSession* session = nullptr;
        QString name;   ///< given; empty: the session's
        int color = 0;  ///< Theme::series()
        bool visible = true;
    };

    Impl(CurvesView* view, Selection* selection);

    // curves_view.cpp
    void buildToolBar();
    void watch(TapeSession* session);
    Run* find(const TapeSession* session);
    QString runName(const Run& run) const;
    std::vector<const Run*> visibleRuns() const;
    QString title() const;

    // curves_content.cpp
    void scheduleRebuild();
    void rebuild();
    void rebuildScalars();
    void rebuildHistograms();
    void updateEmptyState();
    void applyXRange();
    void connectChart(ChartPanel* chart);
    ScalarChart* makeScalarChart(const QString& title);
    std::vector<ChartSeries> seriesFor(const QStringList& tags, const QString& title) const;
    QStringList scalarTags() const;
    void arrange();
    QList<ChartPanel*> panels() const;
    bool passesFilter(const QString& text) const;
    void extendMenu(QMenu* menu, ChartPanel* chart, int series);
    void exportDialog(bool (CurvesView::*save)(const QString&) const, const QString& suffix);

    CurvesView* q;
    Selection* selection;
    std::vector<Run> runs;
    QHash<QString, QString> chosenCharts;  ///< tag -> chart
    double smoothing = 0.6;
    XAxis axis = XAxis::Step;
    bool logY = false;
    bool histograms = true;
    std::optional<ScalarSeries::Extent> userX;

    std::vector<ScalarChart*> scalarCharts;  ///< in the order shown
    std::map<QString, HistogramChart*> histogramCharts;
    QStackedLayout* stack = nullptr;
    EmptyState* empty = nullptr;
    QScrollArea* scroll = nullptr;
    ChartGrid* grid = nullptr;
    QWidget* toolBar = nullptr;
    QLineEdit* filter = nullptr;
    QSlider* smoothingSlider = nullptr;
    QLabel* smoothingValue = nullptr;
    QComboBox* axisBox = nullptr;
    QToolButton* logButton = nullptr;
    QToolButton* histogramButton = nullptr;
    QTimer rebuildTimer;
};

}  // namespace tapescope::viewers
