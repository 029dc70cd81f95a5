// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/graph/graph_state.h"

#include <QPixmap>
#include <QWidget>

namespace tapescope::viewers {

/// The drawing surface of the graph view: zoom, pan, pointer, keys, minimap. Shows a GraphState,
/// which it changes only through the user's opening and closing of groups and choosing of boxes.
/// GUI thread only.
class GraphCanvas final : public QWidget {
    Q_OBJECT
public:
    explicit GraphCanvas(QWidget* parent = nullptr);

    GraphState& state() { return m_state; }
    const GraphState& state() const { return m_state; }
    void setEmptyText(const QString& text);

    double scale() const { return m_scale; }
    QPointF toScene(const QPointF& p) const { return m_origin + p / m_scale; }
    QPointF toWidget(const QPointF& p) const { return (p - m_origin) * m_scale; }
    QRectF visibleScene() const;

    void fit();
    /// The first view of a new graph: whole if it can be read so, else its beginning.
    void showBeginning();
    void zoomBy(double factor, const QPointF& at);
    /// Brings a box into view, moving as little as it takes; `centre`: into the middle.
    void showBox(int box, bool centre);
    /// After a change of layout: the box stays where it was on the screen.
    struct Anchor {
        std::string key;
        QPointF at;
    };
    Anchor anchorAt(int box) const;
    void restore(const Anchor& anchor);
    void toggleGroup(int group);
    /// Redraws the minimap too: call after a new layout or theme.
    void sceneChanged();

signals:
    void chosen(int node, int group);  ///< -1, -1: nothing
    void activated(int node);
    void breakpointClicked(int box);
    void menuRequested(int box, const QPoint& globalPos);
    void searchRequested();
    void showCurrentRequested();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    std::string boxKey(int box) const;
    int boxOfKey(const std::string& key) const;
    void choose(int box);
    void moveSelection(int direction);
    void keepInside();
    void setHover(const QPointF& pos);
    void paintLegend(QPainter& painter) const;
    void paintMinimap(QPainter& painter);
    void paintEmpty(QPainter& painter) const;
    QRectF minimapRect() const;
    bool minimapShown() const;
    void minimapTo(const QPointF& pos);

    GraphState m_state;
    QString m_emptyText;
    double m_scale = 1;
    QPointF m_origin;  ///< scene point at the widget's top left
    int m_hoverBox = -1;
    bool m_hoverDot = false;
    QPointF m_pressed;
    QPointF m_pressedOrigin;
    bool m_dragging = false;
    bool m_onMinimap = false;
    /// What a resize keeps: the beginning, the whole graph, or the user's own place.
    enum class Place { Beginning, Whole, Own } m_place = Place::Beginning;
    QPixmap m_minimap;
};

}  // namespace tapescope::viewers
