// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/debug_session.h"

#include "app/workbench/dap_tensor_provider.h"
#include "tests/workbench/fake_adapter.h"

#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <gtest/gtest.h>
#include <optional>

namespace tapescope::app {
namespace {

/// An adapter that stands in conv2 with an input and a weight.
class StoppingAdapter {
public:
    FakeAdapter fake;
    StoppingAdapter() {
        fake.on("stackTrace", [](const QJsonObject&) {
            const QJsonObject op{{"id", 1},
                                 {"name", "conv2: conv2d"},
                                 {"source", QJsonObject{{"path", "plugins/models/digits_cnn.cpp"}}},
                                 {"line", 41}};
            const QJsonObject module{{"id", 2}, {"name", "conv2 (Conv2d)"}};
            return FakeAdapter::Answer{true, {}, {{"stackFrames", QJsonArray{op, module}}}};
        });
        fake.on("scopes", [](const QJsonObject& a) {
            const int base = a.value("frameId").toInt() * 10;
            return FakeAdapter::Answer{
                true,
                {},
                {{"scopes",
                  QJsonArray{
                      QJsonObject{{"name", "Inputs"}, {"variablesReference", base + 1}},
                      QJsonObject{{"name", "Parameters"}, {"variablesReference", base + 2}}}}}};
        });
        fake.on("variables", [](const QJsonObject& a) {
            const int reference = a.value("variablesReference").toInt();
            const QString name =
                reference % 10 == 1 ? QStringLiteral("input") : QStringLiteral("weight");
            const QJsonObject tensor{
                {"name", name},
                {"value", "NaN 3 f32[64,1,8,8] cpu  min −0.42  mean 0.13  max 1.0"},
                {"type", "f32[64,1,8,8]"},
                {"memoryReference", QStringLiteral("t%1").arg(reference)},
                {"variablesReference", 99}};
            return FakeAdapter::Answer{true, {}, {{"variables", QJsonArray{tensor}}}};
        });
        fake.on("setFunctionBreakpoints", [](const QJsonObject& a) {
            QJsonArray out;
            int id = 100;
            for (const QJsonValue& each : a.value("breakpoints").toArray()) {
                const QString name = each.toObject().value("name").toString();
                const bool known = name != QLatin1String("conv9d");
                QJsonObject o{{"id", id++}, {"verified", known}};
                if (!known) o.insert("message", "no operator \"conv9d\"; nearest: conv2d");
                out.append(o);
            }
            return FakeAdapter::Answer{true, {}, {{"breakpoints", out}}};
        });
    }
    void stop(const QString& description = QStringLiteral("break on conv2: conv2d (hit 3)")) {
        fake.event("stopped", {{"reason", "function breakpoint"},
                               {"description", description},
                               {"threadId", 1},
                               {"hitBreakpointIds", QJsonArray{100}},
                               {"tapescope", QJsonObject{{"step", 7},
                                                         {"seq", 12},
                                                         {"hits", QJsonArray{3}},
                                                         {"module", "conv2"},
                                                         {"operator", "conv2d"},
                                                         {"phase", "forward"}}}});
    }
};

struct Session {
    StoppingAdapter adapter;
    BreakpointStore store;
    DebugSession session{store};
    QSignalSpy ended{&session, &DebugSession::ended};
    Session() { session.setRemote(QStringLiteral("127.0.0.1"), adapter.fake.port()); }
    void launch() {
        LaunchSpec spec;
        spec.model = QStringLiteral("digits-cnn");
        spec.steps = 20;
        spec.seed = 3;
        spec.tapePath = QStringLiteral("run.tape");
        spec.settings = {{"lr", 0.1}};
        session.launch(spec);
    }
    bool runs() {
        launch();
        return QTest::qWaitFor([this] { return session.state() == SessionState::Running; });
    }
    bool stops() {
        adapter.stop();
        return QTest::qWaitFor([this] { return !session.scopes().empty(); });
    }
    SessionEnd end() const { return ended.at(0).at(0).value<SessionEnd>(); }
};

TEST(DebugSession, ConfiguresBreakpointsBeforeTheModelStarts) {
    Session s;
    s.store.addFunction(QStringLiteral("conv2d"));
    s.store.addSource(QStringLiteral("plugins/models/digits_cnn.cpp"), 41);
    ASSERT_TRUE(s.runs());
    const auto commands = s.adapter.fake.commands();
    const auto position = [&](const char* name) {
        return std::find(commands.begin(), commands.end(), QLatin1String(name)) - commands.begin();
    };
    EXPECT_LT(position("setFunctionBreakpoints"), position("configurationDone"));
    EXPECT_LT(position("setBreakpoints"), position("configurationDone"));
    const QJsonObject launch = s.adapter.fake.received("launch").at(0);
    EXPECT_EQ(launch.value("model").toString().toStdString(), "digits-cnn");
    EXPECT_EQ(launch.value("steps").toInt(), 20);
    EXPECT_EQ(launch.value("seed").toInt(), 3);
    EXPECT_DOUBLE_EQ(launch.value("set").toObject().value("lr").toDouble(), 0.1);
    const QJsonObject lines = s.adapter.fake.received("setBreakpoints").at(0);
    EXPECT_EQ(lines.value("source").toObject().value("path").toString().toStdString(),
              "plugins/models/digits_cnn.cpp");
}

TEST(DebugSession, FetchesStackAndTensorsAtAStop) {
    Session s;
    s.store.addFunction(QStringLiteral("conv2: conv2d"));
    ASSERT_TRUE(s.runs());
    ASSERT_TRUE(s.stops());
    EXPECT_TRUE(s.session.isStopped());
    EXPECT_EQ(s.session.stopInfo().seq, 12);
    ASSERT_EQ(s.session.frames().size(), 2U);
    EXPECT_EQ(s.session.frames()[0].line, 41);
    ASSERT_EQ(s.session.scopes().size(), 2U);
    EXPECT_EQ(s.session.scopes()[0].variables.at(0).memoryReference.toStdString(), "t11");
    EXPECT_EQ(s.store.all()[0].hits, 3);
    s.session.selectFrame(1);
    ASSERT_TRUE(QTest::qWaitFor([&] {
        return s.session.scopes()[0].variables.at(0).memoryReference == QLatin1String("t21");
    }));
}

TEST(DebugSession, StepsOnceForTwoQuickKeyPresses) {
    Session s;
    ASSERT_TRUE(s.runs());
    ASSERT_TRUE(s.stops());
    s.session.stepOver();
    s.session.stepOver();
    EXPECT_TRUE(s.session.frames().empty());
    ASSERT_TRUE(s.stops());  // requests answered after both presses
    EXPECT_EQ(s.adapter.fake.received("next").size(), 1U);
}

TEST(DebugSession, SendsTheCommandOfEveryStep) {
    Session s;
    ASSERT_TRUE(s.runs());
    const std::vector<std::pair<void (DebugSession::*)(), const char*>> steps{
        {&DebugSession::stepOver, "next"},
        {&DebugSession::stepInto, "stepIn"},
        {&DebugSession::stepOut, "stepOut"},
        {&DebugSession::stepBackward, "stepBackward"},
        {&DebugSession::nextTrainingStep, "nextStep"},
        {&DebugSession::resume, "continue"}};
    for (const auto& [step, command] : steps) {
        ASSERT_TRUE(s.stops()) << command;
        (s.session.*step)();
        ASSERT_TRUE(QTest::qWaitFor([&, c = command] {
            return s.adapter.fake.received(QString::fromLatin1(c)).size() == 1;
        })) << command;
    }
}

TEST(DebugSession, ResendsBreakpointsChangedWhileRunning) {
    Session s;
    ASSERT_TRUE(s.runs());
    const auto sent = [&] { return s.adapter.fake.received("setFunctionBreakpoints"); };
    const std::size_t before = sent().size();
    s.store.addFunction(QStringLiteral("relu"));
    s.store.addFunction(QStringLiteral("conv9d"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return s.store.all()[1].adapterId != 0; }));
    EXPECT_EQ(sent().size(), before + 1);  // two changes in one turn, one request
    EXPECT_TRUE(s.store.all()[0].verified);
    EXPECT_FALSE(s.store.all()[1].verified);
    EXPECT_EQ(s.store.all()[1].message.toStdString(), "no operator \"conv9d\"; nearest: conv2d");
}

TEST(DebugSession, SendsAChangedBreakpointBeforeTheStepThatFollowsIt) {
    Session s;
    ASSERT_TRUE(s.runs());
    ASSERT_TRUE(s.stops());
    s.store.addFunction(QStringLiteral("relu"));
    s.session.resume();
    ASSERT_TRUE(QTest::qWaitFor([&] { return s.adapter.fake.received("continue").size() == 1; }));
    const auto commands = s.adapter.fake.commands();
    EXPECT_EQ(commands[commands.size() - 2].toStdString(), "setFunctionBreakpoints");
}

TEST(DebugSession, ClearsTheLinesOfAFileThatLostItsLastBreakpoint) {
    Session s;
    const int key = s.store.addSource(QStringLiteral("a.cpp"), 5);
    ASSERT_TRUE(s.runs());
    s.store.remove(key);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return s.adapter.fake.received("setBreakpoints").size() == 2; }));
    const QJsonObject last = s.adapter.fake.received("setBreakpoints").at(1);
    EXPECT_EQ(last.value("source").toObject().value("path").toString().toStdString(), "a.cpp");
    EXPECT_TRUE(last.value("breakpoints").toArray().isEmpty());
}

TEST(DebugSession, RemovesARunToHereBreakpointAtTheNextStop) {
    Session s;
    s.store.addFunction(QStringLiteral("relu"));
    ASSERT_TRUE(s.runs());
    s.store.addTemporaryFunction(QStringLiteral("linear"));
    EXPECT_EQ(s.store.all().size(), 2U);
    ASSERT_TRUE(s.stops());
    ASSERT_EQ(s.store.all().size(), 1U);
    EXPECT_EQ(s.store.all()[0].name.toStdString(), "relu");
}

TEST(DebugSession, EndsWithTheAdaptersWordsWhenLaunchIsRefused) {
    Session s;
    s.adapter.fake.on("launch", [](const QJsonObject&) {
        return FakeAdapter::Answer{
            false, QStringLiteral("unknown model \"digit-cnn\"; did you mean digits-cnn?"), {}};
    });
    s.launch();
    ASSERT_TRUE(QTest::qWaitFor([&] { return s.ended.count() == 1; }));
    EXPECT_EQ(s.end().kind, SessionEnd::Kind::NotStarted);
    EXPECT_EQ(s.end().message.toStdString(),
              "unknown model \"digit-cnn\"; did you mean digits-cnn?");
    EXPECT_EQ(s.session.state(), SessionState::Idle);
}

TEST(DebugSession, EndsFinishedAfterTerminated) {
    Session s;
    ASSERT_TRUE(s.runs());
    s.adapter.fake.event("exited", {{"exitCode", 0}});
    s.adapter.fake.event("terminated");
    ASSERT_TRUE(QTest::qWaitFor([&] { return s.ended.count() == 1; }));
    EXPECT_EQ(s.end().kind, SessionEnd::Kind::Finished);
}

TEST(DebugSession, TellsTheModelsErrorWhenItFailed) {
    Session s;
    ASSERT_TRUE(s.runs());
    s.adapter.fake.event("output",
                         {{"category", "stderr"}, {"output", "matmul: inner sizes differ\n"}});
    s.adapter.fake.event("exited", {{"exitCode", 1}});
    s.adapter.fake.event("terminated");
    ASSERT_TRUE(QTest::qWaitFor([&] { return s.ended.count() == 1; }));
    EXPECT_EQ(s.end().kind, SessionEnd::Kind::Failed);
    EXPECT_EQ(s.end().message.toStdString(), "matmul: inner sizes differ");
}

TEST(DebugSession, LivesOnWhenTheChildIsKilledAndCanLaunchAgain) {
    BreakpointStore store;
    DebugSession session(store);
    QSignalSpy ended(&session, &DebugSession::ended);
    session.setProgram(QStringLiteral("/bin/sh"),
                       {QStringLiteral("-c"), QStringLiteral("kill -9 $$")});
    for (int round = 1; round <= 2; ++round) {
        LaunchSpec spec;
        spec.model = QStringLiteral("digits-cnn");
        spec.tapePath = QStringLiteral("x.tape");
        session.launch(spec);
        ASSERT_TRUE(QTest::qWaitFor([&] { return ended.count() == round; }));
        const auto end = ended.at(round - 1).at(0).value<SessionEnd>();
        EXPECT_EQ(end.kind, SessionEnd::Kind::Crashed);
        EXPECT_TRUE(end.message.contains(QLatin1String("signal 9"))) << end.message.toStdString();
    }
}

TEST(DebugSession, StopsTheOldRunBeforeANewOneStarts) {
    Session s;
    s.adapter.fake.on("terminate", [&](const QJsonObject&) {
        QMetaObject::invokeMethod(
            &s.adapter.fake, [&] { s.adapter.fake.event("terminated"); }, Qt::QueuedConnection);
        return FakeAdapter::Answer{};
    });
    ASSERT_TRUE(s.runs());
    s.launch();
    ASSERT_TRUE(QTest::qWaitFor([&] { return s.adapter.fake.received("launch").size() == 2; }));
    EXPECT_EQ(s.ended.count(), 1);
    EXPECT_EQ(s.end().kind, SessionEnd::Kind::Stopped);
    EXPECT_TRUE(s.session.isActive());
}

TEST(DebugSession, EvaluatesOnlyAtAStop) {
    Session s;
    ASSERT_TRUE(s.runs());
    QString answer;
    bool good = true;
    const auto keep = [&](bool ok, const QString& text, const Variable&) {
        good = ok;
        answer = text;
    };
    s.session.evaluate(QStringLiteral("input"), &s.session, keep);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !answer.isEmpty(); }));
    EXPECT_FALSE(good);
    s.adapter.fake.on("evaluate", [](const QJsonObject& a) {
        return FakeAdapter::Answer{true,
                                   {},
                                   {{"result", a.value("expression").toString() + " = f32[2]"},
                                    {"memoryReference", "t5"}}};
    });
    ASSERT_TRUE(s.stops());
    answer.clear();
    s.session.evaluate(QStringLiteral("input[0]"), &s.session, keep);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !answer.isEmpty(); }));
    EXPECT_TRUE(good);
    EXPECT_EQ(answer.toStdString(), "input[0] = f32[2]");
}

TEST(DapTensorProvider, ReadsStatisticsAndNonFiniteValues) {
    const viewers::TensorStats stats =
        DapTensorProvider::parseStats({{"shape", QJsonArray{2, 3}},
                                       {"dtype", "f32"},
                                       {"device", "cpu"},
                                       {"numel", 6},
                                       {"nan", 1},
                                       {"inf", 2},
                                       {"magnitudes", true},
                                       {"min", -1.5},
                                       {"mean", "NaN"},
                                       {"edges", QJsonArray{0, 1, 2}},
                                       {"counts", QJsonArray{3, 0}}});
    EXPECT_EQ(stats.shape, (std::vector<qint64>{2, 3}));
    EXPECT_EQ(stats.nanCount, 1);
    EXPECT_TRUE(stats.magnitudes);
    EXPECT_TRUE(std::isnan(stats.mean));
    EXPECT_TRUE(std::isnan(stats.max));
    EXPECT_EQ(stats.counts, (std::vector<double>{3, 0}));
    const viewers::TensorSlice slice =
        DapTensorProvider::parseSlice({{"shape", QJsonArray{3}},
                                       {"values", QJsonArray{"NaN", "-Infinity", 2.5}},
                                       {"truncated", true}});
    ASSERT_EQ(slice.values.size(), 3U);
    EXPECT_TRUE(std::isnan(slice.values[0]));
    EXPECT_TRUE(std::isinf(slice.values[1]) && slice.values[1] < 0);
    EXPECT_EQ(slice.values[2], 2.5);
    EXPECT_TRUE(slice.truncated);
}

}  // namespace
}  // namespace tapescope::app
