// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/status_line.h"

#include "app/workbench/debug_session.h"
#include "app/workbench/step_scrubber.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/models/scalar_series.h"
#include "viewers/models/tape_snapshot.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>

#include <algorithm>
#include <vector>

namespace tapescope::app {
namespace {

using viewers::TapeSnapshot;
using viewers::Theme;
namespace format = viewers::format;

QString tr(const char* text) { return QCoreApplication::translate("StatusLine", text); }

/// The run's planned steps, as its settings have it; 0 if they do not say.
std::int64_t plannedSteps(const TapeSnapshot& snapshot) {
    if (!snapshot.run) return 0;
    for (const auto& [key, value] : snapshot.run->info.config) {
        if (key == "steps") return QString::fromStdString(value).toLongLong();
    }
    return 0;
}

/// Median of the last steps: one that a debugger held does not count.
double nsPerStep(const TapeSnapshot& snapshot) {
    if (!snapshot.steps) return 0;
    std::vector<std::int64_t> times;
    for (auto it = snapshot.steps->rbegin(); it != snapshot.steps->rend() && times.size() < 51;
         ++it) {
        if (it->endNs > it->startNs) times.push_back(it->endNs - it->startNs);
    }
    if (times.empty()) return 0;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return static_cast<double>(*middle);
}

QString lastLoss(const TapeSnapshot& snapshot, std::int64_t step) {
    const auto it = snapshot.scalars.find("train/loss");
    if (it == snapshot.scalars.end() || !it->second || it->second->empty()) return {};
    if (step < 0) return format::number(it->second->last().value);
    const auto near = it->second->nearest(viewers::XAxis::Step, static_cast<double>(step));
    return near ? format::number(it->second->point(*near).value) : QString();
}

QString stateText(const TapeSnapshot& snapshot) {
    if (!snapshot.status.ok()) return QString::fromStdString(snapshot.status.message());
    if (!snapshot.run) return snapshot.loading ? tr("reading…") : QString();
    using storage::RunOutcome;
    switch (snapshot.run->state) {
        case storage::TapeState::Live:
            return tr("live");
        case storage::TapeState::Cut:
            return tr("cut: its writer died; everything up to here is kept");
        case storage::TapeState::Sealed:
            break;
    }
    switch (snapshot.run->outcome) {
        case RunOutcome::Finished:
            return tr("finished");
        case RunOutcome::Stopped:
            return tr("stopped by the user");
        case RunOutcome::Failed:
            return tr("failed: %1").arg(QString::fromStdString(snapshot.run->outcomeMessage));
        case RunOutcome::Unknown:
            break;
    }
    return {};
}

QString sessionState(const DebugSession& session) {
    switch (session.state()) {
        case SessionState::Launching:
            return tr("starting…");
        case SessionState::Running:
            return tr("running");
        case SessionState::Stopped:
            return tr("stopped: %1").arg(session.stopInfo().description);
        case SessionState::Ending:
            return tr("ending…");
        case SessionState::Idle:
            break;
    }
    return {};
}

}  // namespace

QString statusText(const DebugSession* session, const TapeSnapshot* snapshot,
                   std::int64_t shownStep) {
    QStringList parts;
    std::int64_t step = snapshot != nullptr ? snapshot->lastStep() : -1;
    std::int64_t total = snapshot != nullptr ? plannedSteps(*snapshot) : 0;
    double stepNs = snapshot != nullptr ? nsPerStep(*snapshot) : 0;
    QString loss = snapshot != nullptr ? lastLoss(*snapshot, shownStep) : QString();
    double bytes = 0;
    if (snapshot != nullptr && snapshot->steps && !snapshot->steps->empty())
        bytes = static_cast<double>(snapshot->steps->back().peakBytes);
    if (session != nullptr && session->isActive()) {
        const Progress& progress = session->progress();
        step = std::max<std::int64_t>(step, progress.step);
        if (progress.steps > 0) total = progress.steps;
        // The adapter speaks ten times a second and not at stops; the tape knows newer numbers.
        if (stepNs <= 0) stepNs = progress.msPerStep * 1e6;
        if (loss.isEmpty() && progress.hasLoss) loss = format::number(progress.loss);
        if (bytes <= 0) bytes = static_cast<double>(progress.allocatedBytes);
    }
    if (step >= 0) {
        const std::int64_t shown = shownStep >= 0 ? shownStep : step;
        parts << (total > 0 ? tr("step %1/%2").arg(shown).arg(total) : tr("step %1").arg(shown));
        if (shownStep >= 0 && shownStep != step) parts << tr("newest %1").arg(step);
    }
    if (!loss.isEmpty()) parts << tr("loss %1").arg(loss);
    if (bytes > 0) parts << format::bytes(bytes);
    if (stepNs > 0) parts << tr("%1/step").arg(format::duration(stepNs));
    QString state = session != nullptr && session->isActive() ? sessionState(*session) : QString();
    if (state.isEmpty() && snapshot != nullptr) state = stateText(*snapshot);
    if (!state.isEmpty()) parts << state;
    return parts.join(QStringLiteral("  ·  "));
}

StatusLine::StatusLine(QWidget* parent)
    : QWidget(parent), m_scrubber(new StepScrubber), m_text(new QLabel), m_lost(new QLabel) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 0, 12, 0);
    row->setSpacing(12);
    row->addWidget(m_scrubber);
    row->addWidget(m_text, 1);
    row->addWidget(m_lost);
    m_text->setObjectName(QStringLiteral("statusText"));
    m_lost->setObjectName(QStringLiteral("lostText"));
    // Long texts must not widen the window.
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void StatusLine::refresh(const DebugSession* session, const TapeSnapshot* snapshot,
                         std::int64_t shownStep) {
    const QString text = statusText(session, snapshot, shownStep);
    m_text->setText(text);
    m_text->setToolTip(text);
    const std::int64_t lost = snapshot != nullptr ? snapshot->lostCount() : 0;
    m_lost->setVisible(snapshot != nullptr && (snapshot->run || lost > 0));
    m_lost->setText(tr("dropped %1").arg(format::count(static_cast<double>(lost))));
    QString why;
    if (snapshot != nullptr && snapshot->losses) {
        for (const storage::LossCount& loss : *snapshot->losses)
            why += QStringLiteral("%1: %2 (%3)\n")
                       .arg(QString::fromStdString(loss.what), format::exactCount(loss.count),
                            QString::fromStdString(loss.reason));
    }
    m_lost->setToolTip(why.isEmpty() ? tr("Nothing that happened is missing from the tape.")
                                     : why.trimmed());
    const Theme& theme = Theme::current();
    QPalette colours = m_lost->palette();
    colours.setColor(QPalette::WindowText, theme.color(lost > 0 ? Theme::Warning : Theme::Muted));
    m_lost->setPalette(colours);

    const bool stopped = session != nullptr && session->isStopped();
    std::int64_t first = 0;
    std::int64_t last = -1;
    std::int64_t total = snapshot != nullptr ? plannedSteps(*snapshot) : 0;
    if (snapshot != nullptr && snapshot->steps && !snapshot->steps->empty()) {
        first = snapshot->steps->front().step;
        last = snapshot->steps->back().step;
    }
    if (stopped) last = std::max<std::int64_t>(last, session->stopInfo().step);
    m_scrubber->setSteps(first, last, total);
    m_scrubber->setStep(shownStep);
    m_scrubber->setStoppedAt(stopped ? session->stopInfo().step : -1);
}

QString StatusLine::text() const { return m_text->text(); }
QString StatusLine::lostText() const { return m_lost->text(); }

}  // namespace tapescope::app
