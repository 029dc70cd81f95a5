// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/session_types.h"

#include <QAbstractItemModel>

#include <vector>

namespace tapescope::app {

/// A tensor's value text of the adapter, taken apart for columns.
struct TensorSummary {
    QString type;       ///< "f32[64,1,8,8]"
    QString device;     ///< "cpu"
    QString nonFinite;  ///< "NaN 3", "NaN 3  Inf 1"; empty when there is none
    QString min;
    QString mean;
    QString max;
    QString rest;  ///< what is none of these (a small tensor's value)
};
TensorSummary parseTensorSummary(const Variable& variable);

/// The tensors at a stop, by scope (Inputs, Outputs, Parameters, Gradients, Saved). Trouble is
/// first: a tensor with NaN or Inf says so in the first column after its name.
class VariableModel final : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { Name, NonFinite, Type, Min, Mean, Max, ColumnCount };
    enum Role { ReferenceRole = Qt::UserRole + 1, TroubleRole, ScopeRole, TensorRole };

    explicit VariableModel(QObject* parent = nullptr);
    void setScopes(const std::vector<Scope>& scopes);

    /// The tensor of this name, first match; invalid if there is none.
    QModelIndex indexOf(const QString& scope, const QString& name) const;
    const Variable* variable(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        Variable variable;
        TensorSummary summary;
    };
    struct Group {
        QString name;
        QString prefix;  ///< "conv2.", of every tensor's name; said once
        std::vector<Row> rows;
    };
    static QString commonPrefix(const std::vector<Row>& rows);

    std::vector<Group> m_groups;
    QString m_device;  ///< of all tensors, said once in the header; empty if they differ
};

}  // namespace tapescope::app
