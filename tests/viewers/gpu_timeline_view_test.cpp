// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/gpu_sample.h"
#include "support/sample_tape.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/models/gpu_view.h"
#include "viewers/models/tape_session.h"
#include "viewers/timeline/event_text.h"
#include "viewers/timeline/gpu_notice_bar.h"
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_charts.h"
#include "viewers/timeline/timeline_details.h"
#include "viewers/timeline/timeline_geometry.h"
#include "viewers/timeline/timeline_overview.h"
#include "viewers/timeline/timeline_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

class GpuTimelineView : public ::testing::Test {
protected:
    void open(const test::GpuSampleOptions& options = {}) {
        const QString path = m_dir.filePath(QStringLiteral("gpu.tape"));
        m_writer = test::writeGpuSample(path.toStdString(), options);
        show(path);
        ASSERT_TRUE(test::waitUntil([&] { return canvas()->data()->events > 0; }));
        canvas()->setFocus();
    }
    void show(const QString& path) {
        m_session = std::make_unique<TapeSession>(path);
        m_view = std::make_unique<TimelineView>(&m_selection);
        m_view->setSession(m_session.get());
        m_view->resize(1280, 760);
        m_view->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_view.get()));
        ASSERT_TRUE(test::waitUntil([&] { return !m_session->snapshot().loading; }));
    }
    TimelineCanvas* canvas() { return m_view->findChild<TimelineCanvas*>(); }
    const TimelineData& data() { return *canvas()->data(); }
    EventRef first(RowKind kind, const std::string& title = {}) {
        for (std::size_t r = 0; r < data().rows.size(); ++r)
            for (std::size_t i = 0; data().rows[r].kind == kind && i < data().rows[r].size(); ++i)
                if (title.empty() || data().title({r, i}) == title) return {r, i};
        ADD_FAILURE() << "no " << title;
        return {};
    }
    QString field(EventRef event, const QString& label) {
        for (const EventField& f : eventFields(data(), event, nullptr))
            if (f.label == label) return f.value;
        return {};
    }

    QTemporaryDir m_dir;
    std::unique_ptr<storage::TapeWriter> m_writer;
    std::unique_ptr<TapeSession> m_session;
    Selection m_selection;
    std::unique_ptr<TimelineView> m_view;
};

TEST_F(GpuTimelineView, AKernelSaysWhereItCameFromAndWhatItTook) {
    open();
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    EXPECT_EQ(field(kernel, QStringLiteral("Grid")), QStringLiteral(u"128 × 4 × 1"));
    EXPECT_EQ(field(kernel, QStringLiteral("Block")), QStringLiteral(u"256 × 1 × 1"));
    EXPECT_EQ(field(kernel, QStringLiteral("Registers")), "40 a thread");
    EXPECT_EQ(field(kernel, QStringLiteral("NVTX")), QStringLiteral(u"step 0 › forward"));
    EXPECT_EQ(field(kernel, QStringLiteral("Queue")), "4 ahead of it at the launch");
    EXPECT_EQ(field(kernel, QStringLiteral("Device")), "0, context 1");
    const EventRef copy = first(RowKind::Stream, "copy host to device");
    EXPECT_EQ(field(copy, QStringLiteral("Rate")), "25.0 GB/s");  // 8 388 608 B in 335 544 ns
    EXPECT_EQ(field(copy, QStringLiteral("Memory")), "pinned to device");
    EXPECT_EQ(field(first(RowKind::Api), QStringLiteral("Returned")), "0, success");
    EXPECT_EQ(field(first(RowKind::Stream, "multi_tensor_apply_kernel_adam"),
                    QStringLiteral("CUDA graph")),
              "3, node 1");
    EXPECT_EQ(field(first(RowKind::Stream, "orphan_kernel"), QStringLiteral("Launch call")),
              "not recorded");
    const EventRef elementwise =
        first(RowKind::Stream, "vectorized_elementwise_kernel<CUDAFunctor_add>");
    EXPECT_TRUE(
        field(elementwise, QStringLiteral("Full name"))
            .startsWith(QStringLiteral("void at::native::vectorized_elementwise_kernel<4,")));
}

TEST_F(GpuTimelineView, ARangeSaysWhatNvtxSaidOfIt) {
    open();
    const EventRef backward = first(RowKind::Nvtx, "backward");
    EXPECT_EQ(field(backward, QStringLiteral("Category")), "2");
    EXPECT_EQ(field(backward, QStringLiteral("Colour")), "#8a1c3b");
    EXPECT_EQ(field(backward, QStringLiteral("Payload")), "") << "step 0: none";
    EXPECT_EQ(field({backward.row, backward.index + 4}, QStringLiteral("Payload")), "1");
    EXPECT_EQ(field(first(RowKind::Nvtx, "step 0"), QStringLiteral("Category")), "");
}

/// WCAG's contrast, by its definition.
double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& c) {
        const auto linear = [](double v) {
            return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
    };
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST_F(GpuTimelineView, RangesHaveTheirOwnColourAndALegibleName) {
    const auto fill = [](std::uint32_t argb) {
        auto labels = std::make_shared<std::vector<GpuLabel>>(1);
        labels->front().kind = storage::GpuEventKind::NvtxPush;
        labels->front().colour = argb;
        auto gpu = std::make_shared<GpuView>();
        gpu->labels = labels;
        TimelineData data;
        data.gpu = gpu;
        EventBlock block;
        block.push(0, 100, 0, 0);
        TimelineRow row;
        row.kind = RowKind::Nvtx;
        TimelineStyle style;
        style.rebuild();
        return QColor(style.fill(data, row, block, 0));
    };
    const Theme::Mode before = Theme::current().mode();
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
        Theme::current().apply(mode);
        const QColor lane = Theme::current().color(Theme::Field);
        EXPECT_EQ(fill(0xFF2E9E5B), QColor(0x2E, 0x9E, 0x5B));
        EXPECT_EQ(fill(0x002E9E5B), QColor(0x2E, 0x9E, 0x5B)) << "alpha was not thought of";
        const QColor half = fill(0x80FF0000);
        EXPECT_NEAR(half.red(), (lane.red() + 255) / 2, 2);
        EXPECT_NEAR(half.green(), lane.green() / 2, 2);
        EXPECT_NEAR(half.blue(), lane.blue() / 2, 2);
        for (const std::uint32_t argb :
             {0xFF000000U, 0xFFFFFFFFU, 0xFFFFFF00U, 0xFF0000FFU, 0xFF808080U, 0x01FFFFFFU,
              0x20000000U, 0x40FF00FFU, 0xFF767676U, lane.rgb()}) {
            const QColor box = fill(argb);
            EXPECT_GE(contrast(box, Theme::textOn(box)), 4.0) << std::hex << argb;
            const int apart =
                std::max({std::abs(box.red() - lane.red()), std::abs(box.green() - lane.green()),
                          std::abs(box.blue() - lane.blue())});
            EXPECT_GE(apart, 30) << std::hex << argb << " looks like an empty lane";
        }
    }
    Theme::current().apply(before);
}

TEST_F(GpuTimelineView, AnEventRecordIsATickThatCanBeChosen) {
    open();
    // The first is on the compute stream, where records have the time of their call only.
    const EventRef atCall = first(RowKind::Event, "event record");
    EXPECT_EQ(field(atCall, QStringLiteral("Event")), "#2");
    EXPECT_EQ(field(atCall, QStringLiteral("Time of")), "its call, the record has none");
    EXPECT_EQ(field(atCall, QStringLiteral("Call")), "cudaEventRecord");
    EXPECT_EQ(field(atCall, QStringLiteral("NVTX")), "step 0");
    const EventRef timed{first(RowKind::Stream, "copy host to device").row - 1, 0};
    EXPECT_EQ(field(timed, QStringLiteral("Event")), "#1");
    EXPECT_EQ(field(timed, QStringLiteral("Time of")), "the device");
    EXPECT_EQ(field(timed, QStringLiteral("Duration")), "") << "an instant";
    const EventRef wait = first(RowKind::Event, "stream waits for event");
    EXPECT_EQ(wait.row, atCall.row);
    EXPECT_EQ(field(wait, QStringLiteral("Event")), "#1");

    canvas()->setVisibleRange({data().startOf(timed) - 50'000, data().startOf(timed) + 50'000});
    const QRect tick = canvas()->eventRect(timed);
    ASSERT_FALSE(tick.isEmpty());
    const QRect copies = canvas()->eventRect({timed.row + 1, 0});
    EXPECT_EQ(tick.bottom() + 1, copies.top()) << "it stands on its stream";
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, tick.center());
    EXPECT_EQ(m_view->selectedEvent(), timed);
    ASSERT_EQ(canvas()->flows().size(), 1U) << "from the call that recorded it";
    test::keepShot(*m_view, QStringLiteral("gpu-event"));
}

TEST_F(GpuTimelineView, ASelectionDrawsItsLinesAndBracketsFollowThem) {
    open();
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    m_view->selectEvent(kernel);
    ASSERT_EQ(canvas()->flows().size(), 1U);
    EXPECT_EQ(canvas()->flows()[0].to, kernel);
    const EventRef launch = canvas()->flows()[0].from;
    EXPECT_EQ(data().rows[launch.row].kind, RowKind::Api);
    test::keepShot(*m_view, QStringLiteral("gpu-kernel"));
    QTest::keyClick(canvas(), Qt::Key_BracketLeft);
    EXPECT_EQ(m_view->selectedEvent(), launch);
    QTest::keyClick(canvas(), Qt::Key_BracketRight);
    EXPECT_EQ(m_view->selectedEvent(), kernel);
    QTest::keyClick(canvas(), Qt::Key_BracketLeft);
    QTest::keyClick(canvas(), Qt::Key_Up);
    EXPECT_EQ(data().title(*m_view->selectedEvent()), "forward") << "the range around the call";
    EXPECT_EQ(canvas()->flows().size(), 7U) << "the kernels launched in it";
    test::keepShot(*m_view, QStringLiteral("gpu-range"));
}

TEST_F(GpuTimelineView, AGraphLaunchLeadsToAllItsKernels) {
    open({.steps = 1});
    m_view->selectEvent(first(RowKind::Api, "cudaGraphLaunch"));
    EXPECT_EQ(canvas()->flows().size(), 5U);
    EXPECT_TRUE(field(*m_view->selectedEvent(), QStringLiteral("Started"))
                    .startsWith(QStringLiteral("5 kernels and copies")));
}

TEST_F(GpuTimelineView, AKernelOfTheEngineLeadsToItsOperator) {
    open({.steps = 1, .operators = true});
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    m_view->selectEvent(kernel);
    EXPECT_EQ(canvas()->flows().size(), 2U) << "operator to call, call to kernel";
    EXPECT_EQ(m_selection.op().opId, 5U) << "other views follow";
    EXPECT_EQ(field(kernel, QStringLiteral("Operator")), "attention");
    m_view->selectEvent(data().find({.opId = 5}));
    ASSERT_EQ(canvas()->flows().size(), 1U);
    EXPECT_EQ(canvas()->flows()[0].to, kernel);
    test::keepShot(*m_view, QStringLiteral("gpu-operator"));
}

TEST_F(GpuTimelineView, TitlesFoldTheirGroupAndARevealedEventUnfoldsIt) {
    open();
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    m_view->selectEvent(kernel);
    const QRect shown = canvas()->eventRect(kernel);
    ASSERT_FALSE(shown.isEmpty());
    QTest::keyClick(canvas(), Qt::Key_C);
    EXPECT_TRUE(canvas()->eventRect(kernel).isEmpty());
    QTest::keyClick(canvas(), Qt::Key_C);
    EXPECT_EQ(canvas()->eventRect(kernel), shown);
    QTest::keyClick(canvas(), Qt::Key_C, Qt::ShiftModifier);
    EXPECT_EQ(canvas()->folded().size(), 1U) << "the one process";
    m_view->selectEvent(kernel);
    EXPECT_TRUE(canvas()->folded().empty());
    EXPECT_FALSE(canvas()->eventRect(kernel).isEmpty());
    // The title of the process is the first line.
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, {40, TimelineCanvas::kRuler + 10});
    EXPECT_EQ(canvas()->folded().size(), 1U);
    test::keepShot(*m_view, QStringLiteral("gpu-folded"));
}

TEST_F(GpuTimelineView, TheOverviewHasABandADeviceAndLeavesNothingOut) {
    TimelineData data;
    const auto add = [&data](const std::string& device, std::int64_t startNs, std::int64_t ns) {
        auto block = std::make_shared<EventBlock>();
        block->push(startNs, ns, 0, 0);
        block->extend(0);
        TimelineChart chart;
        chart.kind = TimelineChart::Kind::Busy;
        chart.device = device;
        chart.busy.kind = RowKind::Busy;
        chart.busy.blocks = {block};
        chart.group = static_cast<std::uint32_t>(data.charts.size());
        data.charts.push_back(std::move(chart));
    };
    for (int p = 0; p < 200; ++p) add("GPU-1", p * 1000, 500);
    add("GPU-2", 0, 1000);
    const TimeAxis axis = TimeAxis::fit({0, 200'000}, 200);
    const auto worked = [](const OverviewBand& band) {
        double sum = 0;
        for (const OverviewBand::Column& column : band.columns) sum += column.share;
        return sum;
    };
    const auto bands = overviewBands(data, axis, 10);
    ASSERT_EQ(bands.size(), 2U);
    EXPECT_NEAR(worked(bands[0]), 100, 1e-6);
    EXPECT_NEAR(worked(bands[1]), 1, 1e-6);
    for (int d = 3; d < 40; ++d) add("GPU-" + std::to_string(d), d * 1000, 1000);
    const auto shared = overviewBands(data, axis, 10);
    ASSERT_EQ(shared.size(), 10U);
    double all = 0;
    for (const OverviewBand& band : shared) all += worked(band);
    EXPECT_NEAR(all, 138, 1e-6);
}

TEST_F(GpuTimelineView, ProcessesThatStartFoldedStayAsTheUserLeavesThem) {
    auto data = std::make_shared<TimelineData>();
    data->groups = {{1, -1, "one", {}}, {2, -1, "two", {}, true}};
    TimelineCanvas canvas;
    canvas.setData(data);
    EXPECT_EQ(canvas.folded(), FoldedGroups{2});
    canvas.toggleGroup(1);
    auto grown = std::make_shared<TimelineData>(*data);
    grown->groups.push_back({3, -1, "three", {}, true});
    canvas.setData(grown);
    EXPECT_EQ(canvas.folded(), FoldedGroups{3});
    canvas.forgetFolded();
    canvas.setData(data);
    EXPECT_EQ(canvas.folded(), FoldedGroups{2}) << "another tape";
}

TEST_F(GpuTimelineView, LossesAreSaidAndZeroesAreNot) {
    open();
    const auto* bar = m_view->findChild<GpuNoticeBar*>();
    ASSERT_TRUE(bar->isVisible());
    EXPECT_TRUE(bar->hasLosses());
    EXPECT_TRUE(bar->summary().contains(QStringLiteral("42 dropped records")));
    EXPECT_FALSE(bar->details().contains(QStringLiteral("clock steps")));
    EXPECT_TRUE(bar->details().contains(QStringLiteral("ok – GPU tracing is on (CUPTI 12.8).")));
    m_view->findChild<GpuNoticeBar*>()->setExpanded(true);
    test::keepShot(*m_view, QStringLiteral("gpu-notices"));
}

TEST(GpuNotices, TheLineSumsWhatManyProcessesLost) {
    using Kind = profiler::GpuNotice::Kind;
    std::vector<profiler::GpuNotice> notices{
        {Kind::Loss, {}, "12 events of 2 processes have no lane", {}}};
    for (int p = 0; p < 300; ++p) {
        const std::string process = "train · pid " + std::to_string(p);
        notices.push_back({Kind::Loss, process, "1\u202f003 dropped records", {}});
        if (p == 7) notices.push_back({Kind::Loss, process, "1 declined buffers", {}});
        notices.push_back({Kind::Off, process, "GPU counters (NVML): no-driver", {}});
    }
    GpuNoticeBar bar;
    bar.setNotices(notices, true);
    EXPECT_EQ(bar.summary().toStdString(),
              "GPU record: 12 events of 2 processes have no lane  ·  " +
                  format::exactCount(300'900).toStdString() +
                  " dropped records in 300 processes  ·  1 declined buffers  ·  "
                  "GPU counters (NVML): no-driver in 300 processes");
    EXPECT_TRUE(bar.details().contains(QStringLiteral(u"train · pid 7: 1\u202f003 dropped")));
}

TEST_F(GpuTimelineView, ACompleteRecordSaysSo) {
    open({.losses = false});
    const auto* bar = m_view->findChild<GpuNoticeBar*>();
    EXPECT_FALSE(bar->hasLosses());
    EXPECT_TRUE(bar->summary().startsWith(QStringLiteral("GPU record complete")));
}

TEST_F(GpuTimelineView, NoDriverIsSaidWhereActivityWouldBe) {
    const QString path = m_dir.filePath(QStringLiteral("none.tape"));
    m_writer = test::writeNoDriverSample(path.toStdString());
    show(path);
    const auto* empty = m_view->findChild<EmptyState*>();
    ASSERT_TRUE(test::waitUntil([&] { return empty->title() == "No GPU activity"; }));
    EXPECT_TRUE(empty->isVisible());
    EXPECT_TRUE(empty->hint().contains(QStringLiteral("No NVIDIA driver on this machine")));
    test::keepShot(*m_view, QStringLiteral("gpu-none"));
}

TEST_F(GpuTimelineView, SearchGoesThroughKernels) {
    open();
    m_view->search(QStringLiteral("FLASH_BWD"));
    ASSERT_TRUE(m_view->selectedEvent().has_value());
    EXPECT_EQ(data().title(*m_view->selectedEvent()), "flash_bwd_kernel");
    const auto* count = m_view->findChild<QLabel*>(QStringLiteral("searchCount"));
    EXPECT_TRUE(test::waitUntil([&] { return count->text() == "3 matches"; }));
}

TEST_F(GpuTimelineView, ChartsSayTheirNumbers) {
    open({.steps = 1, .losses = false});
    const TimelineChart* busy = nullptr;
    const TimelineChart* memory = nullptr;
    for (const TimelineChart& chart : data().charts) {
        if (chart.kind == TimelineChart::Kind::Busy) busy = &chart;
        if (chart.kind == TimelineChart::Kind::Memory) memory = &chart;
    }
    ASSERT_TRUE(busy != nullptr && memory != nullptr);
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    EXPECT_EQ(chartSummary(data(), *busy, {data().startOf(kernel), data().endOf(kernel)}),
              QStringLiteral(u"100\u00a0%"));
    const QStringList bands = chartValues(*memory, data().startOf(kernel), 1000);
    ASSERT_EQ(bands.size(), 3);
    EXPECT_TRUE(bands[0].startsWith(memoryBandText(0)));
    test::keepShot(*m_view, QStringLiteral("gpu-charts"));
}

TEST_F(GpuTimelineView, AStreamsQueueStandsBelowItAndSaysItsDepth) {
    open({.steps = 1, .losses = false});
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    const TimelineLayout layout = TimelineLayout::of(data(), 14, 600);
    const auto queueIn = [this](const TimelineLayout& from) {
        const auto at = std::ranges::find_if(from.charts, [this](const ChartPlace& place) {
            return data().charts[place.chart].kind == TimelineChart::Kind::Queue;
        });
        return at != from.charts.end() ? &*at : nullptr;
    };
    const ChartPlace* place = queueIn(layout);
    ASSERT_NE(place, nullptr);
    const RowPlace* row = layout.placeOf(kernel.row);
    EXPECT_GE(place->y, row->y + row->height);
    EXPECT_LT(place->y, row->y + row->height + 4);
    for (const RowPlace& other : layout.rows)
        EXPECT_TRUE(other.y + other.height <= place->y || place->y + place->height <= other.y);
    EXPECT_EQ(queueIn(TimelineLayout::of(data(), 14, 600, {}, false)), nullptr);

    const TimelineChart& queue = data().charts[place->chart];
    // At the launch of the fifth kernel none of the four before it was over.
    const std::int64_t at = data().startOf(*gpuRelations(data(), kernel).launch);
    const TimeAxis near{at - 5, 1, 10}, far{0, 1e9, 10};
    EXPECT_EQ(queueText(queue, near, 5), "queue: 5 launched and not over");
    EXPECT_EQ(chartValues(queue, at, 1), QStringList("here 5"));
    // Six forward kernels, a fused one, five backward, the graph's five, a copy: the host never
    // waits.
    EXPECT_EQ(chartSummary(data(), queue, {0, data().endNs}), "max 18");
    EXPECT_EQ(queueText(queue, far, 0), "queue: 0 to 18 launched and not over");

    EXPECT_TRUE(canvas()->queuesVisible());
    QTest::keyClick(canvas(), Qt::Key_Q);
    EXPECT_FALSE(canvas()->queuesVisible());
    QTest::keyClick(canvas(), Qt::Key_Q);
    test::keepShot(*m_view, QStringLiteral("gpu-queue"));
}

TEST_F(GpuTimelineView, ASpikeOfAQueueIsSeenFromAnyDistance) {
    auto data = std::make_shared<TimelineData>();
    CountCurveBuilder depth;
    depth.add(0, 1);
    for (int k = 0; k < 9; ++k) {
        depth.add(400'000'000, 1);
        depth.add(400'000'001, -1);
    }
    depth.add(1'000'000'000, -1);
    depth.settle();
    data->groups = {{1, -1, "one", {}}};
    auto block = std::make_shared<EventBlock>();
    block->push(0, 1'000'000'000, 0, 0);
    block->extend(0);
    TimelineRow row;
    row.kind = RowKind::Stream;
    row.group = 0;
    row.blocks = {block};
    data->rows = {row};
    TimelineChart chart;
    chart.kind = TimelineChart::Kind::Queue;
    chart.queue = depth.curve();
    data->charts = {chart};
    data->endNs = 1'000'000'000;
    TimelineCanvas canvas;
    canvas.resize(800, 300);
    canvas.setData(data);
    canvas.setVisibleRange({0, 1'000'000'000});
    const TimelineLayout layout =
        TimelineLayout::of(*data, canvas.painter().style().textHeight(), 300 - 24);
    ASSERT_EQ(layout.charts.size(), 1U);
    const int top = TimelineCanvas::kRuler + layout.charts[0].y + 3;
    const QImage image = canvas.grab().toImage();
    std::vector<int> high;
    for (int x = canvas.plotLeft(); x < image.width(); ++x)
        if (image.pixel(x, top) != canvas.painter().style().laneBackground()) high.push_back(x);
    const int spike = canvas.plotLeft() + canvas.axis().pixel(400'000'000);
    EXPECT_TRUE(std::ranges::find(high, spike) != high.end()) << "a nanosecond of a second";
}

TEST_F(GpuTimelineView, RunningOutOfMemoryIsFlaggedAndSaysItsNumbers) {
    open({.losses = false, .outOfMemoryAt = 1});
    const TimelineChart* memory = nullptr;
    for (const TimelineChart& chart : data().charts)
        if (chart.outOfMemory) memory = &chart;
    ASSERT_NE(memory, nullptr);
    const TimeAxis axis{data().beginNs, static_cast<double>(data().endNs - data().beginNs) / 1000,
                        1000};
    const int x = static_cast<int>(axis.x(memory->outOfMemory->front().timeNs));
    EXPECT_EQ(outOfMemoryText(*memory, axis, x),
              QStringLiteral(u"PyTorch ran out of memory: 3.22\u00a0GB asked for, 1.07\u00a0GB "
                             u"free on the device\nat train.py:31 forward"));
    EXPECT_EQ(outOfMemoryText(*memory, axis, x - 20), QString());
    QImage image(1280, 760, QImage::Format_RGB32);
    ASSERT_TRUE(m_view->renderTo(image));
    int flagged = 0;
    for (int py = 0; py < image.height(); ++py)
        for (int px = 0; px < image.width(); ++px)
            if (image.pixelColor(px, py) == Theme::current().color(Theme::Bad)) ++flagged;
    EXPECT_GT(flagged, 50);
    test::keepShot(*m_view, QStringLiteral("gpu-oom"));
}

TEST_F(GpuTimelineView, TheOverviewStandsOverTheLanes) {
    open({.steps = 1, .losses = false});
    const EventRef kernel = first(RowKind::Stream, "flash_fwd_kernel");
    auto* overview = m_view->findChild<TimelineOverview*>();
    const QRect drawn = canvas()->eventRect(kernel);
    const QRgb color = canvas()->grab().toImage().pixel(drawn.center() + QPoint(0, 8));
    const QImage strip = overview->grab().toImage();
    EXPECT_EQ(strip.pixel(drawn.center().x(), TimelineOverview::kHeight / 2), color)
        << "the same kernel at the same place in its colour";
    EXPECT_EQ(strip.pixel(canvas()->plotLeft() - 3, 4), Theme::current().color(Theme::Panel).rgb());
}

TEST_F(GpuTimelineView, LanesGrowWithTheRoom) {
    open({.steps = 1, .losses = false});
    const auto height = [this](int available) {
        for (const RowPlace& place : TimelineLayout::of(data(), 14, available).rows)
            if (data().rows[place.row].kind == RowKind::Stream) return place.height;
        return 0;
    };
    EXPECT_GE(height(2000), height(100) * 3 / 2);
    EXPECT_LE(height(2000), height(100) * 2);
}

TEST_F(GpuTimelineView, KernelsHaveColumnsOfTheirOwn) {
    open({.steps = 1, .losses = false});
    const auto* table = m_view->findChild<QTableView*>();
    const auto* model = m_view->findChild<TimelineDetails*>()->model();
    ASSERT_TRUE(test::waitUntil([&] { return model->rowCount() > 0; }));
    EXPECT_EQ(model->headerData(OpSummaryModel::Name, Qt::Horizontal).toString(), "Kernel or copy");
    for (const int column :
         {OpSummaryModel::PhaseColumn, OpSummaryModel::Self, OpSummaryModel::Flops})
        EXPECT_TRUE(table->isColumnHidden(column)) << column;
    EXPECT_FALSE(table->isColumnHidden(OpSummaryModel::Median));
    EXPECT_EQ(table->horizontalHeader()->sortIndicatorSection(), OpSummaryModel::Total);
}

TEST(EventText, AStepIsItsNumberWhereThereIsNoRoom) {
    EXPECT_EQ(numberOf(QStringLiteral("step 12")), "12");
    for (const char* other : {"forward", "step 12 b", "copy host to device", "", "12", " 12"})
        EXPECT_EQ(numberOf(QString::fromUtf8(other)), QString()) << other;
}

TEST_F(GpuTimelineView, BothThemesAndAPictureToKeep) {
    open();
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
        Theme::current().apply(mode);
        QImage image(1280, 760, QImage::Format_RGB32);
        ASSERT_TRUE(m_view->renderTo(image));
        EXPECT_NE(image.pixel(640, 300), 0U);
    }
    EXPECT_TRUE(m_view->exportSvg(m_dir.filePath(QStringLiteral("x.svg"))));
    EXPECT_TRUE(m_view->exportCsv(m_dir.filePath(QStringLiteral("x.csv"))));
}

}  // namespace
}  // namespace tapescope::viewers
