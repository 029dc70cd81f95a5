// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_overview.h"

#include "viewers/common/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

constexpr int kEdge = 5;  // pixels beside an edge that still grab it

}  // namespace

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

TimeAxis TimelineOverview::axis() const {
    return TimeAxis::fit({m_data->beginNs, std::max(m_data->endNs, m_data->beginNs + 1)},
                         std::max(1, width()));
}

QRect TimelineOverview::windowRect() const {
    const TimeAxis a = axis();
    const int x0 = std::clamp(a.pixel(m_window.beginNs), 0, width() - 1);
    const int x1 = std::clamp(a.pixel(m_window.endNs), x0 + 2, std::max(x0 + 2, width()));
    return {x0, 0, x1 - x0, height()};
}

void TimelineOverview::render() {
    m_stale = false;
    m_image = QImage(std::max(1, width()), height(), QImage::Format_RGB32);
    m_image.fill(m_style.laneBackground());
    const TimeAxis a = axis();
    RowPixels pixels;
    // Operators of depth 0, a band a lane: the busy share as height, the phase as colour.
    // Then each device, by when it was busy.
    std::vector<const TimelineRow*> rows;
    for (const TimelineRow& row : m_data->rows)
        if (row.kind == RowKind::Operator && row.depth == 0) rows.push_back(&row);
    for (const TimelineChart& chart : m_data->charts)
        if (chart.kind == TimelineChart::Kind::Busy) rows.push_back(&chart.busy);
    const auto fill = [this](const TimelineRow& row, std::size_t event) {
        if (row.kind == RowKind::Busy) return m_style.family(profiler::KernelFamily::Matmul);
        return m_style.fill(*m_data, row, row.block(event), TimelineRow::indexInBlock(event));
    };
    const auto bands = static_cast<int>(std::max<std::size_t>(1, rows.size()));
    const int band = std::max(2, (height() - 6) / bands);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const TimelineRow& row = *rows[k];
        pixels.collect(row, a);
        const int bottom = 3 + band * static_cast<int>(k + 1);
        if (bottom > height()) break;
        const auto column = [&](int x, double share, QRgb color) {
            const int top = bottom - std::max(1, static_cast<int>(std::lround(share * (band - 1))));
            for (int y = std::max(0, top); y < bottom; ++y)
                reinterpret_cast<QRgb*>(m_image.scanLine(y))[x] = color;
        };
        for (int x = 0; x < a.width; ++x) {
            const auto& pixel = pixels.pixels[static_cast<std::size_t>(x)];
            if (pixel.busyNs <= 0) continue;
            column(x, std::min(1.0, static_cast<double>(pixel.busyNs) / a.nsPerPx),
                   fill(row, pixel.top));
        }
        for (const auto& box : pixels.boxes)
            for (int x = std::max(0, box.x0); x < std::min(a.width, box.x1); ++x)
                column(x, 1, fill(row, box.event));
    }
}

void TimelineOverview::paintEvent(QPaintEvent*) {
    if (m_stale || m_image.width() != width()) render();
    QPainter p(this);
    p.drawImage(0, 0, m_image);
    const Theme& theme = Theme::current();
    const QRect window = windowRect();
    QColor shade = theme.color(Theme::Window);
    shade.setAlpha(165);
    p.fillRect(QRect(0, 0, window.left(), height()), shade);
    p.fillRect(QRect(window.right() + 1, 0, width() - window.right(), height()), shade);
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
    const std::int64_t middle = axis().t(event->pos().x());
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
