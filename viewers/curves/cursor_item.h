// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <optional>
#include <vector>

namespace tapescope::viewers {

/// What follows the pointer in a chart, on a buffered layer of its own so that a move does not
/// redraw the curves: the cursor line with a dot on each curve, the box of values, the rubber band,
/// and the line of the selected step.
class CursorItem final : public QCPAbstractItem {
public:
    struct Row {
        QColor color;
        QString label;
        QString value;
        double y = 0;  ///< NaN: no dot
        bool emphasised = false;
    };
    explicit CursorItem(QCustomPlot* plot);

    std::optional<double> x;         ///< where the cursor is, in axis coordinates
    std::optional<double> selected;  ///< the selected step's place
    std::vector<Row> rows;
    QString title;     ///< "step 412"
    bool box = false;  ///< show the box of values
    QRectF band;       ///< rubber band in pixels; empty: none

    double selectTest(const QPointF& pos, bool onlySelectable,
                      QVariant* details = nullptr) const override;
    static constexpr std::size_t kMaxRows = 12;

protected:
    void draw(QCPPainter* painter) override;

private:
    void drawBox(QCPPainter* painter, const QRectF& area, double px) const;
};

}  // namespace tapescope::viewers
