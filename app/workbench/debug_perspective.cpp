// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/debug_perspective.h"

#include "app/workbench/breakpoint_panel.h"
#include "app/workbench/breakpoint_store.h"
#include "app/workbench/console_panel.h"
#include "app/workbench/dap_tensor_provider.h"
#include "app/workbench/debug_session.h"
#include "app/workbench/graph_follower.h"
#include "app/workbench/pane_title.h"
#include "app/workbench/perspective.h"
#include "app/workbench/recorded_node.h"
#include "app/workbench/stack_panel.h"
#include "app/workbench/tensor_tree.h"
#include "viewers/common/theme.h"
#include "viewers/graph/graph_view.h"
#include "viewers/models/selection.h"
#include "viewers/source/source_view.h"
#include "viewers/tensors/tensor_view.h"

#include <QDockWidget>
#include <QHash>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTabBar>

#include <algorithm>

namespace tapescope::app {

using viewers::GraphView;
using viewers::SourceView;
using viewers::TensorView;

DebugPerspective::DebugPerspective(DebugSession& session, BreakpointStore& breakpoints,
                                   viewers::Selection& selection, QObject* parent)
    : QObject(parent),
      m_session(session),
      m_store(breakpoints),
      m_selection(selection),
      m_window(new Perspective(QStringLiteral("debug"))),
      m_graph(new GraphView),
      m_source(new SourceView),
      m_tensor(new TensorView),
      m_provider(new DapTensorProvider(session, this)),
      m_stack(new StackPanel(session)),
      m_tensors(new TensorTree(session)),
      m_breakpointPanel(new BreakpointPanel(breakpoints)),
      m_console(new ConsolePanel(session)) {
    build();
    connectPanes();
    showBreakpointMarks();
}

void DebugPerspective::build() {
    m_graph->setSelection(&m_selection);
    m_graph->setEmptyText(GraphFollower::emptyText());
    m_source->setEmptyText(GraphFollower::emptySourceText());
    m_tensor->setProvider(m_provider);
    m_tensor->clear(
        tr("Choose a tensor above at a stop: its values, histogram and image appear here."));

    m_window->setCentralWidget(m_graph);
    m_window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    QDockWidget* source = m_window->addPane(QStringLiteral("source"), tr("Source"), m_source,
                                            Qt::BottomDockWidgetArea);
    QDockWidget* stack =
        m_window->addPane(QStringLiteral("stack"), tr("Stack"), m_stack, Qt::RightDockWidgetArea);
    QDockWidget* tensors = m_window->addPane(QStringLiteral("tensors"), tr("Tensors"), m_tensors,
                                             Qt::RightDockWidgetArea);
    QDockWidget* inspector = m_window->addPane(QStringLiteral("inspector"), tr("Tensor"), m_tensor,
                                               Qt::RightDockWidgetArea);
    m_notes = new QStackedWidget;
    m_notes->addWidget(m_breakpointPanel);
    m_notes->addWidget(m_console);
    m_notesDock = m_window->addPane(QStringLiteral("notes"), tr("Breakpoints and console"), m_notes,
                                    Qt::RightDockWidgetArea);
    static_cast<PaneTitle*>(m_notesDock->titleBarWidget())
        ->setPages(m_notes, {tr("Breakpoints"), tr("Console")});
    m_window->setDefaultSizes([=, this](const QSize& size) {
        const int width = std::clamp(size.width() * 43 / 100, 360, 800);
        const QList<QDockWidget*> right{stack, tensors, inspector, m_notesDock};
        m_window->resizeDocks(right, {width, width, width, width}, Qt::Horizontal);
        const int height = size.height();
        m_window->resizeDocks(
            right, {height * 16 / 100, height * 26 / 100, height * 36 / 100, height * 22 / 100},
            Qt::Vertical);
        m_window->resizeDocks({source}, {height * 40 / 100}, Qt::Vertical);
    });
    m_window->rememberDefault();
}

void DebugPerspective::connectPanes() {
    connect(m_graph, &GraphView::breakpointToggled, this,
            [this](const QString& op, const QString& module, bool backward) {
                m_store.toggleFunction(QString::fromStdString(
                    viewers::breakpointName({op.toStdString(), module.toStdString(), backward})));
            });
    connect(m_graph, &GraphView::runToRequested, this,
            [this](const QString& op, const QString& module, bool backward) {
                if (!m_session.isStopped()) return;
                m_store.addTemporaryFunction(QString::fromStdString(
                    viewers::breakpointName({op.toStdString(), module.toStdString(), backward})));
                m_session.resumeWhenBreakpointsAreSet();
            });
    connect(m_source, &SourceView::breakpointToggled, &m_store, &BreakpointStore::toggleSource);
    connect(m_source, &SourceView::runToRequested, this, [this](const QString& file, int line) {
        if (!m_session.isStopped()) return;
        m_store.addTemporarySource(file, line);
        m_session.resumeWhenBreakpointsAreSet();
    });
    connect(&m_store, &BreakpointStore::changed, this, &DebugPerspective::showBreakpointMarks);
    connect(m_breakpointPanel, &BreakpointPanel::sourceChosen, m_source, &SourceView::showLine);
    connect(m_stack, &StackPanel::frameChosen, this, [this](const QString& file, int line) {
        if (line > 0) m_source->showLine(file, line);
    });
    connect(m_tensors, &TensorTree::tensorChosen, this,
            [this](const QString& name, const QString& reference) {
                const viewers::TensorRef ref{name, reference};
                m_tensor->setStale(false);
                // A reference may name other bytes after the model went on: the same one is read
                // again.
                if (m_tensor->tensor() == ref)
                    m_tensor->refresh();
                else
                    m_tensor->showTensor(ref);
                m_selection.setTensor(name);
            });
    connect(m_tensors, &TensorTree::becameStale, this, [this] { m_tensor->setStale(true); });
    connect(m_console, &ConsolePanel::tensorEvaluated, this,
            [this](const QString& expression, const QString& reference) {
                m_tensor->setStale(false);
                m_tensor->showTensor({expression, reference});
            });
    connect(&m_selection, &viewers::Selection::tensorChanged, this, [this] {
        if (m_session.isStopped()) m_tensors->select(m_selection.tensor());
    });
    connect(&m_session, &DebugSession::stateChanged, this, [this](SessionState state) {
        if (state == SessionState::Launching) {
            m_tensor->clear(tr(
                "Choose a tensor above at a stop: its values, histogram and image appear here."));
            m_console->clear();
        }
    });
}

void DebugPerspective::showBreakpointMarks() {
    std::vector<viewers::GraphBreakpoint> inGraph;
    QHash<QString, std::vector<viewers::SourceBreakpoint>> inSource;
    // A file that lost its last breakpoint must hear of it too.
    for (const QString& file : m_source->files()) inSource.insert(file, {});
    // Before a run the adapter has said nothing: not yet verified is no trouble then.
    const bool known = m_session.isActive();
    for (const Breakpoint& b : m_store.all()) {
        const bool verified = b.verified || !known || b.adapterId == 0;
        if (b.kind == Breakpoint::Kind::Function) {
            inGraph.push_back(
                {b.name.toStdString(), verified, b.enabled, static_cast<int>(b.hits)});
            continue;
        }
        QString file = b.file;
        for (const QString& shown : m_source->files()) {
            if (samePath(shown, b.file)) file = shown;
        }
        inSource[file].push_back(
            {b.line, verified, b.enabled, static_cast<int>(b.hits), b.message});
    }
    m_graph->setBreakpoints(std::move(inGraph));
    for (auto it = inSource.cbegin(); it != inSource.cend(); ++it)
        m_source->setBreakpoints(it.key(), it.value());
}

void DebugPerspective::showRecorded(const storage::Graph* graph, std::int64_t seq,
                                    const viewers::Structure* structure, double durationNs) {
    if (m_session.isStopped()) return;
    if (graph == nullptr || structure == nullptr || seq < 0) {
        m_stack->showRecorded({});
        m_tensors->showRecorded({});
        return;
    }
    m_stack->showRecorded(recordedFrames(*graph, seq, *structure));
    m_tensors->showRecorded(recordedScopes(*graph, seq, durationNs));
    if (!m_session.isActive())
        m_tensor->clear(
            tr("Values are there while the model stands: set a breakpoint on this operator (F9 in "
               "the graph) and run."));
}

void DebugPerspective::setCudaRecord(bool on) {
    m_stack->setCudaRecord(on);
    m_tensors->setCudaRecord(on);
    m_breakpointPanel->setCudaRecord(on);
}

void DebugPerspective::showNotes(int page) {
    m_notesDock->show();
    static_cast<PaneTitle*>(m_notesDock->titleBarWidget())->tabs()->setCurrentIndex(page);
}

void DebugPerspective::showConsole() {
    showNotes(1);
    m_console->input()->setFocus();
}

void DebugPerspective::showBreakpoints() { showNotes(0); }

}  // namespace tapescope::app
