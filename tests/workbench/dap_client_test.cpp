// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/dap_client.h"

#include "tests/workbench/fake_adapter.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>
#include <optional>

namespace tapescope::app {
namespace {

struct Connected {
    FakeAdapter adapter;
    DapClient client;
    Connected() {
        client.connectTo(QStringLiteral("127.0.0.1"), adapter.port());
        EXPECT_TRUE(QTest::qWaitFor([this] { return client.isOpen(); }));
    }
};

TEST(DapClient, GivesTheAnswerToTheRequestItBelongsTo) {
    Connected c;
    c.adapter.on("threads", [](const QJsonObject&) {
        return FakeAdapter::Answer{true, {}, {{"n", 1}}};
    });
    c.adapter.on("evaluate", [](const QJsonObject&) {
        return FakeAdapter::Answer{false, QStringLiteral("no tensor \"x\""), {}};
    });
    std::optional<DapReply> threads;
    std::optional<DapReply> evaluate;
    c.client.request("evaluate", {{"expression", "x"}}, &c.client,
                     [&](const DapReply& r) { evaluate = r; });
    c.client.request("threads", {}, &c.client, [&](const DapReply& r) { threads = r; });
    ASSERT_TRUE(QTest::qWaitFor([&] { return threads && evaluate; }));
    EXPECT_TRUE(threads->success);
    EXPECT_EQ(threads->body.value("n").toInt(), 1);
    EXPECT_FALSE(evaluate->success);
    EXPECT_EQ(evaluate->message.toStdString(), "no tensor \"x\"");
}

TEST(DapClient, LivesOnAfterJunk) {
    Connected c;
    QSignalSpy errors(&c.client, &DapClient::protocolError);
    QSignalSpy texts(&c.client, &DapClient::textReceived);
    QSignalSpy events(&c.client, &DapClient::eventReceived);
    // The connection is seen on our side first; the adapter's side needs one request to be there.
    std::optional<DapReply> hello;
    c.client.request("threads", {}, &c.client, [&](const DapReply& r) { hello = r; });
    ASSERT_TRUE(QTest::qWaitFor([&] { return hello.has_value(); }));
    c.adapter.raw("a line the model printed\n");
    c.adapter.raw(DapFraming::frame("{not json"));
    c.adapter.raw(DapFraming::frame("{\"type\":\"surprise\"}"));
    c.adapter.raw(
        DapFraming::frame("{\"type\":\"response\",\"request_seq\":0,\"message\":\"what?\"}"));
    c.adapter.event("output", {{"output", "x"}});
    ASSERT_TRUE(QTest::qWaitFor([&] { return events.count() == 1; }));
    EXPECT_EQ(errors.count(), 3);
    ASSERT_EQ(texts.count(), 1);
    EXPECT_EQ(texts[0][0].toString().toStdString(), "a line the model printed");
}

TEST(DapClient, AnswersOpenRequestsWhenTheConnectionIsLost) {
    Connected c;
    QSignalSpy closed(&c.client, &DapClient::closed);
    c.adapter.on("variables", [&](const QJsonObject&) {
        c.adapter.hangUp();
        return FakeAdapter::Answer{};
    });
    std::optional<DapReply> reply;
    c.client.request("variables", {}, &c.client, [&](const DapReply& r) { reply = r; });
    ASSERT_TRUE(QTest::qWaitFor([&] { return reply.has_value() && closed.count() == 1; }));
    EXPECT_FALSE(reply->success);
    EXPECT_FALSE(reply->message.isEmpty());
    EXPECT_FALSE(c.client.isOpen());
}

TEST(DapClient, DropsAnswersWhoseReceiverDied) {
    Connected c;
    auto receiver = std::make_unique<QObject>();
    bool called = false;
    std::optional<DapReply> second;
    c.client.request("threads", {}, receiver.get(), [&](const DapReply&) { called = true; });
    receiver.reset();
    c.client.request("threads", {}, &c.client, [&](const DapReply& r) { second = r; });
    ASSERT_TRUE(QTest::qWaitFor([&] { return second.has_value(); }));
    EXPECT_FALSE(called);
}

TEST(DapClient, SaysThatAProgramCannotBeStarted) {
    DapClient client;
    QSignalSpy closed(&client, &DapClient::closed);
    client.start(QStringLiteral("/nowhere/tapescope"), {QStringLiteral("dap")});
    ASSERT_TRUE(closed.count() == 1 || closed.wait());
    const auto exit = closed[0][0].value<DapExit>();
    EXPECT_EQ(exit.kind, DapExit::Kind::NotStarted);
    EXPECT_FALSE(exit.message.isEmpty());
}

TEST(DapClient, TellsTheSignalAndTheLastWordsOfAChild) {
    DapClient client;
    QSignalSpy closed(&client, &DapClient::closed);
    client.start(QStringLiteral("/bin/sh"),
                 {QStringLiteral("-c"), QStringLiteral("echo out of luck >&2; kill -9 $$")});
    ASSERT_TRUE(closed.count() == 1 || closed.wait());
    const auto exit = closed[0][0].value<DapExit>();
    EXPECT_EQ(exit.kind, DapExit::Kind::Signalled);
    EXPECT_EQ(exit.code, 9);
    EXPECT_EQ(exit.stderrTail.trimmed().toStdString(), "out of luck");
}

TEST(DapClient, KillsAChildThatDoesNotGoByItself) {
    DapClient client;
    QSignalSpy closed(&client, &DapClient::closed);
    QSignalSpy opened(&client, &DapClient::opened);
    client.start(QStringLiteral("/bin/sh"),
                 {QStringLiteral("-c"), QStringLiteral("exec sleep 600")});
    ASSERT_TRUE(opened.count() == 1 || opened.wait());
    client.close(50);
    ASSERT_TRUE(closed.wait());
    EXPECT_EQ(closed[0][0].value<DapExit>().kind, DapExit::Kind::Signalled);
}

}  // namespace
}  // namespace tapescope::app
