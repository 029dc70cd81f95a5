// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/calm_selection.h"

#include "viewers/common/theme.h"

#include <QAbstractItemView>

namespace tapescope::app {

void calmSelection(QAbstractItemView* view) {
    using viewers::Theme;
    const auto apply = [view] {
        const Theme& theme = Theme::current();
        QPalette palette = theme.palette();
        palette.setColor(QPalette::Base, theme.color(Theme::Panel));
        palette.setColor(QPalette::Highlight,
                         Theme::mix(theme.color(Theme::Panel), theme.color(Theme::Accent), 0.22));
        palette.setColor(QPalette::HighlightedText, theme.color(Theme::Text));
        view->setPalette(palette);
    };
    apply();
    QObject::connect(&Theme::current(), &Theme::changed, view, apply);
}

QSize RowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QSize size = QStyledItemDelegate::sizeHint(option, index);
    return {size.width(), option.fontMetrics.height() + 6};
}

}  // namespace tapescope::app
