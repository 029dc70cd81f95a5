// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/debug_perspective.h"
#include "app/workbench/main_window.h"
#include "viewers/models/tape_session.h"
#include "viewers/source/source_editor.h"
#include "viewers/source/source_view.h"

#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>

#include <functional>
#include <gtest/gtest.h>

namespace tapescope::app {

/// A window on the offscreen platform, with the real adapter and a runs folder of its own.
class WindowTest : public ::testing::Test {
protected:
    // A step of digits-cnn takes some 20 ms alone, far longer beside other tests and under
    // sanitizers.
    static constexpr int kPatienceMs = 120'000;

    WindowTest() : window(MainWindow::Options{.remember = false}) {
        window.session().setProgram(QStringLiteral(TAPESCOPE_BINARY), {QStringLiteral("dap")});
        window.library().openFolder(folder.path());
        window.resize(1280, 800);
        window.show();
        QCoreApplication::processEvents();
    }
    ~WindowTest() override {
        if (!window.session().isActive()) return;
        window.session().stop();
        window.session().stop();
        wait([this] { return !window.session().isActive(); });
    }

    static bool wait(const std::function<bool()>& condition) {
        return QTest::qWaitFor(condition, kPatienceMs);
    }
    bool waitStopped() {
        return wait([this] {
            return window.session().isStopped() && !window.session().frames().empty() &&
                   !window.session().scopes().empty();
        });
    }
    /// Waits for a stop after the one with this number.
    bool waitStoppedAfter(quint64 generation) {
        return wait([&] { return window.session().stopGeneration() > generation; }) &&
               waitStopped();
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        // Shortcuts belong to the active window; a dialog that closed leaves none active offscreen.
        window.activateWindow();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, key, modifiers);
    }
    void launch(qint64 steps, bool stopOnEntry = false) {
        LaunchSpec spec;
        spec.model = QStringLiteral("digits-cnn");
        spec.steps = steps;
        spec.seed = 1;
        spec.stopOnEntry = stopOnEntry;
        window.launch(spec);
    }
    const viewers::TapeSnapshot& snapshot() { return window.library().front()->snapshot(); }

    viewers::SourceEditor* editor() {
        return window.debug().source()->findChild<viewers::SourceEditor*>();
    }
    /// First line of the shown source that holds this text, from 1; 0 if none does.
    int lineWith(const QString& text) {
        for (QTextBlock block = editor()->document()->begin(); block.isValid();
             block = block.next()) {
            if (block.text().contains(text)) return block.blockNumber() + 1;
        }
        return 0;
    }
    void clickGutter(int line) {
        window.debug().source()->showLine(window.debug().source()->currentFile(), line);
        QCoreApplication::processEvents();
        const QTextCursor cursor(editor()->document()->findBlockByNumber(line - 1));
        QTest::mouseClick(editor()->gutter(), Qt::LeftButton, {},
                          {11, editor()->cursorRect(cursor).center().y()});
    }

    QTemporaryDir folder;
    MainWindow window;
};

}  // namespace tapescope::app
