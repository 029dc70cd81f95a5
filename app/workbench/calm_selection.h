// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

class QAbstractItemView;

namespace tapescope::app {

/// Selected rows get a quiet fill instead of the accent itself, and keep their text colours;
/// follows the theme.
void calmSelection(QAbstractItemView* view);

/// Rows with a little air: 8 pixels more than the text.
class RowDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace tapescope::app
