// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/banner.h"
#include "app/workbench/console_panel.h"
#include "app/workbench/graph_follower.h"
#include "app/workbench/new_run_dialog.h"
#include "app/workbench/status_line.h"
#include "app/workbench/step_scrubber.h"
#include "app/workbench/tensor_tree.h"
#include "app/workbench/variable_model.h"
#include "storage/tape/reader.h"
#include "tests/workbench/window_fixture.h"
#include "viewers/curves/curves_view.h"
#include "viewers/graph/graph_view.h"
#include "viewers/models/runs_model.h"
#include "viewers/models/scalar_series.h"
#include "viewers/tensors/tensor_header.h"
#include "viewers/tensors/tensor_view.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTreeView>

#include <csignal>

namespace tapescope::app {
namespace {

using viewers::TapeSession;

/// Fills the New run dialog with the mouse and keyboard and presses Run.
void runFromDialog(MainWindow& window, int steps) {
    window.command(QStringLiteral("file.new"))->trigger();
    auto* dialog = window.findChild<NewRunDialog*>();
    ASSERT_NE(dialog, nullptr);
    auto* models = dialog->findChild<QListWidget*>(QStringLiteral("modelList"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return models->count() > 0; }, 60'000));
    const QList<QListWidgetItem*> found =
        models->findItems(QStringLiteral("digits-cnn"), Qt::MatchExactly);
    ASSERT_EQ(found.size(), 1);
    QTest::mouseClick(models->viewport(), Qt::LeftButton, {},
                      models->visualItemRect(found[0]).center());
    dialog->findChildren<QSpinBox*>().front()->setValue(steps);
    dialog->findChildren<QCheckBox*>().front()->setChecked(true);  // stop before the first operator
    for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
        if (button->text() == QLatin1String("Run")) QTest::mouseClick(button, Qt::LeftButton);
    }
}

TEST_F(WindowTest, DebugsARealRunWithClicksAndKeys) {
    runFromDialog(window, 400);
    ASSERT_TRUE(waitStopped());
    EXPECT_EQ(window.session().stopInfo().reason.toStdString(), "entry");

    // The source is there; a click in the gutter sets a breakpoint on the second convolution.
    ASSERT_TRUE(wait([this] { return window.debug().source()->files().size() >= 2; }));
    ASSERT_TRUE(
        window.debug().source()->showLine(QStringLiteral("plugins/models/digits_cnn.cpp"), 1));
    const int line = lineWith(QStringLiteral("conv2(x)"));
    ASSERT_GT(line, 0);
    clickGutter(line);
    ASSERT_EQ(window.breakpoints().all().size(), 1U);
    EXPECT_EQ(window.breakpoints().all()[0].line, line);

    // F5 runs to it.
    quint64 generation = window.session().stopGeneration();
    key(Qt::Key_F5);
    ASSERT_TRUE(waitStoppedAfter(generation));
    EXPECT_EQ(window.session().stopInfo().line, line);
    EXPECT_EQ(window.session().frames().front().line, line);
    EXPECT_TRUE(window.statusLine().text().contains(QLatin1String("stopped:")))
        << window.statusLine().text().toStdString();

    // Step until the convolution itself, then over it.
    for (int i = 0; i < 5 && window.session().stopInfo().op != QLatin1String("conv2d"); ++i) {
        generation = window.session().stopGeneration();
        key(Qt::Key_F11);
        ASSERT_TRUE(waitStoppedAfter(generation));
    }
    ASSERT_EQ(window.session().stopInfo().op.toStdString(), "conv2d");
    ASSERT_EQ(window.session().stopInfo().module.toStdString(), "conv2");
    const qint64 seq = window.session().stopInfo().seq;
    ASSERT_GE(seq, 0);

    // The graph shows the node where the run stands.
    ASSERT_TRUE(wait([&] {
        const viewers::GraphPtr graph = window.follower().shownGraph();
        return graph && static_cast<qint64>(graph->nodes.size()) > seq &&
               graph->nodes[static_cast<std::size_t>(seq)].op == "conv2d";
    }));

    // A click on the input in the tree shows its statistics and values.
    QTreeView* tree = window.debug().tensors()->view();
    VariableModel* model = window.debug().tensors()->model();
    const QModelIndex input = model->indexOf(QStringLiteral("Inputs"), QStringLiteral("input"));
    ASSERT_TRUE(input.isValid());
    tree->scrollTo(input);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(input).center());
    EXPECT_EQ(window.debug().tensor()->tensor().name.toStdString(), "input");
    auto* header = window.debug().tensor()->findChild<viewers::TensorHeader*>();
    ASSERT_TRUE(wait([&] {
        return header->accessibleName().contains(QLatin1String("f32[64,32,4,4]"));
    })) << header->accessibleName().toStdString();
    auto* table = window.debug().tensor()->findChild<QTableView*>(QStringLiteral("tensorTable"));
    ASSERT_TRUE(wait([&] {
        bool number = false;
        table->model()->index(0, 0).data().toString().toDouble(&number);
        return number;
    }));
    EXPECT_EQ(table->model()->rowCount(), 4);

    // An expression in the console gives the same tensor's row.
    QLineEdit* console = window.debug().console()->input();
    QTest::keyClicks(console, QStringLiteral("input[0, 0]"));
    QTest::keyClick(console, Qt::Key_Return);
    ASSERT_TRUE(
        wait([&] { return window.debug().console()->text().contains(QLatin1String("f32[4,4]")); }));

    generation = window.session().stopGeneration();
    key(Qt::Key_F10);
    ASSERT_TRUE(waitStoppedAfter(generation));
    EXPECT_NE(window.session().stopInfo().seq, seq);

    // Into backward.
    generation = window.session().stopGeneration();
    key(Qt::Key_F11, Qt::ControlModifier);
    ASSERT_TRUE(waitStoppedAfter(generation));
    EXPECT_EQ(window.session().stopInfo().phase.toStdString(), "backward");

    // Continue without the breakpoint: curves grow.
    window.debug().source()->showLine(QStringLiteral("plugins/models/digits_cnn.cpp"), line);
    clickGutter(line);
    ASSERT_TRUE(window.breakpoints().all().empty());
    key(Qt::Key_F5);
    key(Qt::Key_2, Qt::ControlModifier);
    EXPECT_EQ(window.perspective(), MainWindow::PerspectiveId::Curves);
    ASSERT_TRUE(wait([this] {
        const auto it = snapshot().scalars.find("train/loss");
        return it != snapshot().scalars.end() && it->second && it->second->size() >= 5;
    }));
    ASSERT_TRUE(
        wait([this] { return window.curves().chartTitles().contains(QStringLiteral("loss")); }));

    // Stop: the tape is sealed and says so.
    key(Qt::Key_F5, Qt::ShiftModifier);
    ASSERT_TRUE(wait([this] { return !window.session().isActive(); }));
    ASSERT_TRUE(wait(
        [this] { return snapshot().run && snapshot().run->state == storage::TapeState::Sealed; }));
    EXPECT_EQ(snapshot().run->outcome, storage::RunOutcome::Stopped);
    EXPECT_FALSE(window.banner().isVisible()) << window.banner().text().toStdString();
}

TEST_F(WindowTest, LivesOnWhenTheModelsProcessIsKilled) {
    launch(100'000);
    ASSERT_TRUE(wait([this] {
        return window.session().state() == SessionState::Running &&
               window.library().front() != nullptr && snapshot().lastStep() >= 2;
    }));
    ASSERT_GT(window.session().processId(), 0);
    ::kill(static_cast<pid_t>(window.session().processId()), SIGKILL);
    ASSERT_TRUE(wait([this] { return window.banner().isVisible(); }));
    EXPECT_TRUE(window.banner().text().contains(QLatin1String("signal 9")))
        << window.banner().text().toStdString();
    EXPECT_TRUE(window.banner().text().contains(QLatin1String("is kept")))
        << window.banner().text().toStdString();
    EXPECT_EQ(window.session().state(), SessionState::Idle);
    ASSERT_TRUE(wait([this] { return snapshot().run->state == storage::TapeState::Cut; }));
    EXPECT_GE(snapshot().lastStep(), 2);

    // The next run starts as if nothing had happened, on a tape of its own.
    const QString before = window.library().front()->path();
    window.command(QStringLiteral("run.continue"))->trigger();
    ASSERT_TRUE(wait([this] { return window.session().state() == SessionState::Running; }));
    EXPECT_FALSE(window.banner().isVisible());
    EXPECT_NE(window.library().front()->path(), before);
    EXPECT_EQ(window.library().sessions().size(), 2);
}

TEST_F(WindowTest, FinishesARunAndLooksBackAtAnEarlierStep) {
    launch(6);
    ASSERT_TRUE(wait(
        [this] { return window.library().front() != nullptr && !window.session().isActive(); }));
    ASSERT_TRUE(wait([this] {
        return snapshot().run && snapshot().run->outcome == storage::RunOutcome::Finished;
    }));
    ASSERT_TRUE(wait([this] { return snapshot().lastStep() == 5; }));
    window.statusLine().scrubber()->setFocus();
    ASSERT_TRUE(
        wait([this] { return window.statusLine().text().contains(QLatin1String("step 5/6")); }));
    QTest::keyClick(window.statusLine().scrubber(), Qt::Key_Home);
    EXPECT_EQ(window.selection().step(), 0);
    EXPECT_TRUE(window.statusLine().text().startsWith(QLatin1String("step 0/6")))
        << window.statusLine().text().toStdString();
    ASSERT_TRUE(wait([this] {
        return window.follower().shownGraph() &&
               window.follower().shownGraph()->id == snapshot().graphOfStep(0);
    }));
    QTest::keyClick(window.statusLine().scrubber(), Qt::Key_End);
    EXPECT_EQ(window.selection().step(), -1);
}

TEST_F(WindowTest, AsksBeforeItQuitsARunAndSealsItsTape) {
    launch(100'000);
    ASSERT_TRUE(wait([this] {
        return window.session().state() == SessionState::Running &&
               window.library().front() != nullptr && snapshot().lastStep() >= 1;
    }));
    const QString path = window.library().front()->path();
    window.close();
    EXPECT_TRUE(window.isVisible());
    auto* question = window.findChild<QMessageBox*>();
    ASSERT_NE(question, nullptr);
    for (QAbstractButton* button : question->buttons()) {
        if (question->buttonRole(button) == QMessageBox::AcceptRole)
            QTest::mouseClick(button, Qt::LeftButton);
    }
    ASSERT_TRUE(wait([this] { return !window.isVisible(); }));
    EXPECT_FALSE(window.session().isActive());
    const auto reader = storage::TapeReader::open(path.toStdString());
    ASSERT_TRUE(reader.ok()) << reader.status().message();
    EXPECT_EQ((*reader)->state(), storage::TapeState::Sealed);
    EXPECT_EQ((*reader)->outcome(), storage::RunOutcome::Stopped);
}

TEST_F(WindowTest, SaysWhyARunCannotStart) {
    LaunchSpec spec;
    spec.model = QStringLiteral("digit-cnn");
    window.launch(spec);
    ASSERT_TRUE(wait([this] {
        return window.banner().isVisible() && window.banner().kind() == Banner::Kind::Error;
    }));
    EXPECT_TRUE(window.banner().text().contains(QLatin1String("digits-cnn")))
        << window.banner().text().toStdString();
    EXPECT_TRUE(window.library().sessions().isEmpty());
}

TEST_F(WindowTest, ShowsAFunctionBreakpointThatMatchesNothingWithItsReason) {
    window.breakpoints().addFunction(QStringLiteral("conv9d"));
    launch(50, true);
    ASSERT_TRUE(waitStopped());
    ASSERT_EQ(window.breakpoints().all().size(), 1U);
    EXPECT_FALSE(window.breakpoints().all()[0].verified);
    EXPECT_TRUE(window.breakpoints().all()[0].message.contains(QLatin1String("conv2d")))
        << window.breakpoints().all()[0].message.toStdString();
}

TEST_F(WindowTest, RunsToANodeOfTheGraph) {
    launch(50, true);
    ASSERT_TRUE(waitStopped());
    const quint64 generation = window.session().stopGeneration();
    emit window.debug().graph()->runToRequested(QStringLiteral("linear"), QStringLiteral("fc"),
                                                false);
    ASSERT_TRUE(waitStoppedAfter(generation));
    EXPECT_EQ(window.session().stopInfo().op.toStdString(), "linear");
    EXPECT_TRUE(window.breakpoints().all().empty());
}

}  // namespace
}  // namespace tapescope::app
