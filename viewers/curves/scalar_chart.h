// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/curves/chart_panel.h"
#include "viewers/curves/chart_series.h"

#include <vector>

namespace tapescope::viewers {

class SeriesPlottable;

/// Curves of tags that share a y axis, of any number of runs.
class ScalarChart final : public ChartPanel {
    Q_OBJECT
public:
    ScalarChart(const QString& title, QWidget* parent = nullptr);
    ~ScalarChart() override;

    /// Shows these curves; one that was there before keeps its average and whether it is hidden.
    void setSeries(std::vector<ChartSeries> series);
    const std::vector<ChartSeries>& series() const { return m_series; }
    void setSmoothing(double weight);
    void setLogY(bool on);
    bool logY() const { return m_logY; }
    void setAxis(XAxis axis) override;
    void setSeriesVisible(int series, bool visible);

    std::optional<ScalarSeries::Extent> xExtent() const override;

signals:
    void logYToggled(bool on);

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
    double shownValue(const ChartSeries& series, std::size_t seq) const;
    void updateLegend();
    void updateNote();
    void solo(int series);
    void setHovered(int series);
    QString xText(const ChartSeries& series, std::size_t seq) const;
    void applyScale();

    std::vector<ChartSeries> m_series;
    SeriesPlottable* m_plottable;
    double m_smoothing = 0;
    bool m_logY = false;
};

}  // namespace tapescope::viewers
