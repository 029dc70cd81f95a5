// SPDX-License-Identifier: Apache-2.0
#include "app/runner/run_log.h"

#include "engine/debug/tensor_stats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>

namespace tapescope::app {
namespace {

constexpr int kHistogramBins = 64;

double unixSeconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

TapeLog::TapeLog(storage::TapeWriter* writer, std::int64_t steps, std::int64_t histogramEvery,
                 std::function<void(std::string_view)> onText)
    : m_writer(writer),
      m_steps(steps),
      m_histogramEvery(histogramEvery > 0 ? histogramEvery : std::max<std::int64_t>(1, steps / 40)),
      m_onText(std::move(onText)) {}

void TapeLog::scalar(std::string_view tag, std::int64_t step, double value) {
    m_step = step;
    const auto known =
        std::find_if(m_last.begin(), m_last.end(), [&](const auto& e) { return e.first == tag; });
    if (known == m_last.end()) {
        m_last.emplace_back(tag, value);
    } else {
        known->second = value;
    }
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.4g", value);
    m_recent += (m_recent.empty() ? "" : ", ") + std::string(tag) + " " + number.data();
    if (!m_writer) return;
    m_writer->scalar(m_writer->tag(tag, storage::TagKind::Scalar),
                     {.step = step, .wall = unixSeconds(), .value = value});
}

void TapeLog::histogram(std::string_view tag, std::int64_t step, const engine::Tensor& values) {
    if (!m_writer) return;
    const engine::debug::TensorStats stats = engine::debug::tensorStats(values, kHistogramBins);
    const auto finite = static_cast<double>(stats.numel - stats.nanCount - stats.infCount);
    storage::Histogram out;
    out.step = step;
    out.wall = unixSeconds();
    out.edges = stats.edges;
    out.counts.assign(stats.counts.begin(), stats.counts.end());
    out.min = stats.min;
    out.max = stats.max;
    out.sum = finite > 0 ? stats.mean * finite : 0;
    out.sumSquares = finite > 0 ? (stats.std * stats.std + stats.mean * stats.mean) * finite : 0;
    out.nanCount = stats.nanCount;
    out.infCount = stats.infCount;
    m_writer->histogram(m_writer->tag(tag, storage::TagKind::Histogram), std::move(out));
}

void TapeLog::text(std::string_view line) {
    log(storage::Severity::Info, m_step, line);
    if (m_onText) m_onText(line);
}

void TapeLog::error(std::int64_t step, std::string_view message) {
    log(storage::Severity::Error, step, message);
}

void TapeLog::log(storage::Severity severity, std::int64_t step, std::string_view line) {
    if (!m_writer) return;
    m_writer->log(
        {.wall = unixSeconds(), .step = step, .severity = severity, .text = std::string(line)});
}

bool TapeLog::wantsHistograms(std::int64_t step) const {
    return m_writer && (step % m_histogramEvery == 0 || step == m_steps - 1);
}

double TapeLog::last(std::string_view tag) const {
    for (const auto& [name, value] : m_last) {
        if (name == tag) return value;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

std::string TapeLog::takeRecent() { return std::exchange(m_recent, std::string()); }

}  // namespace tapescope::app
