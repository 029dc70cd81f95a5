// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <QStringList>
#include <QWidget>

#include <vector>

class QLineEdit;
class QPlainTextEdit;

namespace tapescope::app {

class DebugSession;

/// The run's output, and a line that evaluates tensor expressions at a stop: `input[0, :, 2:5]`,
/// `conv1.weight.grad`.
class ConsolePanel final : public QWidget {
    Q_OBJECT

public:
    enum class Kind { Output, Error, Input, Note };

    explicit ConsolePanel(DebugSession& session, QWidget* parent = nullptr);
    void append(const QString& text, Kind kind);
    /// The log of a recorded run, in place of what is there.
    void setLog(const std::vector<storage::LogRow>& rows);
    void clear();
    QString text() const;
    QLineEdit* input() const { return m_input; }

signals:
    /// An expression gave a tensor: show it in the inspector.
    void tensorEvaluated(const QString& expression, const QString& memoryReference);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void evaluate();
    void applyTheme();

    DebugSession& m_session;
    QPlainTextEdit* m_log;
    QLineEdit* m_input;
    QStringList m_history;
    qsizetype m_historyAt = 0;
};

}  // namespace tapescope::app
