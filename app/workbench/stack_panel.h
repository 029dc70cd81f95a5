// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/session_types.h"

#include <QWidget>

#include <vector>

class QStackedLayout;
class QTreeWidget;

namespace tapescope::viewers {
class EmptyState;
}

namespace tapescope::app {

class DebugSession;

/// The stack at a stop: the operator, then the modules around it, each with its line. Choosing a
/// frame shows its tensors.
class StackPanel final : public QWidget {
    Q_OBJECT

public:
    explicit StackPanel(DebugSession& session, QWidget* parent = nullptr);
    QTreeWidget* view() const { return m_view; }
    /// The place of an operator of a recorded step, while no model stands. Empty: the empty text.
    void showRecorded(const std::vector<StackFrame>& frames);
    /// What is said while there is nothing: of a recorded CUDA program, or how to get something.
    void setCudaRecord(bool on);

signals:
    void frameChosen(const QString& file, int line);

private:
    void show(const std::vector<StackFrame>& frames, int current);

    DebugSession& m_session;
    QStackedLayout* m_pages;
    viewers::EmptyState* m_empty;
    QTreeWidget* m_view;
};

}  // namespace tapescope::app
