// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QRect>
#include <QWidget>

#include <vector>

namespace tapescope::viewers {

/// Where n charts go in an area of this width and at least this height: columns that give charts a
/// readable shape, the first chart wider when that fills the last row. Pure.
std::vector<QRect> gridCells(int n, int width, int height);

/// Lays charts out by gridCells(); as high as they need.
class ChartGrid final : public QWidget {
    Q_OBJECT
public:
    explicit ChartGrid(QWidget* parent = nullptr) : QWidget(parent) {}
    void setCharts(const QList<QWidget*>& charts);
    /// Shows only this one; null: all.
    void setMaximized(QWidget* chart);
    QWidget* maximized() const { return m_maximized; }
    /// The room to fill; the grid may become higher.
    void setViewport(const QSize& size);

private:
    void layOut();

    QList<QWidget*> m_charts;
    QWidget* m_maximized = nullptr;
    QSize m_viewport;
};

}  // namespace tapescope::viewers
