// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/selection.h"
#include "viewers/models/timeline_model.h"

#include <QString>
#include <QWidget>

#include <memory>

class QImage;

namespace tapescope::viewers {

class TapeSession;

/// The operators of a run over time: rows of steps, modules and operators per thread, memory below,
/// an overview above, and what is selected described underneath. Keys are Perfetto's (`?` lists
/// them). Cost of a frame does not depend on the number of events. GUI thread only.
class TimelineView final : public QWidget {
    Q_OBJECT
public:
    /// selection may be null; it must outlive the view.
    explicit TimelineView(Selection* selection, QWidget* parent = nullptr);
    ~TimelineView() override;

    /// Follows a session; null leaves the empty state. The session is not owned.
    void setSession(TapeSession* session);
    /// Shows data directly, without a session.
    void setData(TimelinePtr timeline);
    void setLost(std::int64_t count, const QString& details);

    TimeRange visibleRange() const;
    void setVisibleRange(TimeRange range);
    /// All of the run.
    void fitAll();
    /// The selected event or time range; all if there is none.
    void fitSelection();
    std::optional<EventRef> selectedEvent() const;
    void selectEvent(std::optional<EventRef> event);
    /// Lights matches, selects the next one from the current selection on. An empty text ends the
    /// search.
    void search(const QString& text, bool forward = true);

    /// The visible part as a picture. False if the file cannot be written.
    bool exportPng(const QString& path);
    bool exportSvg(const QString& path);
    /// Operators of the visible range, summed:
    /// "operator,phase,calls,total_ns,self_ns,min_ns,max_ns,flops,bytes".
    bool exportCsv(const QString& path) const;
    /// Paints the view into the image at its size, laid out for it.
    bool renderTo(QImage& image);

    QByteArray saveState() const;
    bool restoreState(const QByteArray& state);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::viewers
