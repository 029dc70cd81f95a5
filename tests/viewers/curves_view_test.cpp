// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/curves_view.h"

#include "support/sample_tape.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/curves/chart_grid.h"
#include "viewers/curves/chart_grouping.h"
#include "viewers/curves/scalar_chart.h"
#include "viewers/models/tape_session.h"

#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLineEdit>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <qcustomplot.h>

#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

using test::SampleOptions;

TEST(ChartGrouping, TrainingAndValidationOfOneMeasureShareAChart) {
    const auto plans = planCharts(
        {"val/loss", "lr", "train/accuracy", "train/loss", "grad/norm", "val/accuracy"}, {});
    ASSERT_EQ(plans.size(), 4U);
    EXPECT_EQ(plans[0].title, "loss");
    EXPECT_EQ(plans[0].tags, QStringList({"train/loss", "val/loss"}));
    EXPECT_EQ(plans[1].title, "accuracy");
    EXPECT_EQ(plans[2].title, "grad/norm");
    EXPECT_EQ(plans[3].title, "lr");
}

TEST(ChartGrouping, AChosenChartOverridesTheDefault) {
    const auto plans = planCharts({"train/loss", "lr"}, {{"lr", "loss"}});
    ASSERT_EQ(plans.size(), 1U);
    EXPECT_EQ(plans[0].tags, QStringList({"lr", "train/loss"}));
}

TEST(ChartGrid, CellsFillTheAreaWithoutOverlap) {
    for (const int n : {1, 2, 3, 5, 8, 40}) {
        const auto cells = gridCells(n, 1200, 700);
        ASSERT_EQ(cells.size(), static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < cells.size(); ++i) {
            EXPECT_GE(cells[i].height(), 200);
            EXPECT_LE(cells[i].right(), 1200);
            for (std::size_t k = i + 1; k < cells.size(); ++k)
                EXPECT_FALSE(cells[i].intersects(cells[k])) << n;
        }
    }
}

class CurvesViewTest : public ::testing::Test {
protected:
    std::unique_ptr<TapeSession> open(const SampleOptions& options,
                                      const QString& file = QStringLiteral("run.tape")) {
        SampleOptions quiet = options;
        quiet.events = false;
        m_writers.push_back(test::writeSampleTape(m_dir.filePath(file), quiet));
        auto session = std::make_unique<TapeSession>(m_dir.filePath(file), TapeSession::CurvesOnly);
        EXPECT_TRUE(test::waitUntil(
            [&] { return !session->snapshot().loading && !session->snapshot().scalars.empty(); }));
        return session;
    }
    void show(CurvesView& view, const QSize& size = {1100, 720}) {
        view.resize(size);
        view.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&view));
    }
    static ScalarChart* chart(CurvesView& view, const QString& title) {
        return view.findChild<ScalarChart*>(QStringLiteral("chart:%1").arg(title));
    }
    static bool waitForCharts(CurvesView& view) {
        return test::waitUntil([&] { return !view.chartTitles().isEmpty(); });
    }

    QTemporaryDir m_dir;
    std::vector<std::unique_ptr<storage::TapeWriter>> m_writers;
};

TEST_F(CurvesViewTest, SaysWhatWouldFillItWhileThereIsNoRun) {
    CurvesView view(nullptr);
    show(view);
    const auto* empty = view.findChild<EmptyState*>();
    ASSERT_NE(empty, nullptr);
    EXPECT_TRUE(empty->isVisible());
    EXPECT_EQ(empty->title(), "No run is open");
    test::keepShot(view, QStringLiteral("curves-empty"));
}

TEST_F(CurvesViewTest, AMissingTapeShowsItsError) {
    TapeSession session(m_dir.filePath(QStringLiteral("nowhere.tape")), TapeSession::CurvesOnly);
    CurvesView view(nullptr);
    view.addRun(&session);
    show(view);
    const auto* empty = view.findChild<EmptyState*>();
    ASSERT_TRUE(
        test::waitUntil([&] { return empty->hint().contains(QStringLiteral("nowhere.tape")); }));
}

TEST_F(CurvesViewTest, DrawsAChartPerMeasureAndTheSameCursorInAll) {
    const auto session = open({});
    Selection selection;
    CurvesView view(&selection);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    EXPECT_EQ(view.chartTitles(),
              QStringList({"loss", "accuracy", "lr", "conv1.weight", "fc.weight.grad"}));
    ScalarChart* loss = chart(view, QStringLiteral("loss"));
    ASSERT_EQ(loss->series().size(), 2U);
    EXPECT_EQ(loss->series()[0].label, "train");
    EXPECT_EQ(loss->series()[1].label, "val");

    std::vector<double> cursors;
    QObject::connect(loss, &ChartPanel::cursorMoved, &view,
                     [&](double x) { cursors.push_back(x); });
    QTest::mouseMove(loss->plot(), loss->plot()->axisRect()->center());
    ASSERT_TRUE(test::waitUntil([&] { return !cursors.empty(); }));
    EXPECT_NEAR(cursors.back(), 29.5, 1.5);
    test::keepShot(view, QStringLiteral("curves-dark"));
}

TEST_F(CurvesViewTest, ClickSelectsTheStepForAllViews) {
    const auto session = open({});
    Selection selection;
    CurvesView view(&selection);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    QCustomPlot* plot = chart(view, QStringLiteral("loss"))->plot();
    const QPoint at(static_cast<int>(plot->xAxis->coordToPixel(20)),
                    plot->axisRect()->center().y());
    QTest::mouseClick(plot, Qt::LeftButton, {}, at);
    EXPECT_EQ(selection.step(), 20);
}

TEST_F(CurvesViewTest, DraggingZoomsAllChartsAndDoubleClickResets) {
    const auto session = open({});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    QCustomPlot* loss = chart(view, QStringLiteral("loss"))->plot();
    QCustomPlot* lr = chart(view, QStringLiteral("lr"))->plot();
    const QCPRange all = lr->xAxis->range();
    const auto px = [&](double x) {
        return QPoint(static_cast<int>(loss->xAxis->coordToPixel(x)),
                      loss->axisRect()->center().y());
    };
    const QPoint from = px(10), to = px(30);
    QTest::mousePress(loss, Qt::LeftButton, {}, from);
    QTest::mouseMove(loss, (from + to) / 2);
    QTest::mouseMove(loss, to);
    QTest::mouseRelease(loss, Qt::LeftButton, {}, to);
    EXPECT_NEAR(lr->xAxis->range().lower, 10, 0.5);
    EXPECT_NEAR(lr->xAxis->range().upper, 30, 0.5);
    QTest::mouseDClick(loss, Qt::LeftButton, {}, from);
    EXPECT_EQ(lr->xAxis->range(), all);
}

TEST_F(CurvesViewTest, WheelZoomsAtThePointer) {
    const auto session = open({});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    QCustomPlot* plot = chart(view, QStringLiteral("loss"))->plot();
    const QPointF at = plot->axisRect()->center();
    const double before = plot->xAxis->pixelToCoord(at.x());
    const double size = plot->xAxis->range().size();
    QWheelEvent wheel(at, plot->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(plot, &wheel);
    EXPECT_NEAR(plot->xAxis->range().size(), 0.85 * size, 1e-9);
    EXPECT_NEAR(plot->xAxis->pixelToCoord(at.x()), before, 1e-9);
}

TEST_F(CurvesViewTest, KeysMoveTheCursorSelectAndReset) {
    const auto session = open({});
    Selection selection;
    CurvesView view(&selection);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    ScalarChart* loss = chart(view, QStringLiteral("loss"));
    loss->setFocus();
    QTest::keyClick(loss, Qt::Key_Right);
    QTest::keyClick(loss, Qt::Key_Right);
    QTest::keyClick(loss, Qt::Key_Right);
    QTest::keyClick(loss, Qt::Key_Left);
    QTest::keyClick(loss, Qt::Key_Return);
    EXPECT_EQ(selection.step(), 1);
    QTest::keyClick(loss, Qt::Key_Plus);
    EXPECT_LT(loss->plot()->xAxis->range().size(), 50);
    QTest::keyClick(loss, Qt::Key_F);
    EXPECT_GT(loss->plot()->xAxis->range().size(), 59);
}

TEST_F(CurvesViewTest, TheSliderSmoothsAndTheAxisBoxChangesX) {
    const auto session = open({});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    auto* slider = view.findChild<QSlider*>(QStringLiteral("smoothing"));
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Home);
    EXPECT_EQ(view.smoothing(), 0);
    QTest::keyClick(slider, Qt::Key_PageUp);
    EXPECT_DOUBLE_EQ(view.smoothing(), 0.05);
    auto* axis = view.findChild<QComboBox*>(QStringLiteral("axis"));
    QTest::keyClick(axis, Qt::Key_Down);
    EXPECT_EQ(view.xAxis(), XAxis::Relative);
    EXPECT_NEAR(chart(view, QStringLiteral("loss"))->plot()->xAxis->range().upper, 59 * 0.012,
                0.02);
}

TEST_F(CurvesViewTest, SeveralRunsShareChartsInTheirColours) {
    const auto first = open({.name = "digits-mlp", .finalLoss = 0.3}, QStringLiteral("a.tape"));
    const auto second = open({.seed = 5, .name = "digits-cnn"}, QStringLiteral("b.tape"));
    CurvesView view(nullptr);
    view.addRun(first.get());
    view.addRun(second.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    ScalarChart* loss = chart(view, QStringLiteral("loss"));
    ASSERT_EQ(loss->series().size(), 4U);
    EXPECT_EQ(loss->series()[0].color, view.runColor(first.get()));
    EXPECT_EQ(loss->series()[1].color, view.runColor(second.get()));
    EXPECT_NE(view.runColor(first.get()), view.runColor(second.get()));
    EXPECT_FALSE(loss->series()[0].dashed);
    EXPECT_TRUE(loss->series()[2].dashed) << "validation is dashed where colours tell runs apart";
    test::keepShot(view, QStringLiteral("curves-two-runs"));
    view.setRunVisible(first.get(), false);
    EXPECT_TRUE(test::waitUntil([&] { return loss->series().size() == 2; }));
}

TEST_F(CurvesViewTest, LongNamesGiveWayToTheCurves) {
    m_writers.push_back(test::writeSampleTape(
        m_dir.filePath(QStringLiteral("long.tape")),
        {.name = QString(120, u'n'), .events = false, .histograms = false, .seal = false}));
    const std::string tag = "validation/" + std::string(180, 't');
    const auto id = m_writers.back()->tag(tag, storage::TagKind::Scalar);
    for (int step = 0; step < 60; ++step)
        m_writers.back()->scalar(id, {step, 1.78e9 + step, 1e-7 * step});
    ASSERT_TRUE(m_writers.back()->flush().ok());
    TapeSession session(m_dir.filePath(QStringLiteral("long.tape")), TapeSession::CurvesOnly);
    CurvesView view(nullptr);
    view.addRun(&session);
    show(view);
    ASSERT_TRUE(test::waitUntil([&] { return view.chartTitles().size() == 4; }));
    ScalarChart* named = chart(view, QString(180, u't'));
    ASSERT_NE(named, nullptr);
    EXPECT_LE(named->geometry().right(), view.width());
    EXPECT_LE(named->plot()->width(), named->width());
    test::keepShot(view, QStringLiteral("curves-long-names"));
}

TEST_F(CurvesViewTest, ADestroyedSessionLeavesTheView) {
    auto session = open({});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    session.reset();
    EXPECT_TRUE(test::waitUntil([&] { return view.chartTitles().isEmpty(); }));
    EXPECT_TRUE(view.runs().isEmpty());
}

TEST_F(CurvesViewTest, ALiveRunGrows) {
    m_writers.push_back(test::writeSampleTape(m_dir.filePath(QStringLiteral("live.tape")),
                                              {.steps = 30, .events = false, .seal = false}));
    TapeSession session(m_dir.filePath(QStringLiteral("live.tape")), TapeSession::CurvesOnly);
    CurvesView view(nullptr);
    view.addRun(&session);
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    ScalarChart* loss = chart(view, QStringLiteral("loss"));
    ASSERT_TRUE(test::waitUntil([&] { return loss->series()[0].data->size() == 30; }));
    m_writers.back()->scalar(m_writers.back()->tag("train/loss", storage::TagKind::Scalar),
                             {30, 1.78e9 + 1, 0.125});
    ASSERT_TRUE(m_writers.back()->flush().ok());
    EXPECT_TRUE(test::waitUntil([&] { return loss->series()[0].data->size() == 31; }));
    EXPECT_EQ(loss->series()[0].data->last().value, 0.125);
    EXPECT_GE(loss->plot()->xAxis->range().upper, 30);
}

TEST_F(CurvesViewTest, TheFilterHidesChartsAndSaysWhenNothingMatches) {
    const auto session = open({});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    auto* filter = view.findChild<QLineEdit*>(QStringLiteral("filter"));
    QTest::keyClicks(filter, QStringLiteral("^l"));
    EXPECT_TRUE(test::waitUntil([&] { return view.chartTitles() == QStringList({"loss", "lr"}); }));
    filter->clear();
    QTest::keyClicks(filter, QStringLiteral("nothing"));
    EXPECT_TRUE(test::waitUntil([&] { return view.chartTitles().isEmpty(); }));
    EXPECT_TRUE(view.findChild<EmptyState*>()->title().contains(QStringLiteral("nothing")));
}

TEST_F(CurvesViewTest, ATagMovesToAnotherChartAndStaysThereWhenRestored) {
    const auto session = open({});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    view.setChartOf(QStringLiteral("lr"), QStringLiteral("loss"));
    view.setLogY(true);
    view.setSmoothing(0.25);
    ASSERT_TRUE(
        test::waitUntil([&] { return !view.chartTitles().contains(QStringLiteral("lr")); }));
    EXPECT_EQ(chart(view, QStringLiteral("loss"))->series().size(), 3U);

    CurvesView other(nullptr);
    ASSERT_TRUE(other.restoreState(view.saveState()));
    other.addRun(session.get());
    show(other);
    ASSERT_TRUE(waitForCharts(other));
    EXPECT_FALSE(other.chartTitles().contains(QStringLiteral("lr")));
    EXPECT_EQ(other.smoothing(), 0.25);
    EXPECT_EQ(chart(other, QStringLiteral("loss"))->plot()->yAxis->scaleType(),
              QCPAxis::stLogarithmic);
    EXPECT_FALSE(other.restoreState(QByteArray("garbage")));
}

TEST_F(CurvesViewTest, ExportsEveryPointAndPictures) {
    const auto session = open({.nanAtEnd = true});
    CurvesView view(nullptr);
    view.addRun(session.get());
    show(view);
    ASSERT_TRUE(waitForCharts(view));
    ASSERT_TRUE(view.exportCsv(m_dir.filePath(QStringLiteral("out.csv"))));
    QFile csv(m_dir.filePath(QStringLiteral("out.csv")));
    ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
    const auto lines = QString::fromUtf8(csv.readAll()).split(u'\n', Qt::SkipEmptyParts);
    EXPECT_EQ(lines.size(), 1 + 3 * 60 + 2 * 6);
    EXPECT_EQ(lines[0], "run,tag,step,wall,value");
    EXPECT_TRUE(lines[1].startsWith(QStringLiteral("digits-cnn,lr,0,1780000000.000000,0.001")));
    EXPECT_TRUE(lines.contains(QStringLiteral("digits-cnn,train/loss,59,1780000000.708000,nan")));

    ASSERT_TRUE(view.exportPng(m_dir.filePath(QStringLiteral("out.png"))));
    EXPECT_GT(QImage(m_dir.filePath(QStringLiteral("out.png"))).width(), 2000);
    ASSERT_TRUE(view.exportSvg(m_dir.filePath(QStringLiteral("out.svg"))));
    EXPECT_GT(QFile(m_dir.filePath(QStringLiteral("out.svg"))).size(), 10'000);
    EXPECT_FALSE(view.exportPng(m_dir.filePath(QStringLiteral("missing/out.png"))));
    if (qEnvironmentVariableIsSet("TAPESCOPE_SHOTS"))
        view.exportPng(qEnvironmentVariable("TAPESCOPE_SHOTS") +
                       QStringLiteral("/curves-export.png"));
}

TEST_F(CurvesViewTest, RendersAtAnySizeInBothThemesWithoutBeingShown) {
    const auto session = open({.steps = 400, .nanAtEnd = true});
    CurvesView view(nullptr);
    view.addRun(session.get());
    for (const auto mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
        Theme::current().apply(mode);
        for (const QSize size : {QSize(1280, 800), QSize(2560, 1440), QSize(640, 400)}) {
            QImage image(size, QImage::Format_RGB32);
            image.fill(Qt::magenta);
            ASSERT_TRUE(view.renderTo(image));
            EXPECT_NE(image.pixelColor(size.width() / 2, size.height() / 2), QColor(Qt::magenta));
            const QString folder = qEnvironmentVariable("TAPESCOPE_SHOTS");
            if (!folder.isEmpty())
                image.save(QStringLiteral("%1/curves-%2-%3.png")
                               .arg(folder, mode == Theme::Mode::Dark ? "dark" : "light")
                               .arg(size.width()));
        }
    }
    EXPECT_FALSE(view.isVisible());
}

}  // namespace
}  // namespace tapescope::viewers
