// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QStackedLayout;
class QTreeWidget;

namespace tapescope::app {

class DebugSession;

/// The stack at a stop: the operator, then the modules around it, each with its line. Choosing a
/// frame shows its tensors.
class StackPanel final : public QWidget {
    Q_OBJECT

public:
    explicit StackPanel(DebugSession& session, QWidget* parent = nullptr);
    QTreeWidget* view() const { return m_view; }

signals:
    void frameChosen(const QString& file, int line);

private:
    void refresh();

    DebugSession& m_session;
    QStackedLayout* m_pages;
    QTreeWidget* m_view;
};

}  // namespace tapescope::app
