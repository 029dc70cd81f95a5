// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/empty_text.h"

#include "viewers/common/theme.h"

#include <QLabel>

namespace tapescope::app {

QLabel* emptyText(const QString& text) {
    using viewers::Theme;
    auto* label = new QLabel(text);
    label->setObjectName(QStringLiteral("emptyText"));
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setMargin(16);
    const auto applyTheme = [label] {
        const Theme& theme = Theme::current();
        label->setStyleSheet(
            QStringLiteral("#emptyText{color:%1;background:%2}")
                .arg(theme.color(Theme::Muted).name(), theme.color(Theme::Panel).name()));
    };
    applyTheme();
    QObject::connect(&Theme::current(), &Theme::changed, label, applyTheme);
    return label;
}

}  // namespace tapescope::app
