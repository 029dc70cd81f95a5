// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/api/model.h"
#include "storage/tape/writer.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tapescope::app {

/// The RunLog of a training run: remembers the last value of each tag, and passes everything on to
/// the tape if there is one.
class TapeLog final : public plugins::RunLog {
public:
    /// writer may be null and must outlive the log; every histogramEvery-th step (and the last)
    /// wants histograms.
    TapeLog(storage::TapeWriter* writer, std::int64_t steps, std::int64_t histogramEvery,
            std::function<void(std::string_view)> onText);

    void scalar(std::string_view tag, std::int64_t step, double value) override;
    void histogram(std::string_view tag, std::int64_t step, const engine::Tensor& values) override;
    void text(std::string_view line) override;
    bool wantsHistograms(std::int64_t step) const override;

    /// By order of first appearance.
    const std::vector<std::pair<std::string, double>>& lastScalars() const { return m_last; }
    /// NaN if the tag has none.
    double last(std::string_view tag) const;
    /// "val/loss 0.123, val/accuracy 0.98": what came since the last call.
    std::string takeRecent();
    void error(std::int64_t step, std::string_view message);

private:
    void log(storage::Severity severity, std::int64_t step, std::string_view line);

    storage::TapeWriter* m_writer;
    std::int64_t m_steps;
    std::int64_t m_histogramEvery;
    std::function<void(std::string_view)> m_onText;
    std::vector<std::pair<std::string, double>> m_last;
    std::string m_recent;
    std::int64_t m_step = -1;  // of the last scalar, for lines of text
};

}  // namespace tapescope::app
