// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/tape_session.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include <cstdint>
#include <vector>

namespace tapescope::viewers {
class GraphView;
class Selection;
class SourceView;
}  // namespace tapescope::viewers

namespace tapescope::app {

class DebugSession;

/// Time of a step's operators, by node of its graph and by source line.
struct StepCosts {
    std::vector<double> nsBySeq;
    QHash<QString, QHash<int, double>> nsByLine;  ///< by file
};
/// Sums the operator events of one step; empty if the tape has none of it. O(events of the step).
StepCosts stepCosts(const viewers::TimelineData& timeline, std::int64_t step);

/// True if each of `part`'s nodes is what `whole` has at that place: the running step does what an
/// earlier one did.
bool isBeginOf(const storage::Graph& part, const storage::Graph& whole);

/// Decides what graph and which source line are shown: of the chosen step, the newest one, or where
/// the run stands. At a stop it shows the whole graph of an equal earlier step, if there is one,
/// with what has not run yet in grey.
class GraphFollower final : public QObject {
    Q_OBJECT

public:
    GraphFollower(DebugSession& session, viewers::Selection& selection, viewers::GraphView& graph,
                  viewers::SourceView& source, QObject* parent = nullptr);

    /// The run in front; null: none.
    void setTape(viewers::TapeSession* tape);
    /// The graph on screen; null if none.
    viewers::GraphPtr shownGraph() const { return m_shown; }
    /// Why there is none: the tape's graph is damaged. Empty otherwise.
    const QString& problem() const { return m_problem; }
    /// What the graph view says while it has nothing.
    static QString emptyText();
    static QString emptySourceText();
    /// Shows a node's source line; -1: none.
    void showSourceOf(std::int64_t seq);

    /// The node chosen in the shown graph, or -1.
    std::int64_t chosenNode() const { return m_chosen; }
    /// Its time in the step whose costs are shown; 0 if not known.
    double chosenNs() const;

signals:
    void graphShown();
    void nodeChosen(qint64 seq);

private:
    bool ownsTape() const;
    std::int64_t wantedStep() const;
    void requestGraph();
    void onLoaded(const viewers::GraphPtr& graph);
    void onFetched(const viewers::GraphPtr& graph);
    void onFailed(const QString& message);
    void setProblem(const QString& message);
    void showEmptyText();
    viewers::GraphPtr wholeOf(const storage::Graph& part) const;
    void show(const viewers::GraphPtr& graph);
    void showCosts();
    void showMarks();
    std::uint32_t backwardOf(std::uint32_t forwardSeq) const;
    void showSources();
    void showFirstSource();
    void followSelection();
    void choose(std::int64_t seq);

    DebugSession& m_session;
    viewers::Selection& m_selection;
    viewers::GraphView& m_graph;
    viewers::SourceView& m_source;
    QPointer<viewers::TapeSession> m_tape;
    QHash<qint64, viewers::GraphPtr> m_complete;  ///< by id; steps share graphs, so there are few
    viewers::GraphPtr m_loaded;
    viewers::GraphPtr m_shown;
    QString m_problem;
    std::int64_t m_chosen = -1;
    std::int64_t m_costsOfStep = -1;
    std::size_t m_sourceCount = 0;
    bool m_sourceChosen = false;  ///< a line of this tape was shown
    QTimer m_costsTimer;
};

}  // namespace tapescope::app
