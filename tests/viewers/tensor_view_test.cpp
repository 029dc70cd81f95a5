// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_view.h"

#include "support/tensor_samples.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/tensors/tensor_header.h"
#include "viewers/tensors/tensor_histogram.h"
#include "viewers/tensors/tensor_image.h"
#include "viewers/tensors/tensor_model.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include <gtest/gtest.h>
#include <limits>
#include <memory>

namespace tapescope::viewers {
namespace {

using test::MemoryTensor;
using test::waves;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> counting(int n) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(i);
    return values;
}

TEST(TensorModel, ShowsAPlaceholderUntilThePageArrives) {
    MemoryTensor tensor({3, 4}, counting(12), QStringLiteral("i64"));
    TensorClient client;
    client.setProvider(&tensor);
    TensorModel model(client);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setTensor({QStringLiteral("x"), QStringLiteral("r")}, SliceSpec({3, 4}), true);
    EXPECT_EQ(model.rowCount(), 3);
    EXPECT_EQ(model.columnCount(), 4);
    EXPECT_EQ(model.index(2, 3).data().toString(), QStringLiteral("…"));
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    EXPECT_EQ(tensor.answer(), 1);  // one page for all cells
    EXPECT_EQ(tensor.log, (QStringList{QStringLiteral("slice r [:, :] 12")}));
    ASSERT_EQ(changed.count(), 1);
    EXPECT_EQ(changed[0][1].toModelIndex(), model.index(2, 3));
    EXPECT_EQ(model.index(2, 3).data().toString(), QStringLiteral("11"));
    EXPECT_EQ(model.index(1, 0).data(TensorModel::ValueRole).toDouble(), 4);
    EXPECT_EQ(model.index(1, 2).data(Qt::ToolTipRole).toString(), QStringLiteral("x[1, 2] = 6"));
}

TEST(TensorModel, AsksOnlyForThePagesLookedAt) {
    MemoryTensor tensor({1000, 300}, waves(300000));
    TensorClient client;
    client.setProvider(&tensor);
    TensorModel model(client);
    model.setTensor({QStringLiteral("x"), QStringLiteral("r")}, SliceSpec({1000, 300}), false);
    model.index(999, 299).data();
    model.index(998, 260).data();
    model.index(0, 0).data();
    EXPECT_EQ(tensor.log, (QStringList{QStringLiteral("slice r [960:1000, 256:300] 1760"),
                                       QStringLiteral("slice r [0:64, 0:64] 4096")}));
    tensor.answer();
    EXPECT_EQ(model.index(999, 299).data(TensorModel::ValueRole).toDouble(), waves(300000).back());
}

TEST(TensorModel, TurnsATensorWhoseColumnsComeFirst) {
    MemoryTensor tensor({2, 3}, counting(6));
    TensorClient client;
    client.setProvider(&tensor);
    TensorModel model(client);
    SliceSpec turned({2, 3});
    turned.setShownAxes(1, 0);
    model.setTensor({QStringLiteral("x"), QStringLiteral("r")}, turned, false);
    ASSERT_EQ(model.rowCount(), 3);
    model.index(0, 0).data();
    tensor.answer();
    EXPECT_EQ(model.index(2, 0).data(TensorModel::ValueRole).toDouble(), 2);
    EXPECT_EQ(model.index(2, 1).data(TensorModel::ValueRole).toDouble(), 5);
}

TEST(TensorModel, DropsAnswersToWhatIsNoLongerShown) {
    MemoryTensor first({2, 2}, {1, 2, 3, 4});
    TensorClient client;
    client.setProvider(&first);
    TensorModel model(client);
    model.setTensor({QStringLiteral("a"), QStringLiteral("a")}, SliceSpec({2, 2}), false);
    model.index(0, 0).data();
    model.setTensor({QStringLiteral("b"), QStringLiteral("b")}, SliceSpec({2, 2}), false);
    first.answer();
    EXPECT_EQ(model.index(0, 0).data().toString(), QStringLiteral("…"));
    first.answer();
    EXPECT_EQ(model.index(0, 0).data().toString(), QStringLiteral("1"));
}

TEST(TensorModel, SaysWhenAPageCannotBeHadAndWhenFrozenAsksNothing) {
    MemoryTensor tensor({200, 2}, counting(400));
    tensor.failure = QStringLiteral("The tensor is gone.");
    TensorClient client;
    client.setProvider(&tensor);
    TensorModel model(client);
    QSignalSpy failed(&model, &TensorModel::failed);
    model.setTensor({QStringLiteral("x"), QStringLiteral("r")}, SliceSpec({200, 2}), false);
    model.index(0, 0).data();
    tensor.answer();
    ASSERT_EQ(failed.count(), 1);
    EXPECT_EQ(failed[0][0].toString(), QStringLiteral("The tensor is gone."));
    EXPECT_EQ(model.index(0, 0).data().toString(), QStringLiteral("?"));
    model.setFrozen(true);
    EXPECT_EQ(model.index(150, 0).data().toString(), QStringLiteral("…"));
    EXPECT_EQ(tensor.waiting(), 0U);
}

TEST(TensorModel, ShowsAtMostAMillionRows) {
    MemoryTensor tensor({3'000'000}, {});
    TensorClient client;
    client.setProvider(&tensor);
    TensorModel model(client);
    model.setTensor({QStringLiteral("x"), QStringLiteral("r")}, SliceSpec({3'000'000}), false);
    EXPECT_EQ(model.rowCount(), 1'000'000);
    EXPECT_TRUE(model.clipped());
    model.index(999'999, 0).data();
    EXPECT_EQ(tensor.log.last(), QStringLiteral("slice r [999936:1000000] 64"));
}

TEST(TensorModel, WritesNumbersThatAreNone) {
    EXPECT_EQ(TensorModel::valueText(kNaN, false), QStringLiteral("NaN"));
    EXPECT_EQ(TensorModel::valueText(-kInf, false), QStringLiteral("−∞"));
    EXPECT_EQ(TensorModel::valueText(-0.123456, false), QStringLiteral("−0.1235"));
    EXPECT_EQ(TensorModel::valueText(123456789, true), QStringLiteral("123456789"));
}

class TensorViewTest : public ::testing::Test {
protected:
    TensorViewTest() {
        view.resize(700, 500);
        view.show();
    }
    void show(MemoryTensor& tensor, const char* name = "input") {
        view.setProvider(&tensor);
        view.showTensor({QString::fromUtf8(name), QStringLiteral("r1")});
        settle(tensor);
    }
    /// Paints, so that views ask for what they show, and answers.
    void settle(MemoryTensor& tensor) {
        do {
            QCoreApplication::processEvents();
            view.grab();
        } while (tensor.answer() > 0);
    }
    QString header() const { return view.findChild<TensorHeader*>()->text(); }
    TensorModel& model() const {
        return *qobject_cast<TensorModel*>(view.findChild<QTableView*>()->model());
    }
    TensorImage& image() const { return *view.findChild<TensorImage*>(); }

    TensorView view;
};

TEST_F(TensorViewTest, HeadLineHasTypeDeviceAndNotANumbersBeforeTheStatistics) {
    MemoryTensor tensor({2, 3}, {kNaN, 1, 2, kInf, -3, kNaN});
    show(tensor);
    EXPECT_EQ(
        header(),
        QStringLiteral("input  f32[2,3]  cpu  ● NaN 2  ● Inf 1  min −3  mean 0  max 2  std 2.16"));
    EXPECT_EQ(tensor.log.first(), QStringLiteral("stats r1 64"));
}

TEST(TensorHeader, SaysThatComplexNumbersAreShownByMagnitude) {
    TensorHeader header;
    header.setTensor(QStringLiteral("spectrum"));
    TensorStats stats;
    stats.shape = {4};
    stats.dtype = QStringLiteral("c64");
    stats.device = QStringLiteral("cpu");
    stats.numel = 4;
    header.setStats(stats);
    EXPECT_FALSE(header.text().contains(u'|'));
    stats.magnitudes = true;
    header.setStats(stats);
    EXPECT_TRUE(header.text().startsWith(QStringLiteral("spectrum  c64[4]  magnitude |z|  cpu")));
    EXPECT_TRUE(header.toolTip().contains(QStringLiteral("|z|")));
}

TEST_F(TensorViewTest, TableAsksForTheShownSliceAndFollowsTheSliceBar) {
    MemoryTensor tensor({4, 2, 3, 5}, counting(120));
    show(tensor);
    EXPECT_EQ(view.sliceText(), QStringLiteral("0, 0, :, :"));
    EXPECT_EQ(model().index(2, 4).data().toString(), QStringLiteral("14"));
    QSignalSpy changed(&view, &TensorView::viewChanged);
    auto* batch = view.findChild<QSpinBox*>(QStringLiteral("index0"));
    batch->setFocus();
    QTest::keyClick(batch, Qt::Key_Up);
    settle(tensor);
    EXPECT_EQ(view.sliceText(), QStringLiteral("1, 0, :, :"));
    EXPECT_EQ(model().index(0, 0).data().toString(), QStringLiteral("30"));
    EXPECT_EQ(changed.count(), 1);
    auto* text = view.findChild<QLineEdit*>(QStringLiteral("sliceText"));
    text->setFocus();
    text->selectAll();
    QTest::keyClicks(text, QStringLiteral("-1, :, 0, ::2"));
    QTest::keyClick(text, Qt::Key_Return);
    settle(tensor);
    EXPECT_EQ(model().rowCount(), 2);
    EXPECT_EQ(model().columnCount(), 3);
    EXPECT_EQ(model().index(1, 2).data().toString(), QStringLiteral("109"));  // [3, 1, 0, 4]
    EXPECT_EQ(model().headerData(2, Qt::Horizontal, Qt::DisplayRole).toInt(), 4);
}

TEST_F(TensorViewTest, RefusesASliceThatDoesNotFitAndSaysWhy) {
    MemoryTensor tensor({4, 3}, counting(12));
    show(tensor);
    EXPECT_FALSE(view.setSliceText(QStringLiteral("7, :")));
    auto* error = view.findChild<QLabel*>(QStringLiteral("sliceError"));
    EXPECT_TRUE(error->isVisible());
    EXPECT_EQ(error->text(), QStringLiteral("Index 7 is outside axis 0 of size 4."));
    EXPECT_EQ(view.sliceText(), QStringLiteral(":, :"));
    EXPECT_TRUE(view.setSliceText(QStringLiteral("2, :")));
    EXPECT_FALSE(error->isVisible());
}

TEST_F(TensorViewTest, ChoosingTheOtherAxisTurnsTheTable) {
    MemoryTensor tensor({2, 3}, counting(6));
    show(tensor);
    auto* rows = view.findChild<QComboBox*>(QStringLiteral("rowAxis"));
    rows->setFocus();
    QTest::keyClick(rows, Qt::Key_Down);
    settle(tensor);
    EXPECT_EQ(model().rowCount(), 3);
    EXPECT_EQ(model().index(2, 1).data().toString(), QStringLiteral("5"));
}

TEST_F(TensorViewTest, KeepsSliceAndTabForTheNextTensorOfTheSameShape) {
    MemoryTensor a({4, 2, 3, 5}, counting(120));
    show(a);
    view.setTab(TensorView::Tab::Image);
    view.setSliceText(QStringLiteral("2, 1, :, :"));
    MemoryTensor b({4, 2, 3, 5}, counting(120));
    show(b);
    EXPECT_EQ(view.sliceText(), QStringLiteral("2, 1, :, :"));
    EXPECT_EQ(view.tab(), TensorView::Tab::Image);
    MemoryTensor c({3, 5}, counting(15));
    show(c);
    EXPECT_EQ(view.sliceText(), QStringLiteral(":, :"));
}

TEST_F(TensorViewTest, HistogramStatesWhatItLeavesOutAndReadsBins) {
    MemoryTensor tensor({10}, {0, 1, 2, 3, 4, 4, 4, 4, kNaN, kInf});
    show(tensor);
    view.setTab(TensorView::Tab::Histogram);
    settle(tensor);
    auto* histogram = view.findChild<TensorHistogram*>();
    EXPECT_EQ(histogram->summary(), QStringLiteral("8 of 10 values are finite · NaN 1 · Inf 1"));
    EXPECT_EQ(histogram->binAt({histogram->width() - 18.0, histogram->height() / 2.0}), 63);
    EXPECT_EQ(histogram->binAt({2, 2}), -1);
    const QImage linear = histogram->grab().toImage();
    auto* log = view.findChild<QToolButton*>(QStringLiteral("histogramLog"));
    QTest::mouseClick(log, Qt::LeftButton);
    EXPECT_TRUE(histogram->logarithmic());
    EXPECT_NE(histogram->grab().toImage(), linear);
}

TEST_F(TensorViewTest, ImageIsAGridOfChannelsAskedForOnlyWhenInFront) {
    MemoryTensor tensor({2, 3, 4, 5}, counting(120));
    show(tensor);
    EXPECT_FALSE(tensor.log.contains(QStringLiteral("slice r1 [0, :, :, :] 60")));
    QTest::mouseClick(view.findChild<QTabWidget*>()->tabBar(), Qt::LeftButton, {},
                      view.findChild<QTabWidget*>()->tabBar()->tabRect(2).center());
    settle(tensor);
    EXPECT_TRUE(tensor.log.contains(QStringLiteral("slice r1 [0, :, :, :] 60")));
    ASSERT_EQ(image().tiles().tiles(), 3);
    EXPECT_EQ(image().tiles().value(2, 3, 4), 59);
    // Under the pointer: the cell's full index and exact value.
    TensorImage::Cell found;
    const TensorImage& shown = image();
    for (int y = 0; y < shown.height() && found.tile != 1; ++y) {
        for (int x = 0; x < shown.width() && found.tile != 1; ++x) {
            found = shown.cellAt(QPointF(x, y));
        }
    }
    ASSERT_EQ(found.tile, 1);
    EXPECT_EQ(image().readout({1, 2, 3}), QStringLiteral("[0, 1, 2, 3] = 33"));
    auto* axis = view.findChild<QComboBox*>(QStringLiteral("tileAxis"));
    axis->setFocus();
    QTest::keyClick(axis, Qt::Key_Home);  // this slice only
    settle(tensor);
    EXPECT_EQ(image().tiles().tiles(), 1);
}

TEST_F(TensorViewTest, ImageZoomsAtThePointerAndFitsAgain) {
    MemoryTensor tensor({100, 100}, waves(10000));
    show(tensor);
    view.setTab(TensorView::Tab::Image);
    settle(tensor);
    const double fitted = image().zoom();
    const QPointF p(image().width() / 2.0, image().height() / 2.0);
    const TensorImage::Cell under = image().cellAt(p);
    QWheelEvent wheel(p, image().mapToGlobal(p), {}, {0, 120}, Qt::NoButton, Qt::ControlModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&image(), &wheel);
    EXPECT_NEAR(image().zoom(), fitted * 1.25, 1e-9);
    EXPECT_EQ(image().cellAt(p).row, under.row);
    EXPECT_EQ(image().cellAt(p).column, under.column);
    QTest::keyClick(&image(), Qt::Key_F);
    EXPECT_DOUBLE_EQ(image().zoom(), fitted);
}

TEST_F(TensorViewTest, PaintsNotANumbersInTheirOwnColours) {
    MemoryTensor tensor({1, 3}, {kNaN, kInf, -kInf});
    show(tensor);
    view.setTab(TensorView::Tab::Image);
    settle(tensor);
    const Theme& theme = Theme::current();
    const TensorImage& shown = image();
    const QImage picture = shown.picture();
    std::vector<QColor> seen(3);
    for (int y = 0; y < shown.height(); ++y) {
        for (int x = 0; x < shown.width(); ++x) {
            const TensorImage::Cell cell = shown.cellAt(QPointF(x + 20, y + 4));
            if (cell.tile != 0) continue;
            QColor& colour = seen[static_cast<std::size_t>(cell.column)];
            if (!colour.isValid()) colour = picture.pixelColor(x + 20, y + 4);
        }
    }
    EXPECT_EQ(seen[0], theme.color(Theme::NaN));
    EXPECT_EQ(seen[1], theme.color(Theme::PosInf));
    EXPECT_EQ(seen[2], theme.color(Theme::NegInf));
}

TEST_F(TensorViewTest, TakesScalarsAndTensorsWithoutElements) {
    MemoryTensor scalar({}, {2.5});
    show(scalar, "loss");
    EXPECT_EQ(model().rowCount(), 1);
    EXPECT_EQ(model().index(0, 0).data().toString(), QStringLiteral("2.5"));
    for (const auto tab :
         {TensorView::Tab::Histogram, TensorView::Tab::Image, TensorView::Tab::Values}) {
        view.setTab(tab);
        settle(scalar);
    }
    MemoryTensor none({0, 4}, {});
    show(none);
    EXPECT_EQ(model().rowCount(), 0);
    EXPECT_TRUE(header().contains(QStringLiteral("no elements")));
    view.setTab(TensorView::Tab::Image);
    settle(none);
    EXPECT_TRUE(image().tiles().empty());
}

TEST_F(TensorViewTest, WhileTheRunGoesOnShowsTheLastStopAndAsksNothing) {
    MemoryTensor tensor({500, 4}, counting(2000));
    show(tensor);
    view.setStale(true);
    EXPECT_TRUE(header().contains(QStringLiteral("from the last stop")));
    const qsizetype asked = tensor.log.size();
    view.findChild<QTableView*>()->verticalScrollBar()->setValue(480);
    settle(tensor);
    view.setTab(TensorView::Tab::Image);
    settle(tensor);
    EXPECT_EQ(tensor.log.size(), asked);
    view.refresh();
    settle(tensor);
    EXPECT_FALSE(header().contains(QStringLiteral("from the last stop")));
    EXPECT_GT(tensor.log.size(), asked);
}

TEST_F(TensorViewTest, ShowsWhyThereAreNoValues) {
    class Failing final : public TensorProvider {
    public:
        void requestStats(quint64 id, const TensorRef&, int) override { ids.push_back(id); }
        void requestSlice(quint64 id, const TensorRef&, const QString&, qint64) override {
            ids.push_back(id);
        }
        std::vector<quint64> ids;
    } provider;
    view.setProvider(&provider);
    view.showTensor({QStringLiteral("x"), QStringLiteral("r")});
    emit provider.requestFailed(provider.ids.at(0), QStringLiteral("The run has ended."));
    EXPECT_TRUE(header().contains(QStringLiteral("The run has ended.")));
    view.setProvider(nullptr);
    view.showTensor({QStringLiteral("x"), QStringLiteral("r")});
    EXPECT_TRUE(header().contains(QStringLiteral("no run is stopped")));
}

TEST_F(TensorViewTest, SurvivesAProviderThatGoesAway) {
    auto tensor = std::make_unique<MemoryTensor>(std::vector<qint64>{300, 3}, counting(900));
    show(*tensor);
    tensor.reset();
    view.findChild<QTableView*>()->verticalScrollBar()->setValue(290);
    view.grab();
    view.setTab(TensorView::Tab::Image);
    view.grab();
    QSignalSpy finished(&view, &TensorView::exportFinished);
    view.exportCsv(QStringLiteral("unused.csv"));
    ASSERT_EQ(finished.count(), 1);
    EXPECT_FALSE(finished[0][1].toString().isEmpty());
}

TEST_F(TensorViewTest, ExportsTheSliceAsCsvAndThePictureAsPng) {
    MemoryTensor tensor({2, 3}, {0.1, kNaN, -kInf, 4, 5, 1e-30});
    show(tensor);
    const QTemporaryDir folder;
    const QString csv = folder.filePath(QStringLiteral("t.csv"));
    QSignalSpy finished(&view, &TensorView::exportFinished);
    view.exportCsv(csv);
    tensor.answer();
    ASSERT_EQ(finished.count(), 1);
    EXPECT_EQ(finished[0][1].toString(), QString());
    QFile file(csv);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(file.readAll(), QByteArray("0.1,nan,-inf\n4,5,1e-30\n"));
    view.exportCsv(folder.filePath(QStringLiteral("no/t.csv")));
    tensor.answer();
    EXPECT_TRUE(finished[1][1].toString().contains(QStringLiteral("no/t.csv")));
    view.setTab(TensorView::Tab::Image);
    settle(tensor);
    QString error;
    EXPECT_TRUE(view.exportPng(folder.filePath(QStringLiteral("t.png")), &error))
        << error.toStdString();
    EXPECT_EQ(QImage(folder.filePath(QStringLiteral("t.png"))).size(), image().size());
}

TEST_F(TensorViewTest, CopiesSelectedCells) {
    MemoryTensor tensor({2, 3}, {1, 2, 3, 4, kNaN, 6.5});
    show(tensor);
    auto* table = view.findChild<QTableView*>();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(model().index(0, 1)).center());
    QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::ShiftModifier,
                      table->visualRect(model().index(1, 2)).center());
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("2\t3\nnan\t6.5\n"));
}

TEST_F(TensorViewTest, SaysWhatFillsItWhenEmpty) {
    auto* empty = view.findChild<EmptyState*>(QStringLiteral("tensorEmpty"));
    EXPECT_TRUE(empty->isVisible());
    EXPECT_FALSE(empty->hint().isEmpty());
    MemoryTensor tensor({2}, {1, 2});
    show(tensor);
    EXPECT_FALSE(empty->isVisible());
    view.clear(QStringLiteral("Stopped outside of any operator."));
    EXPECT_TRUE(empty->isVisible());
    EXPECT_EQ(empty->hint(), QStringLiteral("Stopped outside of any operator."));
}

TEST(NiceTicks, AreRoundAndInside) {
    EXPECT_EQ(niceTicks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(niceTicks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
    EXPECT_TRUE(niceTicks(3, 3, 5).empty());
    EXPECT_TRUE(niceTicks(0, kInf, 5).empty());
}

}  // namespace
}  // namespace tapescope::viewers
