// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/runs_model.h"

#include "viewers/models/format.h"
#include "viewers/models/scalar_series.h"

#include <QCoreApplication>
#include <QStringList>

#include <optional>

namespace tapescope::viewers {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("RunsModel", text); }

/// The training loss if there is one, else any other loss.
std::optional<std::pair<QString, double>> lastLoss(const TapeSnapshot& snapshot) {
    const std::pair<const std::string, ScalarSeriesPtr>* best = nullptr;
    for (const auto& entry : snapshot.scalars) {
        if (!entry.second || entry.second->empty()) continue;
        const bool isLoss = entry.first.find("loss") != std::string::npos;
        if (isLoss && (best == nullptr || entry.first == "train/loss")) best = &entry;
    }
    if (best == nullptr) return std::nullopt;
    return std::pair(QString::fromStdString(best->first), best->second->last().value);
}

std::int64_t lastStep(const TapeSnapshot& snapshot) {
    std::int64_t step = snapshot.lastStep();
    for (const auto& [tag, series] : snapshot.scalars)
        if (series && !series->empty()) step = std::max(step, series->last().step);
    return step;
}

QString message(const TapeSnapshot& snapshot) {
    if (!snapshot.status.ok()) return QString::fromStdString(snapshot.status.message());
    return snapshot.run ? QString::fromStdString(snapshot.run->outcomeMessage) : QString();
}

}  // namespace

RunStatus runStatus(const TapeSnapshot& snapshot) {
    if (!snapshot.run) return snapshot.status.ok() ? RunStatus::Waiting : RunStatus::Unreadable;
    switch (snapshot.run->state) {
        case storage::TapeState::Live:
            return RunStatus::Live;
        case storage::TapeState::Cut:
            return RunStatus::Cut;
        case storage::TapeState::Sealed:
            break;
    }
    switch (snapshot.run->outcome) {
        case storage::RunOutcome::Failed:
            return RunStatus::Failed;
        case storage::RunOutcome::Stopped:
            return RunStatus::Stopped;
        case storage::RunOutcome::Finished:
        case storage::RunOutcome::Unknown:
            break;
    }
    return RunStatus::Finished;
}

QString runStatusText(RunStatus status) {
    switch (status) {
        case RunStatus::Waiting:
            return tr("waiting");
        case RunStatus::Live:
            return tr("live");
        case RunStatus::Finished:
            return tr("finished");
        case RunStatus::Stopped:
            return tr("stopped");
        case RunStatus::Failed:
            return tr("failed");
        case RunStatus::Cut:
            return tr("cut");
        case RunStatus::Unreadable:
            break;
    }
    return tr("unreadable");
}

int RunsModel::rowOf(const TapeSession* session) const {
    for (int i = 0; i < m_runs.size(); ++i)
        if (m_runs[i].session == session) return i;
    return -1;
}

void RunsModel::addRun(TapeSession* session) {
    if (rowOf(session) >= 0) return;
    beginInsertRows({}, 0, 0);
    m_runs.prepend({session, true});
    endInsertRows();
    connect(session, &TapeSession::changed, this, [this, session] {
        const QModelIndex at = index(rowOf(session));
        emit dataChanged(at, at);
    });
    connect(session, &TapeSession::closing, this, [this, session] { removeRun(session); });
}

void RunsModel::removeRun(TapeSession* session) {
    const int row = rowOf(session);
    if (row < 0) return;
    beginRemoveRows({}, row, row);
    m_runs.removeAt(row);
    endRemoveRows();
    disconnect(session, nullptr, this, nullptr);
}

bool RunsModel::isShown(const TapeSession* session) const {
    const int row = rowOf(session);
    return row >= 0 && m_runs[row].shown;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

QVariant RunsModel::data(const QModelIndex& at, int role) const {
    if (!checkIndex(at, CheckIndexOption::IndexIsValid)) return {};
    const Run& run = m_runs[at.row()];
    const TapeSnapshot& snapshot = run.session->snapshot();
    switch (role) {
        case Qt::DisplayRole:
            return run.session->displayName();
        case Qt::CheckStateRole:
            return run.shown ? Qt::Checked : Qt::Unchecked;
        case SessionRole:
            return QVariant::fromValue(static_cast<QObject*>(run.session));
        case PathRole:
            return run.session->path();
        case StatusRole:
            return static_cast<int>(runStatus(snapshot));
        case StatusTextRole:
            return runStatusText(runStatus(snapshot));
        case LastStepRole:
            return QVariant::fromValue<qint64>(lastStep(snapshot));
        case MessageRole:
            return message(snapshot);
        case LastLossRole: {
            const auto loss = lastLoss(snapshot);
            return loss ? QVariant(loss->second) : QVariant();
        }
        case LossTagRole: {
            const auto loss = lastLoss(snapshot);
            return loss ? QVariant(loss->first) : QVariant();
        }
        case DetailRole: {
            QStringList parts{runStatusText(runStatus(snapshot))};
            if (const std::int64_t step = lastStep(snapshot); step >= 0)
                parts << tr("step %1").arg(format::exactCount(step));
            if (const auto loss = lastLoss(snapshot))
                parts << tr("loss %1").arg(format::number(loss->second));
            return parts.join(QStringLiteral(u" · "));
        }
        case Qt::ToolTipRole: {
            QStringList lines{run.session->path()};
            if (snapshot.run && !snapshot.run->info.command.empty())
                lines << QString::fromStdString(snapshot.run->info.command);
            if (snapshot.run)
                lines << tr("Started %1").arg(format::wallTime(snapshot.run->info.startWall));
            if (const QString text = message(snapshot); !text.isEmpty()) lines << text;
            return lines.join(u'\n');
        }
        default:
            return {};
    }
}

bool RunsModel::setData(const QModelIndex& at, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || !checkIndex(at, CheckIndexOption::IndexIsValid)) return false;
    const bool shown = value.toInt() == Qt::Checked;
    if (m_runs[at.row()].shown == shown) return true;
    m_runs[at.row()].shown = shown;
    emit dataChanged(at, at, {Qt::CheckStateRole});
    return true;
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& at) const {
    return at.isValid() ? QAbstractListModel::flags(at) | Qt::ItemIsUserCheckable : Qt::NoItemFlags;
}

QHash<int, QByteArray> RunsModel::roleNames() const {
    auto names = QAbstractListModel::roleNames();
    names.insert({{SessionRole, "session"},
                  {PathRole, "path"},
                  {StatusRole, "status"},
                  {StatusTextRole, "statusText"},
                  {LastStepRole, "lastStep"},
                  {LastLossRole, "lastLoss"},
                  {LossTagRole, "lossTag"},
                  {DetailRole, "detail"},
                  {MessageRole, "message"}});
    return names;
}

}  // namespace tapescope::viewers
