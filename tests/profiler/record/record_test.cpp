// SPDX-License-Identifier: Apache-2.0
// A program that is recorded runs as it would without us, and its processes' tapes become one.
#include "profiler/record/injection.h"
#include "profiler/record/nvml.h"
#include "profiler/record/recording.h"
#include "storage/tape/process_identity.h"
#include "tests/storage/tape/tape_support.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <sys/wait.h>

namespace tapescope::profiler::record {
namespace {

using namespace storage;  // NOLINT(google-build-using-namespace): tapes of the results

std::string contentOf(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Sets a variable for the test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : m_name(name) {
        if (const char* old = std::getenv(name)) m_old = old;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (m_old)
            setenv(m_name, m_old->c_str(), 1);
        else
            unsetenv(m_name);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* m_name;
    std::optional<std::string> m_old;
};

class Record : public testing::Test {
protected:
    RecordOptions options(std::vector<std::string> command) {
        RecordOptions o;
        o.command = std::move(command);
        o.output = out();
        o.injectionLibrary = "/opt/libtapescope-inject.so";
        o.commandLine = "tapescope record -- the program";
        o.samplePeriod = std::chrono::milliseconds(10);
        o.say = [this](const std::string& text) { m_said += text + "\n"; };
        return o;
    }
    RecordOptions shell(const std::string& script) { return options({"/bin/sh", "-c", script}); }
    std::string out() const { return m_dir.file("run.tape"); }
    std::string file(const std::string& name) const { return m_dir.file(name); }
    Rows statuses() const { return sql(out(), "SELECT source, code FROM gpu_states ORDER BY 1"); }
    /// Only these names lie in the folder.
    void expectFiles(std::vector<std::string> names) const { EXPECT_EQ(m_dir.names(), names); }

    TempDir m_dir;
    std::string m_said;
};

TEST_F(Record, TheProgramsExitCodeAndOutputAreItsOwn) {
    const auto result = get(recordProgram(shell("echo hello > '" + file("said") + "'; exit 42")));
    EXPECT_EQ(result.startError, 0);
    EXPECT_EQ(result.ending.exitCode, 42);
    EXPECT_EQ(result.ending.signal, 0);
    EXPECT_TRUE(result.recorded);
    EXPECT_EQ(contentOf(file("said")), "hello\n");
    expectFiles({"run.tape", "said"});
    const auto tape = get(TapeReader::open(out()));
    EXPECT_EQ(tape->state(), TapeState::Sealed);
    EXPECT_EQ(tape->outcome(), RunOutcome::Failed);
    EXPECT_EQ(tape->outcomeMessage(), "exit status 42");
    EXPECT_EQ(get(tape->info()).name, "sh");
    EXPECT_EQ(get(tape->info()).command, "tapescope record -- the program");
    const auto processes = get(tape->gpuProcesses());
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_EQ(processes[0].parentPid, getpid());
}

TEST_F(Record, AProgramWithoutCudaIsRecordedAsSuchAndSaidSo) {
    EXPECT_EQ(get(recordProgram(shell("true"))).ending.status(), 0);
    const Rows found = statuses();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0] == "cupti|no-driver" || found[0] == "cupti|not-used") << found[0];
    EXPECT_NE(m_said.find("No process of this program used CUDA"), std::string::npos) << m_said;
    EXPECT_EQ(get(TapeReader::open(out()))->outcome(), RunOutcome::Finished);
}

TEST_F(Record, AProgramThatASignalKillsIsSaidToBeKilledByIt) {
    const auto result = get(recordProgram(shell("kill -KILL $$")));
    EXPECT_EQ(result.ending.signal, SIGKILL);
    EXPECT_EQ(result.ending.status(), 137);
    EXPECT_EQ(get(TapeReader::open(out()))->outcomeMessage(), "ended by signal 9");
}

TEST_F(Record, WhatCannotBeStartedLeavesNothingBehind) {
    EXPECT_EQ(get(recordProgram(options({file("none")}))).startError, ENOENT);
    EXPECT_EQ(get(recordProgram(options({"no-such-program-here"}))).startError, ENOENT);
    std::ofstream(file("plain")) << "text";
    EXPECT_EQ(get(recordProgram(options({file("plain")}))).startError, EACCES);
    expectFiles({"plain"});
}

TEST_F(Record, NothingIsStartedIfTheTapeCannotBeMade) {
    std::ofstream(out()) << "mine";
    auto result = recordProgram(shell("touch '" + file("ran") + "'"));
    ASSERT_FALSE(result.ok());
    EXPECT_NE(messageOf(result).find("--force"), std::string::npos);
    EXPECT_EQ(contentOf(out()), "mine");
    expectFiles({"run.tape"});
    RecordOptions elsewhere = shell("touch '" + file("ran") + "'");
    elsewhere.output = file("no/run.tape");
    EXPECT_FALSE(recordProgram(elsewhere).ok());
    expectFiles({"run.tape"});
    RecordOptions forced = shell("true");
    forced.overwrite = true;
    EXPECT_TRUE(get(recordProgram(forced)).recorded);
    EXPECT_TRUE(TapeReader::open(out()).ok());
}

TEST_F(Record, ShardsOfTheProgramsProcessesBecomeOneTape) {
    const ProcessIdentity me = ProcessIdentity::self();
    for (const std::int64_t pid : {101, 102}) {
        const auto tape = newTape(file(std::to_string(pid)));
        GpuProcess p;
        p.id = 1;
        p.pid = pid;
        p.host = me.host;
        p.bootId = me.bootId;
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC, &t);
        p.monotonicZeroNs = t.tv_sec * 1'000'000'000 + t.tv_nsec;
        clock_gettime(CLOCK_REALTIME, &t);
        p.realtimeZeroNs = t.tv_sec * 1'000'000'000 + t.tv_nsec;
        tape->gpuProcess(p);
        GpuEvent e;
        e.kind = GpuEventKind::Kernel;
        e.process = 1;
        e.name = tape->name("kernel of " + std::to_string(pid));
        e.durationNs = 5;
        tape->gpuEvents({e});
        tape->gpuStatus({1, "cupti", "ok", "GPU tracing is on.", "", 0});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    const auto result = get(recordProgram(shell("for p in 101 102; do cp '" + file("") +
                                                "'$p \"$TAPESCOPE_GPU_DIR/$p.tape\"; done; "
                                                "echo rubbish > \"$TAPESCOPE_GPU_DIR/odd.tape\"")));
    EXPECT_TRUE(result.recorded);
    EXPECT_EQ(sql(out(), "SELECT name, count FROM gpu_kernels ORDER BY name"),
              (Rows{"kernel of 101|1", "kernel of 102|1"}));
    // The program itself, which the recorder started, and the two that wrote.
    EXPECT_EQ(get(get(TapeReader::open(out()))->gpuProcesses()).size(), 3U);
    EXPECT_EQ(statuses(), (Rows{"cupti|ok", "cupti|ok"}));
    EXPECT_NE(m_said.find("2 processes used CUDA, 2 GPU events"), std::string::npos) << m_said;
    EXPECT_NE(m_said.find("odd.tape"), std::string::npos) << m_said;
    EXPECT_NE(m_said.find("the parts are kept in"), std::string::npos) << m_said;
}

TEST_F(Record, ThePartsAreKeptIfTheyCannotBeJoined) {
    // The program takes the tape's name itself.
    const auto result = get(recordProgram(shell("echo mine > '" + out() + "'; exit 5")));
    EXPECT_FALSE(result.recorded);
    EXPECT_EQ(result.ending.exitCode, 5);
    EXPECT_EQ(contentOf(out()), "mine\n");
    EXPECT_NE(m_said.find("tapescope join -o FILE " + out() + ".parts-"), std::string::npos)
        << m_said;
    EXPECT_NE(m_said.find("choose another name"), std::string::npos) << m_said;
    EXPECT_EQ(m_said.find("make room"), std::string::npos) << m_said;
    const auto names = m_dir.names();
    ASSERT_EQ(names.size(), 2U);
    std::vector<std::string> parts;
    for (const auto& entry : std::filesystem::directory_iterator(file(names[1])))
        parts.push_back(entry.path().filename().string());
    EXPECT_EQ(parts, std::vector<std::string>{"launcher.tape"});
}

TEST_F(Record, TheEnvironmentGetsOurVariablesAndKeepsOtherTools) {
    {
        const Variable mine("TAPESCOPE_TEST_KEPT", "yes");
        RecordOptions o = shell("env > '" + file("env") + "'");
        o.kinds = "-runtime";
        EXPECT_TRUE(recordProgram(o).ok());
    }
    const std::string env = "\n" + contentOf(file("env"));
    for (const char* line :
         {"\nCUDA_INJECTION64_PATH=/opt/libtapescope-inject.so\n",
          "\nNVTX_INJECTION64_PATH=/opt/libtapescope-inject.so\n", "\nTAPESCOPE_TEST_KEPT=yes\n",
          "\nTAPESCOPE_GPU_KINDS=-runtime\n", "/run.tape.parts-"})
        EXPECT_NE(env.find(line), std::string::npos) << line << env;
    EXPECT_EQ(env.find("TAPESCOPE_ALLOCATOR_DIR"), std::string::npos);

    const Variable other("CUDA_INJECTION64_PATH", "/opt/nsight/inject.so");
    RecordOptions o = shell("env > '" + file("env") + "'");
    o.overwrite = true;
    EXPECT_TRUE(recordProgram(o).ok());
    EXPECT_NE(contentOf(file("env")).find("CUDA_INJECTION64_PATH=/opt/nsight/inject.so\n"),
              std::string::npos);
    EXPECT_NE(m_said.find("CUDA_INJECTION64_PATH names /opt/nsight/inject.so"), std::string::npos)
        << m_said;
    EXPECT_EQ(statuses(), Rows{"cupti|busy"});
}

TEST_F(Record, SignalsThatAreSentToUsReachTheProgram) {
    const std::array<std::pair<int, const char*>, 4> signals{
        {{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGHUP, "HUP"}, {SIGUSR1, "USR1"}}};
    for (const auto& [signal, name] : signals) {
        std::array<int, 2> ready{};
        ASSERT_EQ(pipe(ready.data()), 0);
        const pid_t recorder = fork();
        if (recorder == 0) {
            dup2(ready[1], 1);
            // Ends by itself after 20 s, so that a failing test does not hang.
            RecordOptions o = shell(std::string("trap 'exit 7' ") + name +
                                    "; echo x; i=0; while [ $i -lt 2000 ]; do sleep 0.01; "
                                    "i=$((i+1)); done");
            o.overwrite = true;
            o.say = {};
            const auto result = recordProgram(o);
            _exit(result.ok() ? result.value().ending.status() : 99);
        }
        close(ready[1]);
        char x = 0;
        EXPECT_EQ(read(ready[0], &x, 1), 1);
        close(ready[0]);
        EXPECT_EQ(kill(recorder, signal), 0);
        int status = 0;
        waitpid(recorder, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << name << " " << status;
    }
}

/// Waits until `path` is there or gone.
void waitFor(const std::string& path, bool there) {
    for (int i = 0; i < 1000 && std::filesystem::exists(path) != there; ++i) usleep(10'000);
}

TEST_F(Record, ASignalAfterTheProgramsEndDoesNotLoseTheTape) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer allows no threads in the child of a process that has some";
#endif
    for (const int signals : {1, 2}) {
        // A process that seems to record keeps us waiting: a part of this test's own process.
        const std::string part = file("part");
        const auto tape = newTape(part);
        EXPECT_OK(tape->flush());
        const pid_t recorder = fork();
        if (recorder == 0) {
            RecordOptions o = shell("cp '" + part + "' \"$TAPESCOPE_GPU_DIR/a.tape\"");
            o.patience = std::chrono::milliseconds(20'000);
            o.overwrite = true;
            std::ofstream said(file("said"));
            o.say = [&](const std::string& text) {
                said << text << std::endl;
                if (text.find("waiting up to") != std::string::npos) std::ofstream(file("waits"));
                // The second comes while the first is still being answered.
                if (signals == 2 && text.find("being joined") != std::string::npos) raise(SIGTERM);
            };
            const auto result = recordProgram(o);
            _exit(result.ok() && result.value().recorded ? result.value().ending.status() : 99);
        }
        waitFor(file("waits"), true);  // its end is noticed; earlier ones are the program's
        EXPECT_EQ(kill(recorder, SIGTERM), 0);
        int status = 0;
        waitpid(recorder, &status, 0);
        const std::string said = contentOf(file("said"));
        if (signals == 1) {
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << said;
            EXPECT_TRUE(TapeReader::open(out()).ok());
            EXPECT_NE(said.find("its parts are being joined"), std::string::npos) << said;
        } else if (WEXITSTATUS(status) != 0) {  // else the join was faster
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM) << status;
            EXPECT_NE(said.find("tapescope join -o FILE " + out() + ".parts-"), std::string::npos)
                << said;
        }
        for (const auto& name : m_dir.names()) std::filesystem::remove_all(file(name));
    }
}

TEST_F(Record, PartsThatAreGoneAreNotSaidToBeKept) {
    const auto result = get(recordProgram(shell("rm -r \"$TAPESCOPE_GPU_DIR\"")));
    EXPECT_FALSE(result.recorded);
    EXPECT_EQ(m_said.find("are kept"), std::string::npos) << m_said;
    EXPECT_NE(m_said.find("The parts are gone"), std::string::npos) << m_said;
    expectFiles({});
}

TEST_F(Record, WeEndByTheSignalThatEndedTheProgram) {
    for (const int signal : {SIGTERM, SIGSEGV, SIGKILL}) {
        const pid_t child = fork();
        if (child == 0) endAs({0, signal});
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal && !WCOREDUMP(status));
    }
    const pid_t child = fork();
    if (child == 0) endAs({3, 0});
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

TEST_F(Record, CountersAreSampledWhileItRuns) {
    RecordOptions o = shell("sleep 0.3");
    o.counters = true;
    o.nvmlLibrary = TAPESCOPE_FAKE_NVML;
    EXPECT_TRUE(get(recordProgram(o)).recorded);
    EXPECT_EQ(sql(out(),
                  "SELECT name, unit, device_name FROM gpu_counter WHERE device = "
                  "'GPU-fake-0' ORDER BY id"),
              (Rows{"utilisation|%|Fake GPU", "memory used|B|Fake GPU", "power|W|Fake GPU",
                    "SM clock|MHz|Fake GPU", "temperature|°C|Fake GPU"}));
    const auto tape = get(TapeReader::open(out()));
    const auto samples = get(tape->counterSamples()).samples;
    // Nine quantities: the second device has no power.
    ASSERT_GE(samples.size(), 18U);
    std::map<std::uint32_t, double> values;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        values[samples[i].counter] = samples[i].value;
        EXPECT_TRUE(i == 0 || samples[i].timeNs >= samples[i - 1].timeNs);
    }
    EXPECT_EQ(values.size(), 9U);
    EXPECT_EQ(values[1], 87);
    EXPECT_EQ(values[2], 5.0 * (1U << 30U));
    EXPECT_EQ(values[3], 312.5);
    EXPECT_EQ(values[4], 1980);
    EXPECT_EQ(values[5], 61);
}

TEST_F(Record, AnAbsentDriverIsSaidOnceAndStandsOnTheTape) {
    RecordOptions o = shell("true");
    o.counters = true;
    o.nvmlLibrary = "libno-such-nvml.so.1";
    EXPECT_TRUE(get(recordProgram(o)).recorded);
    const Rows found = statuses();
    EXPECT_NE(std::find(found.begin(), found.end(), "nvml|no-driver"), found.end());
    const std::string sentence = "There are no counters";
    const std::size_t first = m_said.find(sentence);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(m_said.find(sentence, first + 1), std::string::npos) << m_said;
}

TEST(Nvml, SaysWhyItCannotRead) {
    const std::array<std::pair<const char*, const char*>, 4> answers{{{"9", "no-driver"},
                                                                      {"18", "driver-mismatch"},
                                                                      {"4", "no-permission"},
                                                                      {"999", "internal-error"}}};
    for (const auto& [result, code] : answers) {
        const Variable init("FAKE_NVML_INIT", result);
        const Nvml nvml(TAPESCOPE_FAKE_NVML);
        EXPECT_EQ(nvml.code(), code);
        EXPECT_NE(nvml.detail().find(result), std::string::npos);
        EXPECT_TRUE(nvml.read().empty());
    }
    const Variable none("FAKE_NVML_NO_DEVICE", "1");
    EXPECT_EQ(Nvml(TAPESCOPE_FAKE_NVML).code(), "no-device");
    EXPECT_EQ(Nvml("libc.so.6").code(), "incomplete");
}

class AllocatorHook : public Record {
protected:
    RecordOptions training(const std::string& how) {
        RecordOptions o = options(
            {"python3", TAPESCOPE_SOURCE_DIR "/tests/profiler/record/fake_training.py", how});
        o.allocatorHistory = true;
        o.pythonHook = TAPESCOPE_SOURCE_DIR "/resources/python";
        return o;
    }
    static std::string here(const char* name) {
        return TAPESCOPE_SOURCE_DIR "/tests/profiler/record/" + std::string(name);
    }
    Rows events() const {
        const auto tape = get(TapeReader::open(out()));
        const auto names = get(tape->names());
        Rows rows;
        for (const AllocatorEvent& e : get(tape->allocatorEvents()).events) {
            rows.push_back(std::to_string(e.device) + " " +
                           std::string(allocatorActionName(e.action)) + " " +
                           std::to_string(e.sizeBytes) + " " + std::to_string(e.deviceFreeBytes) +
                           " " + names[e.site]);
        }
        return rows;
    }
    Variable m_path{"PYTHONPATH", here("fake_torch") + ":" + here("users_own")};
    Variable m_noCache{"PYTHONDONTWRITEBYTECODE", "1"};
    Variable m_mark{"USERS_MARK", file("mark")};
    Variable m_period{"TAPESCOPE_ALLOCATOR_MS", "50"};
};

TEST_F(AllocatorHook, WritesTheHistoryAndRunsTheUsersOwnSitecustomize) {
    const auto result = get(recordProgram(training("gpu")));
    EXPECT_EQ(result.ending.exitCode, 3);
    EXPECT_EQ(contentOf(file("mark")), "ran");
    Rows rows = events();
    std::sort(rows.begin(), rows.end());
    const std::string site = " /home/me/train.py:31 forward";
    EXPECT_EQ(rows, (Rows{"0 alloc 512 0" + site, "0 free_completed 512 0" + site,
                          "0 free_requested 512 0" + site, "0 segment_alloc 2097152 0" + site,
                          "1 oom 1073741824 4096" + site}));
    const auto tape = get(TapeReader::open(out()));
    EXPECT_TRUE(get(tape->losses()).empty());
    const auto processes = get(tape->gpuProcesses());
    ASSERT_EQ(processes.size(), 1U);
    for (const AllocatorEvent& e : get(tape->allocatorEvents()).events) {
        EXPECT_EQ(e.process, 1U);
        EXPECT_GT(e.timeNs, 0);
        EXPECT_LT(e.timeNs, 60'000'000'000);
    }
    EXPECT_EQ(sql(out(), "SELECT code, detail FROM gpu_status WHERE source = 'allocator'"),
              Rows{"ok|torch 9.9.9"});
}

TEST_F(AllocatorHook, AKilledProgramKeepsWhatWasWritten) {
    EXPECT_EQ(get(recordProgram(training("killed"))).ending.signal, SIGKILL);
    EXPECT_EQ(events().size(), 5U);
}

TEST_F(AllocatorHook, EntriesThatLeftTheRingAreCountedAsLost) {
    const Variable ring("TAPESCOPE_ALLOCATOR_ENTRIES", "1000");
    EXPECT_TRUE(get(recordProgram(training("overflow"))).recorded);
    const Rows lost = sql(out(), "SELECT what, count > 0 FROM losses");
    EXPECT_EQ(lost, Rows{"allocator events|1"});
}

TEST_F(AllocatorHook, NothingThatGoesWrongReachesTheProgram) {
    for (const char* fault : {"FAKE_TORCH_FAILS", "FAKE_TORCH_ODD"}) {
        const Variable set(fault, "1");
        RecordOptions o = training("gpu");
        o.overwrite = true;
        EXPECT_EQ(get(recordProgram(o)).ending.exitCode, 3) << fault;
        EXPECT_TRUE(events().empty());
    }
}

TEST_F(AllocatorHook, AProgramWithoutCudaSaysSo) {
    EXPECT_EQ(get(recordProgram(training("cpu"))).ending.status(), 0);
    const Rows found = statuses();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0], "allocator|not-used");
}

TEST(Injection, IsFoundByVariableOrInstallLayout) {
    const TempDir dir;
    std::filesystem::create_directories(dir.file("bin"));
    std::filesystem::create_directories(dir.file("lib/tapescope"));
    const Found none = findInjectionLibrary(dir.file("bin"));
    EXPECT_TRUE(none.path.empty());
    EXPECT_NE(none.problem.find(dir.file("lib/libtapescope-inject.so")), std::string::npos);
    std::ofstream(dir.file("lib/tapescope/libtapescope-inject.so"));
    EXPECT_EQ(findInjectionLibrary(dir.file("bin")).path,
              dir.file("lib/tapescope/libtapescope-inject.so"));
    const Variable named("TAPESCOPE_INJECT", dir.file("none.so"));
    const Found wrong = findInjectionLibrary(dir.file("bin"));
    EXPECT_TRUE(wrong.path.empty());
    EXPECT_NE(wrong.problem.find("none.so"), std::string::npos);
}

TEST(Injection, TheOldestCLibraryIsReadFromTheFile) {
    const std::string floor = glibcFloor("/proc/self/exe");
    EXPECT_EQ(floor.rfind("GLIBC_2.", 0), 0U) << floor;
    EXPECT_GE(std::stoi(floor.substr(8)), 2);
    EXPECT_EQ(glibcFloor("/no/such/file"), "");
    const TempDir dir;
    std::ofstream(dir.file("text")) << std::string(1000, 'x');
    EXPECT_EQ(glibcFloor(dir.file("text")), "");
    // Every cut of a real library, and one with each of its header's bytes set.
    const std::string whole = contentOf(TAPESCOPE_FAKE_NVML);
    ASSERT_GT(whole.size(), 1000U);
    for (std::size_t n = 0; n < whole.size(); n += 997) {
        std::ofstream(dir.file("cut"), std::ios::binary) << whole.substr(0, n);
        (void)glibcFloor(dir.file("cut"));
    }
    for (std::size_t i = 0; i < 64; ++i) {
        std::string odd = whole;
        odd[i] = static_cast<char>(0xFF);
        std::ofstream(dir.file("odd"), std::ios::binary) << odd;
        (void)glibcFloor(dir.file("odd"));
    }
}

}  // namespace
}  // namespace tapescope::profiler::record
