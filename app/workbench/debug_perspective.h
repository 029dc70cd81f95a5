// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/tape_snapshot.h"

#include <QObject>

#include <cstdint>

class QDockWidget;
class QStackedWidget;

namespace tapescope::viewers {
class GraphView;
class Selection;
class SourceView;
class TensorView;
}  // namespace tapescope::viewers

namespace tapescope::app {

class BreakpointPanel;
class BreakpointStore;
class ConsolePanel;
class DapTensorProvider;
class DebugSession;
class Perspective;
class StackPanel;
class TensorTree;

/// The Debug perspective: graph over source, and beside them stack, tensors, inspector, breakpoints
/// and console. Builds the panes and what they tell each other; what they show of a run comes from
/// the GraphFollower.
class DebugPerspective final : public QObject {
    Q_OBJECT

public:
    DebugPerspective(DebugSession& session, BreakpointStore& breakpoints,
                     viewers::Selection& selection, QObject* parent = nullptr);

    Perspective* window() const { return m_window; }
    viewers::GraphView* graph() const { return m_graph; }
    viewers::SourceView* source() const { return m_source; }
    viewers::TensorView* tensor() const { return m_tensor; }
    TensorTree* tensors() const { return m_tensors; }
    StackPanel* stack() const { return m_stack; }
    BreakpointPanel* breakpoints() const { return m_breakpointPanel; }
    ConsolePanel* console() const { return m_console; }
    DapTensorProvider& provider() const { return *m_provider; }
    /// The operator chosen in a recorded step, as far as the tape knows it. Nothing while the model
    /// stands.
    void showRecorded(const storage::Graph* graph, std::int64_t seq,
                      const viewers::Structure* structure, double durationNs);
    /// Whether the tape in front records a CUDA program: panes that stay empty say so.
    void setCudaRecord(bool on);
    void showConsole();
    void showBreakpoints();

private:
    void build();
    void connectPanes();
    void showBreakpointMarks();
    void showNotes(int page);

    DebugSession& m_session;
    BreakpointStore& m_store;
    viewers::Selection& m_selection;
    Perspective* m_window;
    viewers::GraphView* m_graph;
    viewers::SourceView* m_source;
    viewers::TensorView* m_tensor;
    DapTensorProvider* m_provider;
    StackPanel* m_stack;
    TensorTree* m_tensors;
    BreakpointPanel* m_breakpointPanel;
    ConsolePanel* m_console;
    QStackedWidget* m_notes =
        nullptr;  ///< breakpoints and console, by the tabs of their pane's title
    QDockWidget* m_notesDock = nullptr;
};

}  // namespace tapescope::app
