// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_tiles.h"

#include <QWidget>

#include <functional>

namespace tapescope::viewers {

/// Values as colours: one plane, or a grid of planes with their index above. Zoom and pan; the
/// value under the pointer in words.
class TensorImage final : public QWidget {
    Q_OBJECT
public:
    explicit TensorImage(QWidget* parent = nullptr);

    /// cellText(tile, row, column) names a cell for the reader: "0, 3, 1, 7". note: what is left
    /// out, or empty. The place shown stays if the sizes do.
    void setTiles(TensorTiles tiles, std::function<QString(int, int, int)> cellText,
                  const QString& tileAxisName, const QString& note);
    void clear(const QString& text);
    void setStale(bool stale);
    const TensorTiles& tiles() const { return m_tiles; }
    double zoom() const { return m_zoom; }
    void fit();
    struct Cell {
        int tile = -1;
        int row = 0;
        int column = 0;
    };
    Cell cellAt(const QPointF& pos) const;
    /// What the line below says about a point.
    QString readout(const Cell& cell) const;
    /// The picture with its scale, at the widget's size.
    QImage picture() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF area() const;
    double labelHeight() const;
    QPointF tileOrigin(int tile) const;
    QSizeF gridSize(double zoom, int perRow) const;
    void zoomBy(double factor, const QPointF& at);
    void paint(QPainter& painter) const;
    void paintTiles(QPainter& painter) const;
    void paintScale(QPainter& painter) const;

    TensorTiles m_tiles;
    std::function<QString(int, int, int)> m_cellText;
    QString m_tileAxis;
    QString m_note;
    QString m_emptyText;
    double m_lineHeight = 0;  ///< of the small font
    int m_perRow = 1;
    double m_zoom = 1;  ///< pixels a value
    QPointF m_origin;   ///< widget position of the grid's top left
    bool m_fitted = true;
    bool m_stale = false;
    Cell m_hover;
    QPointF m_pressed;
    QPointF m_pressedOrigin;
    bool m_pressedLeft = false;
};

}  // namespace tapescope::viewers
