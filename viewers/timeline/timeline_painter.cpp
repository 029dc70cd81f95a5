// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_painter.h"

#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/models/scalar_series.h"
#include "viewers/timeline/event_text.h"
#include "viewers/timeline/timeline_charts.h"

#include <QFontMetrics>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tapescope::viewers {
namespace {

constexpr int kMinTextRoom = 22;  // pixels

/// Sequence number of the last memory event at or before t; −1: none.
std::ptrdiff_t memoryIndex(const ScalarSeries& series, std::int64_t t) {
    const auto at = static_cast<double>(t);
    std::ptrdiff_t before = -1;
    for (const ScalarBlockPtr& block : series.blocks()) {
        const auto n =
            std::upper_bound(block->step.begin(), block->step.end(), at) - block->step.begin();
        if (n == 0) break;
        before = static_cast<std::ptrdiff_t>(block->firstSeq) + n - 1;
    }
    return before;
}

/// How much of its colour a pixel with small events has. One with any event is never invisible;
/// rows of threads are nearly empty from afar, and a faint hair in one would say nothing.
double density(const TimelineRow& row, const RowPixels::Pixel& pixel, const TimeAxis& axis) {
    if (row.kind == RowKind::Event) return 1;
    const double least = isGpu(row.kind) ? 0.6 : 0.3;
    return std::min(1.0, least + (1 - least) * static_cast<double>(pixel.busyNs) / axis.nsPerPx);
}

}  // namespace

double memoryAt(const TimelineData& data, std::int64_t t) {
    if (!data.allocated) return -1;
    const std::ptrdiff_t i = memoryIndex(*data.allocated, t);
    return i < 0 ? -1 : data.allocated->point(static_cast<std::size_t>(i)).value;
}

double memoryPeak(const TimelineData& data, TimeRange range) {
    if (!data.allocated) return 0;
    double peak = std::max(0.0, memoryAt(data, range.beginNs));
    const auto extent = data.allocated->valueExtent(XAxis::Step, static_cast<double>(range.beginNs),
                                                    static_cast<double>(range.endNs));
    if (extent) peak = std::max(peak, extent->high);
    return peak;
}

bool TimelinePainter::lit(const TimelineScene& scene, const EventBlock& block, std::size_t i) {
    if (block.isGpu()) return false;
    const EventDetail& d = block.detail[i];
    return (scene.litModule != 0 && d.module == scene.litModule) ||
           (d.site < scene.litSites.size() && scene.litSites[d.site]);
}

QRgb TimelinePainter::boxColor(const TimelineScene& scene, const TimelineRow& row,
                               const EventBlock& block, std::size_t i) const {
    const QRgb color = m_style.fill(*scene.data, row, block, i);
    const bool faded = scene.searching && !(scene.match.any && scene.match.matches(block, i));
    return faded ? m_style.dimmed(color) : color;
}

void TimelinePainter::paintRow(const TimelineScene& scene, const RowPlace& place,
                               const TimeAxis& axis, int ratio) {
    const TimelineRow& row = scene.data->rows[place.row];
    RowPixels& pixels = m_pixels[place.row];
    pixels.collect(row, axis);
    m_visited += pixels.visited;
    m_boxes += pixels.boxes.size();
    const QRgb lane = m_style.laneBackground();
    m_line.assign(static_cast<std::size_t>(axis.width), lane);
    for (int x = 0; x < axis.width; ++x) {
        const RowPixels::Pixel& pixel = pixels.pixels[static_cast<std::size_t>(x)];
        if (pixel.busyNs <= 0) continue;
        const double busy = density(row, pixel, axis);
        const QRgb color =
            boxColor(scene, row, row.block(pixel.top), TimelineRow::indexInBlock(pixel.top));
        m_line[static_cast<std::size_t>(x)] =
            TimelineStyle::mix(lane, color, static_cast<int>(busy * 256));
    }
    // An event alone in an empty place is two pixels wide, one is hardly a colour; a tick three.
    const std::size_t wider = row.kind == RowKind::Event ? 2 : 1;
    for (int x = axis.width - 1; isGpu(row.kind) && x > 0; --x) {
        const auto at = static_cast<std::size_t>(x);
        for (std::size_t k = 1; k <= std::min(wider, at) && pixels.pixels[at].busyNs <= 0; ++k) {
            if (pixels.pixels[at - k].busyNs <= 0) continue;
            m_line[at] = m_line[at - k];
            break;
        }
    }
    for (const RowPixels::Box& box : pixels.boxes) {
        const int x0 = std::max(0, box.x0);
        const int x1 = std::min(
            axis.width,
            std::max(x0 + 1, box.x1 - (box.x1 - box.x0 > 3 ? ratio : 0)));  // a gap to the next one
        if (x0 >= x1) continue;
        const QRgb color =
            boxColor(scene, row, row.block(box.event), TimelineRow::indexInBlock(box.event));
        std::fill(m_line.begin() + x0, m_line.begin() + x1, color);
    }
    const int top = std::max(0, (place.y - scene.scrollY) * ratio);
    const int bottom = std::min(m_image.height(), (place.y + place.height - scene.scrollY) * ratio);
    for (int y = top; y < bottom; ++y)
        std::memcpy(m_image.scanLine(y), m_line.data(), m_line.size() * sizeof(QRgb));
}

void TimelinePainter::paintTexts(QPainter& painter, const TimelineScene& scene,
                                 const RowPlace& place, const RowPixels& pixels, qreal ratio) {
    const TimelineRow& row = scene.data->rows[place.row];
    const int top = place.y - scene.scrollY;
    const int textTop = top + (place.height - m_style.textHeight()) / 2;
    const QFontMetrics metrics(m_style.font());
    const bool anyLit = scene.litModule != 0 || !scene.litSites.empty();
    for (const RowPixels::Box& box : pixels.boxes) {
        const double x0 = std::max(0, box.x0) / ratio,
                     x1 = std::min(scene.axis.width * ratio, static_cast<qreal>(box.x1)) / ratio;
        const EventBlock& block = row.block(box.event);
        const std::size_t i = TimelineRow::indexInBlock(box.event);
        if (anyLit && x1 - x0 >= 6 && lit(scene, block, i)) {
            painter.setPen(QPen(Theme::current().color(Theme::Text), 1));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(
                QRectF(x0 + 0.5, top + 0.5, std::max(1.0, x1 - x0 - 2), place.height - 1));
        }
        const int room = static_cast<int>(x1 - x0) - 8;
        if (room < kMinTextRoom) continue;
        const QRgb fill = boxColor(scene, row, block, i);
        const EventRef event{place.row, box.event};
        const auto& strip = m_style.strip(*scene.data, event, fill, ratio);
        const QPointF at(x0 + 4, textTop);
        if (strip.width <= room) {
            painter.drawPixmap(at, strip.pixmap);
            const QString time = format::duration(static_cast<double>(block.durationNs(i)));
            const int width = metrics.horizontalAdvance(time) + 2;
            if (strip.width + width + 16 > room || row.kind == RowKind::Phase) continue;
            QColor ink = Theme::textOn(QColor(fill));
            ink.setAlpha(row.kind == RowKind::Nvtx ? 190 : 150);  // on any colour
            painter.setPen(ink);
            painter.drawText(QRectF(x1 - 6 - width, top, width, place.height),
                             Qt::AlignRight | Qt::AlignVCenter, time);
        } else {
            painter.setPen(Theme::textOn(QColor(fill)));
            const QString title = QString::fromStdString(scene.data->title(event));
            const QString number = numberOf(title);
            painter.drawText(QRectF(x0 + 4, top, room, place.height),
                             Qt::AlignLeft | Qt::AlignVCenter,
                             number.isEmpty() || metrics.horizontalAdvance(number) > room
                                 ? metrics.elidedText(title, Qt::ElideRight, room)
                                 : number);
        }
    }
}

void TimelinePainter::paintMemory(const TimelineScene& scene, int ratio, QPainter* vector) {
    if (scene.layout.memoryY < 0) return;
    const Theme& theme = Theme::current();
    const int top = scene.layout.memoryY - scene.scrollY, height = scene.layout.memoryHeight;
    const double peak = memoryPeak(*scene.data, scene.axis.range());
    const auto columns = peak > 0
                             ? stepColumns(*scene.data->allocated, scene.axis, scene.data->endNs)
                             : std::vector<StepColumn>();
    const QColor edge = theme.color(storage::MemoryRole::Parameter);
    const QRgb background = m_style.laneBackground();
    const QRgb fill = Theme::mix(QColor(background), edge, 0.28).rgb();
    const QRgb swing =
        Theme::mix(QColor(background), edge, 0.5).rgb();  // between the extremes of a column
    const auto y = [&](double bytes) {
        if (!(bytes > 0)) return height - 1;  // before the first event too
        return height - 1 - static_cast<int>(std::lround(bytes / peak * (height - 10)));
    };
    if (vector != nullptr) {
        vector->fillRect(QRect(0, top, scene.axis.width, height), QColor(background));
        for (std::size_t x = 0; x < columns.size(); ++x) {
            const int high = y(columns[x].high), low = y(columns[x].low);
            vector->fillRect(QRect(static_cast<int>(x), top + high, 1, low - high + 1),
                             QColor(swing));
            vector->fillRect(QRect(static_cast<int>(x), top + high, 1, 1), edge);
            vector->fillRect(QRect(static_cast<int>(x), top + low + 1, 1, height - low - 1),
                             QColor(fill));
        }
        return;
    }
    // Row by row: the picture lies so in memory.
    std::vector<int> high(columns.size()), low(columns.size());
    for (std::size_t x = 0; x < columns.size(); ++x) {
        high[x] = y(columns[x].high);
        low[x] = y(columns[x].low);
    }
    std::vector<QRgb> line(static_cast<std::size_t>(scene.axis.width * ratio), background);
    for (int row = std::max(0, -top); row < height && (top + row + 1) * ratio <= m_image.height();
         ++row) {
        for (std::size_t x = 0; x < columns.size(); ++x) {
            const QRgb color = row < high[x]    ? background
                               : row == high[x] ? edge.rgb()
                               : row <= low[x]  ? swing
                                                : fill;
            for (int k = 0; k < ratio; ++k)
                line[x * static_cast<std::size_t>(ratio) + static_cast<std::size_t>(k)] = color;
        }
        for (int k = 0; k < ratio; ++k)
            std::memcpy(m_image.scanLine((top + row) * ratio + k), line.data(),
                        line.size() * sizeof(QRgb));
    }
}

void TimelinePainter::paint(const TimelineScene& scene, qreal pixelRatio) {
    const int ratio = std::max(1, static_cast<int>(std::lround(pixelRatio)));
    const QSize size(std::max(1, scene.axis.width * ratio), std::max(1, scene.height * ratio));
    if (m_image.size() != size) m_image = QImage(size, QImage::Format_RGB32);
    m_image.setDevicePixelRatio(1);
    m_image.fill(m_style.background());
    m_pixels.resize(scene.data->rows.size());
    m_visited = m_boxes = 0;
    TimeAxis device = scene.axis;
    device.nsPerPx /= ratio;
    device.width *= ratio;
    const auto visible = [&scene](const auto& r) {
        return r.y + r.height > scene.scrollY && r.y < scene.scrollY + scene.height;
    };
    for (const RowPlace& place : scene.layout.rows)
        if (visible(place)) paintRow(scene, place, device, ratio);
    paintMemory(scene, ratio, nullptr);
    m_image.setDevicePixelRatio(ratio);
    QPainter painter(&m_image);
    painter.setFont(m_style.font());
    for (const ChartPlace& place : scene.layout.charts)
        if (visible(place)) paintChart(painter, scene, place, m_style);
    for (const RowPlace& place : scene.layout.rows)
        if (visible(place)) paintTexts(painter, scene, place, m_pixels[place.row], ratio);
}

void TimelinePainter::paintVector(QPainter& painter, const TimelineScene& scene) {
    painter.fillRect(QRect(0, 0, scene.axis.width, scene.height), QColor(m_style.background()));
    painter.setFont(m_style.font());
    m_pixels.resize(scene.data->rows.size());
    for (const RowPlace& place : scene.layout.rows) {
        const int top = place.y - scene.scrollY;
        if (top + place.height <= 0 || top >= scene.height) continue;
        const TimelineRow& row = scene.data->rows[place.row];
        RowPixels& pixels = m_pixels[place.row];
        pixels.collect(row, scene.axis);
        painter.fillRect(QRect(0, top, scene.axis.width, place.height),
                         QColor(m_style.laneBackground()));
        for (int x = 0; x < scene.axis.width; ++x) {
            const RowPixels::Pixel& pixel = pixels.pixels[static_cast<std::size_t>(x)];
            if (pixel.busyNs <= 0) continue;
            const double busy = density(row, pixel, scene.axis);
            const QRgb color =
                boxColor(scene, row, row.block(pixel.top), TimelineRow::indexInBlock(pixel.top));
            painter.fillRect(QRect(x, top, 1, place.height),
                             QColor(TimelineStyle::mix(m_style.laneBackground(), color,
                                                       static_cast<int>(busy * 256))));
        }
        for (const RowPixels::Box& box : pixels.boxes) {
            const int x0 = std::max(0, box.x0), x1 = std::min(scene.axis.width, box.x1 - 1);
            const QRgb color =
                boxColor(scene, row, row.block(box.event), TimelineRow::indexInBlock(box.event));
            painter.fillRect(QRect(x0, top, std::max(1, x1 - x0), place.height), QColor(color));
        }
        paintTexts(painter, scene, place, pixels, 1);
    }
    for (const ChartPlace& place : scene.layout.charts) paintChart(painter, scene, place, m_style);
    paintMemory(scene, 1, &painter);
}

}  // namespace tapescope::viewers
