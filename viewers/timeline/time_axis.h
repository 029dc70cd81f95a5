// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/selection.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tapescope::viewers {

/// All of a run is drawn with a little air at both ends, so that the first and the last event are
/// seen whole: this much more than it is.
constexpr double kAirAtEnds = 1.02;

/// Time to pixels and back. A value; pure functions. Pixel x shows [t(x), t(x + 1)).
struct TimeAxis {
    static constexpr double kMinNsPerPx = 0.02;  ///< finer than the clock: 1 ns on 50 pixels
    std::int64_t t0 = 0;                         ///< ns at the left edge
    double nsPerPx = 1e6;
    int width = 1;

    double x(std::int64_t t) const { return static_cast<double>(t - t0) / nsPerPx; }
    /// Clamped to a pixel beyond the edges, so that far times do not overflow.
    int pixel(std::int64_t t) const {
        return static_cast<int>(std::floor(std::clamp(x(t), -1.0, width + 1.0)));
    }
    std::int64_t t(double px) const {
        return t0 + static_cast<std::int64_t>(std::floor(px * nsPerPx));
    }
    std::int64_t t1() const { return t0 + static_cast<std::int64_t>(std::ceil(width * nsPerPx)); }
    TimeRange range() const { return {t0, t1()}; }

    /// The range on the whole width.
    static TimeAxis fit(TimeRange range, int width) {
        const auto length = static_cast<double>(std::max<std::int64_t>(1, range.lengthNs()));
        return {range.beginNs, std::max(kMinNsPerPx, length / std::max(1, width)),
                std::max(1, width)};
    }
    /// factor < 1 zooms in; what is at px stays there.
    TimeAxis zoomed(double factor, double px) const {
        const double scale = std::clamp(nsPerPx * factor, kMinNsPerPx, 1e13);
        const double at = static_cast<double>(t0) + px * nsPerPx;
        return {static_cast<std::int64_t>(std::llround(at - px * scale)), scale, width};
    }
    TimeAxis panned(double px) const {
        return {t0 + static_cast<std::int64_t>(std::llround(px * nsPerPx)), nsPerPx, width};
    }
    /// Not farther out than `all` with a margin, and never so that nothing of it is visible.
    TimeAxis clampedTo(TimeRange all) const {
        TimeAxis axis = *this;
        const double length = std::max(1.0, static_cast<double>(all.lengthNs()));
        axis.nsPerPx = std::clamp(nsPerPx, kMinNsPerPx, length * 1.25 / width);
        const auto span = static_cast<std::int64_t>(axis.nsPerPx * width);
        const auto margin = static_cast<std::int64_t>(0.2 * static_cast<double>(span));
        const std::int64_t low = all.beginNs - margin;
        const std::int64_t high = std::max(low, all.endNs + margin - span);
        axis.t0 = std::clamp(t0, low, high);
        return axis;
    }
};

/// A readable distance of ruler ticks, about `pixels` apart: 1, 2 or 5 times a power of ten.
inline double tickNs(const TimeAxis& axis, double pixels) {
    const double raw = std::max(1.0, axis.nsPerPx * pixels);
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double mantissa = raw / power;
    return power * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
}

}  // namespace tapescope::viewers
