// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_delegate.h"

#include "viewers/common/theme.h"
#include "viewers/tensors/tensor_model.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

double ValueColours::position(double value) const {
    if (isSigned()) {
        const double most = std::max(std::abs(low), std::abs(high));
        return most > 0 ? value / most : 0;
    }
    return high > low ? (value - low) / (high - low) : 0;
}

QRgb ValueColours::colour(double value) const {
    const Theme& theme = Theme::current();
    if (std::isnan(value)) return theme.color(Theme::NaN).rgb();
    if (std::isinf(value)) return theme.color(value > 0 ? Theme::PosInf : Theme::NegInf).rgb();
    return isSigned() ? theme.diverging(position(value)) : theme.sequential(position(value));
}

void TensorDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
    const Theme& theme = Theme::current();
    const QVariant value = index.data(TensorModel::ValueRole);
    QColor ink = theme.color(Theme::Muted);
    QColor fill = theme.color(Theme::Field);
    if (value.isValid()) {
        const double v = value.toDouble();
        fill = QColor::fromRgb(m_colours.colour(v));
        if (std::isfinite(v)) {
            // Shades, not the full map: the numbers are what is read here.
            const double strength = m_colours.isSigned() ? 0.75 : 0.4;
            fill = Theme::mix(theme.color(Theme::Field), fill, strength);
        }
        if (m_stale) fill = Theme::mix(theme.color(Theme::Field), fill, 0.35);
        ink = m_stale ? theme.color(Theme::Muted) : Theme::textOn(fill);
    } else if (index.data(TensorModel::StateRole).toInt() == TensorModel::Failed) {
        ink = theme.color(Theme::Bad);
    }
    painter->fillRect(option.rect, fill);
    if (option.state & QStyle::State_Selected) {
        painter->setPen(QPen(theme.color(Theme::Accent), 2));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option.rect.adjusted(1, 1, -1, -1));
    }
    painter->setFont(theme.smallMonoFont());
    painter->setPen(ink);
    painter->drawText(option.rect.adjusted(4, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter,
                      index.data().toString());
}

}  // namespace tapescope::viewers
