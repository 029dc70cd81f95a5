// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/scalar_series.h"

#include <QString>
#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <optional>

class QCPAxis;
class QCustomPlot;
class QLabel;
class QMenu;
class QMouseEvent;
class QPainter;
class QToolButton;
class QWheelEvent;

namespace tapescope::viewers {

class CursorItem;
class ElidedLabel;
class LegendBar;

/// Frame of every chart: title, legend, plot, and what mouse and keys do. Left drag zooms to a
/// rectangle, middle or Shift drag and wheel pan and zoom, double click resets; Left/Right move the
/// cursor, + − zoom, F or Home resets, Enter selects the step. The x range belongs to the owner,
/// which sets it on all charts alike.
class ChartPanel : public QWidget {
    Q_OBJECT
public:
    ChartPanel(QString title, QWidget* parent);

    const QString& title() const { return m_title; }
    QCustomPlot* plot() const { return m_plot; }
    virtual void setAxis(XAxis axis);
    XAxis axis() const { return m_axis; }
    void setXRange(double low, double high);
    /// Extent of what there is along x; none if nothing.
    virtual std::optional<ScalarSeries::Extent> xExtent() const = 0;
    /// False: its x axis is not the common one (ridge view).
    virtual bool sharesX() const { return true; }
    /// Shows the cursor at x, or hides it; `here`: the pointer is in this chart.
    void setCursor(std::optional<double> x, bool here);
    void setSelectedStep(std::int64_t step);
    /// Draws at once, for pictures.
    void replotNow();
    /// Title and plot as vectors into a rectangle.
    void paintVector(QPainter& painter, const QRect& target);
    QSize minimumSizeHint() const override;

signals:
    void cursorMoved(double x);
    void cursorLeft();
    void xRangeRequested(double low, double high);
    void resetRequested();
    void stepPicked(qint64 step);
    void tagPicked(const QString& tag);
    void maximizeRequested();
    /// A menu is about to be shown; series: index of the curve it is about, or -1.
    void menuAboutToShow(QMenu* menu, int series);

protected:
    LegendBar* legend() const { return m_legend; }
    CursorItem* cursorItem() const { return m_cursor; }
    void setNote(const QString& text, const QString& toolTip);  ///< a warning beside the title
    void addHeaderWidget(QWidget* widget);
    void queueReplot();
    void showMenu(const QPoint& globalPos, int series);
    bool userY() const { return m_userY; }

    virtual void fillCursor(CursorItem& cursor, std::optional<double> x, bool here) = 0;
    virtual void fillMenu(QMenu& menu, int series) = 0;
    /// Sets the y range for the x range shown.
    virtual void scaleY() = 0;
    virtual void setFast(bool) {}
    virtual void clicked(const QPointF& pos) = 0;
    virtual std::optional<double> xOfStep(std::int64_t step) const = 0;
    /// x of the point before (-1) or after (+1) the cursor.
    virtual std::optional<double> neighbour(std::optional<double> x, int direction) const = 0;
    virtual void pickAt(double x) = 0;
    virtual void applyTheme();

    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    enum class Drag : std::uint8_t { None, Band, Pan };
    void mousePress(QMouseEvent* event);
    void mouseMove(QMouseEvent* event);
    void mouseRelease(QMouseEvent* event);
    void wheel(QWheelEvent* event);
    void reset();
    void zoom(QCPAxis* axis, double factor, double center);
    void setAxisRange(QCPAxis* axis, double low, double high);
    void styleAxis(QCPAxis* axis, bool shown);
    void interacting();

    QString m_title;
    ElidedLabel* m_titleLabel;
    QLabel* m_note;
    QWidget* m_header;
    LegendBar* m_legend;
    QToolButton* m_menuButton;
    QCustomPlot* m_plot;
    CursorItem* m_cursor;
    QTimer m_settle;  ///< full quality once the last drag or wheel is 100 ms ago
    XAxis m_axis = XAxis::Step;
    Drag m_drag = Drag::None;
    QPointF m_dragFrom;
    bool m_moved = false;
    bool m_userY = false;
    std::int64_t m_selectedStep = -1;
};

}  // namespace tapescope::viewers
