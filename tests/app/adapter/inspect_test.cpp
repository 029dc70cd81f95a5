// SPDX-License-Identifier: Apache-2.0
// Looking at a model that stands: stack, scopes, variables, memory, expressions, sources.
#include "test_client.h"

#include <cstring>
#include <gtest/gtest.h>

namespace tapescope::app {
namespace {

std::vector<std::string> namesOf(const Json& list) {
    std::vector<std::string> out;
    for (const Json& each : list) out.push_back(each["name"]);
    return out;
}
using Names = std::vector<std::string>;

std::vector<float> floatsOf(const Json& memory) {
    const std::vector<std::byte> bytes = decodeBase64(memory["data"]);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

class Inspect : public ::testing::Test {
protected:
    Inspect() : stop(client.startTiny({"conv: conv2d"})) {}
    TestClient client;
    Json stop;
};

TEST_F(Inspect, StackGoesFromTheOperatorToTheProgram) {
    const std::vector<Json> frames = client.frames();
    EXPECT_EQ(namesOf(frames),
              (Names{"conv: conv2d", "conv (Conv2d)", "(TinyNet)", "tiny, step 0"}));
    EXPECT_EQ(frames[0]["source"]["name"], "test_client.cpp");
    EXPECT_EQ(frames[0]["source"]["sourceReference"], 1);
    EXPECT_EQ(frames[0]["line"], stop["tapescope"]["line"]);
    EXPECT_GT(frames[2]["line"], frames[1]["line"]);  // called from trainStep, below forward
    EXPECT_EQ(frames[3]["line"], 0);
    const Json part = client.ask("stackTrace", {{"threadId", 1}, {"startFrame", 1}, {"levels", 2}});
    EXPECT_EQ(namesOf(part["stackFrames"]), (Names{"conv (Conv2d)", "(TinyNet)"}));
    EXPECT_EQ(part["totalFrames"], 4);
}

TEST_F(Inspect, ScopesAreThoseThatHaveSomething) {
    const Json frame = client.frames()[0];
    const Json list = client.ask("scopes", {{"frameId", frame["id"]}})["scopes"];
    EXPECT_EQ(namesOf(list), (Names{"Inputs", "Parameters"}));
    EXPECT_EQ(namesOf(client.scope("Inputs")), (Names{"input", "weight", "bias", "attributes"}));
    EXPECT_EQ(namesOf(client.scope("Parameters")), (Names{"conv.weight", "conv.bias"}));
    client.go("stepOut");
    EXPECT_EQ(namesOf(client.scope("Outputs")), Names{"output"});
    client.go("stepBackward");
    EXPECT_EQ(namesOf(client.scope("Gradients")), Names{"grad_output"});
    EXPECT_FALSE(client.scope("Saved").empty());
}

TEST_F(Inspect, ATensorVariableSaysWhatMattersFirst) {
    const Json input = client.variable("Inputs", "input");
    EXPECT_EQ(input["value"], "f32[2,1,4,4] cpu  min 0  mean 15.5  max 31");
    EXPECT_EQ(input["type"], "f32[2,1,4,4]");
    EXPECT_EQ(input["indexedVariables"], 2);
    EXPECT_EQ(input["evaluateName"], "input");
    const Json children =
        client.ask("variables", {{"variablesReference", input["variablesReference"]}})["variables"];
    EXPECT_EQ(namesOf(children),
              (Names{"shape", "dtype", "device", "strides", "version", "requires_grad", "NaN",
                     "Inf", "min", "mean", "max", "std", "[0]", "[1]"}));
    EXPECT_EQ(children[0]["value"], "[2, 1, 4, 4]");
    EXPECT_EQ(children[1]["value"], "float32");
    EXPECT_EQ(children[9]["value"], "15.5");
    EXPECT_EQ(children[12]["type"], "f32[1,4,4]");
    EXPECT_EQ(children[13]["value"], "f32[1,4,4] cpu  min 16  mean 23.5  max 31");
    EXPECT_EQ(input["namedVariables"], 12);
}

TEST_F(Inspect, RowsArePagedAndEndInNumbers) {
    Json at = client.variable("Inputs", "input");
    for (int level = 0; level < 3; ++level) {
        const Json rows = client.ask("variables", {{"variablesReference", at["variablesReference"]},
                                                   {"filter", "indexed"},
                                                   {"start", level == 0 ? 1 : 0},
                                                   {"count", 1}})["variables"];
        ASSERT_EQ(rows.size(), 1U);
        at = rows[0];
    }
    EXPECT_EQ(at["evaluateName"], "input[1, 0, 0]");
    const auto page = [&](int start, int count) {
        return client.ask("variables", {{"variablesReference", at["variablesReference"]},
                                        {"filter", "indexed"},
                                        {"start", start},
                                        {"count", count}})["variables"];
    };
    const Json numbers = page(1, 2);
    EXPECT_EQ(namesOf(numbers), (Names{"[1]", "[2]"}));
    EXPECT_EQ(numbers[0]["value"], "17");
    EXPECT_EQ(numbers[1]["variablesReference"], 0);
    EXPECT_EQ(numbers[1]["evaluateName"], "input[1, 0, 0, 2]");
    EXPECT_EQ(page(3, 100).size(), 1U);
    EXPECT_EQ(page(4, 1).size(), 0U);
    EXPECT_EQ(page(-5, 1).size(), 1U);
    EXPECT_NE(
        client.refusal("variables", {{"variablesReference", 1}, {"filter", "some"}}).find("named"),
        std::string::npos);
}

TEST_F(Inspect, ReadMemoryGivesTheTensorsBytesAndSaysWhatLiesBeyond) {
    const Json input = client.variable("Inputs", "input");
    const Json memory = client.ask(
        "readMemory", {{"memoryReference", input["memoryReference"]}, {"offset", 4}, {"count", 8}});
    EXPECT_EQ(floatsOf(memory), (std::vector<float>{1, 2}));
    EXPECT_FALSE(memory.contains("unreadableBytes"));
    const Json tail =
        client.ask("readMemory",
                   {{"memoryReference", input["memoryReference"]}, {"offset", 124}, {"count", 10}});
    EXPECT_EQ(floatsOf(tail), std::vector<float>{31});
    EXPECT_EQ(tail["unreadableBytes"], 6);
    const Json beyond =
        client.ask("readMemory",
                   {{"memoryReference", input["memoryReference"]}, {"offset", 128}, {"count", 3}});
    EXPECT_EQ(beyond["unreadableBytes"], 3);
    EXPECT_FALSE(beyond.contains("data"));
    EXPECT_NE(client.refusal("readMemory", {{"memoryReference", "tensor-99999"}, {"count", 1}})
                  .find("not of this stop"),
              std::string::npos);
    EXPECT_NE(
        client.refusal("readMemory", {{"memoryReference", input["memoryReference"]}, {"count", -1}})
            .find("0 or more"),
        std::string::npos);
}

TEST_F(Inspect, EvaluateTakesSlicesParametersAndGradients) {
    const Json frameId = client.frames()[0]["id"];
    const auto evaluate = [&](const std::string& text) {
        return client.ask("evaluate", {{"expression", text}, {"frameId", frameId}});
    };
    EXPECT_EQ(evaluate("input[1, 0, 2:, 1]")["result"], "f32[2] cpu  min 25  mean 27  max 29");
    EXPECT_EQ(evaluate(" input [0][0, 1][2] ")["result"], "f32[] cpu  6");
    EXPECT_EQ(evaluate("input")["memoryReference"],
              client.variable("Inputs", "input")["memoryReference"]);
    EXPECT_EQ(evaluate("fc.weight")["type"], "f32[2,32]");
    const auto refused = [&](const std::string& text) {
        return client.refusal("evaluate", {{"expression", text}, {"frameId", frameId}});
    };
    EXPECT_NE(refused("fc.weight.grad").find("no gradient here"), std::string::npos);
    EXPECT_NE(refused("inptu").find("did you mean input"), std::string::npos);
    EXPECT_NE(refused("input[0, 5]").find("out of range"), std::string::npos);
    EXPECT_NE(refused("input[0").find("slices in brackets"), std::string::npos);
    EXPECT_NE(refused("input[0] + 1").find("slices in brackets"), std::string::npos);
    EXPECT_NE(refused("").find("names no tensor"), std::string::npos);
    client.ask("setFunctionBreakpoints", {{"breakpoints", {{{"name", "backward:conv2d"}}}}});
    client.go("continue");
    const Json grad = client.ask("evaluate", {{"expression", "fc.weight.grad[0]"}});
    EXPECT_EQ(grad["type"], "f32[32]");
}

TEST_F(Inspect, TensorStatsCountBins) {
    const Json input = client.variable("Inputs", "input");
    const Json stats =
        client.ask("tensorStats", {{"memoryReference", input["memoryReference"]}, {"bins", 4}});
    EXPECT_EQ(stats["shape"], Json::array({2, 1, 4, 4}));
    EXPECT_EQ(stats["dtype"], "f32");
    EXPECT_EQ(stats["numel"], 32);
    EXPECT_EQ(stats["nan"], 0);
    EXPECT_EQ(stats["mean"], 15.5);
    EXPECT_EQ(stats["edges"], Json::array({0.0, 7.75, 15.5, 23.25, 31.0}));
    EXPECT_EQ(stats["counts"], Json::array({8, 8, 8, 8}));
    EXPECT_NE(
        client.refusal("tensorStats", {{"memoryReference", input["memoryReference"]}, {"bins", -1}})
            .find("bins"),
        std::string::npos);
}

TEST_F(Inspect, NumbersThatCannotBeMeantAreRefusedWithTheRange) {
    const Json input = client.variable("Inputs", "input");
    for (const int bins : {-1, 65537}) {
        const std::string refused = client.refusal(
            "tensorStats", {{"memoryReference", input["memoryReference"]}, {"bins", bins}});
        EXPECT_NE(refused.find("65536"), std::string::npos) << refused;
    }
    EXPECT_NE(client.refusal("stackTrace", {{"threadId", 7}}).find("thread 1"), std::string::npos);
    for (const char* name : {"startFrame", "levels"}) {
        EXPECT_NE(client.refusal("stackTrace", {{"threadId", 1}, {name, -1}}).find("negative"),
                  std::string::npos);
    }
}

TEST_F(Inspect, TensorSliceIsCutAtMaxElements) {
    const Json reference = client.variable("Inputs", "input")["memoryReference"];
    const Json all =
        client.ask("tensorSlice", {{"memoryReference", reference}, {"slice", "1, 0, ::-2, 1:3"}});
    EXPECT_EQ(all["shape"], Json::array({2, 2}));
    EXPECT_EQ(all["values"], Json::array({29.0, 30.0, 21.0, 22.0}));
    EXPECT_EQ(all["truncated"], false);
    const Json cut = client.ask(
        "tensorSlice", {{"memoryReference", reference}, {"slice", ""}, {"maxElements", 3}});
    EXPECT_EQ(cut["values"], Json::array({0.0, 1.0, 2.0}));
    EXPECT_EQ(cut["truncated"], true);
    EXPECT_NE(client.refusal("tensorSlice", {{"memoryReference", reference}, {"slice", "9"}})
                  .find("out of range"),
              std::string::npos);
}

TEST_F(Inspect, ReferencesAndFramesOfAnEarlierStopAreRefused) {
    const Json input = client.variable("Inputs", "input");
    const Json frame = client.frames()[0];
    client.go("next");
    EXPECT_NE(client.refusal("variables", {{"variablesReference", input["variablesReference"]}})
                  .find("not of this stop"),
              std::string::npos);
    EXPECT_NE(client.refusal("tensorStats", {{"memoryReference", input["memoryReference"]}})
                  .find("not of this stop"),
              std::string::npos);
    EXPECT_NE(client.refusal("scopes", {{"frameId", frame["id"]}}).find("not of this stop"),
              std::string::npos);
}

TEST_F(Inspect, SourceIsTheModelsEmbeddedText) {
    const Json source = client.frames()[0]["source"];
    const std::string text = "// the text of test_client.cpp\n";
    EXPECT_EQ(client.ask("source", {{"source", source},
                                    {"sourceReference", source["sourceReference"]}})["content"],
              text);
    EXPECT_EQ(client.ask("source", {{"source", {{"path", source["path"]}}},
                                    {"sourceReference", 0}})["content"],
              text);
    EXPECT_NE(client.refusal("source", {{"sourceReference", 7}}).find("carries no source"),
              std::string::npos);
    EXPECT_NE(client.refusal("source", {{"source", {{"path", "x.cpp"}}}}).find("x.cpp"),
              std::string::npos);
}

}  // namespace
}  // namespace tapescope::app
