// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QPointer>

#include <vector>

class QAction;
class QLineEdit;
class QListWidget;

namespace tapescope::app {

/// How well `text` matches `pattern`, whose letters must appear in order: higher is better, -1 is
/// no match. Starts of words and runs of letters count more.
int fuzzyScore(const QString& pattern, const QString& text);

/// Every command of the window by name: type some letters, press Enter.
class CommandPalette final : public QDialog {
    Q_OBJECT

public:
    explicit CommandPalette(QWidget* parent);

    /// Shows the enabled ones of these actions, the last used ones first.
    void openWith(const QList<QAction*>& actions);
    QStringList shown() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& pattern);
    void run();

    QLineEdit* m_input;
    QListWidget* m_list;
    std::vector<QPointer<QAction>> m_actions;
    QStringList m_recent;  ///< texts, newest first
};

/// An action's text without '&' and '…', with its menu: "View: Reset layout".
QString commandText(const QAction* action);

}  // namespace tapescope::app
