// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/main_window.h"

#include "app/workbench/banner.h"
#include "app/workbench/breakpoint_panel.h"
#include "app/workbench/command_palette.h"
#include "app/workbench/console_panel.h"
#include "app/workbench/debug_perspective.h"
#include "app/workbench/graph_follower.h"
#include "app/workbench/header_bar.h"
#include "app/workbench/module_tree.h"
#include "app/workbench/pane_title.h"
#include "app/workbench/perspective.h"
#include "app/workbench/program_path.h"
#include "app/workbench/runs_panel.h"
#include "app/workbench/status_line.h"
#include "app/workbench/step_scrubber.h"
#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/curves/curves_view.h"
#include "viewers/graph/graph_view.h"
#include "viewers/models/runs_model.h"
#include "viewers/timeline/timeline_view.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QUrl>
#include <QVBoxLayout>

namespace tapescope::app {

using viewers::CurvesView;
using viewers::TapeSession;
using viewers::Theme;
using viewers::TimelineView;

namespace {
constexpr int kStatusMs = 100;
}  // namespace

MainWindow::MainWindow(const Options& options, QWidget* parent)
    : QMainWindow(parent), m_options(options), m_session(m_breakpoints) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(tr("Tapescope"));
    setWindowIcon(viewers::appIcon());
    setAcceptDrops(true);
    setContextMenuPolicy(Qt::NoContextMenu);
    build();
    buildActions();
    connectParts();
    m_defaultState = QMainWindow::saveState(kWindowStateVersion);
    restoreSettings();
    updateActions();
    updateStatus();
    showFront(nullptr);
    m_catalog.load(siblingProgram(QStringLiteral("tapescope")));
}

MainWindow::~MainWindow() {
    // Views must not hear of sessions and models that die before them.
    m_library.disconnect(this);
    m_session.disconnect(this);
    m_follower->setTape(nullptr);
    m_timeline->setSession(nullptr);
    delete centralWidget();
}

void MainWindow::build() {
    m_header = new HeaderBar;
    setMenuWidget(m_header);

    m_debug = new DebugPerspective(m_session, m_breakpoints, m_selection, this);
    m_follower =
        new GraphFollower(m_session, m_selection, *m_debug->graph(), *m_debug->source(), this);
    m_curves = new CurvesView(&m_selection);
    m_timeline = new TimelineView(&m_selection);
    auto* curves = new Perspective(QStringLiteral("curves"));
    curves->setCentralWidget(m_curves);
    curves->rememberDefault();
    auto* timeline = new Perspective(QStringLiteral("timeline"));
    timeline->setCentralWidget(m_timeline);
    timeline->rememberDefault();
    m_perspectives = {m_debug->window(), curves, timeline};

    m_stack = new QStackedWidget;
    for (Perspective* each : std::as_const(m_perspectives)) m_stack->addWidget(each);
    m_banner = new Banner;
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_stack, 1);
    setCentralWidget(centre);

    m_runs = new RunsPanel(m_library, [this](const TapeSession* session) {
        return session == nullptr ? Theme::current().color(Theme::Muted)
                                  : m_curves->runColor(session);
    });
    m_modules = new ModuleTree(m_selection, m_breakpoints);
    const auto sidebar = [this](const QString& id, const QString& title, QWidget* content) {
        auto* dock = new QDockWidget(title, this);
        dock->setObjectName(id);
        dock->setWidget(content);
        dock->setTitleBarWidget(new PaneTitle(dock));
        dock->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
        addDockWidget(Qt::LeftDockWidgetArea, dock);
        return dock;
    };
    m_runsDock = sidebar(QStringLiteral("runs"), tr("Runs"), m_runs);
    m_modulesDock = sidebar(QStringLiteral("modules"), tr("Modules"), m_modules);

    m_status = new StatusLine;
    auto* bar = new QStatusBar;
    bar->setSizeGripEnabled(false);
    bar->addWidget(m_status, 1);
    setStatusBar(bar);
    m_palette = new CommandPalette(this);
}

void MainWindow::connectParts() {
    connect(&m_session, &DebugSession::stateChanged, this, [this] {
        updateActions();
        updateStatus();
    });
    connect(&m_session, &DebugSession::stopped, this, &MainWindow::onStopped);
    connect(&m_session, &DebugSession::ended, this, &MainWindow::onEnded);
    m_statusTimer.setSingleShot(true);
    m_statusTimer.setInterval(kStatusMs);
    connect(&m_statusTimer, &QTimer::timeout, this, &MainWindow::updateStatus);
    connect(&m_session, &DebugSession::progressChanged, &m_statusTimer, [this] {
        if (!m_statusTimer.isActive()) m_statusTimer.start();
    });

    connect(&m_library, &RunLibrary::frontChanged, this, &MainWindow::showFront);
    connect(&m_library, &RunLibrary::opened, this, [this](TapeSession* tape) {
        m_curves->addRun(tape);
        connect(tape, &TapeSession::changed, this, [this, tape](TapeSession::Parts parts) {
            if (tape == m_library.front()) frontChanged(parts);
        });
    });
    connect(&m_library, &RunLibrary::closing, this,
            [this](TapeSession* tape) { m_curves->removeRun(tape); });
    connect(&m_library, &RunLibrary::notice, this,
            [this](const QString& text) { m_banner->showMessage(Banner::Kind::Info, text); });
    connect(m_runs, &RunsPanel::shownChanged, m_curves, &CurvesView::setRunVisible);
    connect(m_runs, &RunsPanel::newRunWanted, this, &MainWindow::newRun);
    connect(m_runs, &RunsPanel::openWanted, this, [this] { openDialog(false); });
    connect(m_status->scrubber(), &StepScrubber::stepChosen, &m_selection,
            &viewers::Selection::setStep);
    connect(&m_selection, &viewers::Selection::stepChanged, this, &MainWindow::updateStatus);
    connect(m_follower, &GraphFollower::graphShown, this, &MainWindow::updateCompletions);
    connect(m_follower, &GraphFollower::nodeChosen, this, &MainWindow::showRecorded);
    connect(&m_session, &DebugSession::scopesChanged, this, [this] {
        if (!m_session.isActive()) showRecorded();
    });
    // Dots belong to files and nodes that were not on screen when the breakpoint was set.
    connect(m_follower, &GraphFollower::graphShown, &m_breakpoints, &BreakpointStore::changed);
}

void MainWindow::showPerspective(PerspectiveId id) {
    m_stack->setCurrentIndex(static_cast<int>(id));
    m_perspectiveActions->actions().at(static_cast<int>(id))->setChecked(true);
}

MainWindow::PerspectiveId MainWindow::perspective() const {
    return static_cast<PerspectiveId>(m_stack->currentIndex());
}

QAction* MainWindow::command(const QString& id) const { return m_commands.value(id); }

const DebugSession* MainWindow::sessionOfFront() const {
    if (!m_session.isActive()) return nullptr;
    const TapeSession* front = m_library.front();
    const bool same = front != nullptr &&
                      front->path() == QFileInfo(m_session.spec().tapePath).absoluteFilePath();
    return same || front == nullptr ? &m_session : nullptr;
}

void MainWindow::showFront(TapeSession* tape) {
    m_selection.clear();
    m_selection.setStep(-1);
    m_selection.setRun(tape == nullptr ? QString() : tape->path());
    m_follower->setTape(tape);
    m_timeline->setSession(tape);
    m_modules->setStructure(tape == nullptr ? nullptr : tape->snapshot().structure);
    m_modules->setWhyNone({});
    m_debug->setCudaRecord(false);
    if (tape == nullptr)
        m_header->setRunTitle(tr("No run"), QString(), QString());
    else
        frontChanged(TapeSession::All);
    updateStatus();
    updateActions();
}

void MainWindow::frontChanged(TapeSession::Parts parts) {
    const TapeSession* tape = m_library.front();
    if (parts.testFlag(TapeSession::StructurePart))
        m_modules->setStructure(tape->snapshot().structure);
    m_modules->setWhyNone(tape->snapshot().whyNo(tr("modules")));
    m_debug->setCudaRecord(tape->snapshot().recordsCudaProgram());
    if (parts & (TapeSession::Run | TapeSession::State)) {
        const QString path = QDir::toNativeSeparators(tape->path());
        const QString file = QFileInfo(path).completeBaseName();
        m_header->setRunTitle(tape->displayName(), file == tape->displayName() ? QString() : file,
                              path);
        setWindowTitle(tr("%1 — Tapescope").arg(QFileInfo(path).fileName()));
        warnAboutFront();
    }
    // The session's own console has said more than its tape's log.
    const bool debugged = QFileInfo(m_session.spec().tapePath).absoluteFilePath() == tape->path();
    if (parts.testFlag(TapeSession::Log) && tape->snapshot().log && !debugged)
        m_debug->console()->setLog(*tape->snapshot().log);
    if (!m_statusTimer.isActive()) m_statusTimer.start();
}

void MainWindow::showRecorded() {
    const TapeSession* tape = m_library.front();
    const viewers::GraphPtr graph = m_follower->shownGraph();
    m_debug->showRecorded(graph.get(), m_follower->chosenNode(),
                          tape == nullptr ? nullptr : tape->snapshot().structure.get(),
                          m_follower->chosenNs());
}

void MainWindow::warnAboutFront() {
    const TapeSession* tape = m_library.front();
    const auto status = viewers::runStatus(tape->snapshot());
    if (status != viewers::RunStatus::Cut && status != viewers::RunStatus::Unreadable) return;
    if (sessionOfFront() != nullptr || m_warned.contains(tape->path())) return;
    if (status == viewers::RunStatus::Cut && tape->snapshot().loading) return;
    m_warned.insert(tape->path());
    const QString name = QFileInfo(tape->path()).fileName();
    if (status == viewers::RunStatus::Unreadable) {
        m_banner->showMessage(Banner::Kind::Error,
                              QString::fromStdString(tape->snapshot().status.message()),
                              tr("Close it"), [this, path = tape->path()] {
                                  if (TapeSession* again = m_library.find(path))
                                      m_library.close(again);
                              });
        return;
    }
    const std::int64_t last = tape->snapshot().lastStep();
    m_banner->showMessage(
        Banner::Kind::Warning,
        last < 0 ? tr("%1 was cut before its first step ended: its writer died. What it had "
                      "recorded is here.")
                       .arg(name)
                 : tr("%1 was cut after step %2: its writer died. Everything up to there is here.")
                       .arg(name)
                       .arg(last));
}

void MainWindow::updateStatus() {
    const TapeSession* front = m_library.front();
    m_status->refresh(sessionOfFront(), front == nullptr ? nullptr : &front->snapshot(),
                      m_selection.step());
}

void MainWindow::updateCompletions() {
    const TapeSession* front = m_library.front();
    const viewers::GraphPtr graph = m_follower->shownGraph();
    if (front == nullptr || !graph || !front->snapshot().structure) return;
    const viewers::Structure& structure = *front->snapshot().structure;
    QSet<QString> plain;
    QSet<QString> inModule;
    for (const storage::ModuleRow& module : structure.modules) {
        if (!module.path.empty()) plain.insert(QString::fromStdString(module.path));
    }
    for (const storage::GraphNode& node : graph->nodes) {
        if (node.phase == storage::Phase::Backward) continue;  // named by the forward operator
        const QString op = QString::fromStdString(node.op);
        plain.insert(op);
        const storage::ModuleRow* module = structure.module(node.module);
        if (module != nullptr && !module->path.empty())
            inModule.insert(QString::fromStdString(module->path) + QStringLiteral(": ") + op);
    }
    QStringList names(plain.begin(), plain.end());
    QStringList places(inModule.begin(), inModule.end());
    names.sort();
    places.sort();
    QStringList all = names + places;
    for (const QString& each : names + places) all.append(QStringLiteral("backward:") + each);
    m_debug->breakpoints()->setCompletions(all);
}

void MainWindow::setDark(bool dark) {
    Theme::current().apply(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    if (QAction* action = command(QStringLiteral("view.dark"))) action->setChecked(dark);
    if (m_options.remember) QSettings().setValue(QStringLiteral("theme"), dark ? "dark" : "light");
}

void MainWindow::restoreSettings() {
    resize(1280, 800);
    if (!m_options.remember) return;
    QSettings settings;
    m_breakpoints.load(settings);
    for (Perspective* each : std::as_const(m_perspectives)) each->restoreLayout(settings);
    m_curves->restoreState(settings.value(QStringLiteral("curves")).toByteArray());
    m_timeline->restoreState(settings.value(QStringLiteral("timeline")).toByteArray());
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    const QByteArray state = settings.value(QStringLiteral("layout/window")).toByteArray();
    if (!state.isEmpty() && restoreState(state, kWindowStateVersion)) m_sized = true;
    const int id = settings.value(QStringLiteral("perspective"), 0).toInt();
    if (id >= 0 && id < m_stack->count()) showPerspective(static_cast<PerspectiveId>(id));
    m_debug->breakpoints()->setCompletions(
        settings.value(QStringLiteral("completions")).toStringList());
}

void MainWindow::saveSettings() {
    if (!m_options.remember) return;
    QSettings settings;
    m_breakpoints.save(settings);
    for (const Perspective* each : std::as_const(m_perspectives)) each->saveLayout(settings);
    settings.setValue(QStringLiteral("curves"), m_curves->saveState());
    settings.setValue(QStringLiteral("timeline"), m_timeline->saveState());
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    settings.setValue(QStringLiteral("layout/window"), QMainWindow::saveState(kWindowStateVersion));
    settings.setValue(QStringLiteral("perspective"), m_stack->currentIndex());
    settings.setValue(QStringLiteral("completions"), m_debug->breakpoints()->completions());
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (!m_sized) applyDefaultSizes();
    m_sized = true;
}

void MainWindow::applyDefaultSizes() {
    resizeDocks({m_runsDock, m_modulesDock}, {210, 210}, Qt::Horizontal);
    resizeDocks({m_runsDock, m_modulesDock}, {height() * 45 / 100, height() * 55 / 100},
                Qt::Vertical);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_session.isActive() && !m_quitting) {
        event->ignore();
        confirmQuit();
        return;
    }
    saveSettings();
    QMainWindow::closeEvent(event);
}

void MainWindow::confirmQuit() {
    auto* box = new QMessageBox(
        QMessageBox::Question, tr("A run is going"),
        tr("%1 is still running. Stop it and quit? Its tape is kept.").arg(m_session.spec().model),
        QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* quit = box->addButton(tr("Stop and quit"), QMessageBox::AcceptRole);
    connect(quit, &QPushButton::clicked, this, [this] {
        m_quitting = true;
        if (!m_session.isActive()) {
            close();
            return;
        }
        connect(&m_session, &DebugSession::ended, this, [this] { close(); });
        m_session.stop();
    });
    box->open();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) openPath(url.toLocalFile());
    }
    event->acceptProposedAction();
}

}  // namespace tapescope::app
