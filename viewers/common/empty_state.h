// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

class QPainter;
class QRect;

namespace tapescope::viewers {

/// What a pane shows while it has nothing: what would fill it and how. One look for all panes.
void paintEmptyState(QPainter& painter, const QRect& area, const QString& iconName,
                     const QString& title, const QString& hint);

/// The same as a widget.
class EmptyState final : public QWidget {
    Q_OBJECT
public:
    EmptyState(QString iconName, QString title, QString hint, QWidget* parent = nullptr);
    void setTexts(const QString& title, const QString& hint);
    /// An error: the warning icon, and the message in place of the hint.
    void setError(const QString& title, const QString& message);
    const QString& title() const { return m_title; }
    const QString& hint() const { return m_hint; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_iconName;
    QString m_title;
    QString m_hint;
    bool m_error = false;
};

}  // namespace tapescope::viewers
