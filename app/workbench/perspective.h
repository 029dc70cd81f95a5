// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QMainWindow>

#include <functional>

class QDockWidget;
class QSettings;

namespace tapescope::app {

/// One arrangement of panes inside the window: a centre and docks that the user moves, remembered
/// under the perspective's id.
class Perspective final : public QMainWindow {
    Q_OBJECT

public:
    explicit Perspective(const QString& id, QWidget* parent = nullptr);

    /// The dock's title is a PaneTitle.
    QDockWidget* addPane(const QString& id, const QString& title, QWidget* content,
                         Qt::DockWidgetArea area);
    /// Sizes of the docks for a window of this size; called when first shown, and by resetLayout().
    void setDefaultSizes(std::function<void(const QSize&)> sizes) { m_sizes = std::move(sizes); }
    /// Ends construction: the arrangement now is the one resetLayout() returns to.
    void rememberDefault();
    void resetLayout();
    void saveLayout(QSettings& settings) const;
    void restoreLayout(QSettings& settings);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QString m_id;
    QByteArray m_default;
    std::function<void(const QSize&)> m_sizes;
    bool m_sized = false;
};

}  // namespace tapescope::app
