// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/tape_snapshot.h"

#include <QFlags>
#include <QObject>

#include <memory>

namespace tapescope::viewers {

/// Follows one tape, recorded or still being written: a worker thread with its own TapeReader polls
/// ten times a second and hands immutable snapshots to the GUI thread. Nothing here blocks the
/// caller; a file that is not there yet is waited for (snapshot().status says so). The destructor
/// stops the worker after the call it is in.
class TapeSession final : public QObject {
    Q_OBJECT
public:
    enum Part : unsigned {
        Run = 1U << 0U,  ///< info, state, outcome
        Scalars = 1U << 1U,
        Histograms = 1U << 2U,
        StructurePart = 1U << 3U,  ///< names, modules, sites, sources, lanes
        Steps = 1U << 4U,
        Graphs = 1U << 5U,
        Events = 1U << 6U,  ///< the timeline: operator and memory events
        Summary = 1U << 7U,
        Log = 1U << 8U,    ///< log and losses
        State = 1U << 9U,  ///< status, loading
        All = (1U << 10U) - 1U,
        CurvesOnly = Run | Scalars | Histograms | Log | State  ///< enough to overlay a run
    };
    Q_DECLARE_FLAGS(Parts, Part)

    explicit TapeSession(QString path, Parts interest = All, QObject* parent = nullptr);
    ~TapeSession() override;

    const QString& path() const { return m_path; }
    /// The model's name once known, else the file's.
    QString displayName() const;
    const TapeSnapshot& snapshot() const { return m_snapshot; }
    /// Reads more parts from now on (never fewer).
    void addInterest(Parts parts);

    /// Reads a graph's nodes; graphLoaded() follows, again each time an incomplete graph has grown.
    /// A newer request supersedes the older; 0 stops.
    void requestGraph(storage::GraphId id);
    /// Reads a graph once, beside whatever requestGraph() follows; graphFetched() follows if it is
    /// in the tape.
    void fetchGraph(storage::GraphId id);
    /// Stops reading events (a big tape is enough as far as it is), or goes on; the rest of the
    /// tape is still followed.
    void holdEvents(bool hold);
    bool eventsHeld() const { return m_eventsHeld; }
    /// Polls now, not at the next tick: the debugger stopped and its adapter has flushed.
    void refresh();

signals:
    /// snapshot() has changed in these parts.
    void changed(tapescope::viewers::TapeSession::Parts parts);
    void graphLoaded(tapescope::viewers::GraphPtr graph);
    void graphFetched(tapescope::viewers::GraphPtr graph);
    /// The graph asked for with requestGraph() is damaged: message says what and where.
    void graphFailed(const QString& message);
    /// From the destructor, while everything can still be read: whoever shows the session lets go
    /// of it now.
    void closing();

private:
    class Worker;
    friend class Worker;
    void publish(TapeSnapshot snapshot, Parts parts);

    QString m_path;
    TapeSnapshot m_snapshot;
    bool m_eventsHeld = false;
    std::unique_ptr<Worker> m_worker;
};

Q_DECLARE_OPERATORS_FOR_FLAGS(TapeSession::Parts)

}  // namespace tapescope::viewers

Q_DECLARE_METATYPE(tapescope::viewers::GraphPtr)
