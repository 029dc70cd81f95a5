// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/ridge_plottable.h"

#include "viewers/common/theme.h"
#include "viewers/models/histogram_grid.h"

#include <algorithm>

namespace tapescope::viewers {

QCPRange RidgePlottable::getKeyRange(bool& found, QCP::SignDomain) const {
    std::vector<const storage::Histogram*> all;
    for (const auto& item : m_items) all.push_back(item.get());
    const ValueRange range = massRange(all, 0.001);
    found = !m_items.empty();
    return {range.low, range.high};
}

QCPRange RidgePlottable::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const {
    found = !m_items.empty();
    if (!found) return {};
    return {static_cast<double>(m_items.front()->step), static_cast<double>(m_items.back()->step)};
}

void RidgePlottable::draw(QCPPainter* painter) {
    if (m_items.empty()) return;
    const Theme& theme = Theme::current();
    const QCPRange keys = mKeyAxis->range();
    const QRect area = clipRect();
    const int columns = std::clamp(area.width() / 3, 16, 256);
    const std::size_t n = m_items.size();
    const std::size_t shown = std::min<std::size_t>(n, kMaxCurves);
    std::vector<std::pair<double, std::vector<double>>> curves;
    double highest = 0;
    for (std::size_t k = 0; k < shown; ++k) {
        const storage::Histogram& item = *m_items[shown == 1 ? n - 1 : k * (n - 1) / (shown - 1)];
        auto density = rebin(item, keys.lower, keys.upper, columns);
        double total = 0;
        for (const double count : item.counts) total += count;
        for (double& d : density) {
            d = total > 0 ? d / total : 0;
            highest = std::max(highest, d);
        }
        curves.emplace_back(static_cast<double>(item.step), std::move(density));
    }
    if (highest <= 0) return;
    const double height = std::max(24.0, area.height() * 0.28);
    painter->setAntialiasing(!fast);
    const QColor fill = theme.color(Theme::Field);
    for (std::size_t k = 0; k < curves.size(); ++k) {
        const auto& [step, density] = curves[k];
        const double base = mValueAxis->coordToPixel(step);
        QPolygonF outline;
        for (int c = 0; c < columns; ++c) {
            const double x = area.left() + (c + 0.5) * area.width() / columns;
            outline << QPointF(x, base - density[static_cast<std::size_t>(c)] / highest * height);
        }
        QPolygonF closed = outline;
        closed << QPointF(outline.back().x(), base) << QPointF(outline.front().x(), base);
        const double age =
            curves.size() > 1 ? static_cast<double>(k) / static_cast<double>(curves.size() - 1) : 1;
        const QColor line(theme.sequential(theme.dark() ? 0.35 + 0.5 * age : 0.75 - 0.6 * age));
        painter->setPen(Qt::NoPen);
        painter->setBrush(Theme::mix(fill, line, 0.22));
        painter->drawPolygon(closed);
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(line, 1));
        painter->drawPolyline(outline);
    }
}

}  // namespace tapescope::viewers
