// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_provider.h"

#include <QWidget>

#include <optional>

class QPainter;
class QToolButton;

namespace tapescope::viewers {

/// Distribution of a tensor's finite values; says how many were left out. The count axis may be
/// logarithmic.
class TensorHistogram final : public QWidget {
    Q_OBJECT
public:
    explicit TensorHistogram(QWidget* parent = nullptr);
    void setStats(std::optional<TensorStats> stats);
    void setLogarithmic(bool on);
    bool logarithmic() const { return m_log; }
    void setStale(bool stale);
    /// Bin under a point of the widget, -1.
    int binAt(const QPointF& pos) const;
    /// "4 093 of 4 096 values are finite · NaN 2 · Inf 1"
    QString summary() const;
    void paintInto(QPainter& painter, const QRectF& area) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    bool empty() const;
    double most() const;
    QRectF plotRect(const QRectF& area) const;
    /// Share of the plot's height, 0 … 1.
    double heightOf(double count) const;
    void paintCountAxis(QPainter& painter, const QRectF& plot) const;
    void paintValueAxis(QPainter& painter, const QRectF& plot) const;

    std::optional<TensorStats> m_stats;
    bool m_log = false;
    bool m_stale = false;
    int m_hover = -1;
    QToolButton* m_logButton = nullptr;
};

/// Round tick positions inside [low, high], about `count` of them, ascending. Empty if there is no
/// extent.
std::vector<double> niceTicks(double low, double high, int count);

}  // namespace tapescope::viewers
