// SPDX-License-Identifier: Apache-2.0
// `tapescope record`, `join`, `report` and `doctor` as a user runs them, on the fake driver and
// CUPTI.
#include "storage/tape/reader.h"

#include <csignal>
#include <cstdlib>
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
#include <utility>
#include <vector>

namespace tapescope::app {
namespace {

namespace fs = std::filesystem;
using Variables = std::vector<std::pair<std::string, std::string>>;

class RecordProgram : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "tapescope-record-XXXXXX").string();
        m_folder = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(m_folder); }
    std::string file(const std::string& name) const { return (m_folder / name).string(); }
    static std::string fake(const std::string& name) { return TAPESCOPE_FAKES "/" + name; }
    static std::string readAll(const std::string& path) {
        std::ifstream in(path);
        std::stringstream text;
        text << in.rdbuf();
        return text.str();
    }
    static Variables onFakes() {
        return {{"LD_LIBRARY_PATH", TAPESCOPE_FAKES},
                {"FAKE_CUPTI_PATH", fake("libcupti.so.13")},
                {"TAPESCOPE_CUPTI_PATH", fake("libcupti.so.13")},
                {"TAPESCOPE_INJECT", TAPESCOPE_INJECT}};
    }
    struct Outcome {
        int status = -1;
        int signal = 0;
        std::string out;
        std::string err;
    };
    Outcome run(std::vector<std::string> words, const Variables& variables) const {
        words.insert(words.begin(), TAPESCOPE_BINARY);
        const pid_t pid = fork();
        if (pid == 0) {
            for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
            dup2(open(file("out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), 1);
            dup2(open(file("err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), 2);
            std::vector<char*> argv;
            for (std::string& w : words) argv.push_back(w.data());
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            _exit(127);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                WIFSIGNALED(status) ? WTERMSIG(status) : 0, readAll(file("out")),
                readAll(file("err"))};
    }
    fs::path m_folder;
};

TEST_F(RecordProgram, OutputAndExitCodeAreTheProgramsAndTheReportHasItsKernels) {
    const Outcome recorded =
        run({"record", "-o", file("a.tape"), fake("fake_target"), "exit", "100"}, onFakes());
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_EQ(recorded.out, "target: done\ntarget: late\n");
    EXPECT_NE(recorded.err.find("1 process used CUDA, "), std::string::npos) << recorded.err;
    const Outcome json = run({"report", file("a.tape"), "--json"}, {});
    ASSERT_EQ(json.status, 0) << json.err;
    const auto gpu = nlohmann::json::parse(json.out)["gpu"];
    std::int64_t kernels = 0;
    for (const auto& row : gpu["kernels"]) kernels += row["count"].get<std::int64_t>();
    EXPECT_EQ(kernels, 105);
    EXPECT_EQ(gpu["states"][0]["code"], "ok");
    EXPECT_GT(gpu["devices"][0]["busyNs"].get<std::int64_t>(), 0);
    const Outcome text = run({"report", file("a.tape")}, {});
    for (const char* part : {"Kernels", "Copies", "host to device", "busy", "GPU losses"})
        EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
}

TEST_F(RecordProgram, ExitCodesAndSignalsPassThrough) {
    EXPECT_EQ(run({"record", "-o", file("a.tape"), "--", "sh", "-c", "exit 42"}, {}).status, 42);
    EXPECT_EQ(run({"record", "-o", file("b.tape"), "sh", "-c", "kill -TERM $$"}, {}).signal,
              SIGTERM);
    const Outcome missing = run({"record", "-o", file("c.tape"), "no-such-program"}, {});
    EXPECT_EQ(missing.status, 127);
    EXPECT_NE(missing.err.find("there is no program"), std::string::npos) << missing.err;
    std::ofstream(file("plain")) << "text";
    EXPECT_EQ(run({"record", "-o", file("c.tape"), file("plain")}, {}).status, 126);
    EXPECT_FALSE(fs::exists(file("c.tape")));
    EXPECT_EQ(run({"record", "-o", file("a.tape"), "true"}, {}).status, 1);  // it exists
    EXPECT_EQ(run({"record"}, {}).status, 2);
    const Outcome kind = run({"record", "--filter", "-runtim", "true"}, {});
    EXPECT_EQ(kind.status, 2);
    EXPECT_NE(kind.err.find("did you mean runtime?"), std::string::npos) << kind.err;
    // What follows the program's name is the program's, also --help.
    const Outcome help = run({"record", "-o", file("d.tape"), "echo", "--help", "-o"}, {});
    EXPECT_EQ(help.out, "--help -o\n");
    EXPECT_EQ(run({"record", "--help"}, {}).status, 0);
}

TEST_F(RecordProgram, WrongCommandLinesAreRefusedWithAReason) {
    const auto refused = [&](std::vector<std::string> words, const char* why) {
        const Outcome o = run(std::move(words), {});
        EXPECT_EQ(o.status, 2) << o.err;
        EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
        EXPECT_NE(o.err.find("Try tapescope record --help."), std::string::npos) << o.err;
    };
    refused({"record"}, "no program is given");
    refused({"record", "--"}, "no program is given");
    refused({"record", "-o", "--", "true"}, "-o needs a value");
    refused({"record", "--filter", "--counters", "true"}, "--filter needs a value");
    EXPECT_EQ(run({"nonsense"}, {}).err.find("nonsense --help"), std::string::npos);
}

TEST_F(RecordProgram, OddNamesOfTapesAreNames) {
    fs::create_directory(file("odd"));
    const std::string here = fs::current_path();
    fs::current_path(file("odd"));
    for (const std::string name : {":memory:", "file:x.tape"}) {
        EXPECT_EQ(run({"record", "-o", name, "true"}, {}).status, 0);
        EXPECT_TRUE(fs::exists(name));
        EXPECT_EQ(run({"report", name}, {}).status, 0);
    }
    fs::create_symlink("elsewhere", "link.tape");
    const Outcome link = run({"record", "-o", "link.tape", "true"}, {});
    EXPECT_EQ(link.status, 1);
    EXPECT_NE(link.err.find("a symbolic link has this name"), std::string::npos) << link.err;
    std::ofstream("script") << "#!/no/such/interpreter -x\n";
    fs::permissions("script", fs::perms::owner_all);
    const Outcome script = run({"record", "-o", "s.tape", "./script"}, {});
    EXPECT_EQ(script.status, 126);
    EXPECT_NE(script.err.find("its interpreter \"/no/such/interpreter\" is missing"),
              std::string::npos)
        << script.err;
    // The terminal is not the names'.
    const Outcome escape = run({"record", "-o", "e.tape", "\x1b[31mno"}, {});
    EXPECT_EQ(escape.err.find('\x1b'), std::string::npos);
    EXPECT_NE(escape.err.find("\\x1b[31mno"), std::string::npos) << escape.err;
    fs::current_path(here);
}

TEST_F(RecordProgram, ACuptiThatCannotBeLoadedIsNamed) {
    Variables variables = onFakes();
    variables.emplace_back("TAPESCOPE_CUPTI_PATH", "/no/libcupti.so.13");
    (void)run({"record", "-o", file("a.tape"), fake("fake_target"), "exit", "10"}, variables);
    const auto tape = storage::TapeReader::open(file("a.tape"));
    ASSERT_TRUE(tape.ok());
    bool named = false;
    for (const auto& row : *(*tape)->gpuStatuses())
        named = named || row.detail.find("TAPESCOPE_CUPTI_PATH names") != std::string::npos;
    EXPECT_TRUE(named);
    EXPECT_NE(run({"doctor"}, variables).out.find("TAPESCOPE_CUPTI_PATH names"), std::string::npos);
}

TEST_F(RecordProgram, ADamagedTapeIsSaidInTheReportAndByJoin) {
    ASSERT_EQ(
        run({"record", "-o", file("a.tape"), fake("fake_target"), "exit", "10"}, onFakes()).status,
        0);
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file("a.tape").c_str(), &db), SQLITE_OK);
    sqlite3_exec(db, "UPDATE gpu_event_chunk SET data = x'00'", nullptr, nullptr, nullptr);
    sqlite3_close(db);
    const Outcome report = run({"report", file("a.tape")}, {});
    EXPECT_EQ(report.status, 1);
    EXPECT_NE(report.out.find("finished; damaged, 1 part cannot be read:"), std::string::npos)
        << report.out;
    EXPECT_EQ(run({"join", "-o", file("b.tape"), file("a.tape")}, {}).status, 1);
    EXPECT_TRUE(fs::exists(file("b.tape")));
}

TEST_F(RecordProgram, ARecordingsReportHasNoEmptyPartsOfTheEngine) {
    ASSERT_EQ(
        run({"record", "-o", file("a.tape"), fake("fake_target"), "preforked", "10"}, onFakes())
            .status,
        0);
    const Outcome report = run({"report", file("a.tape")}, {});
    EXPECT_EQ(report.out.find("Steps"), std::string::npos) << report.out;
    EXPECT_NE(report.out.find("cupti: ok in 3 processes"), std::string::npos) << report.out;
    EXPECT_NE(report.out.find("3 processes used CUDA"), std::string::npos) << report.out;
}

TEST_F(RecordProgram, TheProgramsEnvironmentIsNotTuned) {
    const Outcome env = run({"record", "-o", file("a.tape"), "env"}, {});
    if (!std::getenv("OMP_WAIT_POLICY")) {
        EXPECT_EQ(env.out.find("OMP_WAIT_POLICY"), std::string::npos);
    }
}

TEST_F(RecordProgram, TapesOfTwoRunsJoin) {
    for (const char* name : {"a.tape", "b.tape"}) {
        ASSERT_EQ(
            run({"record", "-o", file(name), fake("fake_target"), "exit", "10"}, onFakes()).status,
            0);
    }
    const Outcome joined = run({"join", "-o", file("ab.tape"), file("a.tape"), file("b.tape")}, {});
    EXPECT_EQ(joined.status, 0) << joined.err;
    EXPECT_NE(joined.out.find("2 files, 2 processes used CUDA"), std::string::npos) << joined.out;
    EXPECT_EQ(run({"join", file("a.tape")}, {}).status, 2);
    std::ofstream(file("odd.tape")) << "odd";
    const Outcome odd = run({"join", "-o", file("x.tape"), file("a.tape"), file("odd.tape")}, {});
    EXPECT_EQ(odd.status, 1);
    EXPECT_NE(odd.err.find("odd.tape"), std::string::npos);
    EXPECT_TRUE(fs::exists(file("x.tape")));
}

TEST_F(RecordProgram, DoctorKnowsTheSituations) {
    const auto tracing = [&](const Variables& more) {
        Variables all = onFakes();
        all.insert(all.end(), more.begin(), more.end());
        const Outcome doctor = run({"doctor", "--json"}, all);
        for (const auto& finding : nlohmann::json::parse(doctor.out))
            if (finding["what"] == "GPU tracing") return finding;
        return nlohmann::json();
    };
    EXPECT_EQ(tracing({})["found"], true);
    const auto code = [&](const Variables& more) {
        const std::string detail = tracing(more)["detail"];
        return detail.substr(0, detail.find(':'));
    };
    EXPECT_EQ(code({{"FAKE_CUDA_NO_DEVICE", "1"}}), "no-device");
    EXPECT_EQ(code({{"FAKE_CUDA_VERSION", "12020"}}), "cupti-newer-than-driver");
    EXPECT_EQ(code({{"FAKE_CUPTI_VERSION", "17"}}), "cupti-too-old");
    EXPECT_EQ(code({{"FAKE_CUPTI_SUBSCRIBE_RC", "35"}}), "no-permission");
    EXPECT_EQ(code({{"FAKE_CUPTI_SUBSCRIBE_RC", "39"}}), "busy");
    EXPECT_EQ(code({{"FAKE_CUPTI_SUBSCRIBE_RC", "43"}}), "environment-unsupported");
}

}  // namespace
}  // namespace tapescope::app
