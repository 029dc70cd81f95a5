// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/breakpoint_model.h"

#include "app/workbench/breakpoint_store.h"

namespace tapescope::app {

BreakpointModel::BreakpointModel(BreakpointStore& store, QObject* parent)
    : QAbstractTableModel(parent), m_store(store), m_rows(static_cast<int>(store.all().size())) {
    connect(&m_store, &BreakpointStore::changed, this, &BreakpointModel::refresh);
}

void BreakpointModel::refresh() {
    const int rows = static_cast<int>(m_store.all().size());
    if (rows != m_rows) {
        beginResetModel();
        m_rows = rows;
        endResetModel();
    } else if (rows > 0) {
        emit dataChanged(index(0, 0), index(rows - 1, ColumnCount - 1));
    }
}

int BreakpointModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_rows;
}

int BreakpointModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant BreakpointModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= static_cast<int>(m_store.all().size())) return {};
    const Breakpoint& b = m_store.all()[static_cast<std::size_t>(index.row())];
    const bool problem = b.enabled && !b.verified && !b.message.isEmpty();
    switch (role) {
        case KeyRole:
            return b.key;
        case ProblemRole:
            return problem;
        case Qt::DisplayRole:
            switch (index.column()) {
                case Place:
                    return b.title();
                case FromHit:
                    return b.fromHit > 1 ? QString::number(b.fromHit) : QString();
                case Hits:
                    return b.hits > 0 ? QString::number(b.hits) : QString();
                default:
                    if (!b.enabled) return tr("off");
                    return problem ? b.message : QString();
            }
        case Qt::EditRole:
            if (index.column() == Place && b.kind == Breakpoint::Kind::Function) return b.name;
            if (index.column() == FromHit) return b.fromHit;
            return {};
        case Qt::CheckStateRole:
            if (index.column() != Place) return {};
            return b.enabled ? Qt::Checked : Qt::Unchecked;
        case Qt::TextAlignmentRole:
            if (index.column() == FromHit || index.column() == Hits)
                return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
            return {};
        case Qt::ToolTipRole:
            if (problem) return b.message;
            if (b.kind == Breakpoint::Kind::Source)
                return QStringLiteral("%1:%2").arg(b.file).arg(b.line);
            return b.name;
        default:
            return {};
    }
}

bool BreakpointModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || index.row() >= static_cast<int>(m_store.all().size())) return false;
    const int key = m_store.all()[static_cast<std::size_t>(index.row())].key;
    if (role == Qt::CheckStateRole && index.column() == Place) {
        m_store.setEnabled(key, value.toInt() == Qt::Checked);
        return true;
    }
    if (role != Qt::EditRole) return false;
    if (index.column() == Place) {
        m_store.rename(key, value.toString().trimmed());
        return true;
    }
    if (index.column() == FromHit) {
        m_store.setFromHit(key, std::max(1, value.toInt()));
        return true;
    }
    return false;
}

QVariant BreakpointModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case Place:
            return tr("Stops at");
        case FromHit:
            return tr("from hit");
        case Hits:
            return tr("hits");
        default:
            return tr("Note");
    }
}

Qt::ItemFlags BreakpointModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (!index.isValid()) return flags;
    const Breakpoint& b = m_store.all()[static_cast<std::size_t>(index.row())];
    if (index.column() == Place) {
        flags |= Qt::ItemIsUserCheckable;
        if (b.kind == Breakpoint::Kind::Function) flags |= Qt::ItemIsEditable;
    }
    if (index.column() == FromHit) flags |= Qt::ItemIsEditable;
    return flags;
}

}  // namespace tapescope::app
