// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace tapescope::viewers {

/// Operators summed: of a tape, or of a stretch of its timeline. Sort by SortRole (numbers; text
/// for the first two columns).
class OpSummaryModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Name,
        PhaseColumn,
        Calls,
        Self,
        Total,
        Share,
        Mean,
        Min,
        Max,
        Flops,
        Bandwidth,
        kColumns
    };
    enum Role {
        SortRole = Qt::UserRole + 1,
        PhaseRole  ///< int(storage::Phase)
    };
    using Rows = std::shared_ptr<const std::vector<storage::OpSummary>>;

    explicit OpSummaryModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    void setRows(Rows rows);
    const storage::OpSummary& row(int i) const { return (*m_rows)[static_cast<std::size_t>(i)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

private:
    QString text(const storage::OpSummary& row, int column) const;
    QString exact(const storage::OpSummary& row, int column) const;
    QVariant number(const storage::OpSummary& row, int column) const;

    Rows m_rows;
    std::int64_t m_selfNs = 0;  ///< of all rows, for shares
};

/// "forward", "backward", … in the user's language.
QString phaseText(storage::Phase phase);

}  // namespace tapescope::viewers
