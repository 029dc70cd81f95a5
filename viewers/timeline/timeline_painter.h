// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/timeline_query.h"
#include "viewers/timeline/timeline_geometry.h"
#include "viewers/timeline/timeline_style.h"

#include <QImage>
#include <QPainter>

#include <vector>

namespace tapescope::viewers {

/// Everything the picture of the rows depends on. Equal content stamps and views make equal
/// pictures.
struct TimelineScene {
    TimelinePtr data;
    TimelineLayout layout;
    TimeAxis axis;  ///< logical pixels of the rows area
    int scrollY = 0;
    int height = 0;   ///< of the rows area
    NameMatch match;  ///< what is searched for; any = false: nothing
    bool searching = false;
    storage::ModuleId litModule = 0;  ///< outlined with its events
    std::vector<bool> litSites;       ///< [SiteId]
};

/// Paints rows, grid and memory curve into a raster; hover and selection are drawn over it by the
/// widget. Narrow events go straight into scan lines, only boxes with room get a text.
class TimelinePainter final {
public:
    TimelineStyle& style() { return m_style; }
    const TimelineStyle& style() const { return m_style; }
    /// Paints the rows area, axis.width × height logical pixels, into image().
    void paint(const TimelineScene& scene, qreal pixelRatio);
    const QImage& image() const { return m_image; }
    /// The same with painter calls, for SVG. Origin at the painter's.
    void paintVector(QPainter& painter, const TimelineScene& scene);

    std::size_t visited() const { return m_visited; }
    std::size_t boxes() const { return m_boxes; }

private:
    void paintRow(const TimelineScene& scene, const RowPlace& place, const TimeAxis& axis,
                  int ratio);
    void paintTexts(QPainter& painter, const TimelineScene& scene, const RowPlace& place,
                    const RowPixels& pixels, qreal ratio);
    /// Into the image, or with painter calls.
    void paintMemory(const TimelineScene& scene, int ratio, QPainter* vector);
    QRgb boxColor(const TimelineScene& scene, const TimelineRow& row, const EventBlock& block,
                  std::size_t i) const;
    static bool lit(const TimelineScene& scene, const EventBlock& block, std::size_t i);

    TimelineStyle m_style;
    QImage m_image;
    std::vector<RowPixels> m_pixels;
    std::vector<QRgb> m_line;
    std::size_t m_visited = 0;
    std::size_t m_boxes = 0;
};

/// Extremes of the allocated bytes in a range, and the value before it. For the memory lane's
/// scale.
double memoryPeak(const TimelineData& data, TimeRange range);
/// Allocated bytes at a time; −1: nothing known yet.
double memoryAt(const TimelineData& data, std::int64_t t);

}  // namespace tapescope::viewers
