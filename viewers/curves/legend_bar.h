// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>

#include <vector>

namespace tapescope::viewers {

/// The curves of a chart in one line, right-aligned: swatch, name, value at the cursor. A click
/// hides or shows a curve, Alt+click shows it alone. What does not fit is counted ("+12").
class LegendBar final : public QWidget {
    Q_OBJECT
public:
    struct Item {
        QString label;
        QString value;
        QString toolTip;
        QColor color;
        bool dashed = false;
        bool visible = true;
    };
    explicit LegendBar(QWidget* parent = nullptr);
    void setItems(std::vector<Item> items);
    void setValue(int item, const QString& value);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {40, sizeHint().height()}; }
    QRect itemRect(int item) const;  ///< empty if it does not fit

signals:
    void toggled(int item);
    void soloed(int item);
    void hovered(int item);  ///< -1: none
    void menuRequested(int item, const QPoint& globalPos);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void layOut();
    int itemAt(const QPoint& pos) const;

    std::vector<Item> m_items;
    std::vector<QRect> m_rects;
    int m_hidden = 0;
    int m_hover = -1;
};

}  // namespace tapescope::viewers
