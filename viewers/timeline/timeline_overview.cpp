// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_overview.h"

#include "viewers/common/theme.h"
#include "viewers/timeline/timeline_charts.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace tapescope::viewers {
namespace {

constexpr int kEdge = 5;     // pixels beside an edge that still grab it
constexpr int kMinBand = 3;  // pixels

/// Takes over a column where a row has the longer event.
void addTops(OverviewBand& band, const TimelineData& data, std::size_t r, const TimeAxis& axis,
             bool shares) {
    const TimelineRow& row = data.rows[r];
    RowPixels pixels;
    pixels.collect(row, axis);
    const auto offer = [&](std::size_t x, std::int64_t ns, std::size_t event) {
        OverviewBand::Column& column = band.columns[x];
        if (column.top && ns <= column.topNs) return;
        column.topNs = ns;
        column.top = EventRef{r, event};
    };
    for (std::size_t x = 0; x < pixels.pixels.size(); ++x)
        if (pixels.pixels[x].busyNs > 0) offer(x, pixels.pixels[x].topNs, pixels.pixels[x].top);
    for (const RowPixels::Box& box : pixels.boxes)
        for (int x = std::max(0, box.x0); x < std::min(axis.width, box.x1); ++x)
            offer(static_cast<std::size_t>(x), row.endNs(box.event) - row.startNs(box.event),
                  box.event);
    if (!shares) return;
    std::vector<double> share(band.columns.size());
    addBusyShare(share, row, axis);
    for (std::size_t x = 0; x < share.size(); ++x) band.columns[x].share += share[x];
}

}  // namespace

std::vector<OverviewBand> overviewBands(const TimelineData& data, const TimeAxis& axis, int most) {
    // Operators of depth 0, a band a lane; then each device, whichever processes used it.
    struct Source {
        std::vector<std::size_t> rows;
        std::vector<const TimelineRow*> busy;
    };
    std::vector<Source> sources;
    std::map<std::string, std::size_t> devices;
    std::map<std::uint32_t, std::size_t> groups;  // -> sources
    for (std::size_t r = 0; r < data.rows.size(); ++r)
        if (data.rows[r].kind == RowKind::Operator && data.rows[r].depth == 0)
            sources.push_back({{r}, {}});
    for (const TimelineChart& chart : data.charts) {
        if (chart.kind != TimelineChart::Kind::Busy) continue;
        const auto [device, isNew] = devices.try_emplace(chart.device, sources.size());
        if (isNew) sources.emplace_back();
        sources[device->second].busy.push_back(&chart.busy);
        groups[chart.group] = device->second;
    }
    for (std::size_t r = 0; r < data.rows.size(); ++r)
        if (const auto at = groups.find(data.rows[r].group);
            at != groups.end() && data.rows[r].kind == RowKind::Stream)
            sources[at->second].rows.push_back(r);
    const std::size_t count = std::min(sources.size(), static_cast<std::size_t>(std::max(1, most)));
    std::vector<OverviewBand> bands(count);
    for (OverviewBand& band : bands) band.columns.resize(static_cast<std::size_t>(axis.width));
    for (std::size_t s = 0; s < sources.size(); ++s) {
        // Neighbours share a band where there are too many.
        OverviewBand& band = bands[s * count / sources.size()];
        const bool device = !sources[s].busy.empty();
        for (const std::size_t r : sources[s].rows) addTops(band, data, r, axis, !device);
        std::vector<double> share(band.columns.size());
        for (const TimelineRow* row : sources[s].busy) addBusyShare(share, *row, axis);
        for (std::size_t x = 0; x < share.size(); ++x) band.columns[x].share += share[x];
    }
    return bands;
}

TimelineOverview::TimelineOverview(QWidget* parent)
    : QWidget(parent), m_data(std::make_shared<const TimelineData>()) {
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Overview of the run"));
    m_style.rebuild();
    connect(&Theme::current(), &Theme::changed, this, [this] {
        m_style.rebuild();
        m_stale = true;
        update();
    });
}

void TimelineOverview::setData(TimelinePtr timeline) {
    m_data = std::move(timeline);
    m_stale = true;
    update();
}

void TimelineOverview::setWindow(TimeRange range) {
    if (range == m_window) return;
    m_window = range;
    update();
}

void TimelineOverview::setPlotArea(int left, int width) {
    if (left == m_left && width == m_width) return;
    m_left = left;
    m_width = width;
    m_stale = true;
    update();
}

int TimelineOverview::plotWidth() const {
    return std::max(1, m_width < 0 ? width() - m_left : m_width);
}

TimeAxis TimelineOverview::axis() const {
    const TimeRange all{m_data->beginNs, std::max(m_data->endNs, m_data->beginNs + 1)};
    // The canvas' air at both ends.
    return TimeAxis::fit(all, plotWidth()).zoomed(kAirAtEnds, plotWidth() / 2.0);
}

QRect TimelineOverview::windowRect() const {
    const TimeAxis a = axis();
    const int x0 = std::clamp(a.pixel(m_window.beginNs), 0, plotWidth() - 1);
    const int x1 = std::clamp(a.pixel(m_window.endNs), x0 + 2, std::max(x0 + 2, plotWidth()));
    return {m_left + x0, 0, x1 - x0, height()};
}

void TimelineOverview::render() {
    m_stale = false;
    m_image = QImage(plotWidth(), height(), QImage::Format_RGB32);
    m_image.fill(m_style.laneBackground());
    const TimeAxis a = axis();
    const std::vector<OverviewBand> all = overviewBands(*m_data, a, (height() - 6) / kMinBand);
    const int band = (height() - 6) / static_cast<int>(std::max<std::size_t>(1, all.size()));
    for (std::size_t k = 0; k < all.size(); ++k) {
        const int bottom = 3 + band * static_cast<int>(k + 1);
        for (int x = 0; x < a.width; ++x) {
            const OverviewBand::Column& column = all[k].columns[static_cast<std::size_t>(x)];
            if (column.share <= 0) continue;
            QRgb color = m_style.family(profiler::KernelFamily::Other);  // what has no lane
            if (column.top) {
                const TimelineRow& row = m_data->rows[column.top->row];
                color = m_style.fill(*m_data, row, row.block(column.top->index),
                                     TimelineRow::indexInBlock(column.top->index));
            }
            const double share = std::min(1.0, column.share);
            // Short work in a long run is still seen.
            const int least = std::clamp(band / 5, 1, 6);
            const int top =
                bottom - std::max(least, static_cast<int>(std::lround(share * (band - 1))));
            for (int y = std::max(0, top); y < bottom; ++y)
                reinterpret_cast<QRgb*>(m_image.scanLine(y))[x] = color;
        }
    }
}

void TimelineOverview::paintEvent(QPaintEvent*) {
    if (m_stale || m_image.width() != plotWidth()) render();
    QPainter p(this);
    const Theme& theme = Theme::current();
    p.fillRect(rect(), theme.color(Theme::Panel));
    p.setFont(theme.smallFont());
    p.setPen(theme.color(Theme::Muted));
    p.drawText(QRect(8, 0, m_left - 12, height()), Qt::AlignLeft | Qt::AlignVCenter,
               tr("whole run"));
    p.drawImage(m_left, 0, m_image);
    const QRect window = windowRect();
    QColor shade = theme.color(Theme::Window);
    shade.setAlpha(165);
    const int end = m_left + plotWidth();
    p.fillRect(QRect(m_left, 0, window.left() - m_left, height()), shade);
    p.fillRect(QRect(window.right() + 1, 0, end - window.right() - 1, height()), shade);
    p.setPen(QPen(theme.color(Theme::Accent), 1));
    p.drawRect(window.adjusted(0, 0, -1, -1));
    p.setPen(QPen(theme.color(Theme::Accent), 3));
    p.drawLine(window.left() + 1, height() / 2 - 5, window.left() + 1, height() / 2 + 5);
    p.drawLine(window.right() - 1, height() / 2 - 5, window.right() - 1, height() / 2 + 5);
    p.setPen(theme.color(Theme::Border));
    p.drawLine(0, height() - 1, width(), height() - 1);
}

void TimelineOverview::resizeEvent(QResizeEvent*) { m_stale = true; }

TimelineOverview::Drag TimelineOverview::partAt(const QPoint& pos) const {
    const QRect window = windowRect();
    if (std::abs(pos.x() - window.left()) <= kEdge) return Drag::Left;
    if (std::abs(pos.x() - window.right()) <= kEdge) return Drag::Right;
    return Drag::Window;
}

void TimelineOverview::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    m_drag = partAt(event->pos());
    m_dragX = event->pos().x();
    m_dragWindow = m_window;
    if (m_drag != Drag::Window || windowRect().contains(event->pos())) return;
    // Outside: the window's middle goes there.
    const std::int64_t middle = axis().t(event->pos().x() - m_left);
    m_dragWindow = {middle - m_window.lengthNs() / 2, middle + m_window.lengthNs() / 2};
    emit rangePicked(m_dragWindow);
}

void TimelineOverview::mouseMoveEvent(QMouseEvent* event) {
    if (m_drag == Drag::None) {
        const Drag part = partAt(event->pos());
        setCursor(part == Drag::Left || part == Drag::Right ? Qt::SizeHorCursor : Qt::ArrowCursor);
        return;
    }
    const auto by = static_cast<std::int64_t>((event->pos().x() - m_dragX) * axis().nsPerPx);
    TimeRange range = m_dragWindow;
    if (m_drag != Drag::Right) range.beginNs += by;
    if (m_drag != Drag::Left) range.endNs += by;
    if (!range.empty()) emit rangePicked(range);
}

void TimelineOverview::mouseReleaseEvent(QMouseEvent*) { m_drag = Drag::None; }

}  // namespace tapescope::viewers
