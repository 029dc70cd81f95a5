// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_view.h"

#include "support/sample_tape.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/models/op_summary_model.h"
#include "viewers/models/tape_session.h"
#include "viewers/models/timeline_builder.h"
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_overview.h"

#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <ctime>
#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

class TimelineViewTest : public ::testing::Test {
protected:
    void open(int steps = 20) {
        m_writer = test::writeSampleTape(m_dir.filePath(QStringLiteral("run.tape")),
                                         {.steps = steps, .histograms = false});
        m_session = std::make_unique<TapeSession>(m_dir.filePath(QStringLiteral("run.tape")));
        m_view = std::make_unique<TimelineView>(&m_selection);
        m_view->setSession(m_session.get());
        m_view->resize(1280, 760);
        m_view->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_view.get()));
        ASSERT_TRUE(test::waitUntil(
            [&] { return !m_session->snapshot().loading && canvas()->data()->events > 0; }));
        canvas()->setFocus();
    }
    TimelineCanvas* canvas() { return m_view->findChild<TimelineCanvas*>(); }
    EventRef event(std::uint64_t opId) { return canvas()->data()->find({.opId = opId}).value(); }
    QString nameOf(EventRef e) { return QString::fromStdString(canvas()->data()->title(e)); }

    QTemporaryDir m_dir;
    std::unique_ptr<storage::TapeWriter> m_writer;
    std::unique_ptr<TapeSession> m_session;
    Selection m_selection;
    std::unique_ptr<TimelineView> m_view;
};

TEST_F(TimelineViewTest, SaysWhatWouldFillItWhileThereIsNoRun) {
    TimelineView view(nullptr);
    view.resize(800, 500);
    view.show();
    EXPECT_EQ(view.findChild<EmptyState*>()->title(), "No run is open");
    EXPECT_TRUE(view.findChild<EmptyState*>()->isVisible());
}

TEST_F(TimelineViewTest, ShowsAllOfTheRunAtFirst) {
    open();
    const TimeRange shown = m_view->visibleRange();
    EXPECT_LE(shown.beginNs, canvas()->data()->beginNs);
    EXPECT_GE(shown.endNs, canvas()->data()->endNs);
    EXPECT_LT(shown.lengthNs(), canvas()->data()->endNs * 11 / 10);
    test::keepShot(*m_view, QStringLiteral("timeline-all"));
}

TEST_F(TimelineViewTest, AClickSelectsTheEventAndTellsTheOtherViews) {
    open();
    const EventRef conv = event(3'005);  // step 3, the second convolution
    m_view->selectEvent(conv);
    m_view->fitSelection();
    m_view->selectEvent(std::nullopt);
    m_selection.clear();
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, canvas()->eventRect(conv).center());
    ASSERT_EQ(m_view->selectedEvent(), conv);
    EXPECT_EQ(m_selection.step(), 3);
    EXPECT_EQ(m_selection.op().opId, 3'005U);
    EXPECT_EQ(m_selection.op().graph, 1);
    EXPECT_EQ(m_selection.modulePath(), "conv2");
    EXPECT_EQ(m_selection.site().line, 23);
    QTest::mouseMove(canvas(), canvas()->eventRect(conv).center() + QPoint(3, 0));
    test::keepShot(*m_view, QStringLiteral("timeline-selected"));
}

TEST_F(TimelineViewTest, FollowsASelectionMadeElsewhere) {
    open();
    m_selection.setOp({.graph = 1, .seq = 4, .opId = 0, .step = 11});
    ASSERT_TRUE(m_view->selectedEvent().has_value());
    const EventDetail& d = canvas()->data()->detail(*m_view->selectedEvent());
    EXPECT_EQ(d.step, 11);
    EXPECT_EQ(d.seq, 4U);
    EXPECT_FALSE(canvas()->eventRect(*m_view->selectedEvent()).isEmpty()) << "scrolled into view";
    m_selection.setOp({});
    EXPECT_FALSE(m_view->selectedEvent().has_value());
}

TEST_F(TimelineViewTest, AChosenStepComesIntoView) {
    open();
    const auto step = canvas()->data()->findStep(2).value();
    const std::int64_t begin = canvas()->data()->startOf(step), end = canvas()->data()->endOf(step);
    m_view->setVisibleRange({canvas()->data()->endNs - 1'000'000, canvas()->data()->endNs});
    m_selection.setStep(2);
    EXPECT_LE(m_view->visibleRange().beginNs, begin);
    EXPECT_GE(m_view->visibleRange().endNs, end);
}

TEST_F(TimelineViewTest, KeysZoomMoveAndFit) {
    open();
    const TimeRange all = m_view->visibleRange();
    QTest::keyClick(canvas(), Qt::Key_W);
    EXPECT_NEAR(static_cast<double>(m_view->visibleRange().lengthNs()),
                0.8 * static_cast<double>(all.lengthNs()), 2'000);
    const TimeRange zoomed = m_view->visibleRange();
    QTest::keyClick(canvas(), Qt::Key_D);
    EXPECT_GT(m_view->visibleRange().beginNs, zoomed.beginNs);
    QTest::keyClick(canvas(), Qt::Key_A);
    EXPECT_NEAR(static_cast<double>(m_view->visibleRange().beginNs),
                static_cast<double>(zoomed.beginNs), 2'000);
    QTest::keyClick(canvas(), Qt::Key_S);
    EXPECT_NEAR(static_cast<double>(m_view->visibleRange().lengthNs()),
                static_cast<double>(all.lengthNs()), 4'000);
    m_view->selectEvent(event(5'002));
    QTest::keyClick(canvas(), Qt::Key_F);
    EXPECT_LT(m_view->visibleRange().lengthNs(), 800'000);
    QTest::keyClick(canvas(), Qt::Key_0);
    EXPECT_EQ(m_view->visibleRange(), all);
}

TEST_F(TimelineViewTest, TheWheelZoomsAtThePointer) {
    open();
    const QPointF at(700, 200);
    const TimeAxis before = canvas()->axis();
    const double px = at.x() - (canvas()->width() - before.width);
    QWheelEvent wheel(at, canvas()->mapToGlobal(at), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(canvas(), &wheel);
    EXPECT_NEAR(canvas()->axis().nsPerPx, before.nsPerPx * 0.64, 1e-6 * before.nsPerPx);
    EXPECT_NEAR(static_cast<double>(canvas()->axis().t(px)), static_cast<double>(before.t(px)),
                2 * before.nsPerPx);
}

TEST_F(TimelineViewTest, ArrowsStepThroughTheRowAndClimb) {
    open();
    m_view->selectEvent(event(2));  // step 0: copy_, conv2d, relu …
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "conv2d");
    QTest::keyClick(canvas(), Qt::Key_Period);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "relu");
    QTest::keyClick(canvas(), Qt::Key_Left);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "conv2d");
    QTest::keyClick(canvas(), Qt::Key_Up);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "conv1");
    QTest::keyClick(canvas(), Qt::Key_Up);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "DigitsCnn");
    QTest::keyClick(canvas(), Qt::Key_Down);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "conv1");
    QTest::keyClick(canvas(), Qt::Key_Comma);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "conv1") << "the first of its row";
}

TEST_F(TimelineViewTest, MMarksRSelectsTheTimeAndEscapeClears) {
    open();
    m_view->selectEvent(event(2));
    QTest::keyClick(canvas(), Qt::Key_M);
    ASSERT_EQ(canvas()->marks().size(), 1U);
    EXPECT_EQ(canvas()->marks()[0].beginNs, canvas()->data()->startOf(event(2)));
    QTest::keyClick(canvas(), Qt::Key_M);
    EXPECT_TRUE(canvas()->marks().empty());
    QTest::keyClick(canvas(), Qt::Key_R);
    EXPECT_FALSE(m_view->selectedEvent().has_value());
    EXPECT_EQ(m_selection.timeRange().endNs, canvas()->data()->endOf(event(2)));
    QTest::keyClick(canvas(), Qt::Key_Escape);
    EXPECT_TRUE(m_selection.timeRange().empty());
}

TEST_F(TimelineViewTest, DraggingSumsTheOperatorsOfTheStretch) {
    open();
    const QPoint from(500, 300), to(800, 310);
    QTest::mousePress(canvas(), Qt::LeftButton, {}, from);
    QTest::mouseMove(canvas(), (from + to) / 2);
    QTest::mouseMove(canvas(), to);
    QTest::mouseRelease(canvas(), Qt::LeftButton, {}, to);
    const int left = canvas()->width() - canvas()->axis().width;
    EXPECT_EQ(m_selection.timeRange().beginNs, canvas()->axis().t(500 - left));
    auto* table = m_view->findChild<QTableView*>();
    const auto* model = m_view->findChild<OpSummaryModel*>();
    const auto expected = aggregate(*canvas()->data(), m_selection.timeRange());
    ASSERT_TRUE(
        test::waitUntil([&] { return model->rowCount() == static_cast<int>(expected.size()); }));
    EXPECT_EQ(model->row(0).name, expected[0].name);
    EXPECT_EQ(model->row(0).totalNs, expected[0].totalNs);
    EXPECT_TRUE(table->isVisible());
    test::keepShot(*m_view, QStringLiteral("timeline-area"));
}

TEST_F(TimelineViewTest, ShiftDragPans) {
    open();
    m_view->setVisibleRange({20'000'000, 40'000'000});
    const std::int64_t before = m_view->visibleRange().beginNs;
    QTest::mousePress(canvas(), Qt::LeftButton, Qt::ShiftModifier, {600, 200});
    QTest::mouseMove(canvas(), {550, 200});
    QTest::mouseMove(canvas(), {500, 200});
    QTest::mouseRelease(canvas(), Qt::LeftButton, Qt::ShiftModifier, {500, 200});
    EXPECT_NEAR(static_cast<double>(m_view->visibleRange().beginNs - before),
                100 * canvas()->axis().nsPerPx, canvas()->axis().nsPerPx);
}

TEST_F(TimelineViewTest, SlashSearchesAndEnterGoesThroughTheMatches) {
    open();
    QTest::keyClick(canvas(), Qt::Key_Slash);
    auto* field = m_view->findChild<QLineEdit*>(QStringLiteral("search"));
    ASSERT_TRUE(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("LINEAR"));
    QTest::keyClick(field, Qt::Key_Return);
    ASSERT_TRUE(m_view->selectedEvent().has_value());
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "fc") << "a module of type Linear";
    QTest::keyClick(field, Qt::Key_Return);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "linear");
    QTest::keyClick(field, Qt::Key_Return);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "linear_backward");
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(nameOf(*m_view->selectedEvent()), "linear");
    const auto* count = m_view->findChild<QLabel*>(QStringLiteral("searchCount"));
    // Linear (20 steps × the operator and its gradient node, and the gradient's own operator).
    EXPECT_TRUE(test::waitUntil([&] { return count->text().startsWith(QStringLiteral("80")); }))
        << count->text().toStdString();
    test::keepShot(*m_view, QStringLiteral("timeline-search"));
    QTest::keyClick(field, Qt::Key_Escape);
    EXPECT_TRUE(field->text().isEmpty());
    EXPECT_TRUE(canvas()->hasFocus());
}

TEST_F(TimelineViewTest, QuestionMarkShowsTheKeys) {
    open();
    QTest::keyClick(canvas(), Qt::Key_Question);
    EXPECT_TRUE(canvas()->helpVisible());
    test::keepShot(*m_view, QStringLiteral("timeline-help"));
    QTest::keyClick(canvas(), Qt::Key_Escape);
    EXPECT_FALSE(canvas()->helpVisible());
}

TEST_F(TimelineViewTest, TheOverviewMovesTheWindow) {
    open();
    m_view->setVisibleRange({10'000'000, 20'000'000});
    auto* overview = m_view->findChild<TimelineOverview*>();
    const int left = canvas()->plotLeft(), width = canvas()->plotWidth();
    QTest::mouseClick(overview, Qt::LeftButton, {}, {left + width * 3 / 4, 10});
    const TimeRange shown = m_view->visibleRange();
    EXPECT_NEAR(static_cast<double>(shown.beginNs + shown.endNs) / 2,
                0.75 * static_cast<double>(canvas()->data()->endNs), 2'000'000);
    EXPECT_NEAR(static_cast<double>(shown.lengthNs()), 1e7, 1e5);
}

TEST_F(TimelineViewTest, LossesAreShown) {
    m_writer = test::writeSampleTape(m_dir.filePath(QStringLiteral("lossy.tape")),
                                     {.steps = 2, .seal = false});
    m_writer->lost("operator events", 1234, "the disk was too slow");
    ASSERT_TRUE(m_writer->seal(storage::RunOutcome::Finished).ok());
    TapeSession session(m_dir.filePath(QStringLiteral("lossy.tape")));
    TimelineView view(nullptr);
    view.setSession(&session);
    view.resize(1000, 600);
    view.show();
    const auto* lost = view.findChild<QLabel*>(QStringLiteral("lost"));
    ASSERT_TRUE(test::waitUntil([&] { return lost->isVisible(); }));
    EXPECT_TRUE(lost->text().contains(QStringLiteral("234")));
    EXPECT_TRUE(lost->toolTip().contains(QStringLiteral("too slow")));
}

TEST_F(TimelineViewTest, ASelectionSurvivesALiveTape) {
    m_writer = test::writeSampleTape(m_dir.filePath(QStringLiteral("live.tape")),
                                     {.steps = 5, .seal = false});
    ASSERT_TRUE(m_writer->flush().ok());
    TapeSession session(m_dir.filePath(QStringLiteral("live.tape")));
    m_view = std::make_unique<TimelineView>(&m_selection);
    m_view->setSession(&session);
    m_view->resize(1000, 600);
    m_view->show();
    ASSERT_TRUE(test::waitUntil([&] { return canvas()->data()->findStep(4).has_value(); }));
    m_view->selectEvent(event(2'002));
    std::vector<storage::OpEvent> events;
    std::vector<storage::MemoryEvent> memory;
    std::uint32_t random = 3;
    test::appendStepEvents(events, memory, 5, canvas()->data()->endNs + 1'000, random);
    m_writer->opEvents(events);
    ASSERT_TRUE(m_writer->flush().ok());
    ASSERT_TRUE(test::waitUntil([&] { return canvas()->data()->findStep(5).has_value(); }));
    ASSERT_TRUE(m_view->selectedEvent().has_value());
    EXPECT_EQ(canvas()->data()->detail(*m_view->selectedEvent()).opId, 2'002U);
    m_view.reset();
}

TEST_F(TimelineViewTest, Exports) {
    open();
    ASSERT_TRUE(m_view->exportPng(m_dir.filePath(QStringLiteral("t.png"))));
    EXPECT_GT(QImage(m_dir.filePath(QStringLiteral("t.png"))).width(), 2'000);
    ASSERT_TRUE(m_view->exportSvg(m_dir.filePath(QStringLiteral("t.svg"))));
    ASSERT_TRUE(m_view->exportCsv(m_dir.filePath(QStringLiteral("t.csv"))));
    QFile csv(m_dir.filePath(QStringLiteral("t.csv")));
    ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
    const auto lines = QString::fromUtf8(csv.readAll()).split(u'\n', Qt::SkipEmptyParts);
    EXPECT_EQ(lines[0], "operator,phase,calls,total_ns,self_ns,min_ns,max_ns,flops,bytes");
    EXPECT_TRUE(lines[1].startsWith(QStringLiteral("conv2d_backward,backward,40,")))
        << lines[1].toStdString();
    EXPECT_FALSE(m_view->exportPng(m_dir.filePath(QStringLiteral("missing/t.png"))));
}

TEST_F(TimelineViewTest, RendersAtAnySizeInBothThemesWithoutBeingShown) {
    open();
    m_view->hide();
    for (const auto mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
        Theme::current().apply(mode);
        for (const QSize size : {QSize(1280, 800), QSize(2560, 1440), QSize(640, 400)}) {
            m_selection.setStep(3);
            m_view->selectEvent(event(3'005));
            m_view->setVisibleRange(
                {canvas()->data()->startOf(canvas()->data()->findStep(3).value()) - 100'000,
                 canvas()->data()->endOf(canvas()->data()->findStep(3).value()) + 100'000});
            QImage image(size, QImage::Format_RGB32);
            image.fill(Qt::magenta);
            ASSERT_TRUE(m_view->renderTo(image));
            EXPECT_NE(image.pixelColor(size.width() / 2, size.height() / 2), QColor(Qt::magenta));
            const QString folder = qEnvironmentVariable("TAPESCOPE_SHOTS");
            if (!folder.isEmpty())
                image.save(QStringLiteral("%1/timeline-%2-%3.png")
                               .arg(folder, mode == Theme::Mode::Dark ? "dark" : "light")
                               .arg(size.width()));
        }
    }
}

/// CPU time of this thread: a busy machine does not distort it.
std::int64_t cpuNs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Prints, does not judge: times depend on the machine.
TEST(TimelineScale, TenMillionEventsPrintTheirFrameTime) {
    TimelineBuilder builder;
    std::vector<storage::OpEvent> events;
    std::vector<storage::MemoryEvent> memory;
    std::uint32_t random = 9;
    std::int64_t now = 0;
    const int total = qEnvironmentVariableIsSet("TAPESCOPE_HUGE") ? 10'000'000 : 1'000'000;
    std::int64_t building = 0;
    for (std::int64_t step = 0; builder.events() < static_cast<std::size_t>(total); ++step) {
        now = test::appendStepEvents(events, memory, step, now, random);
        if (events.size() < 100'000) continue;
        const std::int64_t begin = cpuNs();
        builder.append(events);
        builder.append(memory);
        building += cpuNs() - begin;
        events.clear();
        memory.clear();
    }
    auto structure = std::make_shared<Structure>();
    structure->names = test::sampleNames();
    structure->modules = test::sampleModules();
    for (std::size_t i = 0; i < structure->modules.size(); ++i)
        structure->moduleIndex[structure->modules[i].id] = i;
    TimelineCanvas canvas;
    canvas.resize(1920, 900);
    canvas.setData(builder.snapshot(structure));
    canvas.show();
    std::printf("%zu events, built in %.0f ns each\n", builder.events(),
                static_cast<double>(building) / static_cast<double>(builder.events()));
    QImage frame(1920, 900, QImage::Format_RGB32);
    double worst = 0;
    for (double share = 1; share > 1e-7; share /= 3) {
        const auto length = static_cast<std::int64_t>(share * static_cast<double>(now));
        std::int64_t best = INT64_MAX;
        for (int repeat = 0; repeat < 5; ++repeat) {
            canvas.setVisibleRange(
                {now / 3 + repeat * length / 100, now / 3 + repeat * length / 100 + length});
            const std::int64_t begin = cpuNs();
            canvas.render(&frame);
            best = std::min(best, cpuNs() - begin);
        }
        worst = std::max(worst, static_cast<double>(best) / 1e6);
        std::printf("1/%-9.0f %6.2f ms  visited %zu, boxes %zu\n", 1 / share,
                    static_cast<double>(best) / 1e6, canvas.painter().visited(),
                    canvas.painter().boxes());
    }
    std::printf("slowest frame %.2f ms\n", worst);
    EXPECT_LT(canvas.painter().visited(), 100'000U) << "a frame looks at pixels, not at all events";
}

}  // namespace
}  // namespace tapescope::viewers
