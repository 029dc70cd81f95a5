// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace tapescope::app {
namespace {

std::string format(const char* pattern, double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, pattern, value);
    return buffer;
}

/// Three significant digits of a value with a unit chosen by the caller.
std::string threeDigits(double value, const char* unit) {
    const double a = std::abs(value);
    const char* pattern = a >= 99.95 ? "%.0f" : a >= 9.995 ? "%.1f" : "%.2f";
    return format(pattern, value) + " " + unit;
}

std::string line(const RunProgress& p) {
    std::string text = "step " + std::to_string(p.step) + "/" + std::to_string(p.steps);
    if (std::isfinite(p.loss)) text += "  loss " + format("%.4g", p.loss);
    text += "  " + threeDigits(p.msPerStep, "ms/step") + "  " +
            bytesText(static_cast<double>(p.allocatedBytes));
    if (p.step < p.steps) {
        text += "  " + durationText(p.msPerStep * 1e-3 * static_cast<double>(p.steps - p.step)) +
                " left";
    }
    return text;
}

}  // namespace

std::string durationText(double seconds) {
    if (seconds < 60) return format(seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    const auto whole = static_cast<long>(std::lround(seconds));
    char buffer[64];
    if (whole < 3600) {
        std::snprintf(buffer, sizeof buffer, "%ld min %02ld s", whole / 60, whole % 60);
    } else {
        std::snprintf(buffer, sizeof buffer, "%ld h %02ld min", whole / 3600, whole % 3600 / 60);
    }
    return buffer;
}

std::string bytesText(double bytes) {
    if (std::abs(bytes) >= 1e9) return threeDigits(bytes / 1e9, "GB");
    if (std::abs(bytes) >= 1e6) return threeDigits(bytes / 1e6, "MB");
    if (std::abs(bytes) >= 1e3) return threeDigits(bytes / 1e3, "KB");
    return format("%.0f B", bytes);
}

std::string nanosecondsText(double ns) {
    if (std::abs(ns) >= 1e9) return threeDigits(ns / 1e9, "s");
    if (std::abs(ns) >= 1e6) return threeDigits(ns / 1e6, "ms");
    if (std::abs(ns) >= 1e3) return threeDigits(ns / 1e3, "µs");
    return format("%.0f ns", ns);
}

ProgressLine::ProgressLine() : m_terminal(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::update(const RunProgress& progress) {
    m_last = progress;
    const auto now = Clock::now();
    if (now < m_next) return;
    m_next = now + (m_terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000));
    draw(progress);
}

void ProgressLine::draw(const RunProgress& progress) {
    if (!m_terminal) {
        std::fprintf(stderr, "%s\n", line(progress).c_str());
        return;
    }
    constexpr int kCells = 24;
    const double share = progress.steps > 0 ? static_cast<double>(progress.step) /
                                                  static_cast<double>(progress.steps)
                                            : 0;
    // Eighths of a cell, so that the bar moves at every percent.
    static constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * kCells * 8);
    std::string bar;
    for (int i = 0; i < eighths / 8; ++i) bar += "█";
    if (eighths / 8 < kCells) {
        bar += kParts[static_cast<std::size_t>(eighths % 8)];
        bar.append(static_cast<std::size_t>(kCells - eighths / 8 - (eighths % 8 > 0 ? 1 : 0)), ' ');
    }
    std::fprintf(stderr, "\r\033[K%s▕ %s", bar.c_str(), line(progress).c_str());
    std::fflush(stderr);
    m_drawn = true;
}

void ProgressLine::text(std::string_view message) {
    if (m_terminal && m_drawn) std::fputs("\r\033[K", stderr);
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
    if (m_terminal && m_drawn) draw(m_last);
}

void ProgressLine::finish() {
    if (m_last.steps == 0) return;
    draw(m_last);
    if (m_terminal) std::fputs("\n", stderr);
    m_drawn = false;
}

}  // namespace tapescope::app
