// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/tape_session.h"

#include <QAbstractListModel>
#include <QList>
#include <QString>

namespace tapescope::viewers {

/// How a run ended, or that it goes on.
enum class RunStatus { Waiting, Live, Finished, Stopped, Failed, Cut, Unreadable };
RunStatus runStatus(const TapeSnapshot& snapshot);
/// "live", "finished", …
QString runStatusText(RunStatus status);

/// The runs a window knows, newest first as they are added. Sessions are not owned: one that is
/// destroyed leaves the list.
class RunsModel final : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role {
        SessionRole = Qt::UserRole + 1,  ///< TapeSession*
        PathRole,
        StatusRole,  ///< int(RunStatus)
        StatusTextRole,
        LastStepRole,  ///< -1: none
        LastLossRole,  ///< double; invalid if the run has no loss
        LossTagRole,
        DetailRole,  ///< "412 steps · loss 0.031"
        MessageRole  ///< why it failed or cannot be read; empty otherwise
    };
    explicit RunsModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

    void addRun(TapeSession* session);
    void removeRun(TapeSession* session);
    /// The check box: is the run drawn among the curves. Runs start checked.
    bool isShown(const TapeSession* session) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QHash<int, QByteArray> roleNames() const override;

private:
    struct Run {
        TapeSession* session = nullptr;
        bool shown = true;
    };
    int rowOf(const TapeSession* session) const;

    QList<Run> m_runs;
};

}  // namespace tapescope::viewers
