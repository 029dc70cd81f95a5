// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/timeline/timeline_geometry.h"
#include "viewers/timeline/timeline_style.h"

#include <QImage>
#include <QWidget>

#include <optional>
#include <vector>

namespace tapescope::viewers {

/// A strip of the overview: an engine lane or a device.
struct OverviewBand {
    struct Column {
        double share = 0;  ///< of the pixel in which it worked; above 1: several did
        std::int64_t topNs = 0;
        std::optional<EventRef> top;  ///< the longest event; none: it has no row
    };
    std::vector<Column> columns;  ///< one a pixel
};
/// At most `most` bands; nothing is left out: where there are more lanes and devices, neighbours
/// share one.
std::vector<OverviewBand> overviewBands(const TimelineData& data, const TimeAxis& axis, int most);

/// The whole run in one strip, with a window on what the canvas shows: drag it, drag its edges,
/// click to go there.
class TimelineOverview final : public QWidget {
    Q_OBJECT
public:
    explicit TimelineOverview(QWidget* parent = nullptr);
    void setData(TimelinePtr timeline);
    void setWindow(TimeRange range);
    /// Where the canvas has its time, so that both agree: left edge and width in pixels.
    void setPlotArea(int left, int width);
    QSize sizeHint() const override { return {400, kHeight}; }
    QSize minimumSizeHint() const override { return {100, kHeight}; }
    static constexpr int kHeight = 36;

signals:
    void rangePicked(tapescope::viewers::TimeRange range);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    enum class Drag : std::uint8_t { None, Window, Left, Right };
    TimeAxis axis() const;
    int plotWidth() const;
    QRect windowRect() const;
    Drag partAt(const QPoint& pos) const;
    void render();

    TimelinePtr m_data;
    TimeRange m_window;
    int m_left = 0;
    int m_width = -1;  ///< −1: up to the right edge
    TimelineStyle m_style;
    QImage m_image;
    bool m_stale = true;
    Drag m_drag = Drag::None;
    int m_dragX = 0;
    TimeRange m_dragWindow;
};

}  // namespace tapescope::viewers
