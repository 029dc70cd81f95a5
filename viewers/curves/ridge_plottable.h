// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/tape_snapshot.h"

#include <qcustomplot.h>

#include <memory>
#include <vector>

namespace tapescope::viewers {

/// Histograms as overlapping outlines, old ones behind, new ones in front: key = value, value =
/// step (downwards). At most kMaxCurves of them, evenly spread over the steps.
class RidgePlottable final : public QCPAbstractPlottable {
public:
    static constexpr int kMaxCurves = 60;
    RidgePlottable(QCPAxis* key, QCPAxis* value) : QCPAbstractPlottable(key, value) {
        setSelectable(QCP::stNone);
    }

    void setItems(std::vector<std::shared_ptr<const storage::Histogram>> items) {
        m_items = std::move(items);
    }
    bool fast = false;  ///< while dragging: no antialiasing

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
    QCPRange getKeyRange(bool& found, QCP::SignDomain domain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& found, QCP::SignDomain domain = QCP::sdBoth,
                           const QCPRange& keys = QCPRange()) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

private:
    std::vector<std::shared_ptr<const storage::Histogram>> m_items;
};

}  // namespace tapescope::viewers
