// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_charts.h"

#include "viewers/common/theme.h"
#include "viewers/models/decimate.h"
#include "viewers/models/format.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/timeline/timeline_painter.h"

#include <QCoreApplication>
#include <QPainter>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Timeline", text); }

QString quantity(double value, const std::string& unit) {
    if (unit == "B") return format::bytes(value);
    if (unit == "%") return format::percent(value / 100);
    return format::number(value) + QStringLiteral(u"\u00a0") + QString::fromStdString(unit);
}

/// Columns as rectangles from the chart's floor, equal neighbours as one.
void fillColumns(QPainter& p, const std::vector<int>& heights, int bottom, const QColor& color) {
    for (std::size_t x = 0; x < heights.size();) {
        std::size_t end = x + 1;
        while (end < heights.size() && heights[end] == heights[x]) ++end;
        if (heights[x] > 0)
            p.fillRect(QRect(static_cast<int>(x), bottom - heights[x], static_cast<int>(end - x),
                             heights[x]),
                       color);
        x = end;
    }
}

void paintBusy(QPainter& p, const TimelineScene& scene, const TimelineRow& row, QRect area,
               const TimelineStyle& style) {
    const int room = area.height() - 2;
    std::vector<double> share(static_cast<std::size_t>(scene.axis.width));
    addBusyShare(share, row, scene.axis);
    std::vector<int> heights(share.size());
    for (std::size_t x = 0; x < share.size(); ++x)
        if (share[x] > 0)  // never invisible
            heights[x] = std::max(1, static_cast<int>(std::lround(std::min(1.0, share[x]) * room)));
    const QColor color(style.family(profiler::KernelFamily::Matmul));
    fillColumns(p, heights, area.bottom() + 1,
                Theme::mix(QColor(style.laneBackground()), color, 0.6));
}

CountCurve::Range queueIn(const TimelineChart& chart, const TimeAxis& axis, int x) {
    return chart.queue.within({axis.t(x), axis.t(x + 1)});
}

/// Full colour up to what was always there in a pixel, thinner up to the most.
void paintQueue(QPainter& p, const TimelineScene& scene, const TimelineChart& chart, QRect area,
                const TimelineStyle& style) {
    const std::uint32_t top = chart.queue.within(scene.axis.range()).high;
    if (top == 0) return;
    const int room = area.height() - 2;
    const auto height = [&](std::uint32_t count) {
        return count == 0
                   ? 0
                   : std::max(
                         1, static_cast<int>(std::lround(static_cast<double>(count) / top * room)));
    };
    std::vector<int> high(static_cast<std::size_t>(scene.axis.width)), low(high);
    for (int x = 0; x < scene.axis.width; ++x) {
        const CountCurve::Range range = queueIn(chart, scene.axis, x);
        high[static_cast<std::size_t>(x)] = height(range.high);
        low[static_cast<std::size_t>(x)] = height(range.low);
    }
    const QColor color = Theme::current().series(2), ground(style.laneBackground());
    fillColumns(p, high, area.bottom() + 1, Theme::mix(ground, color, 0.4));
    fillColumns(p, low, area.bottom() + 1, Theme::mix(ground, color, 0.7));
}

void paintCurves(QPainter& p, const TimelineScene& scene, const TimelineChart& chart, QRect area,
                 const TimelineStyle& style) {
    const bool memory = chart.kind == TimelineChart::Kind::Memory;
    double top = 0;
    for (const ScalarSeriesPtr& curve : chart.curves)
        if (curve) top = std::max(top, stepPeak(*curve, scene.axis.range()));
    if (!memory && chart.limit > 0) top = chart.limit;
    if (top <= 0) return;
    const int room = area.height() - 6;
    const auto height = [&](double value) {
        return std::isfinite(value)
                   ? std::clamp(static_cast<int>(std::lround(value / top * room)), 0, room)
                   : 0;
    };
    for (int band = 2; band >= 0; --band) {
        const ScalarSeriesPtr& curve = chart.curves[static_cast<std::size_t>(band)];
        if (!curve) continue;
        const auto columns = stepColumns(*curve, scene.axis, scene.data->endNs);
        std::vector<int> heights(columns.size());
        for (std::size_t x = 0; x < columns.size(); ++x) heights[x] = height(columns[x].high);
        const QColor edge =
            memory ? memoryBandColor(band) : Theme::current().color(Category::Evaluate);
        fillColumns(p, heights, area.bottom() + 1,
                    memory ? edge : Theme::mix(QColor(style.laneBackground()), edge, 0.35));
        if (memory) continue;
        for (std::size_t x = 0; x < columns.size(); ++x) {
            const int low = height(columns[x].low);
            if (std::isfinite(columns[x].high) && columns[x].high >= 0)
                p.fillRect(QRect(static_cast<int>(x), area.bottom() + 1 - std::max(1, heights[x]),
                                 1, std::max(1, heights[x] - low + 1)),
                           edge);
        }
    }
}

/// Lines where PyTorch's allocator gave up; those that lie close share a flag.
void paintOutOfMemory(QPainter& p, const TimelineScene& scene, const TimelineChart& chart,
                      QRect area) {
    if (!chart.outOfMemory) return;
    const Theme& theme = Theme::current();
    const QColor color = theme.color(Theme::Bad);
    const QFontMetrics metrics(p.font());
    const auto& all = *chart.outOfMemory;
    const auto x = [&scene](const TimelineChart::OutOfMemory& mark) {
        return static_cast<int>(std::lround(scene.axis.x(mark.timeNs)));
    };
    const auto shown = [&](std::int64_t t) {
        return std::ranges::lower_bound(all, t, {}, &TimelineChart::OutOfMemory::timeNs);
    };
    const auto end = shown(scene.axis.t1());
    for (auto mark = shown(scene.axis.t0); mark != end;) {
        const int at = x(*mark);
        const auto first = mark;
        const int flag = metrics.horizontalAdvance(QStringLiteral("OOM 000")) + 8;
        for (; mark != end && x(*mark) < at + flag; ++mark)
            p.fillRect(QRect(x(*mark), area.top(), 2, area.height()), color);
        const auto count = mark - first;
        const QString text =
            count == 1 ? QStringLiteral("OOM")
                       : QStringLiteral("OOM %1").arg(format::count(static_cast<double>(count)));
        const int width = metrics.horizontalAdvance(text) + 8;
        const QRect box(at + width > area.right() ? at + 2 - width : at, area.top(), width,
                        metrics.height());
        p.fillRect(box, color);
        p.setPen(theme.color(Theme::Panel));
        p.drawText(box, Qt::AlignCenter, text);
    }
}

QString counted(std::uint32_t n) { return format::exactCount(n); }

}  // namespace

QString queueText(const TimelineChart& chart, const TimeAxis& axis, int x) {
    if (chart.kind != TimelineChart::Kind::Queue) return {};
    const CountCurve::Range here = queueIn(chart, axis, x);
    QString text = here.low == here.high
                       ? tr("queue: %1 launched and not over").arg(counted(here.high))
                       : tr("queue: %1 to %2 launched and not over")
                             .arg(counted(here.low), counted(here.high));
    if (chart.uncounted > 0)
        text += tr("\nnot counted: %1 in this stream without a launch call on the tape")
                    .arg(format::exactCount(static_cast<std::int64_t>(chart.uncounted)));
    return text;
}

QString outOfMemoryText(const TimelineChart& chart, const TimeAxis& axis, int x) {
    if (!chart.outOfMemory) return {};
    constexpr double kReach = 5;
    const TimelineChart::OutOfMemory* nearest = nullptr;
    double distance = kReach;
    for (const TimelineChart::OutOfMemory& mark : *chart.outOfMemory) {
        const double d = std::abs(axis.x(mark.timeNs) - x);
        if (d > distance) continue;
        distance = d;
        nearest = &mark;
    }
    if (nearest == nullptr) return {};
    QString text = tr("PyTorch ran out of memory: %1 asked for, %2 free on the device")
                       .arg(format::bytes(static_cast<double>(nearest->askedBytes)),
                            format::bytes(static_cast<double>(nearest->freeBytes)));
    if (!nearest->site.empty()) text += tr("\nat %1").arg(QString::fromStdString(nearest->site));
    return text;
}

QString memoryBandText(int band) {
    return band == 0   ? tr("PyTorch, in use")
           : band == 1 ? tr("PyTorch, cached")
                       : tr("everything else");
}

QColor memoryBandColor(int band) {
    const Theme& theme = Theme::current();
    const QColor used = theme.color(storage::MemoryRole::Parameter);
    const QColor lane = theme.color(Theme::Field);
    return band == 0   ? Theme::mix(lane, used, 0.8)
           : band == 1 ? Theme::mix(lane, used, 0.38)
                       : Theme::mix(lane, theme.color(Theme::Muted), 0.42);
}

std::vector<StepColumn> stepColumns(const ScalarSeries& curve, const TimeAxis& axis,
                                    std::int64_t endNs) {
    std::vector<StepColumn> columns;
    const double end = std::min(static_cast<double>(axis.width), std::ceil(axis.x(endNs)));
    if (end <= 0) return columns;
    columns.resize(static_cast<std::size_t>(end));
    const double first = stepAt(curve, axis.t0);
    double level = first;  // NaN: nothing is known yet
    std::size_t x = 0;
    columns[0] = {level, level};
    const auto advance = [&](std::size_t to) {  // nothing happens until then
        while (x + 1 < columns.size() && x < to) columns[++x] = {level, level};
    };
    decimate(curve, nullptr, XAxis::Step, static_cast<double>(axis.t0),
             static_cast<double>(axis.t1()), axis.width, [&](double t, double value) {
                 const double at = std::floor(axis.x(static_cast<std::int64_t>(t)));
                 if (at < 0 || at >= end || !std::isfinite(value)) return;
                 advance(static_cast<std::size_t>(at));
                 level = value;
                 columns[x].low = std::fmin(columns[x].low, level);
                 columns[x].high = std::fmax(columns[x].high, level);
             });
    advance(columns.size());
    return columns;
}

double stepAt(const ScalarSeries& curve, std::int64_t t) {
    const auto at = static_cast<double>(t);
    double value = NAN;
    for (const ScalarBlockPtr& block : curve.blocks()) {
        const auto n =
            std::upper_bound(block->step.begin(), block->step.end(), at) - block->step.begin();
        if (n == 0) break;
        value = block->value[static_cast<std::size_t>(n - 1)];
    }
    return value;
}

double stepPeak(const ScalarSeries& curve, TimeRange range) {
    const double first = stepAt(curve, range.beginNs);
    double peak = std::isfinite(first) ? std::max(0.0, first) : 0;
    if (const auto extent = curve.valueExtent(XAxis::Step, static_cast<double>(range.beginNs),
                                              static_cast<double>(range.endNs)))
        peak = std::max(peak, extent->high);
    return peak;
}

void addBusyShare(std::vector<double>& share, const TimelineRow& row, const TimeAxis& axis) {
    RowPixels pixels;
    pixels.collect(row, axis);
    for (std::size_t x = 0; x < share.size(); ++x)
        share[x] += static_cast<double>(pixels.pixels[x].busyNs) / axis.nsPerPx;
    for (const RowPixels::Box& box : pixels.boxes) {
        // The pixels at its ends are covered in part.
        const double from = std::max(0.0, axis.x(row.startNs(box.event)));
        const double to = std::min(static_cast<double>(share.size()), axis.x(row.endNs(box.event)));
        for (auto x = static_cast<std::size_t>(from); static_cast<double>(x) < to; ++x)
            share[x] +=
                std::min(to, static_cast<double>(x + 1)) - std::max(from, static_cast<double>(x));
    }
}

void paintFolded(QPainter& p, const TimelineScene& scene, std::size_t process, QRect area,
                 const TimelineStyle& style) {
    const auto& charts = scene.data->charts;
    std::vector<double> share(static_cast<std::size_t>(scene.axis.width));
    for (std::size_t g = process; g < scene.data->groups.size(); ++g) {
        if (g != process && scene.data->groups[g].parent != static_cast<int>(process)) break;
        const auto [first, last] = std::ranges::equal_range(charts, static_cast<std::uint32_t>(g),
                                                            {}, &TimelineChart::group);
        for (auto chart = first; chart != last; ++chart)
            if (chart->kind == TimelineChart::Kind::Busy)
                addBusyShare(share, chart->busy, scene.axis);
    }
    const QColor color(style.family(profiler::KernelFamily::Matmul));
    const QColor ground = Theme::current().color(Theme::Raised);
    for (std::size_t x = 0; x < share.size(); ++x)
        if (share[x] > 0)
            p.fillRect(QRect(area.left() + static_cast<int>(x), area.top(), 1, area.height()),
                       Theme::mix(ground, color, std::min(1.0, 0.45 + 0.55 * share[x])));
}

void paintChart(QPainter& p, const TimelineScene& scene, const ChartPlace& place,
                const TimelineStyle& style) {
    const TimelineChart& chart = scene.data->charts[place.chart];
    const QRect area(0, place.y - scene.scrollY, scene.axis.width, place.height);
    p.fillRect(area, QColor(style.laneBackground()));
    if (chart.kind == TimelineChart::Kind::Busy) {
        paintBusy(p, scene, chart.busy, area, style);
    } else if (chart.kind == TimelineChart::Kind::Queue) {
        paintQueue(p, scene, chart, area, style);
    } else {
        paintCurves(p, scene, chart, area, style);
        paintOutOfMemory(p, scene, chart, area);
    }
}

QString chartSummary(const TimelineData& data, const TimelineChart& chart, TimeRange shown) {
    const TimeRange inside{std::max(shown.beginNs, data.beginNs),
                           std::min(shown.endNs, data.endNs)};
    if (chart.kind == TimelineChart::Kind::Busy) {
        if (inside.empty()) return {};
        return format::percent(static_cast<double>(coveredNs(chart.busy, inside)) /
                               static_cast<double>(inside.lengthNs()));
    }
    if (chart.kind == TimelineChart::Kind::Queue)
        return tr("max %1").arg(counted(chart.queue.within(shown).high));
    double peak = 0;
    for (const ScalarSeriesPtr& curve : chart.curves)
        if (curve) peak = std::max(peak, stepPeak(*curve, shown));
    return tr("peak %1").arg(quantity(peak, chart.unit));
}

QStringList chartValues(const TimelineChart& chart, std::int64_t t, double nsPerPx) {
    QStringList lines;
    if (chart.kind == TimelineChart::Kind::Busy) {
        // The share of the pixel's own time says nothing from close by; a few pixels do.
        const auto half = static_cast<std::int64_t>(std::max(1.0, nsPerPx * 4));
        const TimeRange around{t - half, t + half};
        lines << tr("here %1").arg(
            format::percent(static_cast<double>(coveredNs(chart.busy, around)) /
                            static_cast<double>(around.lengthNs())));
        return lines;
    }
    if (chart.kind == TimelineChart::Kind::Queue)
        return {tr("here %1").arg(counted(chart.queue.at(t)))};
    if (chart.kind == TimelineChart::Kind::Counter) {
        const double now = stepAt(*chart.curves[0], t);
        if (std::isfinite(now)) lines << tr("here %1").arg(quantity(now, chart.unit));
        return lines;
    }
    double below = 0;
    for (int band = 0; band < 3; ++band) {
        const ScalarSeriesPtr& curve = chart.curves[static_cast<std::size_t>(band)];
        const double now = curve ? stepAt(*curve, t) : NAN;
        if (!std::isfinite(now)) continue;
        lines << QStringLiteral("%1  %2").arg(memoryBandText(band),
                                              quantity(std::max(0.0, now - below), chart.unit));
        below = now;
    }
    return lines;
}

}  // namespace tapescope::viewers
