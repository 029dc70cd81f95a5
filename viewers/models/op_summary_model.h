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
        Median,
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
    /// ns; one a row, or empty: not known.
    using Medians = std::vector<double>;

    explicit OpSummaryModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
    /// gpu: kernels and copies, not operators.
    void setRows(Rows rows, Medians medians = {}, bool gpu = false);
    bool isGpu() const { return m_gpu; }
    /// What says something of these rows; phases and arithmetic are known of operators only.
    bool shows(int column) const;
    const storage::OpSummary& row(int i) const { return (*m_rows)[static_cast<std::size_t>(i)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

private:
    QString text(int i, int column) const;
    QString exact(int i, int column) const;
    QVariant number(int i, int column) const;
    double median(int i) const;  ///< −1: not known

    Rows m_rows;
    Medians m_medians;
    bool m_gpu = false;
    std::int64_t m_selfNs = 0;  ///< of all rows, for shares
};

/// "forward", "backward", … in the user's language.
QString phaseText(storage::Phase phase);

}  // namespace tapescope::viewers
