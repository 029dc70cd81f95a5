// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/timeline_model.h"
#include "viewers/timeline/time_axis.h"
#include "viewers/timeline/timeline_geometry.h"
#include "viewers/timeline/timeline_style.h"

#include <QString>

#include <vector>

class QPainter;

namespace tapescope::viewers {

struct TimelineScene;

/// Extremes of a step curve in a pixel column.
struct StepColumn {
    double low = 0;
    double high = 0;
};
/// One a pixel from the axis' left edge, up to where the data ends; NaN before the first point.
/// O(pixels · log n).
std::vector<StepColumn> stepColumns(const ScalarSeries& curve, const TimeAxis& axis,
                                    std::int64_t endNs);
/// Value of a step curve at a time; NaN before its first point.
double stepAt(const ScalarSeries& curve, std::int64_t t);
/// Its highest value in a range, with what it begins with; 0 if there is none.
double stepPeak(const ScalarSeries& curve, TimeRange range);

/// Adds the part of each pixel that a row's events cover. share: one a pixel of the axis.
void addBusyShare(std::vector<double>& share, const TimelineRow& row, const TimeAxis& axis);

/// Charts of devices: busy time as a share of each pixel, queues with each pixel's extremes, memory
/// as bands on each other, sampled counters as step curves.
void paintChart(QPainter& painter, const TimelineScene& scene, const ChartPlace& place,
                const TimelineStyle& style);
/// When the devices of a process worked, for the line that is left of it when it is folded.
void paintFolded(QPainter& painter, const TimelineScene& scene, std::size_t process, QRect area,
                 const TimelineStyle& style);
/// What the visible part comes to: "83 %", "max 12", "peak 12.4 GB".
QString chartSummary(const TimelineData& data, const TimelineChart& chart, TimeRange shown);
/// Values at a time, a line each; empty where there are none.
QStringList chartValues(const TimelineChart& chart, std::int64_t t, double nsPerPx);

/// Of a Queue, what the pixel at x shows in a sentence; else empty.
QString queueText(const TimelineChart& chart, const TimeAxis& axis, int x);

/// When PyTorch ran out of memory, if that was within a few pixels of x: what was asked for, where,
/// how much was free; else empty.
QString outOfMemoryText(const TimelineChart& chart, const TimeAxis& axis, int x);

/// Bottom to top; index of TimelineChart::curves.
QString memoryBandText(int band);
QColor memoryBandColor(int band);

}  // namespace tapescope::viewers
