// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QString>

#include <functional>

class QLabel;
class QToolButton;

namespace tapescope::app {

/// One sentence over the perspective: what went wrong and, on a button, the remedy. Stays until
/// closed or replaced.
class Banner final : public QFrame {
    Q_OBJECT

public:
    enum class Kind { Info, Warning, Error };

    explicit Banner(QWidget* parent = nullptr);

    void showMessage(Kind kind, const QString& text, const QString& actionText = {},
                     std::function<void()> action = {});
    /// Closes it if it shows a message of this or a lesser kind.
    void dismiss(Kind upTo = Kind::Error);
    QString text() const;
    Kind kind() const { return m_kind; }

private:
    void applyTheme();

    Kind m_kind = Kind::Info;
    QLabel* m_icon;
    QLabel* m_text;
    QToolButton* m_action;
    QToolButton* m_close;
    std::function<void()> m_run;
};

}  // namespace tapescope::app
