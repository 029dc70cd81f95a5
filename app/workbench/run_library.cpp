// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/run_library.h"

#include "app/workbench/program_path.h"
#include "viewers/models/runs_model.h"
#include "viewers/models/tape_session.h"

#include <QDir>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QtConcurrent/QtConcurrentRun>

namespace tapescope::app {
namespace {

using viewers::TapeSession;

QStringList tapesIn(const QString& folder) {
    QStringList out;
    const QDir dir(folder);
    for (const QString& name : dir.entryList({QStringLiteral("*.tape")}, QDir::Files, QDir::Time))
        out.append(dir.absoluteFilePath(name));
    return out;
}

}  // namespace

RunLibrary::RunLibrary(QObject* parent) : QObject(parent), m_model(new viewers::RunsModel(this)) {
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] { scanFolder(false); });
}

RunLibrary::~RunLibrary() = default;

QList<TapeSession*> RunLibrary::sessions() const {
    QList<TapeSession*> out;
    for (const auto& [path, session] : m_sessions) out.append(session.get());
    return out;
}

TapeSession* RunLibrary::find(const QString& path) const {
    const auto it = m_sessions.find(QFileInfo(path).absoluteFilePath());
    return it == m_sessions.end() ? nullptr : it->second.get();
}

QString RunLibrary::runsFolder() const {
    return m_folder.isEmpty() ? defaultRunsFolder() : m_folder;
}

TapeSession* RunLibrary::open(const QString& path, bool toFront) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    TapeSession* session = find(absolute);
    if (session == nullptr) {
        // Runs behind are only drawn as curves: they read no events until they come to the front.
        auto made = std::make_unique<TapeSession>(
            absolute, toFront ? TapeSession::All : TapeSession::CurvesOnly);
        session = made.get();
        m_sessions.emplace(absolute, std::move(made));
        m_seen.insert(absolute);
        m_model->addRun(session);
        emit opened(session);
    }
    if (toFront) setFront(session);
    return session;
}

void RunLibrary::setFront(TapeSession* session) {
    if (session == m_front) return;
    m_front = session;
    if (session != nullptr) session->addInterest(TapeSession::All);
    emit frontChanged(session);
}

void RunLibrary::close(TapeSession* session) {
    const auto it = m_sessions.find(session->path());
    if (it == m_sessions.end()) return;
    if (m_front == session) {
        TapeSession* next = nullptr;
        for (const auto& [path, other] : m_sessions) {
            if (other.get() != session) next = other.get();
        }
        setFront(next);
    }
    emit closing(session);
    m_model->removeRun(session);
    m_sessions.erase(it);
}

void RunLibrary::openFolder(const QString& folder) {
    if (!m_folder.isEmpty()) m_watcher.removePath(m_folder);
    m_folder = QFileInfo(folder).absoluteFilePath();
    m_watcher.addPath(m_folder);
    m_seen.clear();
    scanFolder(true);
}

void RunLibrary::scanFolder(bool first) {
    auto* watcher = new QFutureWatcher<QStringList>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, first] {
        foundInFolder(watcher->result(), first);
        watcher->deleteLater();
    });
    watcher->setFuture(QtConcurrent::run(tapesIn, m_folder));
}

void RunLibrary::foundInFolder(const QStringList& newestFirst, bool first) {
    QStringList fresh;
    for (const QString& path : newestFirst) {
        if (!m_seen.contains(path)) fresh.append(path);
    }
    m_seen.unite({fresh.begin(), fresh.end()});
    const QStringList shown = fresh.mid(0, kFolderRuns);
    // Oldest first, so that the list, which puts new ones on top, ends with the newest there.
    for (auto it = shown.rbegin(); it != shown.rend(); ++it) open(*it, false);
    if (!first) return;
    if (newestFirst.isEmpty())
        emit notice(tr("%1 holds no tapes yet: runs you start are recorded there.")
                        .arg(QDir::toNativeSeparators(m_folder)));
    else
        open(newestFirst.front());
    if (fresh.size() > kFolderRuns)
        emit notice(
            tr("%1 holds %2 tapes; the newest %3 are open. Open older ones with File → Open tape.")
                .arg(QDir::toNativeSeparators(m_folder))
                .arg(fresh.size())
                .arg(kFolderRuns));
}

}  // namespace tapescope::app
