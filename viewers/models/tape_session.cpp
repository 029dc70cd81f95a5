// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/tape_session.h"

#include "viewers/models/tape_follower.h"

#include <QFileInfo>
#include <QMetaObject>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tapescope::viewers {
namespace {

constexpr std::chrono::milliseconds kPollInterval{100};

}  // namespace

/// The thread behind a session. Requests go in under the mutex; results go out as queued calls on
/// the session's thread, which Qt drops when the session is gone.
class TapeSession::Worker final {
public:
    Worker(TapeSession* session, Parts interest)
        : m_session(session),
          m_follower(session->path().toStdString()),
          m_interest(interest),
          m_thread([this](const std::stop_token& stop) { run(stop); }) {}

    void addInterest(Parts parts) {
        {
            const std::scoped_lock lock(m_mutex);
            m_interest |= parts;
            m_pollNow = true;
        }
        m_wake.notify_one();
    }
    void requestGraph(storage::GraphId id) {
        {
            const std::scoped_lock lock(m_mutex);
            m_graph = id;
            m_graphRequested = true;
            m_pollNow = true;
        }
        m_wake.notify_one();
    }
    void fetchGraph(storage::GraphId id) {
        {
            const std::scoped_lock lock(m_mutex);
            m_fetches.push_back(id);
            m_pollNow = true;
        }
        m_wake.notify_one();
    }
    void holdEvents(bool hold) {
        {
            const std::scoped_lock lock(m_mutex);
            m_hold = hold;
            m_interestAgain = m_interestAgain || !hold;
            m_pollNow = true;
        }
        m_wake.notify_one();
    }
    void refresh() {
        {
            const std::scoped_lock lock(m_mutex);
            m_pollNow = true;
        }
        m_wake.notify_one();
    }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            Parts interest;
            {
                const std::scoped_lock lock(m_mutex);
                interest = m_interest;
                m_pollNow = false;
                m_follower.holdEvents(m_hold);
                if (std::exchange(m_interestAgain, false)) m_follower.readAgain();
            }
            const Parts parts = m_follower.poll(interest, stop);
            if (stop.stop_requested()) return;
            if (parts != 0) {
                QMetaObject::invokeMethod(
                    m_session,
                    [session = m_session, snapshot = m_follower.snapshot(), parts]() mutable {
                        session->publish(std::move(snapshot), parts);
                    },
                    Qt::QueuedConnection);
            }
            sendGraph(parts);
            sendFetched(stop);
            if (m_follower.more()) continue;
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, stop, kPollInterval, [this] { return m_pollNow; });
        }
    }
    void sendGraph(Parts parts) {
        storage::GraphId id = 0;
        {
            const std::scoped_lock lock(m_mutex);
            id = m_graph;
            if (m_graphRequested) {
                m_graphSent = nullptr;
                m_graphFailed = false;
            }
            m_graphRequested = false;
        }
        const bool stale =
            !m_graphFailed && (!m_graphSent || (!m_graphSent->complete && (parts & Graphs) != 0));
        if (id == 0 || !stale) return;
        const storage::Result<GraphPtr> loaded = m_follower.loadGraph(id);
        if (!loaded.ok()) {
            m_graphFailed = true;
            QMetaObject::invokeMethod(
                m_session,
                [session = m_session, message = QString::fromStdString(loaded.status().message())] {
                    emit session->graphFailed(message);
                },
                Qt::QueuedConnection);
            return;
        }
        const GraphPtr& graph = *loaded;
        if (!graph) return;  // not there yet: tried again at the next round
        const bool same = m_graphSent && graph->complete == m_graphSent->complete &&
                          graph->nodes.size() == m_graphSent->nodes.size();
        m_graphSent = graph;
        if (same) return;
        QMetaObject::invokeMethod(
            m_session, [session = m_session, graph] { emit session->graphLoaded(graph); },
            Qt::QueuedConnection);
    }

    void sendFetched(const std::stop_token& stop) {
        std::vector<storage::GraphId> ids;
        {
            const std::scoped_lock lock(m_mutex);
            ids.swap(m_fetches);
        }
        for (const storage::GraphId id : ids) {
            if (stop.stop_requested()) return;
            const storage::Result<GraphPtr> loaded = m_follower.loadGraph(id);
            if (!loaded.ok() || !*loaded) continue;
            const GraphPtr graph = *loaded;
            QMetaObject::invokeMethod(
                m_session, [session = m_session, graph] { emit session->graphFetched(graph); },
                Qt::QueuedConnection);
        }
    }

    TapeSession* m_session;
    TapeFollower m_follower;     // worker thread only
    GraphPtr m_graphSent;        // worker thread only
    bool m_graphFailed = false;  // worker thread only: what is asked for cannot be read
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    Parts m_interest;                         // guarded by m_mutex
    storage::GraphId m_graph = 0;             // guarded by m_mutex
    bool m_graphRequested = false;            // guarded by m_mutex
    std::vector<storage::GraphId> m_fetches;  // guarded by m_mutex
    bool m_pollNow = false;                   // guarded by m_mutex
    bool m_hold = false;                      // guarded by m_mutex
    bool m_interestAgain = false;             // guarded by m_mutex: events are wanted again
    std::jthread m_thread;                    // last: it uses all of the above
};

TapeSession::TapeSession(QString path, Parts interest, QObject* parent)
    : QObject(parent), m_path(std::move(path)) {
    m_worker = std::make_unique<Worker>(this, interest);
}

TapeSession::~TapeSession() { emit closing(); }

QString TapeSession::displayName() const {
    const QString name =
        m_snapshot.run ? QString::fromStdString(m_snapshot.run->info.name) : QString();
    if (name.isEmpty()) return QFileInfo(m_path).completeBaseName();
    const QString program = QFileInfo(name).fileName();  // of a recorded program: its path
    return name.startsWith(u'/') && !program.isEmpty() ? program : name;
}

void TapeSession::addInterest(Parts parts) { m_worker->addInterest(parts); }
void TapeSession::requestGraph(storage::GraphId id) { m_worker->requestGraph(id); }
void TapeSession::fetchGraph(storage::GraphId id) { m_worker->fetchGraph(id); }
void TapeSession::refresh() { m_worker->refresh(); }

void TapeSession::holdEvents(bool hold) {
    if (hold == m_eventsHeld) return;
    m_eventsHeld = hold;
    m_worker->holdEvents(hold);
}

void TapeSession::publish(TapeSnapshot snapshot, Parts parts) {
    m_snapshot = std::move(snapshot);
    emit changed(parts);
}

}  // namespace tapescope::viewers
