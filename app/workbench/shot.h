// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/workbench_options.h"

#include <QObject>
#include <QTimer>

namespace tapescope::app {

class MainWindow;

/// `--shot`: waits until the tape is read, or the run stands at a breakpoint or has ended, and
/// writes a picture of the window.
class Shot final : public QObject {
    Q_OBJECT

public:
    Shot(MainWindow& window, WorkbenchOptions options, QObject* parent = nullptr);
    void start();

signals:
    /// error is empty when the file was written.
    void finished(const QString& error);

private:
    void check();
    bool ready();
    bool runIsReady();
    void write();
    void end(const QString& error);

    MainWindow& m_window;
    WorkbenchOptions m_options;
    QTimer m_poll;
    QTimer m_limit;
    bool m_chosen = false;  ///< step and node were selected
    bool m_done = false;
    int m_quietTurns = 0;
};

}  // namespace tapescope::app
