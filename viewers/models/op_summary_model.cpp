// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/op_summary_model.h"

#include "viewers/models/format.h"

#include <QCoreApplication>

namespace tapescope::viewers {
namespace {

double mean(const storage::OpSummary& row) {
    return row.calls > 0 ? static_cast<double>(row.totalNs) / static_cast<double>(row.calls) : 0;
}

double perSecond(double amount, std::int64_t ns) {
    return ns > 0 ? amount / static_cast<double>(ns) * 1e9 : 0;
}

}  // namespace

QString phaseText(storage::Phase phase) {
    const auto tr = [](const char* text) { return QCoreApplication::translate("Phase", text); };
    switch (phase) {
        case storage::Phase::Data:
            return tr("data");
        case storage::Phase::Forward:
            return tr("forward");
        case storage::Phase::Backward:
            return tr("backward");
        case storage::Phase::Optimizer:
            return tr("optimizer");
        case storage::Phase::Evaluate:
            return tr("evaluate");
        case storage::Phase::Other:
            break;
    }
    return tr("other");
}

void OpSummaryModel::setRows(Rows rows, Medians medians, bool gpu) {
    beginResetModel();
    m_rows = std::move(rows);
    m_medians = std::move(medians);
    m_gpu = gpu;
    m_selfNs = 0;
    if (m_rows)
        for (const storage::OpSummary& row : *m_rows) m_selfNs += row.selfNs;
    endResetModel();
}

bool OpSummaryModel::shows(int column) const {
    switch (column) {
        case PhaseColumn:
        case Self:  // nothing is called inside a kernel
        case Flops:
            return !m_gpu;
        case Median:
            return !m_medians.empty();
        default:
            return true;
    }
}

double OpSummaryModel::median(int i) const {
    const auto at = static_cast<std::size_t>(i);
    return at < m_medians.size() ? m_medians[at] : -1;
}

int OpSummaryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_rows ? 0 : static_cast<int>(m_rows->size());
}

int OpSummaryModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QString OpSummaryModel::text(int i, int column) const {
    const storage::OpSummary& row = this->row(i);
    switch (column) {
        case Name:
            return QString::fromStdString(row.name);
        case PhaseColumn:
            return phaseText(row.phase);
        case Calls:
            return format::exactCount(row.calls);
        case Self:
            return format::duration(static_cast<double>(row.selfNs));
        case Total:
            return format::duration(static_cast<double>(row.totalNs));
        case Share:
            return format::percent(number(i, Share).toDouble());
        case Mean:
            return format::duration(mean(row));
        case Median:
            return median(i) >= 0 ? format::duration(median(i)) : QStringLiteral(u"–");
        case Min:
            return format::duration(static_cast<double>(row.minNs));
        case Max:
            return format::duration(static_cast<double>(row.maxNs));
        case Flops:
            return row.flops > 0 ? format::flopRate(row.flops, static_cast<double>(row.totalNs))
                                 : QStringLiteral(u"–");
        case Bandwidth:
            return row.bytes > 0 && row.totalNs > 0
                       ? format::bytes(perSecond(static_cast<double>(row.bytes), row.totalNs)) +
                             QStringLiteral("/s")
                       : QStringLiteral(u"–");
        default:
            return {};
    }
}

QString OpSummaryModel::exact(int i, int column) const {
    const storage::OpSummary& row = this->row(i);
    switch (column) {
        case Self:
            return format::exactDuration(row.selfNs);
        case Total:
            return format::exactDuration(row.totalNs);
        case Min:
            return format::exactDuration(row.minNs);
        case Max:
            return format::exactDuration(row.maxNs);
        case Mean:
            return format::exactNumber(mean(row)) + QStringLiteral(u"\u00a0ns");
        case Median:
            return format::exactNumber(median(i)) + QStringLiteral(u"\u00a0ns");
        case Flops:
            return format::exactNumber(row.flops) + QStringLiteral(u"\u00a0FLOP");
        case Bandwidth:
            return format::exactBytes(row.bytes);
        default:
            return text(i, column);
    }
}

QVariant OpSummaryModel::number(int i, int column) const {
    const storage::OpSummary& row = this->row(i);
    switch (column) {
        case Calls:
            return QVariant::fromValue<qint64>(row.calls);
        case Self:
            return QVariant::fromValue<qint64>(row.selfNs);
        case Total:
            return QVariant::fromValue<qint64>(row.totalNs);
        case Share:
            return m_selfNs > 0 ? static_cast<double>(row.selfNs) / static_cast<double>(m_selfNs)
                                : 0.0;
        case Mean:
            return mean(row);
        case Median:
            return median(i);
        case Min:
            return QVariant::fromValue<qint64>(row.minNs);
        case Max:
            return QVariant::fromValue<qint64>(row.maxNs);
        case Flops:
            return perSecond(row.flops, row.totalNs);
        case Bandwidth:
            return perSecond(static_cast<double>(row.bytes), row.totalNs);
        default:
            return text(i, column);
    }
}

QVariant OpSummaryModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const storage::OpSummary& summary = row(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return text(index.row(), index.column());
        case Qt::ToolTipRole:
            return exact(index.row(), index.column());
        case Qt::TextAlignmentRole:
            return int(index.column() <= PhaseColumn ? Qt::AlignLeft | Qt::AlignVCenter
                                                     : Qt::AlignRight | Qt::AlignVCenter);
        case SortRole:
            return number(index.row(), index.column());
        case PhaseRole:
            return static_cast<int>(summary.phase);
        default:
            return {};
    }
}

QVariant OpSummaryModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (role == Qt::TextAlignmentRole)
        return int(section <= PhaseColumn ? Qt::AlignLeft | Qt::AlignVCenter
                                          : Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole) {
        switch (section) {
            case Self:
                return tr("Time without operators called inside");
            case Share:
                return m_gpu ? tr("Share of the time of all kernels and copies")
                             : tr("Self time as a share of the self time of all rows");
            case Flops:
                return tr("Arithmetic per second of total time");
            case Bandwidth:
                return m_gpu ? tr("Bytes copied or set per second of total time")
                             : tr("Bytes read and written per second of total time");
            default:
                return {};
        }
    }
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case Name:
            return m_gpu ? tr("Kernel or copy") : tr("Operator");
        case PhaseColumn:
            return tr("Phase");
        case Calls:
            return tr("Calls");
        case Self:
            return tr("Self");
        case Total:
            return tr("Total");
        case Share:
            return tr("Share");
        case Mean:
            return tr("Mean");
        case Median:
            return tr("Median");
        case Min:
            return tr("Min");
        case Max:
            return tr("Max");
        case Flops:
            return tr("FLOP/s");
        case Bandwidth:
            return tr("Bytes/s");
        default:
            return {};
    }
}

}  // namespace tapescope::viewers
