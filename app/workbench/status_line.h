// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>

class QLabel;

namespace tapescope::viewers {
struct TapeSnapshot;
}

namespace tapescope::app {

class DebugSession;
class StepScrubber;

/// Where the run is, what it costs, what was lost: "step 412/900 · loss 0.031 · 183 MB · 12.4
/// ms/step · stopped: …" with the step scrubber before it and the losses at the end.
class StatusLine final : public QWidget {
    Q_OBJECT

public:
    explicit StatusLine(QWidget* parent = nullptr);

    /// session: the debugged run if the tape in front is its own, else null. snapshot may be null.
    void refresh(const DebugSession* session, const viewers::TapeSnapshot* snapshot,
                 std::int64_t shownStep);
    StepScrubber* scrubber() const { return m_scrubber; }
    QString text() const;
    QString lostText() const;

private:
    StepScrubber* m_scrubber;
    QLabel* m_text;
    QLabel* m_lost;
};

/// The text, from the session if there is one, else from the tape.
QString statusText(const DebugSession* session, const viewers::TapeSnapshot* snapshot,
                   std::int64_t shownStep);

}  // namespace tapescope::app
