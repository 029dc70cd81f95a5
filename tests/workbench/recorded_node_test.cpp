// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/recorded_node.h"

#include "app/workbench/graph_follower.h"
#include "app/workbench/run_library.h"
#include "viewers/models/runs_model.h"
#include "viewers/models/tape_session.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

namespace tapescope::app {
namespace {

/// conv1.weight -> conv2d (in conv1) -> relu, and the gradient of conv2d.
storage::Graph smallGraph() {
    storage::Graph graph;
    graph.nodes.resize(3);
    storage::GraphNode& conv = graph.nodes[0];
    conv.op = "conv2d";
    conv.module = 2;
    conv.site = 1;
    conv.attrs = "stride=[1, 1]";
    conv.outputs = "f32[64,32,8,8], i64[3]";
    conv.flops = 2e6;
    conv.bytes = 4000;
    conv.inputs = {{-1, 0, 0, "conv1.weight", "f32[32,1,3,3]"}};
    storage::GraphNode& relu = graph.nodes[1];
    relu.seq = 1;
    relu.op = "relu";
    relu.inputs = {{0, 0, 0, "", "f32[64,32,8,8]"}};
    relu.outputs = "f32[64,32,8,8]";
    storage::GraphNode& gradient = graph.nodes[2];
    gradient.seq = 2;
    gradient.op = "conv2d_weight_grad";
    gradient.phase = storage::Phase::Backward;
    gradient.forwardSeq = 0;
    gradient.module = 2;
    return graph;
}

viewers::Structure smallStructure() {
    viewers::Structure structure;
    structure.modules = {{1, 0, "", "DigitsCnn", 0, ""}, {2, 1, "conv1", "Conv2d", 320, ""}};
    structure.moduleIndex = {{1, 0}, {2, 1}};
    structure.sites = {{1, "plugins/models/digits_cnn.cpp", 28, "forward"}};
    structure.siteIndex = {{1, 0}};
    return structure;
}

TEST(RecordedNode, TellsTheOperatorsPlaceAsAStack) {
    const auto frames = recordedFrames(smallGraph(), 0, smallStructure());
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].name.toStdString(), "conv1: conv2d");
    EXPECT_EQ(frames[0].line, 28);
    EXPECT_EQ(frames[1].name.toStdString(), "conv1 (Conv2d)");
    EXPECT_EQ(frames[2].name.toStdString(), "(DigitsCnn)");
    EXPECT_EQ(recordedFrames(smallGraph(), 2, smallStructure())[0].name.toStdString(),
              "conv1: conv2d_weight_grad (backward)");
    EXPECT_TRUE(recordedFrames(smallGraph(), 3, smallStructure()).empty());
    EXPECT_TRUE(recordedFrames(smallGraph(), -1, smallStructure()).empty());
}

TEST(RecordedNode, TellsInputsOutputsAndCosts) {
    const auto scopes = recordedScopes(smallGraph(), 0, 1e6);
    ASSERT_EQ(scopes.size(), 3U);
    EXPECT_EQ(scopes[0].variables.at(0).name.toStdString(), "conv1.weight");
    ASSERT_EQ(scopes[1].variables.size(), 2U);
    EXPECT_EQ(scopes[1].variables[0].value.toStdString(), "f32[64,32,8,8]");
    EXPECT_EQ(scopes[1].variables[1].value.toStdString(), "i64[3]");
    EXPECT_EQ(scopes[2].variables.at(0).value.toStdString(), "stride=[1, 1]");
    EXPECT_EQ(recordedScopes(smallGraph(), 1, 0)[0].variables.at(0).name.toStdString(),
              "conv2d #0");
}

TEST(GraphFollower, KnowsTheBeginOfAnEqualStep) {
    const storage::Graph whole = smallGraph();
    storage::Graph part = whole;
    part.nodes.resize(2);
    EXPECT_TRUE(isBeginOf(part, whole));
    EXPECT_FALSE(isBeginOf(whole, part));
    part.nodes[1].op = "gelu";
    EXPECT_FALSE(isBeginOf(part, whole));
}

TEST(RunLibrary, OpensAFolderAndFindsWhatIsRecordedThereLater) {
    const QTemporaryDir folder;
    RunLibrary library;
    QSignalSpy notices(&library, &RunLibrary::notice);
    library.openFolder(folder.path());
    ASSERT_TRUE(QTest::qWaitFor([&] { return notices.count() == 1; }, 30'000));
    EXPECT_TRUE(notices[0][0].toString().contains(QLatin1String("no tapes yet")));
    QFile file(folder.filePath(QStringLiteral("new.tape")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.close();
    ASSERT_TRUE(QTest::qWaitFor([&] { return library.sessions().size() == 1; }, 30'000));
    EXPECT_EQ(library.front(), nullptr);  // what others record does not take the view away
    EXPECT_EQ(library.runsFolder(), folder.path());
}

TEST(RunLibrary, OpensATapeOnceAndPutsAnotherInFrontWhenItIsClosed) {
    const QTemporaryDir folder;
    RunLibrary library;
    viewers::TapeSession* a = library.open(folder.filePath(QStringLiteral("a.tape")));
    viewers::TapeSession* b = library.open(folder.filePath(QStringLiteral("b.tape")));
    EXPECT_EQ(library.open(folder.filePath(QStringLiteral("./a.tape"))), a);
    EXPECT_EQ(library.front(), a);
    EXPECT_EQ(library.model()->rowCount(), 2);
    library.close(a);
    EXPECT_EQ(library.front(), b);
    library.close(b);
    EXPECT_EQ(library.front(), nullptr);
    EXPECT_EQ(library.model()->rowCount(), 0);
}

}  // namespace
}  // namespace tapescope::app
