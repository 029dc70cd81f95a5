// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/clock_map.h"

#include <algorithm>
#include <limits>

namespace tapescope::profiler::cupti {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// One pair a second; records are flushed within one, those of the last hour are plenty.
constexpr std::size_t kMaxSamples = 3600;

/// Wrapping: a nonsense time may not be undefined behaviour.
std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

std::int64_t nowNs(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return t.tv_sec * kSecond + t.tv_nsec;
}

ClockMap::Sample ClockMap::measure() {
    Sample best{0, 0, std::numeric_limits<std::int64_t>::max()};
    for (int i = 0; i < 5; ++i) {
        const std::int64_t before = nowNs(CLOCK_MONOTONIC);
        const std::int64_t real = nowNs(CLOCK_REALTIME);
        const std::int64_t after = nowNs(CLOCK_MONOTONIC);
        if (after - before < best.widthNs)
            best = {before + (after - before) / 2, real, after - before};
    }
    return best;
}

// The kernel slews by 500 ppm at most; 100 µs, and what the readings were apart, for measuring.
// More is a step.
bool ClockMap::isStep(const Sample& a, const Sample& b) {
    const std::int64_t change = b.offset() - a.offset();
    const std::int64_t elapsed = b.monotonic - a.monotonic;
    const std::int64_t unsure = a.widthNs / 2 + b.widthNs / 2 + 100'000;
    return (change < 0 ? -change : change) > elapsed / 2000 + unsure;
}

void ClockMap::add(Sample s) {
    const std::size_t n = m_samples.size();
    m_widest = std::max(m_widest, s.widthNs);
    if (n > 0 && isStep(m_samples.back(), s)) {
        ++m_steps;
    } else if (n >= 2 && !isStep(m_samples[n - 2], m_samples[n - 1]) &&
               s.monotonic - m_samples[n - 2].monotonic < kSecond) {
        m_samples.pop_back();
    }
    m_samples.push_back(s);
    if (m_samples.size() > kMaxSamples) m_samples.pop_front();
    m_last = m_samples.size() - 1;
}

ClockMap::Time ClockMap::toMonotonic(std::int64_t realtime) const {
    if (m_samples.empty()) return {realtime, true};
    const auto between = [realtime](const Sample& a, const Sample& b) {
        const double part = static_cast<double>(realtime - a.realtime) /
                            static_cast<double>(std::max<std::int64_t>(1, b.realtime - a.realtime));
        const auto slew =
            static_cast<std::int64_t>(part * static_cast<double>(b.offset() - a.offset()));
        return realtime - a.offset() - slew;
    };
    if (m_last > 0 && m_last < m_samples.size()) {
        const Sample& a = m_samples[m_last - 1];
        const Sample& b = m_samples[m_last];
        if (realtime >= a.realtime && realtime <= b.realtime && !isStep(a, b))
            return {between(a, b), false};
    }
    // Newest first: around a step the same realtime may come twice.
    for (std::size_t i = m_samples.size(); i-- > 1;) {
        const Sample& a = m_samples[i - 1];
        const Sample& b = m_samples[i];
        if (!isStep(a, b)) {
            if (realtime < a.realtime || realtime > b.realtime) continue;
            m_last = i;
            return {between(a, b), false};
        }
        const std::int64_t before = minus(realtime, a.offset());
        const std::int64_t after = minus(realtime, b.offset());
        const bool maybeAfter = after >= a.monotonic && after <= b.monotonic;
        const bool maybeBefore = before >= a.monotonic && before <= b.monotonic;
        if (maybeAfter || maybeBefore) return {maybeAfter ? after : before, true};
    }
    const Sample& nearest =
        realtime < m_samples.front().realtime ? m_samples.front() : m_samples.back();
    return {minus(realtime, nearest.offset()), false};
}

}  // namespace tapescope::profiler::cupti
