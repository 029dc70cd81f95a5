// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/op_summary_model.h"
#include "viewers/models/tape_session.h"
#include "viewers/models/timeline_query.h"
#include "viewers/timeline/timeline_view.h"

#include <QPointer>
#include <QTimer>

#include <stop_token>

class QLabel;
class QLineEdit;
class QSplitter;
class QStackedLayout;
class QToolButton;

namespace tapescope::viewers {

class EmptyState;
class GpuNoticeBar;
class TimelineCanvas;
class TimelineDetails;
class TimelineOverview;

struct TimelineView::Impl final {
    Impl(TimelineView* view, Selection* selection);
    ~Impl();

    // timeline_view_impl.cpp
    QWidget* buildToolBar();
    void setSession(TapeSession* session);
    void setData(TimelinePtr data);
    void setLost(std::int64_t count, const QString& details);
    void snapshotChanged(TapeSession::Parts parts);
    void updateEmptyState();
    void updateGpu();
    void updateProgress();
    void updateSearch();
    void findNext(bool forward);
    void countMatches();
    void showMenu(const QPoint& pos);

    // timeline_view_selection.cpp
    void connectSelection();
    void tellSelection(std::optional<EventRef> event);
    void followOp();
    void followStep();
    void followLit();
    storage::GraphId graphOf(EventRef event) const;
    void wantGraph(EventRef event);
    void updateDetails(bool atOnce = false);
    void aggregateArea(TimeRange area, bool atOnce);

    TimelineView* q;
    Selection* selection;
    QPointer<TapeSession> session;
    GraphPtr graph;        ///< of the selected event's step
    bool telling = false;  ///< our own change of the selection comes back
    std::stop_source aggregation;
    std::stop_source counting;
    NameMatch match;
    std::size_t matches = 0;
    QTimer countTimer;

    QStackedLayout* stack = nullptr;
    EmptyState* empty = nullptr;
    QSplitter* splitter = nullptr;
    TimelineCanvas* canvas = nullptr;
    TimelineOverview* overview = nullptr;
    TimelineDetails* details = nullptr;
    QLineEdit* searchField = nullptr;
    QLabel* searchCount = nullptr;
    QLabel* lost = nullptr;
    QWidget* legend = nullptr;
    GpuNoticeBar* notices = nullptr;
    QToolButton* hold = nullptr;  ///< stops the reading of a big tape, or goes on
};

}  // namespace tapescope::viewers
