// SPDX-License-Identifier: Apache-2.0
// The program as a user runs it: exit status, stdout and stderr.
#include "storage/tape/reader.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tapescope::app {
namespace {

namespace fs = std::filesystem;

std::string readAll(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

class Program : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "tapescope-cli-XXXXXX").string();
        m_folder = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(m_folder); }

    std::string file(const std::string& name) const { return (m_folder / name).string(); }

    struct Outcome {
        int status = -1;
        std::string out;
        std::string err;
    };
    pid_t start(std::vector<std::string> words, const std::string& stdoutFile = {}) const {
        words.insert(words.begin(), TAPESCOPE_BINARY);
        const pid_t pid = fork();
        if (pid != 0) return pid;
        const int out = open((stdoutFile.empty() ? file("out") : stdoutFile).c_str(),
                             O_CREAT | O_TRUNC | O_WRONLY, 0600);
        const int err = open(file("err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
        dup2(out, 1);
        dup2(err, 2);
        std::vector<char*> argv;
        for (std::string& w : words) argv.push_back(w.data());
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
    }
    Outcome wait(pid_t pid) const {
        int status = 0;
        waitpid(pid, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                readAll(file("out")), readAll(file("err"))};
    }
    Outcome run(std::vector<std::string> words, const std::string& stdoutFile = {}) const {
        return wait(start(std::move(words), stdoutFile));
    }

    fs::path m_folder;
};

TEST_F(Program, UsageErrorsNameTheNearestAndExitWith2) {
    const Outcome command = run({"rnu"});
    EXPECT_EQ(command.status, 2);
    EXPECT_NE(command.err.find("unknown command rnu; did you mean run?"), std::string::npos)
        << command.err;
    const Outcome model = run({"run", "digit-cnn"});
    EXPECT_EQ(model.status, 2);
    EXPECT_NE(model.err.find("digits-cnn"), std::string::npos) << model.err;
    const Outcome option = run({"run", "digits-cnn", "--sed", "1"});
    EXPECT_EQ(option.status, 2);
    EXPECT_NE(option.err.find("--seed"), std::string::npos) << option.err;
    const Outcome setting = run({"run", "digits-cnn", "--set", "lrr=1"});
    EXPECT_EQ(setting.status, 2);
    EXPECT_NE(setting.err.find("lr"), std::string::npos) << setting.err;
    EXPECT_EQ(run({"run", "digits-cnn", "--set", "lr=fast"}).status, 2);
    EXPECT_EQ(run({}).status, 2);
    EXPECT_EQ(run({"--help"}).status, 0);
}

TEST_F(Program, ARunLeavesATapeThatReportReads) {
    const Outcome trained =
        run({"run", "digits-mlp", "--steps", "20", "--tape", file("a.tape"), "--quiet"});
    ASSERT_EQ(trained.status, 0) << trained.err;
    EXPECT_NE(trained.out.find("train/loss"), std::string::npos);

    const Outcome json = run({"report", file("a.tape"), "--json"});
    ASSERT_EQ(json.status, 0) << json.err;
    const auto report = nlohmann::json::parse(json.out);
    EXPECT_EQ(report["run"]["name"], "digits-mlp");
    EXPECT_EQ(report["run"]["outcome"], "finished");
    EXPECT_EQ(report["steps"]["count"], 20);
    EXPECT_GT(report["steps"]["medianNs"].get<double>(), 0);
    EXPECT_GT(report["memory"]["peakBytes"].get<double>(), 0);
    EXPECT_EQ(report["scalars"]["train/loss"]["points"], 20);
    EXPECT_TRUE(report["scalars"].contains("val/accuracy"));
    EXPECT_GT(report["operators"].size(), 5U);
    EXPECT_FALSE(report["environment"].empty());

    const Outcome text = run({"report", file("a.tape")});
    EXPECT_EQ(text.status, 0);
    EXPECT_NE(text.out.find("Operators by self time"), std::string::npos);
}

TEST_F(Program, AnExistingTapeIsKeptUnlessForced) {
    ASSERT_EQ(
        run({"run", "digits-mlp", "--steps", "1", "--tape", file("a.tape"), "--quiet"}).status, 0);
    const std::string before = readAll(file("a.tape"));
    const Outcome again =
        run({"run", "digits-mlp", "--steps", "2", "--tape", file("a.tape"), "--quiet"});
    EXPECT_EQ(again.status, 1);
    EXPECT_NE(again.err.find(file("a.tape")), std::string::npos) << again.err;
    EXPECT_EQ(readAll(file("a.tape")), before);
    EXPECT_EQ(
        run({"run", "digits-mlp", "--steps", "2", "--tape", file("a.tape"), "--quiet", "--force"})
            .status,
        0);
}

TEST_F(Program, ForeignAndMissingFilesAreNamedWithExit1) {
    const Outcome missing = run({"report", file("none.tape")});
    EXPECT_EQ(missing.status, 1);
    EXPECT_NE(missing.err.find("none.tape"), std::string::npos);
    std::ofstream(file("text.tape"))
        << "this is no database, only some text that is long enough to look like one\n";
    const Outcome foreign = run({"report", file("text.tape")});
    EXPECT_EQ(foreign.status, 1);
    EXPECT_NE(foreign.err.find("text.tape"), std::string::npos);
    EXPECT_EQ(run({"run", "mnist-cnn", "--data", file("nowhere"), "--steps", "1"}).status, 1);
    EXPECT_EQ(
        run({"run", "digits-mlp", "--tape", file("no/such/folder/a.tape"), "--steps", "1"}).status,
        1);
    EXPECT_EQ(run({"run", "mnist-cnn", "--steps", "1"}).status, 2);
}

TEST_F(Program, WhatCannotBeMeantIsNamedWithItsRemedy) {
    const Outcome data = run({"run", "digits-mlp", "--data", m_folder.string(), "--steps", "1"});
    EXPECT_EQ(data.status, 2);
    EXPECT_NE(data.err.find("leave out --data"), std::string::npos) << data.err;
    EXPECT_EQ(run({"run", "digits-mlp", "--steps", "1", "--tape", ""}).status, 2);
    const Outcome name =
        run({"run", "digits-mlp", "--steps", "1", "--tape", file(std::string(250, 'n'))});
    EXPECT_EQ(name.status, 1);
    EXPECT_NE(name.err.find("choose a shorter one"), std::string::npos) << name.err;
    ASSERT_EQ(run({"run", "digits-mlp", "--steps", "1", "--tape", file("a.tape")}).status, 0);
    const Outcome again = run({"run", "digits-mlp", "--steps", "1", "--tape", file("a.tape")});
    EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
}

TEST_F(Program, ReportNamesDamagedParts) {
    const std::array<std::pair<const char*, const char*>, 4> damages{
        {{"UPDATE op_event_chunk SET data = zeroblob(40)", "event"},
         {"UPDATE memory_event_chunk SET data = x'00'", "event"},
         {"DELETE FROM graph", "graph"},
         {"DELETE FROM graph_node WHERE seq = 3", "graph"}}};
    for (const auto& [sql, part] : damages) {
        ASSERT_EQ(run({"run", "digits-mlp", "--steps", "3", "--force", "--quiet", "--tape",
                       file("a.tape")})
                      .status,
                  0);
        ASSERT_EQ(run({"report", file("a.tape")}).status, 0);
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(file("a.tape").c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
        sqlite3_close(db);
        const Outcome report = run({"report", file("a.tape")});
        EXPECT_EQ(report.status, 1) << sql;
        EXPECT_NE(report.err.find("a.tape"), std::string::npos) << report.err;
        EXPECT_NE(report.err.find(part), std::string::npos) << report.err;
        EXPECT_NE(report.out.find("Last scalars"), std::string::npos) << report.out;
        const Outcome json = run({"report", file("a.tape"), "--json"});
        EXPECT_FALSE(nlohmann::json::parse(json.out)["damage"].empty());
    }
}

TEST_F(Program, OutputThatCannotBeWrittenIsAFailure) {
    const Outcome outcome = run({"models"}, "/dev/full");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("could not be written"), std::string::npos) << outcome.err;
}

TEST_F(Program, CtrlCEndsWithAValidTape) {
    const pid_t pid = start({"run", "digits-cnn", "--steps", "1000000", "--tape", file("a.tape")});
    // The tape tells when training is under way.
    for (bool running = false; !running;) {
        ASSERT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << readAll(file("err"));
        if (auto tape = storage::TapeReader::open(file("a.tape")); tape.ok()) {
            const auto steps = (*tape)->steps();
            running = steps.ok() && steps->size() >= 2;
        }
    }
    kill(pid, SIGINT);
    const Outcome outcome = wait(pid);
    EXPECT_EQ(outcome.status, 130);
    auto tape = storage::TapeReader::open(file("a.tape"));
    ASSERT_TRUE(tape.ok()) << tape.status().message();
    EXPECT_EQ((*tape)->state(), storage::TapeState::Sealed);
    EXPECT_EQ((*tape)->outcome(), storage::RunOutcome::Stopped);
    EXPECT_FALSE(fs::exists(file("a.tape-wal")));
}

TEST_F(Program, ModelsAndDoctorSpeakJson) {
    const auto models = nlohmann::json::parse(run({"models", "--json"}).out);
    ASSERT_GE(models.size(), 3U);
    EXPECT_EQ(models[0]["name"], "digits-mlp");
    const auto doctor = nlohmann::json::parse(run({"doctor", "--json"}).out);
    EXPECT_GE(doctor.size(), 8U);
}

TEST_F(Program, TheSameSeedGivesBitIdenticalCurves) {
    for (const char* name : {"a.tape", "b.tape"}) {
        ASSERT_EQ(run({"run", "digits-cnn", "--steps", "12", "--seed", "3", "--tape", file(name),
                       "--quiet"})
                      .status,
                  0);
    }
    std::array<std::vector<double>, 2> losses;
    for (std::size_t i = 0; i < 2; ++i) {
        auto tape = storage::TapeReader::open(file(i == 0 ? "a.tape" : "b.tape"));
        ASSERT_TRUE(tape.ok());
        const auto tags = (*tape)->tags();
        ASSERT_TRUE(tags.ok());
        for (const auto& tag : *tags) {
            if (tag.name != "train/loss") continue;
            const auto points = (*tape)->scalars(tag.id);
            ASSERT_TRUE(points.ok());
            for (const auto& point : *points) losses[i].push_back(point.value);
        }
    }
    EXPECT_EQ(losses[0].size(), 12U);
    EXPECT_EQ(losses[0], losses[1]);
}

}  // namespace
}  // namespace tapescope::app
