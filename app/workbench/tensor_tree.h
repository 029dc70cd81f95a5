// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/session_types.h"

#include <QWidget>

#include <vector>

class QStackedLayout;
class QTreeView;

namespace tapescope::viewers {
class EmptyState;
}

namespace tapescope::app {

class DebugSession;
class VariableModel;

/// The tensors of the chosen frame: name, type, min, mean, max, with NaN and Inf in front when
/// there are any.
class TensorTree final : public QWidget {
    Q_OBJECT

public:
    explicit TensorTree(DebugSession& session, QWidget* parent = nullptr);
    QTreeView* view() const { return m_view; }
    VariableModel* model() const { return m_model; }
    /// What a tape knows of an operator, while no model stands. Empty: the empty text.
    void showRecorded(const std::vector<Scope>& scopes);
    /// Chooses a tensor by name, as a click does. False if the frame has none.
    bool select(const QString& name);
    /// What is said while there is nothing: of a recorded CUDA program, or how to get something.
    void setCudaRecord(bool on);

signals:
    void tensorChosen(const QString& name, const QString& memoryReference);
    /// The run goes on or ended: what is on screen is of the past.
    void becameStale();

private:
    void refresh();
    bool show(const std::vector<Scope>& scopes);
    void fitColumns();

    DebugSession& m_session;
    VariableModel* m_model;
    QStackedLayout* m_pages;
    viewers::EmptyState* m_empty;
    QTreeView* m_view;
    QString m_scope;  ///< the tensor chosen last, found again at the next stop
    QString m_name;
};

}  // namespace tapescope::app
