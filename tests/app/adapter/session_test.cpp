// SPDX-License-Identifier: Apache-2.0
// The session's life: messages good and bad, launch, breakpoints, running and ending.
#include "storage/tape/reader.h"
#include "test_client.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace tapescope::app {
namespace {

/// A file of this test's own, gone before and after.
class TempFile {
public:
    TempFile()
        : m_path((std::filesystem::temp_directory_path() /
                  (std::string("adapter_") +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".tape"))
                     .string()) {
        remove();
    }
    ~TempFile() { remove(); }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    const std::string& path() const { return m_path; }

private:
    void remove() const {
        for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(m_path + suffix);
    }
    std::string m_path;
};

Json functions(std::initializer_list<const char*> names) {
    Json list = Json::array();
    for (const char* name : names) list.push_back({{"name", name}});
    return {{"breakpoints", list}};
}

TEST(Session, RunsAModelToItsEnd) {
    TestClient client;
    client.initialize();
    client.ask("launch", {{"model", "tiny"}, {"steps", 2}});
    client.ask("configurationDone");
    EXPECT_EQ(client.event("exited")["exitCode"], 0);
    client.event("terminated");
    const Json progress = client.event("tapescopeProgress");
    EXPECT_EQ(progress["steps"], 2);
    EXPECT_TRUE(progress["loss"].is_number());
    EXPECT_GT(progress["allocatedBytes"], 0);
    client.ask("disconnect");
    client.finish();
}

TEST(Session, TakesLaunchAndConfigurationDoneInEitherOrder) {
    TestClient client;
    client.initialize();
    client.ask("configurationDone");
    client.ask("launch", {{"model", "tiny"}, {"steps", 1}, {"stopOnEntry", true}});
    const Json stop = client.event("stopped");
    EXPECT_EQ(stop["reason"], "entry");
    EXPECT_EQ(stop["tapescope"]["seq"], 0);
    client.ask("continue", {{"threadId", 1}});
    client.event("terminated");
}

TEST(Session, AnswersWhatIsNoRequestWithAnErrorAndLivesOn) {
    TestClient client;
    client.sendBody("{\"seq\": 1, \"type\": ");
    Json error = client.nextResponse();
    EXPECT_EQ(error["success"], false);
    EXPECT_EQ(error["request_seq"], 0);
    EXPECT_NE(error["message"].get<std::string>().find("not valid JSON"), std::string::npos);

    client.sendBody("[1, 2]");
    EXPECT_NE(client.nextResponse()["message"].get<std::string>().find("not a JSON object"),
              std::string::npos);

    client.sendBody(R"({"seq": 7, "command": "threads"})");
    error = client.nextResponse();
    EXPECT_EQ(error["request_seq"], 7);
    EXPECT_EQ(error["command"], "threads");
    EXPECT_NE(error["message"].get<std::string>().find("no \"type\""), std::string::npos);

    client.sendBody(R"({"seq": 8, "type": "event", "event": "x"})");
    EXPECT_NE(client.nextResponse()["message"].get<std::string>().find("requests only"),
              std::string::npos);
    client.sendBody(R"({"seq": 9, "type": "request"})");
    EXPECT_NE(client.nextResponse()["message"].get<std::string>().find("no \"command\""),
              std::string::npos);
    client.sendBody(R"({"seq": 9, "type": "request", "command": "threads", "arguments": 5})");
    EXPECT_NE(client.nextResponse()["message"].get<std::string>().find("not an object"),
              std::string::npos);
    client.sendBody(R"({"seq": "x", "type": "request", "command": "disconnected"})");
    error = client.nextResponse();
    EXPECT_EQ(error["request_seq"], 0);
    EXPECT_EQ(error["message"],
              "The adapter knows no request \"disconnected\"; did you mean disconnect?");

    client.sendBody(std::string(1'000'000, '['));
    EXPECT_NE(client.nextResponse()["message"].get<std::string>().find("nests too deeply"),
              std::string::npos);
    client.sendBody("{\"seq\": 3, \"type\": \"request\", \"command\": \"\xff\xfe\"}");
    EXPECT_EQ(client.nextResponse()["success"], false);
    client.initialize();
}

TEST(Session, AFaultInAHeaderIsAnsweredOnce) {
    TestClient client;
    client.sendRaw("Content-Length: 999999999\r\n\r\n{}Content-Type: none\r\n\r\n");
    const Json error = client.nextResponse();
    EXPECT_EQ(error["request_seq"], 0);
    EXPECT_EQ(error["success"], false);
    EXPECT_NE(error["message"].get<std::string>().find("64 MiB"), std::string::npos);
    client.initialize();
}

TEST(Session, StartsWithInitialize) {
    TestClient client;
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}}).find("initialize"), std::string::npos);
    client.initialize();
    EXPECT_NE(client.refusal("initialize").find("already"), std::string::npos);
}

TEST(Session, RefusesALaunchThatCannotWorkAndTakesTheNext) {
    TestClient client;
    client.initialize();
    EXPECT_NE(client.refusal("launch").find("\"model\" is missing"), std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", 5}}).find("\"model\" must be a string"),
              std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tinny"}}).find("tiny"), std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}, {"steps", 0}}).find("1 or more"),
              std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}, {"steps", 1.5}}).find("integer"),
              std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}, {"seed", -1}}).find("0 or more"),
              std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}, {"set", {{"lrr", 1}}}}).find("lr"),
              std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}, {"set", {{"lr", Json::array()}}}})
                  .find("must be"),
              std::string::npos);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}, {"tape", "/no/such/folder/x.tape"}})
                  .find("/no/such/folder"),
              std::string::npos);
    client.ask("launch", {{"model", "tiny"}, {"steps", 1}, {"seed", 3.0}, {"set", {{"lr", 0.5}}}});
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}}).find("already"), std::string::npos);
    client.ask("configurationDone");
    EXPECT_EQ(client.event("exited")["exitCode"], 0);
    EXPECT_NE(client.refusal("launch", {{"model", "tiny"}}).find("another session"),
              std::string::npos);
    EXPECT_NE(client.refusal("pause").find("no running model"), std::string::npos);
}

TEST(Session, VerifiesFunctionBreakpointsAgainstTheModel) {
    TestClient client;
    client.initialize();
    client.ask("launch", {{"model", "tiny"}});
    const Json answer =
        client.ask("setFunctionBreakpoints",
                   functions({"conv2d", "conv", "fc: linear", "backward:conv2d", "conv4d", "fd"}));
    const std::vector<Json> list = answer["breakpoints"];
    ASSERT_EQ(list.size(), 6U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(list[i]["verified"], true) << list[i].dump();
        EXPECT_GT(list[i]["id"], 0);
    }
    EXPECT_EQ(list[4]["verified"], false);
    EXPECT_NE(list[4]["message"].get<std::string>().find("conv2d"), std::string::npos);
    EXPECT_NE(list[5]["message"].get<std::string>().find("fc"), std::string::npos);
}

TEST(Session, VerifiesModulesOnceTheModelIsLaunched) {
    TestClient client;
    client.initialize();
    const Json before =
        client.ask("setFunctionBreakpoints", functions({"relu", "fc", "fx"}))["breakpoints"];
    EXPECT_EQ(before[0]["verified"], true);
    EXPECT_EQ(before[1]["verified"], false);
    client.ask("launch", {{"model", "tiny"}, {"steps", 1}});
    const Json fc = client.event("breakpoint");
    EXPECT_EQ(fc["reason"], "changed");
    EXPECT_EQ(fc["breakpoint"]["id"], before[1]["id"]);
    EXPECT_EQ(fc["breakpoint"]["verified"], true);
    const Json fx = client.event("breakpoint");
    EXPECT_EQ(fx["breakpoint"]["id"], before[2]["id"]);
    EXPECT_EQ(fx["breakpoint"]["verified"], false);
    EXPECT_NE(fx["breakpoint"]["message"].get<std::string>().find("did you mean fc"),
              std::string::npos);
    client.ask("configurationDone");
    EXPECT_EQ(nameAt(client.event("stopped")), "relu");
    const Json stop = client.go("continue");
    EXPECT_EQ(nameAt(stop), "fc");
    EXPECT_EQ(stop["hitBreakpointIds"], Json::array({before[1]["id"]}));
}

TEST(Session, CountsHitsAndRefusesOtherConditions) {
    TestClient client;
    client.initialize();
    client.ask("launch", {{"model", "tiny"}, {"steps", 4}});
    const Json list = client.ask("setFunctionBreakpoints",
                                 {{"breakpoints",
                                   {{{"name", "relu"}, {"hitCondition", "3"}},
                                    {{"name", "conv2d"}, {"hitCondition", "often"}},
                                    {{"name", "linear"}, {"condition", "x > 1"}}}}})["breakpoints"];
    EXPECT_EQ(list[0]["verified"], true);
    EXPECT_EQ(list[1]["verified"], false);
    EXPECT_NE(list[1]["message"].get<std::string>().find("\"often\""), std::string::npos);
    EXPECT_NE(list[2]["message"].get<std::string>().find("not supported"), std::string::npos);
    client.ask("configurationDone");
    const Json stop = client.event("stopped");
    EXPECT_EQ(stop["reason"], "function breakpoint");
    EXPECT_EQ(stop["description"], "break on relu (hit 3)");
    EXPECT_EQ(stop["tapescope"]["step"], 2);
    EXPECT_EQ(stop["tapescope"]["hits"], Json::array({3}));
    EXPECT_NE(client.refusal("setFunctionBreakpoints", {{"breakpoints", {1}}}).find("object"),
              std::string::npos);
    EXPECT_NE(
        client.refusal("setFunctionBreakpoints", {{"breakpoints", {{{"x", 1}}}}}).find("\"name\""),
        std::string::npos);
}

TEST(Session, LineBreakpointsAreVerifiedWhenTheyAreHit) {
    TestClient client;
    const Json first = client.startTiny({"relu"}, {{"steps", 3}});
    const std::string file = first["tapescope"]["file"];
    const int line = first["tapescope"]["line"];
    const Json list = client.ask(
        "setBreakpoints", {{"source", {{"path", "/elsewhere/" + file}}},
                           {"breakpoints", {{{"line", line}}, {{"line", 1}}}}})["breakpoints"];
    EXPECT_EQ(list[0]["verified"], false);
    EXPECT_EQ(list[0]["line"], line);
    client.ask("setFunctionBreakpoints", functions({}));
    const Json stop = client.go("continue");
    EXPECT_EQ(stop["reason"], "breakpoint");
    EXPECT_EQ(stop["hitBreakpointIds"], Json::array({list[0]["id"]}));
    EXPECT_EQ(stop["tapescope"]["step"], 1);
    const Json change = client.event("breakpoint")["breakpoint"];
    EXPECT_EQ(change["id"], list[0]["id"]);
    EXPECT_EQ(change["verified"], true);
    EXPECT_EQ(change["line"], line);
    EXPECT_NE(client.refusal("setBreakpoints", {{"breakpoints", Json::array()}}).find("\"path\""),
              std::string::npos);
    EXPECT_NE(client
                  .refusal("setBreakpoints",
                           {{"source", {{"path", "x"}}}, {"breakpoints", {{{"line", -4}}}}})
                  .find("-4"),
              std::string::npos);
}

TEST(Session, StepsThroughModulesOperatorsAndBackward) {
    TestClient client;
    EXPECT_EQ(nameAt(client.startTiny({"conv"}, {{"steps", 3}})), "conv");
    EXPECT_EQ(nameAt(client.go("stepIn")), "conv: conv2d");
    Json stop = client.go("stepOut");
    EXPECT_EQ(nameAt(stop), "conv: conv2d");
    EXPECT_EQ(stop["tapescope"]["afterOp"], true);
    EXPECT_EQ(nameAt(client.go("next")), "relu");
    EXPECT_EQ(nameAt(client.go("next", {{"granularity", "instruction"}})), "flatten");
    EXPECT_EQ(nameAt(client.go("next")), "fc");
    stop = client.go("stepBackward");
    EXPECT_EQ(stop["tapescope"]["phase"], "backward");
    EXPECT_EQ(stop["reason"], "step");
    EXPECT_EQ(stop["tapescope"]["seq"], -1);
    EXPECT_GT(stop["tapescope"]["forwardSeq"], 0);
    client.ask("setFunctionBreakpoints", functions({}));
    stop = client.go("nextStep");
    EXPECT_EQ(stop["tapescope"]["step"], 1);
    EXPECT_EQ(stop["tapescope"]["seq"], 0);
}

TEST(Session, PausesARunningModelAndRefusesStepsMeanwhile) {
    TestClient client;
    client.startTiny({"relu"}, {{"steps", 1'000'000'000}});
    client.ask("setFunctionBreakpoints", functions({}));
    client.ask("continue");
    EXPECT_NE(client.refusal("stackTrace").find("running: pause it"), std::string::npos);
    EXPECT_NE(client.refusal("next").find("running: pause it"), std::string::npos);
    client.ask("pause", {{"threadId", 1}});
    EXPECT_EQ(client.event("stopped")["reason"], "pause");
    EXPECT_FALSE(client.frames().empty());
}

TEST(Session, AnOperatorsErrorIsAStopThenAnOutputThenExitCodeOne) {
    TestClient client;
    const Json stop = client.startTiny({}, {{"model", "broken"}});
    EXPECT_EQ(stop["reason"], "exception");
    EXPECT_EQ(stop["tapescope"]["step"], 1);
    const std::string text = stop["text"];
    EXPECT_NE(text.find("add"), std::string::npos);
    EXPECT_EQ(client.frames().front()["name"], "add");
    EXPECT_EQ(client.variable("Inputs", "input")["type"], "f32[2,2]");
    client.ask("continue");
    const Json output = client.event("output");
    EXPECT_EQ(output["category"], "stderr");
    EXPECT_EQ(output["output"], text + "\n");
    EXPECT_EQ(client.event("exited")["exitCode"], 1);
    client.event("terminated");
    EXPECT_NE(client.refusal("stackTrace").find("has ended"), std::string::npos);
}

TEST(Session, ExceptionFiltersSwitchTheStopOff) {
    TestClient client;
    client.initialize();
    client.ask("launch", {{"model", "broken"}});
    const Json answer = client.ask("setExceptionBreakpoints", {{"filters", Json::array()}});
    EXPECT_TRUE(answer["breakpoints"].empty());
    client.ask("configurationDone");
    EXPECT_EQ(client.event("exited")["exitCode"], 1);
    EXPECT_FALSE(client.hasEvent("stopped"));
}

TEST(Session, AForeignExceptionOfTheModelIsReported) {
    TestClient client;
    client.initialize();
    client.ask("launch", {{"model", "thrower"}});
    client.ask("configurationDone");
    const Json output = client.event("output");
    EXPECT_NE(output["output"].get<std::string>().find("the disk is on fire"), std::string::npos);
    EXPECT_EQ(client.event("exited")["exitCode"], 1);
}

TEST(Session, EverythingUpToAStopIsOnTheTapeBeforeTheEvent) {
    const TempFile file;
    TestClient client;
    const Json stop = client.startTiny({"backward:conv2d"}, {{"tape", file.path()}, {"steps", 2}});
    EXPECT_EQ(stop["tapescope"]["seq"], -1);
    const std::int64_t forwardSeq = stop["tapescope"]["forwardSeq"];
    const Json inside = client.go("next", {{"granularity", "instruction"}});
    const std::int64_t seq = inside["tapescope"]["seq"];
    EXPECT_GT(seq, forwardSeq);

    auto opened = storage::TapeReader::open(file.path());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto graphs = (*opened)->graphs();
    ASSERT_TRUE(graphs.ok());
    ASSERT_EQ(graphs->size(), 1U);
    const auto graph = (*opened)->graph((*graphs)[0].id);
    ASSERT_TRUE(graph.ok());
    EXPECT_FALSE(graph->complete);
    // The operator it stands at is the last one on record, under the number the event gave.
    ASSERT_FALSE(graph->nodes.empty());
    EXPECT_EQ(graph->nodes.back().seq, seq);
    EXPECT_EQ(graph->nodes.back().op, inside["tapescope"]["operator"]);
    EXPECT_EQ(graph->nodes.back().forwardSeq, forwardSeq);
    EXPECT_EQ(graph->nodes[static_cast<std::size_t>(forwardSeq)].op, "conv2d");
}

TEST(Session, TerminateEndsTheRunWithASealedTape) {
    const TempFile file;
    TestClient client;
    client.startTiny({"relu"}, {{"tape", file.path()}, {"steps", 1'000'000}});
    client.ask("terminate");
    EXPECT_EQ(client.event("exited")["exitCode"], 0);
    client.event("terminated");
    auto opened = storage::TapeReader::open(file.path());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    EXPECT_EQ((*opened)->state(), storage::TapeState::Sealed);
    EXPECT_EQ((*opened)->outcome(), storage::RunOutcome::Stopped);
}

TEST(Session, DisconnectAndAVanishedClientSealTheTapeToo) {
    for (const bool politely : {true, false}) {
        const TempFile file;
        {
            TestClient client;
            client.startTiny({"relu"}, {{"tape", file.path()}, {"steps", 1'000'000}});
            if (politely) {
                client.ask("disconnect");
            }
            client.finish();
        }
        auto opened = storage::TapeReader::open(file.path());
        ASSERT_TRUE(opened.ok()) << opened.status().message();
        EXPECT_EQ((*opened)->state(), storage::TapeState::Sealed);
    }
}

TEST(Session, TerminateBeforeAnythingRanEndsTheSession) {
    TestClient client;
    client.initialize();
    client.ask("launch", {{"model", "tiny"}});
    client.ask("terminate");
    client.event("terminated");
    client.ask("disconnect");
}

/// Random changes of a good conversation: whatever comes, the session answers or skips, and goes
/// on.
TEST(Session, SurvivesMutatedMessages) {
    const std::vector<std::string> good = {
        R"({"seq":1,"type":"request","command":"initialize","arguments":{"linesStartAt1":true}})",
        R"({"seq":2,"type":"request","command":"launch","arguments":{"model":"tiny","steps":3,"set":{"lr":0.1}}})",
        R"({"seq":3,"type":"request","command":"setFunctionBreakpoints","arguments":{"breakpoints":[{"name":"conv: conv2d","hitCondition":"1"}]}})",
        R"({"seq":4,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"a.cpp"},"breakpoints":[{"line":3}]}})",
        R"({"seq":5,"type":"request","command":"configurationDone"})",
        R"({"seq":6,"type":"request","command":"stackTrace","arguments":{"threadId":1,"startFrame":0,"levels":2}})",
        R"({"seq":7,"type":"request","command":"scopes","arguments":{"frameId":1}})",
        R"({"seq":8,"type":"request","command":"variables","arguments":{"variablesReference":1,"filter":"indexed","start":0,"count":4}})",
        R"({"seq":9,"type":"request","command":"evaluate","arguments":{"expression":"input[0, :, 2:5]","frameId":1}})",
        R"({"seq":10,"type":"request","command":"readMemory","arguments":{"memoryReference":"tensor-2","offset":4,"count":16}})",
        R"({"seq":11,"type":"request","command":"tensorStats","arguments":{"memoryReference":"tensor-2","bins":8}})",
        R"({"seq":12,"type":"request","command":"tensorSlice","arguments":{"memoryReference":"tensor-2","slice":"0, ...","maxElements":5}})",
        R"({"seq":13,"type":"request","command":"next","arguments":{"threadId":1}})",
        R"({"seq":14,"type":"request","command":"continue","arguments":{"threadId":1}})"};
    const std::string alphabet = "{}[]\",:0123456789.-eE \\\xc3truefalsn\r\n";
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        TestClient client;
        for (const std::string& message : good) {
            if (random() % 4 != 0) client.sendBody(message);
            std::string bad = message;
            const auto edits = 1 + random() % 3;
            for (unsigned i = 0; i < edits && !bad.empty(); ++i) {
                const std::size_t at = random() % bad.size();
                switch (random() % 4) {
                    case 0:
                        bad[at] = alphabet[random() % alphabet.size()];
                        break;
                    case 1:
                        bad.erase(at, 1 + random() % 6);
                        break;
                    case 2:
                        bad.insert(at, 1, static_cast<char>(random() % 256));
                        break;
                    default:
                        bad.insert(at, bad.substr(at, random() % 12));
                }
            }
            if (random() % 5 == 0) {
                client.sendRaw("Content-Length: " + std::to_string(random() % 200) + "\r\n\r\n" +
                               bad);
            } else {
                client.sendBody(bad);
            }
        }
        // A header behind a wrong length is found again once enough bytes came.
        client.sendRaw(std::string(200, ' ') + "\r\n\r\n");
        client.sendBody(R"({"seq":777,"type":"request","command":"threads"})");
        while (client.nextResponse()["request_seq"] != 777) {
        }
    }
}

}  // namespace
}  // namespace tapescope::app
