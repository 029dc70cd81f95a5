// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/timeline/timeline_painter.h"

#include <QWidget>

#include <optional>
#include <vector>

class QScrollBar;

namespace tapescope::viewers {

/// The drawing area of the timeline: ruler, rows, memory lane, and on top of them hover, selection,
/// marks and help. Knows nothing of tapes or other views; the owner feeds it and listens.
class TimelineCanvas final : public QWidget {
    Q_OBJECT
public:
    explicit TimelineCanvas(QWidget* parent = nullptr);

    void setData(TimelinePtr timeline);
    const TimelinePtr& data() const { return m_scene.data; }
    /// Shapes of the hovered event; null if not known.
    void setGraph(std::shared_ptr<const storage::Graph> graph) { m_graph = std::move(graph); }

    const TimeAxis& axis() const { return m_scene.axis; }
    void setAxis(const TimeAxis& axis);
    /// Where time is drawn: left edge and width, in pixels.
    int plotLeft() const { return rowsArea().left(); }
    int plotWidth() const { return rowsArea().width(); }
    TimeRange visibleRange() const { return m_scene.axis.range(); }
    void setVisibleRange(TimeRange range);
    /// All of the run, and what it grows by, until the user moves.
    void fitAll();
    bool fitsAll() const { return m_fitAll; }
    void fitSelection();

    std::optional<EventRef> selected() const { return m_selected; }
    /// `reveal`: moves the view so that it can be seen.
    void select(std::optional<EventRef> event, bool reveal);
    const TimeRange& area() const { return m_area; }
    void setArea(TimeRange area);
    void setSearch(const NameMatch& match, bool searching);
    void setLit(storage::ModuleId module, std::vector<bool> sites);
    void setStepBand(TimeRange step);
    void toggleMark();
    void clearMarks();
    const std::vector<TimeRange>& marks() const { return m_marks; }
    /// Groups of GPU rows that show their title only.
    const FoldedGroups& folded() const { return m_folded; }
    void setFolded(FoldedGroups folded);
    /// Groups start as the data says again: another tape comes.
    void forgetFolded();
    void toggleGroup(std::size_t group);
    /// Whether streams have their queues below them.
    bool queuesVisible() const { return m_queues; }
    void setQueuesVisible(bool on);
    /// Lines of the selection: launch call and device work, operator and call.
    struct Flow {
        EventRef from;
        EventRef to;
    };
    const std::vector<Flow>& flows() const { return m_flows; }
    void setHelpVisible(bool on);
    bool helpVisible() const { return m_help; }
    void zoom(double factor);

    /// Where an event is drawn, in widget coordinates; empty if outside.
    QRect eventRect(EventRef event) const;
    void paintVector(QPainter& painter, const QSize& size);
    QSize minimumSizeHint() const override { return {320, 120}; }
    /// Nodes and boxes looked at in the last frame, for benchmarks.
    const TimelinePainter& painter() const { return m_painter; }

    static constexpr int kRuler = 24;

signals:
    void rangeChanged();
    void eventPicked(std::optional<tapescope::viewers::EventRef> event);  ///< by the user
    void areaPicked(tapescope::viewers::TimeRange area);                  ///< by the user
    void searchRequested();
    void nextMatchRequested(bool forward);
    void menuRequested(const QPoint& globalPos);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool event(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    enum class Drag : std::uint8_t { None, Area, Pan };
    struct EventKey {  ///< finds an event again after the rows changed
        std::uint32_t lane = 0;
        RowKind kind = RowKind::Operator;
        int depth = 0;
        std::int64_t startNs = 0;
    };

    // timeline_canvas.cpp
    QRect rowsArea() const;
    void relayout();
    void contentChanged();
    void userMoved();
    void ensureRowVisible(std::size_t row);
    std::optional<EventKey> keyOf(std::optional<EventRef> event) const;
    std::optional<EventRef> find(const std::optional<EventKey>& key) const;

    // timeline_canvas_input.cpp
    std::optional<EventRef> eventAt(const QPoint& pos) const;
    void pick(std::optional<EventRef> event);
    void step(int direction);   ///< next or previous event of the row
    void climb(int direction);  ///< what encloses it, or what it encloses
    void moveKeys(int key, bool fast);
    double zoomCenter() const;
    void foldByKey(bool all);

    // timeline_flows.cpp
    void updateFlows();
    void jumpAlong(bool forward);  ///< from a launch to its work and on, or back
    QPointF anchor(EventRef event, bool bottom) const;
    void paintFlows(QPainter& painter) const;
    void paintGroups(QPainter& painter) const;
    void paintChartNames(QPainter& painter) const;

    // timeline_overlay.cpp
    void paintRuler(QPainter& painter) const;
    void paintGutter(QPainter& painter) const;
    void paintGrid(QPainter& painter) const;
    void paintBands(QPainter& painter) const;
    void paintSelection(QPainter& painter) const;
    void paintHover(QPainter& painter) const;
    void paintSpan(QPainter& painter, TimeRange range, const QColor& color, int y) const;
    void paintHelp(QPainter& painter) const;

    TimelineScene m_scene;
    TimelinePainter m_painter;
    std::shared_ptr<const storage::Graph> m_graph;
    QScrollBar* m_scroll;
    int m_gutter = 116;
    bool m_stale = true;  ///< the raster must be painted anew
    bool m_fitAll = true;
    bool m_queues = true;
    std::optional<EventRef> m_selected;
    std::optional<EventRef> m_hover;
    FoldedGroups m_folded;
    FoldedGroups m_seenGroups;        ///< whether they start folded was looked at
    std::vector<Flow> m_flows;        ///< of m_selected
    std::vector<EventRef> m_related;  ///< outlined with it
    TimeRange m_area;
    TimeRange m_stepBand;
    std::vector<TimeRange> m_marks;
    bool m_help = false;
    std::optional<QPoint> m_pointer;
    Drag m_drag = Drag::None;
    QPoint m_dragFrom;
    TimeAxis m_dragAxis;
    int m_dragScroll = 0;
    bool m_dragged = false;
};

}  // namespace tapescope::viewers
