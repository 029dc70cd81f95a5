// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that makes its commands: each has an id, a menu, keys, and is found in the
// command palette.
#include "app/workbench/banner.h"
#include "app/workbench/breakpoint_panel.h"
#include "app/workbench/command_palette.h"
#include "app/workbench/debug_perspective.h"
#include "app/workbench/header_bar.h"
#include "app/workbench/keys_dialog.h"
#include "app/workbench/main_window.h"
#include "app/workbench/perspective.h"
#include "app/workbench/status_line.h"
#include "app/workbench/step_scrubber.h"
#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/curves/curves_view.h"
#include "viewers/graph/graph_view.h"
#include "viewers/source/source_view.h"
#include "viewers/timeline/timeline_view.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStackedWidget>

namespace tapescope::app {

using viewers::Theme;

namespace {

/// Puts the cursor into a view's own search field.
void focusField(const QWidget& view, const QString& name) {
    auto* field = view.findChild<QLineEdit*>(name);
    if (field == nullptr) return;
    field->setFocus(Qt::ShortcutFocusReason);
    field->selectAll();
}

}  // namespace

QAction* MainWindow::addCommand(QMenu* menu, const QString& id, const QString& text,
                                const QString& icon, const QList<QKeySequence>& keys,
                                std::function<void()> run) {
    auto* action = new QAction(text, this);
    action->setObjectName(id);
    action->setShortcuts(keys);
    action->setProperty("commandGroup", QString(menu->title()).remove(QLatin1Char('&')));
    QString tip = text;
    tip.remove(QLatin1Char('&'));
    if (!keys.isEmpty())
        tip += QStringLiteral(" (%1)").arg(keys.front().toString(QKeySequence::NativeText));
    action->setToolTip(tip);
    if (!icon.isEmpty()) viewers::setThemedIcon(action, icon);
    action->setIconVisibleInMenu(false);
    connect(action, &QAction::triggered, this, std::move(run));
    menu->addAction(action);
    addAction(action);
    m_commands.insert(id, action);
    m_commandOrder.append(action);
    return action;
}

void MainWindow::buildActions() {
    buildFileMenu();
    buildRunMenu();
    buildBreakpointMenu();
    buildViewMenu();
    buildHelpMenu();
    m_header->setPerspectives(m_perspectiveActions->actions());
    const auto tools = [this](const QStringList& ids) {
        QList<QAction*> out;
        for (const QString& id : ids) out.append(command(id));
        return out;
    };
    m_header->setTools({tools({"run.continue", "run.pause", "run.stop"}),
                        tools({"run.over", "run.into", "run.out", "run.backward", "run.nextStep"}),
                        tools({"view.palette", "view.dark"})});
    updateRecent();
}

void MainWindow::buildFileMenu() {
    QMenu* menu = m_header->menus()->addMenu(tr("&File"));
    addCommand(menu, "file.new", tr("&New run…"), "plus", {QKeySequence::New},
               [this] { newRun(); });
    addCommand(menu, "file.open", tr("&Open tape…"), "open", {QKeySequence::Open},
               [this] { openDialog(false); });
    addCommand(menu, "file.folder", tr("Open &folder…"), "folder",
               {QKeySequence(tr("Ctrl+Shift+O"))}, [this] { openDialog(true); });
    m_recentMenu = menu->addMenu(tr("Open &recent"));
    menu->addSeparator();
    addCommand(menu, "file.picture", tr("Save &picture of the view…"), "export",
               {QKeySequence(tr("Ctrl+Shift+E"))}, [this] { exportPicture(); });
    addCommand(menu, "file.close", tr("&Close this run"), "close", {QKeySequence::Close}, [this] {
        if (m_library.front() != nullptr) m_library.close(m_library.front());
    });
    menu->addSeparator();
    addCommand(menu, "file.quit", tr("&Quit"), "", {QKeySequence(tr("Ctrl+Q"))},
               [this] { close(); });
}

void MainWindow::buildRunMenu() {
    QMenu* menu = m_header->menus()->addMenu(tr("&Run"));
    addCommand(menu, "run.continue", tr("&Run"), "run", {QKeySequence(tr("F5"))},
               [this] { runOrContinue(); });
    addCommand(menu, "run.pause", tr("&Pause"), "pause", {QKeySequence(tr("F6"))},
               [this] { m_session.pause(); });
    addCommand(menu, "run.stop", tr("&Stop"), "stop", {QKeySequence(tr("Shift+F5"))},
               [this] { m_session.stop(); });
    menu->addSeparator();
    addCommand(menu, "run.over", tr("Step &over"), "step-over", {QKeySequence(tr("F10"))},
               [this] { m_session.stepOver(); });
    addCommand(menu, "run.into", tr("Step &into"), "step-into", {QKeySequence(tr("F11"))},
               [this] { m_session.stepInto(); });
    addCommand(menu, "run.out", tr("Step ou&t"), "step-out", {QKeySequence(tr("Shift+F11"))},
               [this] { m_session.stepOut(); });
    addCommand(menu, "run.operator", tr("Step to the next o&perator"), "step-operator",
               {QKeySequence(tr("Ctrl+F10"))}, [this] { m_session.stepOperator(); });
    addCommand(menu, "run.backward", tr("Step into &backward"), "step-backward-pass",
               {QKeySequence(tr("Ctrl+F11"))}, [this] { m_session.stepBackward(); });
    addCommand(menu, "run.nextStep", tr("Next training &step"), "next",
               {QKeySequence(tr("Ctrl+F5"))}, [this] { m_session.nextTrainingStep(); });
    menu->addSeparator();
    addCommand(menu, "run.kill", tr("&Kill the model's process"), "", {}, [this] {
        m_session.stop();
        m_session.stop();
    });
}

void MainWindow::buildBreakpointMenu() {
    QMenu* menu = m_header->menus()->addMenu(tr("&Breakpoints"));
    addCommand(menu, "break.add", tr("&Add by name…"), "plus", {QKeySequence(tr("Ctrl+B"))},
               [this] {
                   showPerspective(PerspectiveId::Debug);
                   m_debug->showBreakpoints();
                   m_debug->breakpoints()->startAdding();
               });
    addCommand(menu, "break.enable", tr("&Enable all"), "breakpoint", {}, [this] {
        std::vector<int> keys;
        for (const Breakpoint& b : m_breakpoints.all()) keys.push_back(b.key);
        for (const int key : keys) m_breakpoints.setEnabled(key, true);
    });
    addCommand(menu, "break.disable", tr("&Disable all"), "breakpoint-off", {}, [this] {
        std::vector<int> keys;
        for (const Breakpoint& b : m_breakpoints.all()) keys.push_back(b.key);
        for (const int key : keys) m_breakpoints.setEnabled(key, false);
    });
    addCommand(menu, "break.clear", tr("&Remove all"), "breakpoint-clear", {},
               [this] { m_breakpoints.clear(); });
}

void MainWindow::buildViewMenu() {
    QMenu* menu = m_header->menus()->addMenu(tr("&View"));
    m_perspectiveActions = new QActionGroup(this);
    const auto perspective = [&](const QString& id, const QString& text, const QString& icon,
                                 const QString& key, PerspectiveId which) {
        QAction* action = addCommand(menu, id, text, icon, {QKeySequence(key)},
                                     [this, which] { showPerspective(which); });
        action->setCheckable(true);
        m_perspectiveActions->addAction(action);
    };
    perspective("view.debug", tr("&Debug"), "debug", tr("Ctrl+1"), PerspectiveId::Debug);
    perspective("view.curves", tr("&Curves"), "curves", tr("Ctrl+2"), PerspectiveId::Curves);
    perspective("view.timeline", tr("&Timeline"), "timeline", tr("Ctrl+3"),
                PerspectiveId::Timeline);
    m_perspectiveActions->actions().front()->setChecked(true);
    menu->addSeparator();
    addCommand(menu, "view.palette", tr("Command &palette…"), "command",
               {QKeySequence(tr("Ctrl+Shift+P"))}, [this] { m_palette->openWith(m_commandOrder); });
    addCommand(menu, "view.search", tr("&Find in this view"), "search", {QKeySequence::Find},
               [this] { focusSearch(); });
    addCommand(menu, "view.goto", tr("&Go to source line…"), "source", {QKeySequence(tr("Ctrl+G"))},
               [this] {
                   showPerspective(PerspectiveId::Debug);
                   m_debug->source()->showGoToLine();
               });
    addCommand(menu, "view.latest", tr("Follow the &newest step"), "live",
               {QKeySequence(tr("Ctrl+End"))}, [this] { m_selection.setStep(-1); });
    addCommand(menu, "view.scrubber", tr("&Step scrubber"), "", {QKeySequence(tr("Ctrl+T"))},
               [this] { m_status->scrubber()->setFocus(Qt::ShortcutFocusReason); });
    menu->addSeparator();
    QAction* dark =
        addCommand(menu, "view.dark", tr("&Dark theme"), "dark", {QKeySequence(tr("Ctrl+Shift+D"))},
                   [this] { setDark(!Theme::current().dark()); });
    dark->setCheckable(true);
    dark->setChecked(Theme::current().dark());
    addCommand(menu, "view.larger", tr("&Larger text"), "zoom-in", {QKeySequence::ZoomIn},
               [this] { Theme::current().setTextScale(Theme::current().textScale() * 1.1); });
    addCommand(menu, "view.smaller", tr("S&maller text"), "zoom-out", {QKeySequence::ZoomOut},
               [this] { Theme::current().setTextScale(Theme::current().textScale() / 1.1); });
    addCommand(menu, "view.normal", tr("Normal text size"), "", {QKeySequence(tr("Ctrl+0"))},
               [this] { Theme::current().setTextScale(1); });
    menu->addSeparator();
    QMenu* panes = menu->addMenu(tr("P&anes"));
    QList<QDockWidget*> docks{m_runsDock, m_modulesDock};
    docks += m_debug->window()->findChildren<QDockWidget*>();
    for (const QDockWidget* dock : std::as_const(docks)) panes->addAction(dock->toggleViewAction());
    addCommand(menu, "view.reset", tr("&Reset layout"), "", {}, [this] {
        restoreState(m_defaultState, kWindowStateVersion);
        for (Perspective* each : std::as_const(m_perspectives)) each->resetLayout();
        applyDefaultSizes();
    });
}

void MainWindow::buildHelpMenu() {
    QMenu* menu = m_header->menus()->addMenu(tr("&Help"));
    addCommand(menu, "help.keys", tr("&Keys"), "help", {QKeySequence(tr("F1"))},
               [this] { showKeys(); });
    addCommand(menu, "help.about", tr("&About Tapescope"), "info", {}, [this] { showAbout(); });
}

void MainWindow::updateActions() {
    const SessionState state = m_session.state();
    const bool stopped = state == SessionState::Stopped;
    QAction* run = command("run.continue");
    run->setText(stopped ? tr("&Continue") : tr("&Run"));
    run->setToolTip(stopped ? tr("Continue (F5)") : tr("Run (F5)"));
    run->setEnabled(stopped || state == SessionState::Idle);
    command("run.pause")->setEnabled(state == SessionState::Running);
    command("run.stop")->setEnabled(state != SessionState::Idle);
    command("run.kill")->setEnabled(state != SessionState::Idle);
    for (const char* id :
         {"run.over", "run.into", "run.out", "run.operator", "run.backward", "run.nextStep"})
        command(id)->setEnabled(stopped);
    command("file.close")->setEnabled(m_library.front() != nullptr);
}

void MainWindow::updateRecent() {
    m_recentMenu->clear();
    const QStringList recent = m_options.remember
                                   ? QSettings().value(QStringLiteral("recent")).toStringList()
                                   : QStringList();
    for (const QString& path : recent) {
        QAction* action = m_recentMenu->addAction(QDir::toNativeSeparators(path), this,
                                                  [this, path] { openPath(path); });
        action->setToolTip(path);
    }
    m_recentMenu->setEnabled(!recent.isEmpty());
}

void MainWindow::focusSearch() {
    switch (perspective()) {
        case PerspectiveId::Debug:
            if (m_debug->source()->isAncestorOf(QApplication::focusWidget()))
                m_debug->source()->showFind();
            else
                m_debug->graph()->focusSearch();
            break;
        case PerspectiveId::Timeline:
            focusField(*m_timeline, QStringLiteral("search"));
            break;
        case PerspectiveId::Curves:
            focusField(*m_curves, QStringLiteral("filter"));
            break;
    }
}

void MainWindow::exportPicture() {
    const QString name =
        QString(m_stack->currentWidget()->objectName()).remove(QStringLiteral("Perspective"));
    auto* dialog =
        new QFileDialog(this, tr("Save a picture of the view"), name + QStringLiteral(".png"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("PNG (*.png)"), tr("SVG (*.svg)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        const bool svg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
        bool ok = false;
        switch (perspective()) {
            case PerspectiveId::Debug:
                ok = svg ? m_debug->graph()->exportSvg(path) : m_debug->graph()->exportPng(path);
                break;
            case PerspectiveId::Curves:
                ok = svg ? m_curves->exportSvg(path) : m_curves->exportPng(path);
                break;
            case PerspectiveId::Timeline:
                ok = svg ? m_timeline->exportSvg(path) : m_timeline->exportPng(path);
                break;
        }
        if (!ok)
            m_banner->showMessage(Banner::Kind::Error,
                                  tr("%1 cannot be written: choose another folder.")
                                      .arg(QDir::toNativeSeparators(path)));
    });
    dialog->open();
}

void MainWindow::showKeys() {
    auto* dialog = new KeysDialog(m_commandOrder, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showAbout() {
    auto* box = new QMessageBox(this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowTitle(tr("About Tapescope"));
    box->setIconPixmap(viewers::appIcon().pixmap(64, 64));
    box->setText(tr("<b>Tapescope %1</b>").arg(QCoreApplication::applicationVersion()));
    box->setInformativeText(
        tr("A workbench that shows what a deep-learning model does while it does it.\n\n"
           "The window is free software under the GNU GPL, version 3 or later; engine, storage and "
           "command line are under the Apache License 2.0.\nQt %1")
            .arg(QString::fromLatin1(qVersion())));
    box->open();
}

}  // namespace tapescope::app
