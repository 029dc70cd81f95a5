// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/banner.h"
#include "app/workbench/breakpoint_panel.h"
#include "app/workbench/command_palette.h"
#include "app/workbench/model_catalog.h"
#include "app/workbench/stack_panel.h"
#include "app/workbench/status_line.h"
#include "app/workbench/step_scrubber.h"
#include "app/workbench/tensor_tree.h"
#include "app/workbench/workbench_options.h"
#include "storage/tape/writer.h"
#include "tests/workbench/window_fixture.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"

#include <QAction>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QSettings>
#include <QUrl>

namespace tapescope::app {
namespace {

TEST(WorkbenchOptions, TakesARunApart) {
    QString error;
    const auto options =
        parseOptions({"--run", "digits-cnn", "--steps=20", "--seed", "3", "--set", "lr=0.5",
                      "--set", "optimizer=sgd", "--break", "conv2: conv2d", "a.tape"},
                     error);
    ASSERT_TRUE(options) << error.toStdString();
    EXPECT_EQ(options->model.toStdString(), "digits-cnn");
    EXPECT_EQ(options->steps, 20);
    EXPECT_EQ(options->seed, 3);
    EXPECT_DOUBLE_EQ(options->settings.value("lr").toDouble(), 0.5);
    EXPECT_EQ(options->settings.value("optimizer").toString().toStdString(), "sgd");
    EXPECT_EQ(options->breaks.value(0).toStdString(), "conv2: conv2d");
    EXPECT_EQ(options->paths, QStringList{"a.tape"});
}

TEST(WorkbenchOptions, SaysWhatIsWrongAndWhatWouldBeRight) {
    const auto errorOf = [](const QStringList& words) {
        QString error;
        EXPECT_FALSE(parseOptions(words, error)) << words.join(' ').toStdString();
        return error.toStdString();
    };
    EXPECT_EQ(errorOf({"--setp", "3"}), "unknown option \"--setp\"; did you mean --set?");
    EXPECT_EQ(errorOf({"--steps"}), "--steps needs a value; see --help.");
    EXPECT_EQ(errorOf({"--run", "m", "--steps", "none"}),
              "--steps cannot be \"none\": it takes a number of steps, 1 or more.");
    EXPECT_EQ(errorOf({"--shot", "graph", "a.tape", "-o", "x.png"}),
              "--shot cannot be \"graph\": it takes debug, curves or timeline.");
    EXPECT_EQ(errorOf({"--shot", "debug", "a.tape"}),
              "--shot needs a file to write: -o NAME.png or -o NAME.svg.");
    EXPECT_EQ(errorOf({"--shot", "debug", "-o", "x.png"}),
              "--shot needs one tape to show, or --run MODEL.");
    EXPECT_EQ(errorOf({"--size", "foo"}),
              "--size cannot be \"foo\": it takes WIDTHxHEIGHT up to 16384x16384; the window "
              "needs some 800x620.");
    EXPECT_EQ(errorOf({"--connect", "here"}),
              "--connect cannot be \"here\": it takes HOST:PORT with a port from 1 to 65535.");
}

TEST(ModelCatalog, ReadsTheListAndNothingElse) {
    std::vector<ModelInfo> models;
    ASSERT_TRUE(ModelCatalog::parse(
        R"([{"name":"m","summary":"s","defaultSteps":9,"needsData":true,"dataHelp":"h","settings":[
            {"name":"lr","default":0.1,"help":"x"},{"name":"on","default":true,"help":"x"}]}])",
        models));
    ASSERT_EQ(models.size(), 1U);
    EXPECT_TRUE(models[0].needsData);
    EXPECT_EQ(models[0].defaultSteps, 9);
    EXPECT_DOUBLE_EQ(models[0].settings[0].defaultValue.toDouble(), 0.1);
    EXPECT_TRUE(models[0].settings[1].defaultValue.isBool());
    EXPECT_FALSE(ModelCatalog::parse("{}", models));
    EXPECT_FALSE(ModelCatalog::parse("no models here", models));
}

TEST(CommandPalette, PrefersStartsOfWordsAndRunsOfLetters) {
    EXPECT_GT(fuzzyScore("so", "Run: Step over"), -1);
    EXPECT_EQ(fuzzyScore("xyz", "Run: Step over"), -1);
    EXPECT_GT(fuzzyScore("step over", "Run: Step over"),
              fuzzyScore("step over", "Run: Stop the recording server"));
    EXPECT_GT(fuzzyScore("st", "Stop"), fuzzyScore("st", "Sort"));
}

TEST(StepScrubber, ChoosesStepsByKeyAndMouseAndFollowsAgain) {
    StepScrubber scrubber;
    scrubber.resize(216, 24);  // 200 pixels of line
    scrubber.setSteps(0, 100, 101);
    QSignalSpy chosen(&scrubber, &StepScrubber::stepChosen);
    QTest::keyClick(&scrubber, Qt::Key_Left);
    EXPECT_EQ(chosen.back().at(0).toLongLong(), 99);
    QTest::mouseClick(&scrubber, Qt::LeftButton, {}, {8 + 50, 12});
    EXPECT_EQ(chosen.back().at(0).toLongLong(), 25);
    QTest::keyClick(&scrubber, Qt::Key_End);
    EXPECT_EQ(chosen.back().at(0).toLongLong(), -1);
    // A step that is not there yet cannot be chosen.
    scrubber.setSteps(0, 10, 1000);
    QTest::mouseClick(&scrubber, Qt::LeftButton, {}, {200, 12});
    EXPECT_EQ(chosen.back().at(0).toLongLong(), 10);
}

TEST_F(WindowTest, SaysThatADroppedFileDoesNotExistOrIsNoTape) {
    window.openPath(folder.filePath(QStringLiteral("none.tape")));
    EXPECT_TRUE(window.banner().isVisible());
    EXPECT_TRUE(window.banner().text().contains(QLatin1String("none.tape")));

    const QString path = folder.filePath(QStringLiteral("text.tape"));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(
        "this is no tape, whatever its name says; it is long enough to be read as a header, at "
        "least\n");
    file.close();
    auto* mime = new QMimeData;
    mime->setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop({10, 10}, Qt::CopyAction, mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &drop);
    delete mime;
    ASSERT_TRUE(wait([this] {
        return window.banner().isVisible() &&
               window.banner().text().contains(QLatin1String("text.tape"));
    })) << window.banner().text().toStdString();
}

TEST_F(WindowTest, SaysOfACudaProgramWhereToLook) {
    const auto hint = [](const QWidget* pane) {
        return pane->findChild<viewers::EmptyState*>()->hint();
    };
    const std::vector<const QWidget*> panes{window.debug().stack(), window.debug().tensors(),
                                            window.debug().breakpoints()};
    std::vector<QString> general;
    for (const QWidget* pane : panes) general.push_back(hint(pane));
    const QString path = folder.filePath("cuda.tape");
    {
        auto made = storage::TapeWriter::create(path.toStdString(), {});
        ASSERT_TRUE(made.ok());
        storage::TapeWriter& writer = **made;
        writer.gpuProcess({1, 77, 5, "box", "boot", "python3 train.py", -1, -1, -1, 1, 2, 0, ""});
        storage::GpuEvent kernel;
        kernel.kind = storage::GpuEventKind::Kernel;
        kernel.process = 1;
        kernel.durationNs = 1000;
        kernel.name = writer.name("gemm");
        writer.gpuEvents({kernel});
        ASSERT_TRUE(writer.seal(storage::RunOutcome::Finished).ok());
    }
    viewers::TapeSession* tape = window.library().open(path);
    ASSERT_TRUE(wait([&] { return hint(panes[0]) != general[0]; }));
    for (std::size_t i = 0; i < panes.size(); ++i) {
        EXPECT_TRUE(hint(panes[i]).contains(QStringLiteral("records a CUDA program"))) << i;
        EXPECT_TRUE(hint(panes[i]).contains(QStringLiteral("Timeline"))) << i;
    }
    window.library().close(tape);
    for (std::size_t i = 0; i < panes.size(); ++i) EXPECT_EQ(hint(panes[i]), general[i]) << i;
}

TEST_F(WindowTest, SwitchesPerspectivesAndThemeByKey) {
    key(Qt::Key_3, Qt::ControlModifier);
    EXPECT_EQ(window.perspective(), MainWindow::PerspectiveId::Timeline);
    EXPECT_TRUE(window.command(QStringLiteral("view.timeline"))->isChecked());
    key(Qt::Key_1, Qt::ControlModifier);
    EXPECT_EQ(window.perspective(), MainWindow::PerspectiveId::Debug);
    key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_FALSE(viewers::Theme::current().dark());
    key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_TRUE(viewers::Theme::current().dark());
}

TEST_F(WindowTest, RunsACommandFromThePalette) {
    key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = window.findChild<CommandPalette*>();
    ASSERT_TRUE(palette->isVisible());
    auto* input = palette->findChild<QLineEdit*>();
    QTest::keyClicks(input, QStringLiteral("view tim"));
    ASSERT_FALSE(palette->shown().isEmpty());
    EXPECT_EQ(palette->shown().front().toStdString(), "View: Timeline");
    QTest::keyClick(input, Qt::Key_Return);
    EXPECT_FALSE(palette->isVisible());
    EXPECT_EQ(window.perspective(), MainWindow::PerspectiveId::Timeline);
}

TEST_F(WindowTest, OffersOnlyWhatCanBeDone) {
    const auto enabled = [this](const char* id) {
        return window.command(QLatin1String(id))->isEnabled();
    };
    EXPECT_TRUE(enabled("run.continue"));
    EXPECT_FALSE(enabled("run.pause"));
    EXPECT_FALSE(enabled("run.stop"));
    EXPECT_FALSE(enabled("run.over"));
    EXPECT_FALSE(enabled("file.close"));
}

TEST(MainWindow, RemembersBreakpointsThemeAndPerspective) {
    {
        MainWindow window({.remember = true});
        window.breakpoints().addFunction(QStringLiteral("conv2d"));
        window.showPerspective(MainWindow::PerspectiveId::Curves);
        window.setDark(false);
        window.show();
        window.close();
    }
    MainWindow window({.remember = true});
    ASSERT_EQ(window.breakpoints().all().size(), 1U);
    EXPECT_EQ(window.breakpoints().all()[0].name.toStdString(), "conv2d");
    EXPECT_EQ(window.perspective(), MainWindow::PerspectiveId::Curves);
    EXPECT_EQ(QSettings().value("theme").toString().toStdString(), "light");
    window.setDark(true);
}

}  // namespace
}  // namespace tapescope::app
