// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QSet>
#include <QString>
#include <QStringList>

#include <map>
#include <memory>

namespace tapescope::viewers {
class RunsModel;
class TapeSession;
}  // namespace tapescope::viewers

namespace tapescope::app {

/// The tapes a window has open and which of them is in front. Owns their sessions; all reading is
/// theirs. A folder is watched: a run that someone records there appears by itself.
class RunLibrary final : public QObject {
    Q_OBJECT

public:
    explicit RunLibrary(QObject* parent = nullptr);
    ~RunLibrary() override;

    /// Opens a tape (once) and, unless told not to, puts it in front. The file may not be there
    /// yet.
    viewers::TapeSession* open(const QString& path, bool toFront = true);
    /// Opens the tapes of a folder, newest in front; at most kFolderRuns. The folder is where new
    /// runs go from now on.
    void openFolder(const QString& folder);
    void close(viewers::TapeSession* session);
    void setFront(viewers::TapeSession* session);

    viewers::TapeSession* front() const { return m_front; }
    viewers::RunsModel* model() const { return m_model; }
    QList<viewers::TapeSession*> sessions() const;
    viewers::TapeSession* find(const QString& path) const;
    /// The opened folder, else the default one.
    QString runsFolder() const;
    const QString& folder() const { return m_folder; }

    static constexpr int kFolderRuns = 32;

signals:
    void opened(tapescope::viewers::TapeSession* session);
    void closing(tapescope::viewers::TapeSession* session);
    void frontChanged(tapescope::viewers::TapeSession* session);
    /// A folder held more tapes than are opened at once, or none.
    void notice(const QString& text);

private:
    void scanFolder(bool first);
    void foundInFolder(const QStringList& newestFirst, bool first);

    viewers::RunsModel* m_model;
    std::map<QString, std::unique_ptr<viewers::TapeSession>> m_sessions;  ///< by absolute path
    viewers::TapeSession* m_front = nullptr;
    QString m_folder;
    QSet<QString> m_seen;  ///< of the folder, opened or not
    QFileSystemWatcher m_watcher;
};

}  // namespace tapescope::app
