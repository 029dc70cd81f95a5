// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/slice_spec.h"
#include "viewers/tensors/tensor_client.h"

#include <QAbstractTableModel>

#include <list>
#include <unordered_map>
#include <vector>

namespace tapescope::viewers {

/// Values of a slice as a table. Asks for pages of kPage x kPage where a view looks, shows a
/// placeholder until they are there, keeps kMaxPages. At most kMaxRows x kMaxColumns: Qt's headers
/// keep some bytes a row.
class TensorModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int kPage = 64;
    static constexpr int kMaxPages = 256;
    static constexpr int kMaxRows = 1'000'000;
    static constexpr int kMaxColumns = 100'000;
    enum Role {
        ValueRole = Qt::UserRole,  ///< double; invalid while not there
        StateRole                  ///< State
    };
    enum State { Waiting, Loaded, Failed };

    /// The client must outlive the model.
    explicit TensorModel(TensorClient& client, QObject* parent = nullptr);

    void setTensor(const TensorRef& tensor, const SliceSpec& slice, bool integers);
    void clear();
    /// Ask for nothing: the run goes on, its values change.
    void setFrozen(bool frozen);
    const SliceSpec& slice() const { return m_slice; }
    /// The table shows only a first part of the slice.
    bool clipped() const { return m_slice.rows() > m_rows || m_slice.columns() > m_columns; }
    /// The shortest text for a value in the table; integers in full.
    static QString valueText(double value, bool integers);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    /// A page could not be had.
    void failed(const QString& message);

private:
    struct Page {
        State state = Waiting;
        int rows = 0;
        int columns = 0;
        std::vector<double> values;  ///< row-major
        std::list<quint64>::iterator age;
    };
    const Page& page(int row, int column) const;
    void request(int pageRow, int pageColumn);
    void store(quint64 generation, int pageRow, int pageColumn, const TensorSlice& answer);
    void pageChanged(int pageRow, int pageColumn);
    static quint64 keyOf(int pageRow, int pageColumn) {
        return (quint64(quint32(pageRow)) << 32) | quint32(pageColumn);
    }

    TensorClient& m_client;
    TensorRef m_tensor;
    SliceSpec m_slice;
    bool m_integers = false;
    bool m_frozen = false;
    int m_rows = 0;
    int m_columns = 0;
    quint64 m_generation = 0;
    std::unordered_map<quint64, Page> m_pages;
    std::list<quint64> m_ages;  ///< newest first
};

}  // namespace tapescope::viewers
