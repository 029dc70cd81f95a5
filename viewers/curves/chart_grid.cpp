// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/chart_grid.h"

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {
namespace {

constexpr int kGap = 8, kMinWidth = 320, kMinHeight = 200;

}  // namespace

std::vector<QRect> gridCells(int n, int width, int height) {
    std::vector<QRect> cells;
    if (n <= 0) return cells;
    int best = 1;
    double bestScore = INFINITY;
    for (int columns = 1; columns <= std::min(n, 4); ++columns) {
        const int w = (width - (columns + 1) * kGap) / columns;
        if (columns > 1 && w < kMinWidth) break;
        const int rows = (n + columns - 1) / columns;
        const int h = std::max(kMinHeight, (height - (rows + 1) * kGap) / rows);
        const double scroll = std::max(
            0.0, (rows * (h + kGap) + kGap - height) / static_cast<double>(std::max(1, height)));
        const double score =
            std::abs(std::log(static_cast<double>(w) / h / 1.7)) + 0.5 * std::min(scroll, 1.0);
        if (score < bestScore) {
            bestScore = score;
            best = columns;
        }
    }
    const int rows = (n + best - 1) / best;
    const int spare =
        rows * best - n;  // the first chart takes the cells the last row would leave empty
    const int w = (width - (best + 1) * kGap) / best;
    const int h = std::max(kMinHeight, (height - (rows + 1) * kGap) / rows);
    int cell = 0;
    for (int i = 0; i < n; ++i) {
        const int span = i == 0 ? std::min(best, 1 + spare) : 1;
        const int column = cell % best, row = cell / best;
        const int right =
            column + span == best ? width - kGap : kGap + (column + span) * (w + kGap) - kGap;
        const int left = kGap + column * (w + kGap);
        cells.emplace_back(left, kGap + row * (h + kGap), right - left, h);
        cell += span;
    }
    return cells;
}

void ChartGrid::setCharts(const QList<QWidget*>& charts) {
    m_charts = charts;
    if (m_maximized != nullptr && !m_charts.contains(m_maximized)) m_maximized = nullptr;
    layOut();
    // Tab goes through the charts as they stand.
    for (int i = 1; i < m_charts.size(); ++i) QWidget::setTabOrder(m_charts[i - 1], m_charts[i]);
}

void ChartGrid::setMaximized(QWidget* chart) {
    m_maximized = chart;
    layOut();
}

void ChartGrid::setViewport(const QSize& size) {
    m_viewport = size;
    layOut();
}

void ChartGrid::layOut() {
    const QList<QWidget*> shown = m_maximized != nullptr ? QList<QWidget*>{m_maximized} : m_charts;
    const auto cells =
        gridCells(static_cast<int>(shown.size()), m_viewport.width(), m_viewport.height());
    int bottom = 0;
    for (qsizetype i = 0; i < shown.size(); ++i) {
        const QRect& cell = cells[static_cast<std::size_t>(i)];
        shown[i]->setGeometry(cell);
        bottom = std::max(bottom, cell.bottom() + 1 + kGap);
    }
    for (QWidget* chart : m_charts) chart->setVisible(shown.contains(chart));
    resize(m_viewport.width(), std::max(bottom, m_viewport.height()));
}

}  // namespace tapescope::viewers
