// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/curves/chart_series.h"

#include <qcustomplot.h>

#include <vector>

namespace tapescope::viewers {

/// Draws all curves of a chart, decimated to what the pixels can show: the raw values as a faint
/// band (few curves, or the hovered one), the moving average as a line on top, NaN and Inf as marks
/// at the edge. Lines are drawn as single segments: QPainter's cost for a wide polyline grows
/// faster than its length.
class SeriesPlottable final : public QCPAbstractPlottable {
public:
    struct Options {
        XAxis axis = XAxis::Step;
        bool fast = false;  ///< while dragging: 1 px, no band
        int hovered = -1;   ///< drawn on top, wider
    };
    static constexpr int kMaxBands = 10;

    SeriesPlottable(QCPAxis* key, QCPAxis* value, const std::vector<ChartSeries>* series);

    Options options;

    double selectTest(const QPointF& pos, bool onlySelectable,
                      QVariant* details = nullptr) const override;
    QCPRange getKeyRange(bool& found, QCP::SignDomain domain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& found, QCP::SignDomain domain = QCP::sdBoth,
                           const QCPRange& keyRange = QCPRange()) const override;

    /// Index of the visible curve nearest to a pixel position, at most maxDistance away; -1: none.
    int seriesAt(const QPointF& pos, double maxDistance) const;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

private:
    QPointF pixel(double x, double y) const;
    bool drawable(double y) const;
    void drawCurve(QCPPainter* painter, const ChartSeries& series, const SmoothedSeries* smoothed,
                   const QPen& pen, bool dashed, bool points) const;
    void drawNonFinite(QCPPainter* painter, const ChartSeries& series) const;
    std::size_t visiblePoints(const ScalarSeries& data) const;

    const std::vector<ChartSeries>* m_series;
};

}  // namespace tapescope::viewers
