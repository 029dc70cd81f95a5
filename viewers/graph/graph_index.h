// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tapescope::viewers {

/// Finds the rectangles that touch an area, by a grid: O(cells + hits). Items are added once each,
/// numbered from 0.
class GraphIndex final {
public:
    GraphIndex() = default;
    explicit GraphIndex(QSizeF area) {
        // At most about 64k cells, however long the strip is.
        m_cell = std::max(kCell, std::sqrt(area.width() * area.height() / 65536));
        m_columns = static_cast<int>(area.width() / m_cell) + 1;
        m_rows = static_cast<int>(area.height() / m_cell) + 1;
        m_cells.resize(static_cast<std::size_t>(m_columns) * m_rows);
    }

    void add(const QRectF& rect) {
        const int item = static_cast<int>(m_rects.size());
        m_rects.push_back(rect);
        m_stamp.push_back(0);
        forCells(rect, [&](std::vector<int>& cell) { cell.push_back(item); });
    }

    /// Calls visit(item) once for each item whose rectangle touches `area`, in ascending order of
    /// items per cell.
    template <class Visit>
    void query(const QRectF& area, Visit&& visit) const {
        if (m_cells.empty()) return;
        ++m_now;
        forCells(area, [&](const std::vector<int>& cell) {
            for (const int item : cell) {
                if (m_stamp[item] == m_now) continue;
                m_stamp[item] = m_now;
                const QRectF& r = m_rects[item];
                if (r.left() <= area.right() && r.right() >= area.left() &&
                    r.top() <= area.bottom() && r.bottom() >= area.top()) {
                    visit(item);
                }
            }
        });
    }

private:
    static constexpr double kCell = 1024;

    template <class F>
    void forCells(const QRectF& r, F&& f) const {
        const auto clampTo = [this](double v, int count) {
            return std::clamp(static_cast<int>(std::clamp(v / m_cell, 0.0, 1e8)), 0, count - 1);
        };
        for (int y = clampTo(r.top(), m_rows); y <= clampTo(r.bottom(), m_rows); ++y) {
            for (int x = clampTo(r.left(), m_columns); x <= clampTo(r.right(), m_columns); ++x) {
                f(m_cells[static_cast<std::size_t>(y) * m_columns + x]);
            }
        }
    }

    double m_cell = kCell;
    int m_columns = 0;
    int m_rows = 0;
    mutable std::vector<std::vector<int>> m_cells;
    std::vector<QRectF> m_rects;
    mutable std::vector<std::uint32_t> m_stamp;
    mutable std::uint32_t m_now = 0;
};

}  // namespace tapescope::viewers
