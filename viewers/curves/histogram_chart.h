// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/curves/chart_panel.h"
#include "viewers/models/tape_snapshot.h"

#include <QString>

class QCPColorMap;

namespace tapescope::viewers {

class RidgePlottable;

/// The histograms of one tag of one run over the steps: a heat map (step × value, colour =
/// density), or a ridge of outlines. Uses the recorded bins; what is zoomed is re-binned for the
/// pixels at hand, so nothing is lost to a fixed grid.
class HistogramChart final : public ChartPanel {
    Q_OBJECT
public:
    HistogramChart(const QString& title, QWidget* parent = nullptr);

    /// runName and color: named in the legend where several runs are shown; empty otherwise.
    void setData(HistogramSeriesPtr series, const QString& runName, const QColor& color);
    void setRidge(bool on);
    bool ridge() const { return m_ridge; }
    void setAxis(XAxis axis) override;

    std::optional<ScalarSeries::Extent> xExtent() const override;
    bool sharesX() const override { return !m_ridge; }

protected:
    void fillCursor(CursorItem& cursor, std::optional<double> x, bool here) override;
    void fillMenu(QMenu& menu, int series) override;
    void scaleY() override;
    void setFast(bool fast) override;
    void clicked(const QPointF& pos) override;
    std::optional<double> xOfStep(std::int64_t step) const override;
    std::optional<double> neighbour(std::optional<double> x, int direction) const override;
    void pickAt(double x) override;
    void applyTheme() override;

private:
    double x(std::size_t i) const;
    std::optional<std::size_t> nearest(double at) const;
    void fillMap();
    void showMode();

    HistogramSeriesPtr m_data;
    QCPColorMap* m_map;
    RidgePlottable* m_ridgePlot;
    bool m_ridge = false;
    bool m_filling = false;
};

}  // namespace tapescope::viewers
