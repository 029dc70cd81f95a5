// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

namespace tapescope::app {

class BreakpointStore;

/// The breakpoint list: a check box, what it stops at, from which hit, how often it was hit, and
/// why it can match nothing.
class BreakpointModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Place, FromHit, Hits, Note, ColumnCount };
    enum Role { KeyRole = Qt::UserRole + 1, ProblemRole };

    explicit BreakpointModel(BreakpointStore& store, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    void refresh();

    BreakpointStore& m_store;
    int m_rows = 0;
};

}  // namespace tapescope::app
