// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/breakpoint_store.h"

#include "app/workbench/breakpoint_model.h"
#include "app/workbench/variable_model.h"

#include <QAbstractItemModelTester>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <gtest/gtest.h>

namespace tapescope::app {
namespace {

TEST(BreakpointStore, SurvivesARestartWithoutTemporaryOnes) {
    const QTemporaryDir dir;
    const QString file = dir.filePath(QStringLiteral("s.ini"));
    {
        QSettings settings(file, QSettings::IniFormat);
        BreakpointStore store;
        store.addTemporaryFunction(QStringLiteral("linear"));
        const int key = store.addFunction(QStringLiteral("conv2: conv2d"));
        store.setFromHit(key, 4);
        store.setEnabled(store.addSource(QStringLiteral("plugins/models/a.cpp"), 12), false);
        store.save(settings);
    }
    QSettings settings(file, QSettings::IniFormat);
    BreakpointStore store;
    store.load(settings);
    ASSERT_EQ(store.all().size(), 2U);
    EXPECT_EQ(store.all()[0].name.toStdString(), "conv2: conv2d");
    EXPECT_EQ(store.all()[0].fromHit, 4);
    EXPECT_EQ(store.all()[1].title().toStdString(), "a.cpp:12");
    EXPECT_FALSE(store.all()[1].enabled);
}

TEST(BreakpointStore, KnowsALineByAnyEndOfItsPath) {
    BreakpointStore store;
    store.toggleSource(QStringLiteral("plugins/models/a.cpp"), 12);
    EXPECT_NE(store.findSource(QStringLiteral("/src/plugins/models/a.cpp"), 12), nullptr);
    EXPECT_EQ(store.findSource(QStringLiteral("ba.cpp"), 12), nullptr);
    store.toggleSource(QStringLiteral("models/a.cpp"), 12);
    EXPECT_TRUE(store.all().empty());
}

TEST(BreakpointModel, FollowsTheStoreAndWritesBack) {
    BreakpointStore store;
    BreakpointModel model(store);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const int key = store.addFunction(QStringLiteral("conv2d"));
    store.addFunction(QStringLiteral("conv9d"));
    store.setAdapterState(store.all()[1].key, 5, false, QStringLiteral("nearest: conv2d"));
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(model.index(1, BreakpointModel::Note).data().toString().toStdString(),
              "nearest: conv2d");
    EXPECT_TRUE(model.index(1, 0).data(BreakpointModel::ProblemRole).toBool());
    QSignalSpy definitions(&store, &BreakpointStore::definitionsChanged);
    EXPECT_TRUE(model.setData(model.index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
    EXPECT_FALSE(store.find(key)->enabled);
    EXPECT_TRUE(model.setData(model.index(0, BreakpointModel::FromHit), 3, Qt::EditRole));
    EXPECT_EQ(store.find(key)->fromHit, 3);
    EXPECT_EQ(definitions.count(), 2);
    store.remove(key);
    EXPECT_EQ(model.rowCount(), 1);
}

TEST(VariableModel, TakesATensorsSummaryApart) {
    const TensorSummary s = parseTensorSummary(
        {QStringLiteral("x"),
         QStringLiteral("NaN 3 Inf 1 f32[64,1,8,8] cpu  min −0.42  mean 0.13  max 1.0"),
         {},
         {},
         0});
    EXPECT_EQ(s.nonFinite.toStdString(), "NaN 3  Inf 1");
    EXPECT_EQ(s.type.toStdString(), "f32[64,1,8,8]");
    EXPECT_EQ(s.device.toStdString(), "cpu");
    EXPECT_EQ(s.min.toStdString(), "−0.42");
    EXPECT_EQ(s.mean.toStdString(), "0.13");
    EXPECT_EQ(s.max.toStdString(), "1.0");
}

TEST(VariableModel, ShowsTensorsBelowTheirScopes) {
    VariableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const Variable input{QStringLiteral("input"),
                         QStringLiteral("f32[2] cpu  min 0  mean 1  max 2"),
                         {},
                         QStringLiteral("t1"),
                         0};
    model.setScopes({{QStringLiteral("Inputs"), {input}}, {QStringLiteral("Outputs"), {}}});
    ASSERT_EQ(model.rowCount(), 2);
    const QModelIndex found = model.indexOf({}, QStringLiteral("input"));
    ASSERT_TRUE(found.isValid());
    EXPECT_EQ(found.parent().data().toString().toStdString(), "Inputs");
    EXPECT_EQ(found.siblingAtColumn(VariableModel::Max).data().toString().toStdString(), "2");
    EXPECT_EQ(found.data(VariableModel::ReferenceRole).toString().toStdString(), "t1");
    EXPECT_FALSE(model.indexOf(QStringLiteral("Outputs"), QStringLiteral("input")).isValid());
}

}  // namespace
}  // namespace tapescope::app
