// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/tape_session.h"

#include "support/sample_tape.h"
#include "viewers/models/scalar_series.h"
#include "viewers/models/timeline_model.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThread>

#include <gtest/gtest.h>

namespace tapescope::viewers {
namespace {

class TapeSessionTest : public ::testing::Test {
protected:
    QString path(const QString& name = QStringLiteral("run.tape")) const {
        return m_dir.filePath(name);
    }
    QTemporaryDir m_dir;
};

TEST_F(TapeSessionTest, ReadsEverythingOfASealedTape) {
    auto writer = test::writeSampleTape(path(), {.steps = 20});
    TapeSession session(path());
    ASSERT_TRUE(test::waitUntil([&] { return !session.snapshot().loading; }));
    const TapeSnapshot& s = session.snapshot();
    EXPECT_TRUE(s.status.ok()) << s.status.message();
    EXPECT_EQ(session.displayName(), "digits-cnn");
    EXPECT_EQ(s.run->state, storage::TapeState::Sealed);
    EXPECT_EQ(s.run->outcome, storage::RunOutcome::Finished);
    EXPECT_EQ(s.scalars.size(), 5U);
    EXPECT_EQ(s.scalars.at("train/loss")->size(), 20U);
    EXPECT_EQ(s.scalars.at("val/loss")->size(), 2U);
    EXPECT_EQ(s.histograms.at("conv1.weight")->items.size(), 10U);
    EXPECT_EQ(s.structure->modules.size(), 6U);
    EXPECT_EQ(s.structure->module(5)->path, "conv2");
    EXPECT_EQ(s.structure->site(3)->line, 23U);
    EXPECT_EQ(s.structure->module(99), nullptr);
    EXPECT_EQ(s.lastStep(), 19);
    EXPECT_EQ(s.graphOfStep(7), 1);
    EXPECT_EQ(s.graphToShow(-1), 1);
    ASSERT_TRUE(s.timeline);
    EXPECT_EQ(s.timeline->events, 20U * 47U);
    EXPECT_EQ(s.timeline->misplaced, 0U);
}

TEST_F(TapeSessionTest, FollowsALiveTapeAndNoticesItsEnd) {
    auto writer = test::writeSampleTape(path(), {.steps = 3, .seal = false});
    ASSERT_TRUE(writer->flush().ok());
    TapeSession session(path());
    ASSERT_TRUE(test::waitUntil([&] { return session.snapshot().lastStep() == 2; }));
    EXPECT_EQ(session.snapshot().run->state, storage::TapeState::Live);
    const auto tag = writer->tag("train/loss", storage::TagKind::Scalar);
    for (int step = 3; step < 10; ++step) {
        writer->scalar(tag, {step, 1.78e9 + step, 0.5});
        writer->step({step, step * 1'000, step * 1'000 + 900, 1, 0});
    }
    ASSERT_TRUE(writer->flush().ok());
    ASSERT_TRUE(test::waitUntil([&] { return session.snapshot().lastStep() == 9; }));
    EXPECT_EQ(session.snapshot().scalars.at("train/loss")->size(), 10U);
    ASSERT_TRUE(writer->seal(storage::RunOutcome::Failed, "out of memory").ok());
    ASSERT_TRUE(test::waitUntil(
        [&] { return session.snapshot().run->state == storage::TapeState::Sealed; }));
    EXPECT_EQ(session.snapshot().run->outcome, storage::RunOutcome::Failed);
    EXPECT_EQ(session.snapshot().run->outcomeMessage, "out of memory");
}

TEST_F(TapeSessionTest, WaitsForATapeThatIsNotThereYet) {
    TapeSession session(path());
    ASSERT_TRUE(test::waitUntil([&] { return !session.snapshot().status.ok(); }));
    EXPECT_NE(session.snapshot().status.message().find("run.tape"), std::string::npos);
    auto writer = test::writeSampleTape(path(), {.steps = 2});
    EXPECT_TRUE(test::waitUntil(
        [&] { return session.snapshot().status.ok() && session.snapshot().lastStep() == 1; }));
}

TEST_F(TapeSessionTest, AForeignFileIsAnErrorNotACrash) {
    QFile file(path());
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(4096, 'x'));
    file.close();
    TapeSession session(path());
    ASSERT_TRUE(test::waitUntil([&] { return !session.snapshot().status.ok(); }));
    EXPECT_FALSE(session.snapshot().run);
}

TEST_F(TapeSessionTest, ReadsOnlyWhatIsWantedUntilMoreIs) {
    auto writer = test::writeSampleTape(path(), {.steps = 5});
    TapeSession session(path(), TapeSession::CurvesOnly);
    ASSERT_TRUE(test::waitUntil([&] { return !session.snapshot().loading; }));
    EXPECT_FALSE(session.snapshot().timeline);
    EXPECT_FALSE(session.snapshot().steps);
    session.addInterest(TapeSession::Events | TapeSession::Steps);
    EXPECT_TRUE(
        test::waitUntil([&] { return session.snapshot().timeline && session.snapshot().steps; }));
    EXPECT_EQ(session.snapshot().scalars.at("train/loss")->size(), 5U) << "nothing is read twice";
}

TEST_F(TapeSessionTest, AnIncompleteGraphIsSentAgainWhenItGrows) {
    auto writer = test::writeSampleTape(path(), {.steps = 1, .seal = false});
    storage::Graph graph;
    graph.id = 2;
    graph.firstStep = 1;
    graph.complete = false;
    graph.nodes.resize(3);
    for (std::uint32_t i = 0; i < 3; ++i) graph.nodes[i].seq = i;
    writer->graph(graph);
    ASSERT_TRUE(writer->flush().ok());
    TapeSession session(path());
    std::vector<std::size_t> sizes;
    QObject::connect(&session, &TapeSession::graphLoaded, &session,
                     [&](const GraphPtr& loaded) { sizes.push_back(loaded->nodes.size()); });
    session.requestGraph(2);
    ASSERT_TRUE(test::waitUntil([&] { return sizes.size() == 1; }));
    EXPECT_EQ(session.snapshot().graphToShow(-1), 2) << "the running step's";
    graph.nodes.resize(4);
    graph.nodes[3].seq = 3;
    writer->graph(graph);
    ASSERT_TRUE(writer->flush().ok());
    session.refresh();
    ASSERT_TRUE(test::waitUntil([&] { return sizes.size() == 2; }));
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 4}));
    QSignalSpy fetched(&session, &TapeSession::graphFetched);
    session.fetchGraph(1);
    ASSERT_TRUE(test::waitUntil([&] { return fetched.size() == 1; }));
    EXPECT_EQ(fetched[0][0].value<GraphPtr>()->nodes[0].op, "conv2d");
    EXPECT_EQ(sizes.size(), 2U) << "a fetch is nobody else's business";
}

TEST_F(TapeSessionTest, SignalsComeOnTheOwnersThreadAndStopWithTheSession) {
    auto writer = test::writeSampleTape(path(), {.steps = 200, .seal = false});
    auto session = std::make_unique<TapeSession>(path());
    QThread* thread = nullptr;
    QObject::connect(session.get(), &TapeSession::changed, session.get(),
                     [&] { thread = QThread::currentThread(); });
    ASSERT_TRUE(test::waitUntil([&] { return thread != nullptr; }));
    EXPECT_EQ(thread, QThread::currentThread());
    session.reset();  // must not wait for the tape's end, nor leave a call behind
    EXPECT_TRUE(test::waitUntil([] { return true; }));
}

}  // namespace
}  // namespace tapescope::viewers
