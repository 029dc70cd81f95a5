// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace tapescope::viewers {

/// A colour for a value: diverging around 0 if there are negative ones, sequential otherwise, NaN
/// and Inf in their own colours. One rule for table and image.
struct ValueColours {
    double low = 0;
    double high = 1;
    bool isSigned() const { return low < 0; }
    QRgb colour(double value) const;
    /// -1 … 1, or 0 … 1; 0 for a range without extent.
    double position(double value) const;
};

/// Paints a TensorModel's cells: magnitude as a shade, placeholders muted.
class TensorDelegate final : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setColours(const ValueColours& colours) { m_colours = colours; }
    void setStale(bool stale) { m_stale = stale; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

private:
    ValueColours m_colours;
    bool m_stale = false;
};

}  // namespace tapescope::viewers
