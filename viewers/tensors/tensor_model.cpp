// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_model.h"

#include "viewers/models/format.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

TensorModel::TensorModel(TensorClient& client, QObject* parent)
    : QAbstractTableModel(parent), m_client(client) {}

void TensorModel::setTensor(const TensorRef& tensor, const SliceSpec& slice, bool integers) {
    beginResetModel();
    ++m_generation;
    m_pages.clear();
    m_ages.clear();
    m_tensor = tensor;
    m_slice = slice;
    m_integers = integers;
    m_frozen = false;
    m_rows = static_cast<int>(std::min<qint64>(slice.rows(), kMaxRows));
    m_columns = static_cast<int>(std::min<qint64>(slice.columns(), kMaxColumns));
    endResetModel();
}

void TensorModel::clear() {
    beginResetModel();
    ++m_generation;
    m_pages.clear();
    m_ages.clear();
    m_tensor = {};
    m_slice = {};
    m_rows = m_columns = 0;
    endResetModel();
}

void TensorModel::setFrozen(bool frozen) { m_frozen = frozen; }

int TensorModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }
int TensorModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_columns;
}

QString TensorModel::valueText(double value, bool integers) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    QString text = integers ? QString::number(value, 'f', 0) : QString::number(value, 'g', 4);
    if (text.startsWith(u'-')) text[0] = QChar(0x2212);
    return text;
}

const TensorModel::Page& TensorModel::page(int row, int column) const {
    // Fetching is what looking at a cell means; the model's content does not change by it.
    auto* self = const_cast<TensorModel*>(this);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const int pageRow = row / kPage;
    const int pageColumn = column / kPage;
    const quint64 key = keyOf(pageRow, pageColumn);
    auto it = self->m_pages.find(key);
    if (it != self->m_pages.end()) {
        self->m_ages.splice(self->m_ages.begin(), self->m_ages, it->second.age);
        return it->second;
    }
    static const Page kNone;
    if (m_frozen || !m_client.hasProvider()) return kNone;
    if (static_cast<int>(self->m_pages.size()) >= kMaxPages) {
        self->m_pages.erase(self->m_ages.back());
        self->m_ages.pop_back();
    }
    self->m_ages.push_front(key);
    Page fresh;
    fresh.age = self->m_ages.begin();
    it = self->m_pages.emplace(key, std::move(fresh)).first;
    self->request(pageRow, pageColumn);
    return it->second;
}

void TensorModel::request(int pageRow, int pageColumn) {
    const int row = pageRow * kPage;
    const int column = pageColumn * kPage;
    const int rows = std::min(kPage, m_rows - row);
    const int columns = std::min(kPage, m_columns - column);
    const quint64 generation = m_generation;
    m_client.slice(
        m_tensor, m_slice.blockText(row, rows, column, columns), qint64{rows} * columns,
        [this, generation, pageRow, pageColumn](const TensorSlice& answer) {
            store(generation, pageRow, pageColumn, answer);
        },
        [this, generation, pageRow, pageColumn](const QString& message) {
            if (generation != m_generation) return;
            const auto it = m_pages.find(keyOf(pageRow, pageColumn));
            if (it != m_pages.end()) it->second.state = Failed;
            pageChanged(pageRow, pageColumn);
            emit failed(message);
        });
}

void TensorModel::store(quint64 generation, int pageRow, int pageColumn,
                        const TensorSlice& answer) {
    if (generation != m_generation) return;
    const auto it = m_pages.find(keyOf(pageRow, pageColumn));
    if (it == m_pages.end()) return;  // no longer wanted
    Page& page = it->second;
    page.rows = std::min(kPage, m_rows - pageRow * kPage);
    page.columns = std::min(kPage, m_columns - pageColumn * kPage);
    const auto size = static_cast<std::size_t>(page.rows) * static_cast<std::size_t>(page.columns);
    if (answer.values.size() != size) {
        page.state = Failed;
        emit failed(tr("The debug adapter sent %1 values where %2 were asked for.")
                        .arg(answer.values.size())
                        .arg(size));
    } else {
        page.state = Loaded;
        page.values = answer.values;
        if (m_slice.columnAxis() >= 0 && m_slice.columnAxis() < m_slice.rowAxis()) {
            // The tensor has the columns' axis first.
            for (int r = 0; r < page.rows; ++r) {
                for (int c = 0; c < page.columns; ++c) {
                    page.values[static_cast<std::size_t>(r) *
                                    static_cast<std::size_t>(page.columns) +
                                static_cast<std::size_t>(c)] =
                        answer.values[static_cast<std::size_t>(c) *
                                          static_cast<std::size_t>(page.rows) +
                                      static_cast<std::size_t>(r)];
                }
            }
        }
    }
    pageChanged(pageRow, pageColumn);
}

void TensorModel::pageChanged(int pageRow, int pageColumn) {
    const int row = pageRow * kPage;
    const int column = pageColumn * kPage;
    emit dataChanged(index(row, column), index(std::min(row + kPage, m_rows) - 1,
                                               std::min(column + kPage, m_columns) - 1));
}

QVariant TensorModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    if (role == Qt::TextAlignmentRole) return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != ValueRole && role != StateRole &&
        role != Qt::ToolTipRole)
        return {};
    const Page& p = page(index.row(), index.column());
    if (role == StateRole) return int(p.state);
    if (p.state != Loaded) {
        if (role != Qt::DisplayRole) return {};
        return p.state == Waiting ? QStringLiteral("…") : QStringLiteral("?");
    }
    const double value = p.values[static_cast<std::size_t>(index.row() % kPage) *
                                      static_cast<std::size_t>(p.columns) +
                                  static_cast<std::size_t>(index.column() % kPage)];
    if (role == ValueRole) return value;
    if (role == Qt::DisplayRole) return valueText(value, m_integers);
    return QStringLiteral("%1[%2] = %3")
        .arg(m_tensor.name, m_slice.cellText(index.row(), index.column()),
             format::exactNumber(value));
}

QVariant TensorModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole) return {};
    const int axis = orientation == Qt::Vertical ? m_slice.rowAxis() : m_slice.columnAxis();
    if (axis < 0) return QString();
    return m_slice.axis(axis).start + section * m_slice.axis(axis).step;
}

}  // namespace tapescope::viewers
