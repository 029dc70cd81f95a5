// SPDX-License-Identifier: Apache-2.0
// What docs/tape.md promises to users of any SQLite client.
#include "tests/storage/tape/tape_support.h"

#include <limits>

namespace tapescope::storage {
namespace {

class Views : public testing::Test {
protected:
    void SetUp() override {
        RunInfo info;
        info.runId = "r";
        info.name = "digits-cnn";
        info.command = "tapescope run digits-cnn";
        info.startWall = 1.7e9;
        info.config = {{"seed", "3"}};
        info.environment = {{"cpu", "two cores"}};
        const auto writer = newTape(path, info);
        const TagId loss = writer->tag("train/loss", TagKind::Scalar);
        writer->scalar(loss, {0, 1.5, 2.25});
        writer->scalar(loss, {1, 2.5, std::numeric_limits<double>::quiet_NaN()});
        writer->scalar(writer->tag("lr", TagKind::Scalar), {0, 1.5, 0.5});
        Histogram h;
        h.step = 1;
        h.wall = 3;
        h.edges = {0, 1, 2};
        h.counts = {4, 5};
        h.max = 2;
        writer->histogram(writer->tag("grad", TagKind::Histogram), h);
        writer->module({1, 0, "", "Net", 0, ""});
        writer->module({2, 1, "conv1", "Conv2d", 320, "1→32"});
        writer->site({1, "net.cpp", 31, "forward"});
        Graph g;
        g.id = 1;
        GraphNode conv;
        conv.op = "conv2d";
        conv.module = 2;
        conv.site = 1;
        conv.phase = Phase::Forward;
        conv.attrs = "stride=[1, 1]";
        conv.outputs = "f32[4]";
        conv.flops = 8;
        conv.bytes = 16;
        conv.inputs = {{-1, 0, 1, "conv1.weight", "f32[2]"}};
        GraphNode back = conv;
        back.seq = 1;
        back.module = 0;
        back.phase = Phase::Backward;
        back.forwardSeq = 0;
        back.inputs = {{0, 0, 0, "", "f32[4]"}};
        g.nodes = {conv, back};
        writer->graph(g);
        writer->step({0, 1'000'000, 3'500'000, 1, 4096});
        writer->step({1, 4'000'000, 5'000'000, 1, 4096});
        writer->opSummary(
            {{"conv2d", Phase::Forward, 2, 3'000'000, 2'000'000, 1'000'000, 2'000'000, 16, 32}});
        writer->log({9.5, 1, Severity::Error, "shapes differ"});
        writer->lost("memory events", 12, "backlog");
        ASSERT_OK(writer->seal(RunOutcome::Failed, "boom"));
    }
    TempDir dir;
    std::string path = dir.file("run.tape");
};

TEST_F(Views, Run) {
    EXPECT_EQ(
        sql(path, "select * from run"),
        Rows{"r|digits-cnn|tapescope run digits-cnn|2023-11-14 22:13:20|sealed|failed|boom|2"});
    EXPECT_EQ(sql(path, "select key, value from config"), Rows{"seed|3"});
    EXPECT_EQ(sql(path, "select key, value from environment"), Rows{"cpu|two cores"});
}
TEST_F(Views, Scalars) {
    EXPECT_EQ(sql(path, "select * from scalars"),
              (Rows{"train/loss|0|1.5|2.25", "train/loss|1|2.5|NULL", "lr|0|1.5|0.5"}));
    EXPECT_EQ(sql(path, "select value from scalars where tag = 'lr'"), Rows{"0.5"});
}
TEST_F(Views, Histograms) {
    EXPECT_EQ(sql(path, "select tag, step, wall, max, nan_count from histograms"),
              Rows{"grad|1|3.0|2.0|0"});
    EXPECT_EQ(sql(path, "select * from histogram_bins"),
              (Rows{"grad|1|0|0.0|1.0|4.0", "grad|1|1|1.0|2.0|5.0"}));
}
TEST_F(Views, StepsAndOperators) {
    EXPECT_EQ(sql(path, "select * from steps"), (Rows{"0|1.0|2.5|1|4096", "1|4.0|1.0|1|4096"}));
    EXPECT_EQ(sql(path, "select * from operators"),
              Rows{"conv2d|forward|2|3.0|2.0|1.0|2.0|16.0|32"});
}
TEST_F(Views, Modules) {
    EXPECT_EQ(sql(path, "select * from modules"),
              (Rows{"1||Net|0||NULL", "2|conv1|Conv2d|320|1→32|"}));
}
TEST_F(Views, GraphNodesAndEdges) {
    EXPECT_EQ(sql(path, "select * from graph_nodes"),
              (Rows{"1|0|0|conv2d|conv1|net.cpp|31|forward|NULL|stride=[1, 1]|f32[4]|8.0|16",
                    "1|0|1|conv2d|NULL|net.cpp|31|backward|0|stride=[1, 1]|f32[4]|8.0|16"}));
    EXPECT_EQ(sql(path, "select * from graph_edges"),
              (Rows{"1|NULL|0|0|1|conv1.weight|f32[2]", "1|0|0|1|0||f32[4]"}));
    EXPECT_EQ(sql(path, "select step, seq, op, module from step_nodes where step = 1"),
              (Rows{"1|0|conv2d|conv1", "1|1|conv2d|NULL"}));
}
TEST_F(Views, LogsAndLosses) {
    EXPECT_EQ(sql(path, "select * from logs"), Rows{"9.5|1|error|shapes differ"});
    EXPECT_EQ(sql(path, "select * from losses"), Rows{"memory events|12|backlog"});
}
TEST_F(Views, TheFileSaysWhatItIs) {
    EXPECT_EQ(sql(path, "pragma application_id"), Rows{"1414550339"});
    EXPECT_EQ(sql(path, "pragma user_version"), Rows{"2"});
}

}  // namespace
}  // namespace tapescope::storage
