// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/runner/training_run.h"

#include <chrono>
#include <string_view>

namespace tapescope::app {

/// Shows a run's progress on stderr: one redrawn line with a bar and the time left on a terminal, a
/// plain line every few seconds otherwise, so that a log file stays readable.
class ProgressLine final {
public:
    ProgressLine();
    void update(const RunProgress& progress);
    /// A line of its own, above the bar.
    void text(std::string_view line);
    /// Leaves the last state on screen.
    void finish();

private:
    using Clock = std::chrono::steady_clock;
    void draw(const RunProgress& progress);

    bool m_terminal;
    bool m_drawn = false;
    Clock::time_point m_next{};
    RunProgress m_last;
};

/// "1.2 s", "3 min 05 s"
std::string durationText(double seconds);
/// "183 MB"
std::string bytesText(double bytes);
/// Three significant digits with ns, µs, ms or s.
std::string nanosecondsText(double ns);

}  // namespace tapescope::app
