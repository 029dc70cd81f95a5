// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/strong_wolfe.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tapescope::engine::optim {
namespace {

constexpr double kDecrease = 1e-4;  // c1
constexpr double kCurvature = 0.9;  // c2
constexpr double kSmallest = 1e-9;  // bracket below which the search ends

/// The minimum of the cubic through two points with their slopes, kept in [low, high]; the middle
/// where the cubic has none.
double cubicMinimum(const LinePoint& a, const LinePoint& b, double low, double high) {
    const double d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t);
    const double square = d1 * d1 - a.slope * b.slope;
    if (!(square >= 0)) return (low + high) / 2;
    const double d2 = std::sqrt(square);
    const double t = a.t <= b.t
                         ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                         : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
    return std::min(std::max(t, low), high);
}

}  // namespace

LineResult strongWolfe(const std::function<LinePoint(double t)>& at, const LinePoint& start,
                       double first, double largest, std::int64_t maxEvaluations) {
    const auto rises = [&](const LinePoint& p) {
        return p.f > start.f + kDecrease * p.t * start.slope;
    };
    const auto flat = [&](const LinePoint& p) {
        return std::abs(p.slope) <= -kCurvature * start.slope;
    };
    LineResult result;
    LinePoint now = at(first);
    result.evaluations = 1;
    LinePoint before = start;
    std::array<LinePoint, 2> bracket;
    bool bracketed = false;
    std::int64_t rounds = 0;
    for (; rounds < maxEvaluations; ++rounds) {
        if (rises(now) || (rounds > 1 && now.f >= before.f) || (!flat(now) && now.slope >= 0)) {
            bracket = {before, now};
            bracketed = true;
            break;
        }
        if (flat(now)) {
            result.point = now;
            return result;
        }
        const double next =
            cubicMinimum(before, now, now.t + 0.01 * (now.t - before.t), 10 * now.t);
        before = now;
        now = at(next);
        ++result.evaluations;
    }
    if (!bracketed) bracket = {start, now};

    std::size_t low = bracket[0].f <= bracket[1].f ? 0 : 1;
    bool slow = false;  // the last length lay close to an end of the bracket
    while (rounds < maxEvaluations) {
        const double least = std::min(bracket[0].t, bracket[1].t);
        const double most = std::max(bracket[0].t, bracket[1].t);
        if ((most - least) * largest < kSmallest) break;
        double t = cubicMinimum(bracket[0], bracket[1], least, most);
        const double margin = 0.1 * (most - least);
        if (std::min(most - t, t - least) < margin) {
            if (slow || t >= most || t <= least) {
                t = std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
                slow = false;
            } else {
                slow = true;
            }
        } else {
            slow = false;
        }
        now = at(t);
        ++result.evaluations;
        ++rounds;
        const std::size_t high = 1 - low;
        if (rises(now) || now.f >= bracket[low].f) {
            bracket[high] = now;
            low = bracket[0].f <= bracket[1].f ? 0 : 1;
            continue;
        }
        const bool done = flat(now);
        if (!done && now.slope * (bracket[high].t - bracket[low].t) >= 0)
            bracket[high] = bracket[low];
        bracket[low] = now;
        if (done) break;
    }
    result.point = bracket[low];
    return result;
}

}  // namespace tapescope::engine::optim
