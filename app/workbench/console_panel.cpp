// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/console_panel.h"

#include "app/workbench/debug_session.h"
#include "viewers/common/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextCursor>
#include <QVBoxLayout>

#include <algorithm>

namespace tapescope::app {

using viewers::Theme;

namespace {
constexpr int kMaxLines = 10'000;  // the tape keeps the whole log
}

ConsolePanel::ConsolePanel(DebugSession& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_log(new QPlainTextEdit), m_input(new QLineEdit) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_log);
    column->addWidget(m_input);
    m_log->setReadOnly(true);
    m_log->setMaximumBlockCount(kMaxLines);
    m_log->setPlaceholderText(tr("The model's log lines appear here while it runs."));
    m_log->setAccessibleName(tr("Console output"));
    m_input->setObjectName(QStringLiteral("consoleInput"));
    m_input->setPlaceholderText(tr("Evaluate at a stop: input[0, :, 2:5]   conv1.weight.grad"));
    m_input->setAccessibleName(tr("Expression"));
    m_input->installEventFilter(this);
    connect(m_input, &QLineEdit::returnPressed, this, &ConsolePanel::evaluate);
    connect(&m_session, &DebugSession::output, this,
            [this](const QString& text, const QString& category) {
                append(text,
                       category == QLatin1String("console") || category == QLatin1String("stdout")
                           ? Kind::Output
                       : category == QLatin1String("protocol") ? Kind::Note
                                                               : Kind::Error);
            });
    connect(&Theme::current(), &Theme::changed, this, &ConsolePanel::applyTheme);
    applyTheme();
}

void ConsolePanel::applyTheme() {
    m_log->setFont(Theme::current().monoFont());
    m_input->setFont(Theme::current().monoFont());
}

void ConsolePanel::append(const QString& text, Kind kind) {
    const Theme& theme = Theme::current();
    QTextCharFormat format;
    format.setForeground(theme.color(kind == Kind::Error   ? Theme::Bad
                                     : kind == Kind::Input ? Theme::Accent
                                     : kind == Kind::Note  ? Theme::Muted
                                                           : Theme::Text));
    QTextCursor cursor(m_log->document());
    cursor.movePosition(QTextCursor::End);
    if (!m_log->document()->isEmpty()) cursor.insertBlock();
    cursor.insertText(text, format);
    m_log->moveCursor(QTextCursor::End);
}

void ConsolePanel::setLog(const std::vector<storage::LogRow>& rows) {
    m_log->clear();
    for (const storage::LogRow& row : rows)
        append(QString::fromStdString(row.text),
               row.severity == storage::Severity::Error ? Kind::Error : Kind::Output);
}

void ConsolePanel::clear() { m_log->clear(); }

QString ConsolePanel::text() const { return m_log->toPlainText(); }

void ConsolePanel::evaluate() {
    const QString expression = m_input->text().trimmed();
    if (expression.isEmpty()) return;
    m_history.removeAll(expression);
    m_history.append(expression);
    m_historyAt = m_history.size();
    m_input->clear();
    append(QStringLiteral("› ") + expression, Kind::Input);
    m_session.evaluate(expression, this,
                       [this](bool ok, const QString& text, const Variable& value) {
                           append(text, ok ? Kind::Output : Kind::Error);
                           if (ok && !value.memoryReference.isEmpty())
                               emit tensorEvaluated(value.name, value.memoryReference);
                       });
}

bool ConsolePanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_input && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Up || key == Qt::Key_Down) {
            m_historyAt = std::clamp<qsizetype>(m_historyAt + (key == Qt::Key_Up ? -1 : 1), 0,
                                                m_history.size());
            m_input->setText(m_history.value(m_historyAt));
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace tapescope::app
