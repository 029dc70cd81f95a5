// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/sample_tape.h"
#include "viewers/models/histogram_grid.h"
#include "viewers/models/op_summary_model.h"
#include "viewers/models/runs_model.h"
#include "viewers/models/selection.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTemporaryDir>

#include <gtest/gtest.h>
#include <numeric>

namespace tapescope::viewers {
namespace {

std::string shown(const QAbstractItemModel& model, int row, int column) {
    return model.index(row, column).data().toString().replace(QChar(0xa0), u' ').toStdString();
}

TEST(OpSummaryModel, ShowsUnitsAndSortsByNumbers) {
    OpSummaryModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    storage::OpSummary conv, relu;
    conv.name = "conv2d";
    conv.phase = storage::Phase::Forward;
    conv.calls = 1200;
    conv.totalNs = 900'000'000;
    conv.selfNs = 750'000'000;
    conv.flops = 9e10;
    relu.name = "relu";
    relu.calls = 3;
    relu.totalNs = relu.selfNs = 250'000'000;
    model.setRows(std::make_shared<const std::vector<storage::OpSummary>>(std::vector{relu, conv}));
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(shown(model, 1, OpSummaryModel::Calls), "1 200");
    EXPECT_EQ(shown(model, 1, OpSummaryModel::Self), "750 ms");
    EXPECT_EQ(shown(model, 1, OpSummaryModel::Share), "75.0 %");
    EXPECT_EQ(shown(model, 1, OpSummaryModel::Flops), "100 GFLOP/s");
    EXPECT_EQ(shown(model, 0, OpSummaryModel::Flops), "–");
    EXPECT_EQ(model.index(1, OpSummaryModel::Self)
                  .data(Qt::ToolTipRole)
                  .toString()
                  .replace(QChar(0xa0), u' '),
              "750 000 000 ns");
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(OpSummaryModel::SortRole);
    sorted.sort(OpSummaryModel::Calls, Qt::DescendingOrder);
    EXPECT_EQ(shown(sorted, 0, OpSummaryModel::Name), "conv2d");
    model.setRows(nullptr);
    EXPECT_EQ(model.rowCount(), 0);
}

TEST(RunsModel, NamesStateStepAndLoss) {
    QTemporaryDir dir;
    auto finished = test::writeSampleTape(dir.filePath(QStringLiteral("a.tape")),
                                          {.steps = 30, .events = false});
    auto live =
        test::writeSampleTape(dir.filePath(QStringLiteral("b.tape")),
                              {.steps = 12, .name = "digits-mlp", .events = false, .seal = false});
    ASSERT_TRUE(live->flush().ok());
    TapeSession first(dir.filePath(QStringLiteral("a.tape")), TapeSession::CurvesOnly);
    auto second = std::make_unique<TapeSession>(dir.filePath(QStringLiteral("b.tape")),
                                                TapeSession::CurvesOnly);
    TapeSession missing(dir.filePath(QStringLiteral("c.tape")), TapeSession::CurvesOnly);
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.addRun(&missing);
    model.addRun(&first);
    model.addRun(second.get());
    ASSERT_TRUE(test::waitUntil([&] {
        return !first.snapshot().loading && !second->snapshot().loading &&
               !missing.snapshot().status.ok();
    }));
    ASSERT_EQ(model.rowCount(), 3);
    EXPECT_EQ(shown(model, 0, 0), "digits-mlp") << "the newest first";
    EXPECT_EQ(model.index(0).data(RunsModel::StatusRole).toInt(),
              static_cast<int>(RunStatus::Live));
    EXPECT_EQ(model.index(0).data(RunsModel::LastStepRole).toLongLong(), 11);
    EXPECT_EQ(model.index(1).data(RunsModel::StatusTextRole).toString(), "finished");
    EXPECT_EQ(model.index(1).data(RunsModel::LossTagRole).toString(), "train/loss");
    EXPECT_TRUE(model.index(1)
                    .data(RunsModel::DetailRole)
                    .toString()
                    .startsWith(QStringLiteral("finished · step 29 · loss ")));
    EXPECT_EQ(model.index(2).data(RunsModel::StatusRole).toInt(),
              static_cast<int>(RunStatus::Unreadable));
    EXPECT_TRUE(
        model.index(2).data(RunsModel::MessageRole).toString().contains(QStringLiteral("c.tape")));

    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    EXPECT_TRUE(model.setData(model.index(1), Qt::Unchecked, Qt::CheckStateRole));
    EXPECT_EQ(changed.size(), 1);
    EXPECT_FALSE(model.isShown(&first));
    second.reset();
    EXPECT_EQ(model.rowCount(), 2);
}

TEST(Selection, SaysOnlyWhatChanged) {
    Selection selection;
    QSignalSpy step(&selection, &Selection::stepChanged), op(&selection, &Selection::opChanged),
        module(&selection, &Selection::modulePathChanged);
    selection.setStep(4);
    selection.setStep(4);
    selection.setOp({.graph = 1, .seq = 2});
    selection.setOp({.graph = 1, .seq = 2});
    EXPECT_EQ(step.size(), 1);
    EXPECT_EQ(op.size(), 1);
    selection.setModulePath(QStringLiteral("conv1"));
    selection.clear();
    EXPECT_EQ(op.size(), 2);
    EXPECT_EQ(module.size(), 2);
    EXPECT_EQ(selection.step(), 4) << "the step stays";
    EXPECT_FALSE(selection.op().valid());
}

TEST(HistogramGrid, RebinningKeepsTheMass) {
    storage::Histogram h;
    h.edges = {-1, 0, 0.5, 2};
    h.counts = {10, 4, 6};
    const auto density = rebin(h, -1, 2, 12);
    const double width = 3.0 / 12;
    EXPECT_NEAR(std::accumulate(density.begin(), density.end(), 0.0) * width, 20, 1e-9);
    EXPECT_NEAR(density[0] * width, 2.5, 1e-9);
    EXPECT_NEAR(density[4] * width, 2, 1e-9);
    // Half of the last bin only.
    const auto part = rebin(h, 1.25, 2, 1);
    EXPECT_NEAR(part[0] * 0.75, 3, 1e-9);
}

TEST(HistogramGrid, ABinWithoutWidthIsNotLost) {
    storage::Histogram h;
    h.edges = {0.35, 0.35};
    h.counts = {7};
    const auto density = rebin(h, 0, 1, 10);
    EXPECT_NEAR(density[3] * 0.1, 7, 1e-9);
}

TEST(HistogramGrid, TheRangeLeavesOutTheTails) {
    storage::Histogram h;
    h.edges = {-1000, -1, 0, 1, 1000};
    h.counts = {1, 5000, 5000, 1};
    const ValueRange range = massRange({&h}, 0.001);
    EXPECT_EQ(range.low, -1);
    EXPECT_EQ(range.high, 1);
    EXPECT_EQ(massRange({&h}, 0).low, -1000);
}

}  // namespace
}  // namespace tapescope::viewers
