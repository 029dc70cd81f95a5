// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/breakpoint_store.h"
#include "app/workbench/debug_session.h"
#include "app/workbench/model_catalog.h"
#include "app/workbench/run_library.h"
#include "viewers/models/selection.h"
#include "viewers/models/tape_session.h"

#include <QActionGroup>
#include <QHash>
#include <QMainWindow>
#include <QTimer>

#include <optional>

class QDockWidget;
class QMenu;
class QStackedWidget;

namespace tapescope::viewers {
class CurvesView;
class TimelineView;
}  // namespace tapescope::viewers

namespace tapescope::app {

class Banner;
class CommandPalette;
class DebugPerspective;
class GraphFollower;
class HeaderBar;
class ModuleTree;
class Perspective;
class RunsPanel;
class StatusLine;

/// The window: header, runs sidebar, perspectives, status line; owns the session, the tapes and the
/// shared selection, and lets them meet. It lives on whatever happens to a model's process or a
/// tape.
class MainWindow final : public QMainWindow {
    Q_OBJECT

public:
    enum class PerspectiveId { Debug, Curves, Timeline };
    struct Options {
        bool remember = true;  ///< read and write the user's settings; false for pictures
    };

    explicit MainWindow(const Options& options, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens a tape or a folder of tapes; what cannot be opened is said in the banner.
    void openPath(const QString& path);
    /// Starts a run, recorded to a new tape in the runs folder unless the spec names one.
    void launch(LaunchSpec spec);
    void showPerspective(PerspectiveId id);
    PerspectiveId perspective() const;
    void setDark(bool dark);

    DebugSession& session() { return m_session; }
    BreakpointStore& breakpoints() { return m_breakpoints; }
    RunLibrary& library() { return m_library; }
    viewers::Selection& selection() { return m_selection; }
    ModelCatalog& catalog() { return m_catalog; }
    DebugPerspective& debug() { return *m_debug; }
    GraphFollower& follower() { return *m_follower; }
    viewers::CurvesView& curves() { return *m_curves; }
    viewers::TimelineView& timeline() { return *m_timeline; }
    Banner& banner() { return *m_banner; }
    StatusLine& statusLine() { return *m_status; }
    RunsPanel& runsPanel() { return *m_runs; }
    /// By its object name: "run.continue", "view.debug", …; null if there is none.
    QAction* command(const QString& id) const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    // main_window.cpp
    void build();
    void connectParts();
    void saveSettings();
    void applyDefaultSizes();
    void confirmQuit();
    void restoreSettings();
    void showFront(viewers::TapeSession* tape);
    void frontChanged(viewers::TapeSession::Parts parts);
    void updateStatus();
    void updateCompletions();
    void showRecorded();
    void warnAboutFront();
    const DebugSession* sessionOfFront() const;

    // main_window_actions.cpp
    void buildActions();
    QAction* addCommand(QMenu* menu, const QString& id, const QString& text, const QString& icon,
                        const QList<QKeySequence>& keys, std::function<void()> run);
    void buildFileMenu();
    void buildRunMenu();
    void buildBreakpointMenu();
    void buildViewMenu();
    void buildHelpMenu();
    void updateActions();
    void updateRecent();
    void showKeys();
    void showAbout();
    void exportPicture();
    void focusSearch();

    // main_window_run.cpp
    void newRun();
    void runOrContinue();
    void onStopped(const StopInfo& stop);
    void onEnded(const SessionEnd& end);
    void startRun(LaunchSpec spec);
    void openDialog(bool folder);
    void remember(const QString& path);
    LaunchSpec rememberedSpec() const;

    Options m_options;
    viewers::Selection m_selection;
    BreakpointStore m_breakpoints;
    DebugSession m_session;
    RunLibrary m_library;
    ModelCatalog m_catalog;

    HeaderBar* m_header = nullptr;
    Banner* m_banner = nullptr;
    QStackedWidget* m_stack = nullptr;
    StatusLine* m_status = nullptr;
    RunsPanel* m_runs = nullptr;
    ModuleTree* m_modules = nullptr;
    QDockWidget* m_runsDock = nullptr;
    QDockWidget* m_modulesDock = nullptr;
    DebugPerspective* m_debug = nullptr;
    GraphFollower* m_follower = nullptr;
    viewers::CurvesView* m_curves = nullptr;
    viewers::TimelineView* m_timeline = nullptr;
    QList<Perspective*> m_perspectives;
    CommandPalette* m_palette = nullptr;
    QActionGroup* m_perspectiveActions = nullptr;
    QMenu* m_recentMenu = nullptr;
    QByteArray m_defaultState;
    QHash<QString, QAction*> m_commands;
    QList<QAction*> m_commandOrder;
    QTimer m_statusTimer;
    QSet<QString> m_warned;  ///< tapes whose cut end was told already
    std::optional<LaunchSpec> m_lastSpec;
    bool m_sized = false;
    bool m_quitting = false;  ///< close once the run has ended
    static constexpr int kWindowStateVersion = 1;
};

}  // namespace tapescope::app
