// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/series_plottable.h"

#include "viewers/common/theme.h"
#include "viewers/models/decimate.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

constexpr double kDashOn = 6, kDashOff = 4;  // pixels

/// Cuts the segments of a line into dashes: a pen's own dash pattern would start anew on each
/// segment.
class Dasher final {
public:
    explicit Dasher(QVector<QLineF>& out) : m_out(out) {}
    void segment(const QPointF& a, const QPointF& b) {
        const double length = std::hypot(b.x() - a.x(), b.y() - a.y());
        double done = 0;
        while (done < length) {
            const double phase = std::fmod(m_travelled, kDashOn + kDashOff);
            const bool on = phase < kDashOn;
            const double piece =
                std::min(length - done, (on ? kDashOn : kDashOn + kDashOff) - phase + 1e-9);
            const auto at = [&](double d) { return a + (b - a) * (d / length); };
            if (on) m_out << QLineF(at(done), at(done + piece));
            done += piece;
            m_travelled += piece;
        }
    }
    void restart() { m_travelled = 0; }

private:
    QVector<QLineF>& m_out;
    double m_travelled = 0;
};

}  // namespace

SeriesPlottable::SeriesPlottable(QCPAxis* key, QCPAxis* value,
                                 const std::vector<ChartSeries>* series)
    : QCPAbstractPlottable(key, value), m_series(series) {
    setSelectable(QCP::stNone);
}

double SeriesPlottable::selectTest(const QPointF&, bool, QVariant*) const { return -1; }

QCPRange SeriesPlottable::getKeyRange(bool& found, QCP::SignDomain) const {
    found = false;
    QCPRange range;
    for (const ChartSeries& s : *m_series) {
        if (!s.visible || !s.data) continue;
        const auto extent = s.data->xExtent(options.axis);
        if (!extent) continue;
        range = found ? QCPRange(std::min(range.lower, extent->low),
                                 std::max(range.upper, extent->high))
                      : QCPRange(extent->low, extent->high);
        found = true;
    }
    return range;
}

QCPRange SeriesPlottable::getValueRange(bool& found, QCP::SignDomain domain,
                                        const QCPRange& keys) const {
    found = false;
    QCPRange range;
    const bool all = keys.size() <= 0;
    for (const ChartSeries& s : *m_series) {
        if (!s.visible || !s.data) continue;
        auto extent = s.data->valueExtent(options.axis, all ? -INFINITY : keys.lower,
                                          all ? INFINITY : keys.upper);
        if (!extent) continue;
        if (domain == QCP::sdPositive) {
            if (extent->high <= 0) continue;
            // The smallest positive value would need a scan: six decades below the largest is as
            // far as a chart can show.
            if (extent->low <= 0) extent->low = extent->high * 1e-6;
        }
        range = found ? QCPRange(std::min(range.lower, extent->low),
                                 std::max(range.upper, extent->high))
                      : QCPRange(extent->low, extent->high);
        found = true;
    }
    return range;
}

QPointF SeriesPlottable::pixel(double x, double y) const {
    return {mKeyAxis->coordToPixel(x), std::clamp(mValueAxis->coordToPixel(y), -1e5, 1e5)};
}

bool SeriesPlottable::drawable(double y) const {
    return std::isfinite(y) && (y > 0 || mValueAxis->scaleType() == QCPAxis::stLinear);
}

std::size_t SeriesPlottable::visiblePoints(const ScalarSeries& data) const {
    const QCPRange keys = mKeyAxis->range();
    const auto first = data.nearest(options.axis, keys.lower);
    const auto last = data.nearest(options.axis, keys.upper);
    return first && last && *last >= *first ? *last - *first + 1 : 0;
}

void SeriesPlottable::drawCurve(QCPPainter* painter, const ChartSeries& series,
                                const SmoothedSeries* smoothed, const QPen& pen, bool dashed,
                                bool points) const {
    const QCPRange keys = mKeyAxis->range();
    const int width = std::max(1, clipRect().width());
    // A line needs its extremes each two pixels, each four while there are many or while it moves;
    // a band each pixel.
    const int columns =
        smoothed == nullptr ? width : std::max(1, width / (pen.widthF() > 1 ? 2 : 4));
    QVector<QLineF> lines;
    QVector<QPointF> dots;
    Dasher dasher(lines);
    QPointF before;
    bool have = false;
    decimate(*series.data, smoothed, options.axis, keys.lower, keys.upper, columns,
             [&](double x, double y) {
                 if (!drawable(y)) {
                     have = false;
                     dasher.restart();
                     return;
                 }
                 const QPointF at = pixel(x, y);
                 if (have && dashed) {
                     dasher.segment(before, at);
                 } else if (have) {
                     lines << QLineF(before, at);
                 }
                 if (points) dots << at;
                 before = at;
                 have = true;
             });
    painter->setPen(pen);
    painter->drawLines(lines);
    if (!points) return;
    painter->setPen(Qt::NoPen);
    painter->setBrush(pen.color());
    for (const QPointF& dot : dots) painter->drawEllipse(dot, 2.2, 2.2);
    painter->setBrush(Qt::NoBrush);
}

void SeriesPlottable::drawNonFinite(QCPPainter* painter, const ChartSeries& series) const {
    if (series.data->nonFiniteCount() == 0) return;
    const QRect area = clipRect();
    const Theme& theme = Theme::current();
    painter->setAntialiasing(true);
    painter->setPen(Qt::NoPen);
    for (const ScalarBlockPtr& block : series.data->blocks()) {
        const auto& marks = block->nonFinite;
        double next = area.left();  // one mark each 5 pixels is enough
        for (std::size_t m = 0; m < marks.size();) {
            const std::size_t i = marks[m];
            const double px = mKeyAxis->coordToPixel(series.data->x(*block, i, options.axis));
            if (px > area.right() + 1) break;
            if (px < next) {
                const auto first = std::partition_point(
                    marks.begin() + static_cast<std::ptrdiff_t>(m), marks.end(),
                    [&](std::uint32_t k) {
                        return mKeyAxis->coordToPixel(series.data->x(*block, k, options.axis)) <
                               next;
                    });
                m = static_cast<std::size_t>(first - marks.begin());
                continue;
            }
            next = px + 5;
            const double value = block->value[i];
            const bool below = value < 0;  // −Inf
            painter->setBrush(theme.color(std::isnan(value) ? Theme::NaN
                                          : below           ? Theme::NegInf
                                                            : Theme::PosInf));
            const double edge = below ? area.bottom() : area.top();
            const double tip = below ? edge - 7 : edge + 7;
            painter->drawPolygon(QPolygonF({{px - 4, edge}, {px + 4, edge}, {px, tip}}));
            ++m;
        }
    }
    painter->setBrush(Qt::NoBrush);
}

void SeriesPlottable::draw(QCPPainter* painter) {
    const auto shown = [](const ChartSeries& s) { return s.visible && s.data && !s.data->empty(); };
    const auto visible = std::count_if(m_series->begin(), m_series->end(), shown);
    const QColor background = Theme::current().color(Theme::Field);
    const bool few = visible <= kMaxBands;
    std::vector<const ChartSeries*> order;
    const ChartSeries* hovered = nullptr;
    for (std::size_t i = 0; i < m_series->size(); ++i) {
        const ChartSeries& s = (*m_series)[i];
        if (!shown(s)) continue;
        if (static_cast<int>(i) == options.hovered) {
            hovered = &s;
        } else {
            order.push_back(&s);
        }
    }
    if (hovered != nullptr) order.push_back(hovered);

    if (!options.fast) {
        painter->setAntialiasing(false);
        for (const ChartSeries* s : order) {
            if (!s->smooth || (!few && s != hovered)) continue;
            // Mixed, not translucent: segments of a noisy curve overlap, and alpha would blot.
            const QColor faint = Theme::mix(s->color, background, s == hovered ? 0.55 : 0.72);
            drawCurve(painter, *s, nullptr, QPen(faint, 1, Qt::SolidLine, Qt::FlatCap), false,
                      false);
        }
    }
    painter->setAntialiasing(!options.fast || few);
    for (const ChartSeries* s : order) {
        QColor color = s->color;
        if (hovered != nullptr && s != hovered && order.size() > 2)
            color = Theme::mix(color, background, 0.45);
        const double width = options.fast ? 1 : s == hovered ? 2.2 : few ? 1.5 : 1;
        const bool sparse = visiblePoints(*s->data) <
                            static_cast<std::size_t>(std::max(1, clipRect().width() / 16));
        drawCurve(painter, *s, s->smooth ? &s->smoothed : nullptr,
                  QPen(color, width, Qt::SolidLine, Qt::FlatCap), s->dashed, sparse);
    }
    for (const ChartSeries* s : order) drawNonFinite(painter, *s);
}

int SeriesPlottable::seriesAt(const QPointF& pos, double maxDistance) const {
    const double x = mKeyAxis->pixelToCoord(pos.x());
    int best = -1;
    for (std::size_t i = 0; i < m_series->size(); ++i) {
        const ChartSeries& s = (*m_series)[i];
        if (!s.visible || !s.data || s.data->empty()) continue;
        const auto seq = s.data->nearest(options.axis, x);
        if (!seq) continue;
        const double value = s.smooth ? s.smoothed.at(*s.data, *seq) : s.data->point(*seq).value;
        if (!drawable(value)) continue;
        const double distance = std::abs(mValueAxis->coordToPixel(value) - pos.y());
        if (distance < maxDistance) {
            maxDistance = distance;
            best = static_cast<int>(i);
        }
    }
    return best;
}

}  // namespace tapescope::viewers
