// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>

class QListView;
class QStackedLayout;

namespace tapescope::viewers {
class TapeSession;
}

namespace tapescope::app {

class RunLibrary;

/// The sidebar's list of runs: colour of the curves, state, last step and loss. A click puts a run
/// in front, its box draws it among the curves.
class RunsPanel final : public QWidget {
    Q_OBJECT

public:
    using ColourOf = std::function<QColor(const viewers::TapeSession*)>;

    RunsPanel(RunLibrary& library, ColourOf colourOf, QWidget* parent = nullptr);
    QListView* view() const { return m_view; }

signals:
    void newRunWanted();
    void openWanted();
    /// The box of a run was set or cleared.
    void shownChanged(tapescope::viewers::TapeSession* session, bool shown);

private:
    void showMenu(const QPoint& position);
    void showFront();

    RunLibrary& m_library;
    QStackedLayout* m_pages;
    QListView* m_view;
};

}  // namespace tapescope::app
