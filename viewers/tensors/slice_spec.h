// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace tapescope::viewers {

/// Which part of a tensor is shown: along each axis an index or a range, at most two ranges, one
/// for the rows and one for the columns of a table. Text is NumPy's.
class SliceSpec final {
public:
    struct Axis {
        bool range = false;
        qint64 start = 0;  ///< the index, if no range
        qint64 step = 1;
        qint64 count = 0;  ///< of a range
    };

    SliceSpec() = default;
    /// The last two axes whole, index 0 in the others.
    explicit SliceSpec(std::vector<qint64> shape);

    /// NumPy text for a tensor of this shape: integers (negative from the end), `a:b`, `a:b:c` with
    /// c > 0, `:`, `...`. Missing entries are
    /// `:`; where more than two ranges remain, the first ones become their first index. On failure
    /// `error` is one sentence.
    static std::optional<SliceSpec> parse(const QString& text, const std::vector<qint64>& shape,
                                          QString* error);

    const std::vector<qint64>& shape() const { return m_shape; }
    int rank() const { return static_cast<int>(m_shape.size()); }
    const Axis& axis(int i) const { return m_axes[static_cast<std::size_t>(i)]; }
    /// Axis along the rows or columns; -1: none.
    int rowAxis() const { return m_rowAxis; }
    int columnAxis() const { return m_columnAxis; }
    qint64 rows() const;
    qint64 columns() const;

    /// Shows two other axes whole (column -1: one axis only); axes no longer shown get index 0.
    void setShownAxes(int row, int column);
    void setIndex(int axis, qint64 index);
    /// Every n-th row and column only.
    SliceSpec strided(qint64 n) const;

    /// "0, 0, :, ::2"
    QString text() const;
    /// Text of a block of what is shown, in rows and columns of the table; a block must not be
    /// empty.
    QString blockText(qint64 row, qint64 rows, qint64 column, qint64 columns) const;
    /// As text(), with a range of `count` from 0 also along `axis`, a third one.
    QString stackText(int axis, qint64 count) const;
    /// Full index of a cell: "0, 0, 3, 4".
    QString cellText(qint64 row, qint64 column) const;
    friend bool operator==(const SliceSpec& a, const SliceSpec& b) {
        return a.m_shape == b.m_shape && a.m_rowAxis == b.m_rowAxis &&
               a.m_columnAxis == b.m_columnAxis && a.text() == b.text();
    }

private:
    std::vector<qint64> m_shape;
    std::vector<Axis> m_axes;
    int m_rowAxis = -1;
    int m_columnAxis = -1;
};

}  // namespace tapescope::viewers
