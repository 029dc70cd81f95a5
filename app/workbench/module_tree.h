// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/tape_snapshot.h"

#include <QWidget>

#include <memory>

class QStackedLayout;
class QTreeWidget;

namespace tapescope::viewers {
class EmptyState;
class Selection;
}  // namespace tapescope::viewers

namespace tapescope::app {

class BreakpointStore;

/// The model as its modules nest: path, type, parameters. Choosing one selects it in every view;
/// its menu sets a breakpoint.
class ModuleTree final : public QWidget {
    Q_OBJECT

public:
    ModuleTree(viewers::Selection& selection, BreakpointStore& breakpoints,
               QWidget* parent = nullptr);
    /// null: no run, or nothing known of it yet.
    void setStructure(std::shared_ptr<const viewers::Structure> structure);
    /// What an empty tree says of the tape in front; empty: nothing is known yet.
    void setWhyNone(const QString& why);
    QTreeWidget* view() const { return m_view; }

private:
    void showSelection();
    void showMenu(const QPoint& position);

    viewers::Selection& m_selection;
    BreakpointStore& m_breakpoints;
    std::shared_ptr<const viewers::Structure> m_structure;
    QStackedLayout* m_pages;
    viewers::EmptyState* m_empty = nullptr;
    QTreeWidget* m_view;
};

}  // namespace tapescope::app
