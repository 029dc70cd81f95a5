// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/analysis/gpu_notices.h"

#include <QString>
#include <QWidget>

#include <vector>

class QLabel;
class QScrollArea;
class QToolButton;

namespace tapescope::viewers {

class ElidedLabel;

/// How far a GPU record can be trusted, beside the timeline: one line with what was lost (or that
/// nothing was), all of it on demand.
class GpuNoticeBar final : public QWidget {
    Q_OBJECT
public:
    explicit GpuNoticeBar(QWidget* parent = nullptr);

    void setNotices(const std::vector<profiler::GpuNotice>& notices, bool anyEvents);
    bool hasLosses() const { return m_losses; }
    QString summary() const;
    QString details() const;  ///< plain text, a line a notice
    void setExpanded(bool on);

private:
    void restyle();

    std::vector<profiler::GpuNotice> m_notices;
    bool m_anyEvents = false;
    bool m_losses = false;
    ElidedLabel* m_summary;
    QToolButton* m_toggle;
    QScrollArea* m_scroll;
    QLabel* m_list;
};

/// Why a tape shows no GPU activity, in the words of its sources; empty if none says.
QString gpuAbsence(const std::vector<profiler::GpuNotice>& notices);

}  // namespace tapescope::viewers
