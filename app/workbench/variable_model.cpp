// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/variable_model.h"

#include <QRegularExpression>

namespace tapescope::app {

TensorSummary parseTensorSummary(const Variable& variable) {
    // "NaN 3 f32[64,1,8,8] cpu  min −0.42  mean 0.13  max 1.0"
    static const QRegularExpression shape(
        QStringLiteral("([a-z]+[0-9]*\\[[^\\]]*\\])(?:\\s+(\\S+))?"));
    static const QRegularExpression field(QStringLiteral("\\b(min|mean|max)\\s+(\\S+)"));
    static const QRegularExpression trouble(QStringLiteral("\\b(NaN|Inf)\\s+([0-9]+)"));
    TensorSummary out;
    QString rest = variable.value;
    const QRegularExpressionMatch m = shape.match(rest);
    if (m.hasMatch()) {
        const QString head = rest.left(m.capturedStart());
        auto it = trouble.globalMatch(head);
        while (it.hasNext()) {
            const QRegularExpressionMatch each = it.next();
            if (!out.nonFinite.isEmpty()) out.nonFinite += QStringLiteral("  ");
            out.nonFinite += each.captured(1) + QLatin1Char(' ') + each.captured(2);
        }
        out.type = m.captured(1);
        out.device = m.captured(2);
        rest = rest.mid(m.capturedEnd());
        auto fields = field.globalMatch(rest);
        bool any = false;
        while (fields.hasNext()) {
            const QRegularExpressionMatch each = fields.next();
            const QString key = each.captured(1);
            (key == QLatin1String("min")   ? out.min
             : key == QLatin1String("max") ? out.max
                                           : out.mean) = each.captured(2);
            any = true;
        }
        if (!any) out.rest = rest.trimmed();
    } else {
        out.type = variable.type;
        out.rest = rest;
    }
    return out;
}

QString VariableModel::commonPrefix(const std::vector<Row>& rows) {
    if (rows.size() < 2) return {};
    const QString& first = rows.front().variable.name;
    const QString prefix = first.left(first.lastIndexOf(QLatin1Char('.')) + 1);
    for (const Row& row : rows) {
        if (!row.variable.name.startsWith(prefix)) return {};
    }
    return prefix;
}

VariableModel::VariableModel(QObject* parent) : QAbstractItemModel(parent) {}

void VariableModel::setScopes(const std::vector<Scope>& scopes) {
    beginResetModel();
    m_groups.clear();
    for (const Scope& scope : scopes) {
        Group group;
        group.name = scope.name;
        for (const Variable& v : scope.variables) group.rows.push_back({v, parseTensorSummary(v)});
        group.prefix = commonPrefix(group.rows);
        m_groups.push_back(std::move(group));
    }
    m_device.clear();
    bool first = true;
    for (const Group& group : m_groups) {
        for (const Row& row : group.rows) {
            if (row.summary.device.isEmpty()) continue;
            if (first)
                m_device = row.summary.device;
            else if (m_device != row.summary.device)
                m_device.clear();
            first = false;
        }
    }
    endResetModel();
}

// Internal id: 0 for a scope, else 1 + the scope's row.
QModelIndex VariableModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column,
                       parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : quintptr{0});
}

QModelIndex VariableModel::parent(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == 0) return {};
    return createIndex(static_cast<int>(index.internalId()) - 1, 0, quintptr{0});
}

int VariableModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) return static_cast<int>(m_groups.size());
    if (parent.internalId() != 0 || parent.column() != 0) return 0;
    return static_cast<int>(m_groups[static_cast<std::size_t>(parent.row())].rows.size());
}

int VariableModel::columnCount(const QModelIndex&) const { return ColumnCount; }

const Variable* VariableModel::variable(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == 0) return nullptr;
    const Group& group = m_groups[static_cast<std::size_t>(index.internalId()) - 1];
    return &group.rows[static_cast<std::size_t>(index.row())].variable;
}

QModelIndex VariableModel::indexOf(const QString& scope, const QString& name) const {
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        if (!scope.isEmpty() && m_groups[g].name != scope) continue;
        for (std::size_t r = 0; r < m_groups[g].rows.size(); ++r) {
            if (m_groups[g].rows[r].variable.name == name)
                return index(static_cast<int>(r), 0, index(static_cast<int>(g), 0));
        }
    }
    return {};
}

QVariant VariableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    if (index.internalId() == 0) {
        const Group& group = m_groups[static_cast<std::size_t>(index.row())];
        if (index.column() != Name) return {};
        if (role == Qt::DisplayRole && !group.prefix.isEmpty())
            return tr("%1 of %2").arg(group.name, group.prefix.chopped(1));
        if (role == Qt::DisplayRole || role == ScopeRole) return group.name;
        return {};
    }
    const Group& group = m_groups[static_cast<std::size_t>(index.internalId()) - 1];
    const Row& row = group.rows[static_cast<std::size_t>(index.row())];
    const TensorSummary& s = row.summary;
    switch (role) {
        case ReferenceRole:
            return row.variable.memoryReference;
        case TensorRole:
            return s.type.contains(QLatin1Char('['));
        case TroubleRole:
            return !s.nonFinite.isEmpty();
        case ScopeRole:
            return group.name;
        case Qt::ToolTipRole:
            return QStringLiteral("%1\n%2").arg(row.variable.name, row.variable.value);
        case Qt::TextAlignmentRole:
            if (index.column() >= Min)
                return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
            return {};
        case Qt::DisplayRole:
            switch (index.column()) {
                case Name:
                    return row.variable.name.mid(group.prefix.size());
                case NonFinite:
                    return s.nonFinite;
                case Type:
                    if (s.type.isEmpty()) return s.rest;
                    return s.device.isEmpty() || s.device == m_device
                               ? s.type
                               : s.type + QLatin1Char(' ') + s.device;
                case Min:
                    return s.min;
                case Mean:
                    return s.mean.isEmpty() && !s.type.isEmpty() ? s.rest : s.mean;
                default:
                    return s.max;
            }
        default:
            return {};
    }
}

QVariant VariableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole && section >= Min)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case Name:
            return tr("Tensor");
        case NonFinite:
            return tr("NaN · Inf");
        case Type:
            return m_device.isEmpty() ? tr("Type · device") : tr("Type · %1").arg(m_device);
        case Min:
            return tr("min");
        case Mean:
            return tr("mean");
        default:
            return tr("max");
    }
}

}  // namespace tapescope::app
