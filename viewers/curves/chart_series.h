// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/scalar_series.h"

#include <QColor>
#include <QString>

namespace tapescope::viewers {

/// One curve of a chart: a tag of a run.
struct ChartSeries {
    QString runId;  ///< path of the tape
    QString runName;
    QString tag;
    QString label;  ///< what the legend calls it: tag, run or both, whatever tells it apart
    ScalarSeriesPtr data;
    SmoothedSeries smoothed;
    QColor color;
    bool dashed = false;
    bool visible = true;
    bool smooth = false;  ///< draw `smoothed` over the raw values

    /// An average of a handful of points (one an epoch) lags so far behind that it misleads.
    static constexpr std::size_t kMinToSmooth = 50;
    void follow(double weight) {
        smooth = weight > 0 && data && data->size() >= kMinToSmooth;
        if (smooth) smoothed.follow(*data, weight);
    }

    QString key() const { return runId + u'\n' + tag; }
};

}  // namespace tapescope::viewers
