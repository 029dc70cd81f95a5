// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QLineEdit;
class QStackedLayout;
class QStringListModel;
class QTreeView;

namespace tapescope::viewers {
class EmptyState;
}

namespace tapescope::app {

class BreakpointModel;
class BreakpointStore;

/// The list of breakpoints and a line to add one by name, completed from the run's operators and
/// modules.
class BreakpointPanel final : public QWidget {
    Q_OBJECT

public:
    explicit BreakpointPanel(BreakpointStore& store, QWidget* parent = nullptr);

    /// What names can be completed to: "conv2d", "conv2", "conv2: conv2d", "backward:conv2d".
    void setCompletions(const QStringList& names);
    QStringList completions() const;
    /// What is said while there is nothing: of a recorded CUDA program, or how to get something.
    void setCudaRecord(bool on);
    /// Puts the cursor into the line.
    void startAdding();
    QLineEdit* input() const { return m_input; }
    QTreeView* view() const { return m_view; }

signals:
    /// A line breakpoint was chosen: show it.
    void sourceChosen(const QString& file, int line);

private:
    void add();
    void removeSelected();
    void updatePage();

    BreakpointStore& m_store;
    BreakpointModel* m_model;
    QStackedLayout* m_pages;
    viewers::EmptyState* m_empty;
    QTreeView* m_view;
    QLineEdit* m_input;
    QStringListModel* m_names;
};

}  // namespace tapescope::app
