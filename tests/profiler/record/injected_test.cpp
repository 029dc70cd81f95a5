// SPDX-License-Identifier: Apache-2.0
// The whole road without a GPU: recordProgram, the injection library, the fake driver and CUPTI,
// one joined tape.
#include "profiler/record/injection.h"
#include "profiler/record/join.h"
#include "profiler/record/recording.h"
#include "tests/storage/tape/tape_support.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace tapescope::profiler::record {
namespace {

using namespace storage;  // NOLINT(google-build-using-namespace): tapes of the results

class Injected : public testing::Test {
protected:
    void SetUp() override {
        const std::string fakes = TAPESCOPE_FAKES;
        for (const char* name : {"LD_LIBRARY_PATH", "FAKE_CUPTI_PATH", "TAPESCOPE_CUPTI_PATH"})
            if (const char* old = std::getenv(name)) m_old[name] = old;
        setenv("LD_LIBRARY_PATH", fakes.c_str(), 1);
        setenv("FAKE_CUPTI_PATH", (fakes + "/libcupti.so.13").c_str(), 1);
        setenv("TAPESCOPE_CUPTI_PATH", (fakes + "/libcupti.so.13").c_str(), 1);
    }
    void TearDown() override {
        for (const char* name :
             {"LD_LIBRARY_PATH", "FAKE_CUPTI_PATH", "TAPESCOPE_CUPTI_PATH", "FAKE_CUDA_NO_DEVICE",
              "FAKE_CUPTI_SUBSCRIBE_RC", "TAPESCOPE_GPU_FLUSH_MS", "TARGET_WAIT_MS"}) {
            unsetenv(name);
            if (const auto old = m_old.find(name); old != m_old.end())
                setenv(name, old->second.c_str(), 1);
        }
    }
    RecordResult record(std::vector<std::string> command) {
        RecordOptions o;
        o.command = std::move(command);
        o.output = out();
        o.injectionLibrary = TAPESCOPE_INJECT;
        o.say = [this](const std::string& text) { m_said += text + "\n"; };
        o.patience = m_patience;
        return get(recordProgram(o));
    }
    static std::string target() { return std::string(TAPESCOPE_FAKES) + "/fake_target"; }
    std::string out() const { return m_dir.file("run.tape"); }
    std::int64_t kernels() const {
        std::int64_t n = 0;
        for (const std::string& row : sql(out(), "SELECT sum(count) FROM gpu_kernels"))
            n += row == "NULL" ? 0 : std::stoll(row);
        return n;
    }

    TempDir m_dir;
    std::string m_said;
    std::chrono::milliseconds m_patience{3000};
    std::map<std::string, std::string> m_old;
};

TEST_F(Injected, AProgramOnTheFakesIsRecordedWhole) {
    EXPECT_EQ(record({target(), "exit", "100"}).ending.status(), 0);
    EXPECT_EQ(kernels(), 105);
    const auto tape = get(TapeReader::open(out()));
    EXPECT_EQ(tape->outcome(), RunOutcome::Finished);
    const auto processes = get(tape->gpuProcesses());
    ASSERT_EQ(processes.size(), 1U);  // what the launcher knew and what it wrote are one
    EXPECT_EQ(processes[0].clock, "same clock");
    EXPECT_GE(processes[0].clockErrorNs, 0);
    EXPECT_EQ(get(tape->gpuDevices()).size(), 1U);
    EXPECT_EQ(sql(out(), "SELECT code FROM gpu_states"), Rows{"ok"});
    EXPECT_EQ(m_dir.names(), std::vector<std::string>{"run.tape"});
    EXPECT_EQ(sql(out(), "SELECT count FROM gpu_counts WHERE name = 'records'"),
              Rows{std::to_string(get(tape->gpuEvents()).events.size())});
}

TEST_F(Injected, ForkedWorkersBecomeProcessesOfTheOneTape) {
    EXPECT_EQ(record({target(), "preforked", "50"}).ending.status(), 0);
    EXPECT_EQ(kernels(), 3 * 55);
    const auto tape = get(TapeReader::open(out()));
    std::set<GpuProcessId> withKernels;
    for (const GpuEvent& e : get(tape->gpuEvents()).events)
        if (e.kind == GpuEventKind::Kernel) withKernels.insert(e.process);
    EXPECT_EQ(withKernels.size(), 3U);
    EXPECT_EQ(get(tape->gpuProcesses()).size(), 4U);  // and the parent, which used no CUDA
    EXPECT_NE(m_said.find("3 processes used CUDA"), std::string::npos) << m_said;
}

TEST_F(Injected, AKilledProgramKeepsWhatWasFlushed) {
    setenv("TAPESCOPE_GPU_FLUSH_MS", "50", 1);
    setenv("TARGET_WAIT_MS", "2000", 1);
    EXPECT_EQ(record({target(), "kill", "100"}).ending.signal, SIGKILL);
    EXPECT_GT(kernels(), 0);
    EXPECT_NE(m_said.find("ended without closing its record (killed"), std::string::npos) << m_said;
    EXPECT_EQ(get(TapeReader::open(out()))->outcomeMessage(), "ended by signal 9");
}

TEST_F(Injected, AProcessThatEndsRightAfterCudasStartIsNamed) {
    // What the library leaves of one that ends before its thread has run.
    const std::string script =
        "cp /proc/self/cmdline \"$TAPESCOPE_GPU_DIR/$(hostname)-"
        "4242-7.tape.started\"";
    EXPECT_EQ(record({"/bin/sh", "-c", script}).ending.status(), 0);
    EXPECT_NE(m_said.find("Process 4242 (cp /proc/self/cmdline"), std::string::npos) << m_said;
    EXPECT_NE(m_said.find("used CUDA but ended, or lost its files, before it could record"),
              std::string::npos)
        << m_said;
    EXPECT_EQ(m_said.find("No process of this program used CUDA"), std::string::npos) << m_said;
    EXPECT_NE(m_said.find("1 process used CUDA, 0 GPU events"), std::string::npos) << m_said;
    EXPECT_EQ(sql(out(), "SELECT pid, code FROM gpu_states"), Rows{"4242|ended-early"});
    EXPECT_EQ(sql(out(), "SELECT count(*) FROM gpu_counts WHERE name = 'records'"), Rows{"1"});
    EXPECT_EQ(m_dir.names(), std::vector<std::string>{"run.tape"});
}

TEST_F(Injected, AtWhateverMomentAProcessEndsItIsNamed) {
    // From before its thread has begun to after its first commit; always CUDA was used.
    for (int ms = 0; ms < 200; ms += 20) {
        setenv("TARGET_WAIT_MS", std::to_string(ms).c_str(), 1);
        EXPECT_EQ(record({target(), "_exit", "10"}).ending.status(), 5);
        EXPECT_EQ(m_said.find("No process of this program used CUDA"), std::string::npos) << m_said;
        EXPECT_NE(m_said.find("1 process used CUDA"), std::string::npos) << ms << m_said;
        const Rows codes = sql(out(), "SELECT code FROM gpu_states");
        ASSERT_EQ(codes.size(), 1U) << ms << m_said;
        EXPECT_TRUE(codes[0] == "ended-early" || codes[0] == "cut") << codes[0];
        m_said.clear();
        std::filesystem::remove(out());
    }
}

TEST_F(Injected, AProcessThatOutlivesTheProgramKeepsItsPart) {
    setenv("TAPESCOPE_GPU_FLUSH_MS", "20", 1);
    setenv("TARGET_WAIT_MS", "2500", 1);
    m_patience = std::chrono::milliseconds(100);
    const std::string script = "'" + target() + "' _exit 100 & sleep 1";
    EXPECT_EQ(record({"/bin/sh", "-c", script}).ending.status(), 0);
    EXPECT_NE(m_said.find("_exit 100) still records"), std::string::npos) << m_said;
    EXPECT_NE(m_said.find("`tapescope join -o FILE " + out() + " "), std::string::npos) << m_said;
    EXPECT_EQ(sql(out(), "SELECT code FROM gpu_states"), Rows{"recording"});
    const auto names = m_dir.names();
    ASSERT_EQ(names.size(), 2U) << m_said;
    const std::string parts = m_dir.file(names[1]);
    std::string shard;
    for (const auto& entry : std::filesystem::directory_iterator(parts)) {
        const std::string path = entry.path().string();
        EXPECT_EQ(path.find(kLauncherTape), std::string::npos);
        if (path.ends_with(".tape")) shard = path;
    }
    while (get(TapeReader::open(shard))->state() == TapeState::Live) usleep(20'000);
    const JoinReport later = get(joinTapes({out(), parts}, m_dir.file("all.tape")));
    EXPECT_EQ(later.processes, 1U);
    EXPECT_EQ(sql(m_dir.file("all.tape"), "SELECT sum(count) FROM gpu_kernels"), Rows{"105"});
    EXPECT_EQ(sql(m_dir.file("all.tape"), "SELECT code FROM gpu_states"), Rows{"cut"});
}

TEST_F(Injected, AProcessIsRecordedAlsoAfterAnExec) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "python3 is not built with the sanitizer that the library needs";
#endif
    const std::string script =
        "import ctypes, os, time, glob\n"
        "ctypes.CDLL('libcuda.so.1').cuInit(0)\n"
        "while not glob.glob(os.environ['TAPESCOPE_GPU_DIR'] + '/*-[0-9]*.tape'): "
        "time.sleep(0.01)\n"
        "time.sleep(0.5)\n"
        "os.execv('" +
        target() + "', ['fake_target', 'exit', '10'])";
    EXPECT_EQ(record({"python3", "-c", script}).ending.status(), 0);
    EXPECT_EQ(kernels(), 15);
    EXPECT_EQ(sql(out(), "SELECT count FROM gpu_counts WHERE name = 'records' ORDER BY count > 0"),
              (Rows{"0", "31"}));
    EXPECT_EQ(sql(out(), "SELECT code FROM gpu_states ORDER BY code"), (Rows{"cut", "ok"}));
    EXPECT_EQ(m_said.find("taken once"), std::string::npos) << m_said;
}

TEST_F(Injected, ARecorderInsideIsNamed) {
    const pid_t inner = fork();  // a `tapescope record` with the outer one's variables
    if (inner == 0) {
        setenv("TAPESCOPE_GPU_DIR", m_dir.path().c_str(), 1);
        (void)record({"/bin/true"});
        _exit(0);
    }
    waitpid(inner, nullptr, 0);
    const auto names = m_dir.names();
    ASSERT_EQ(names.size(), 2U);
    EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                            [](const std::string& name) { return name.ends_with(".nested"); }));
    std::filesystem::remove(out());
    (void)record({"/bin/sh", "-c", "touch \"$TAPESCOPE_GPU_DIR/a.nested\""});
    EXPECT_NE(m_said.find("a `tapescope record` that the program itself started"),
              std::string::npos)
        << m_said;
}

TEST_F(Injected, ADriverWithoutAGpuIsSaid) {
    setenv("FAKE_CUDA_NO_DEVICE", "1", 1);
    setenv("FAKE_CUPTI_SUBSCRIBE_RC", "999", 1);
    EXPECT_EQ(record({target(), "exit", "10"}).ending.status(), 0);
    EXPECT_EQ(kernels(), 0);
    const Rows codes = sql(out(), "SELECT code FROM gpu_states");
    EXPECT_EQ(codes, Rows{"no-device"}) << m_said;
    EXPECT_NE(m_said.find("CUDA_VISIBLE_DEVICES"), std::string::npos) << m_said;
}

TEST_F(Injected, TheScriptForGpuMachinesReadsSuchATape) {
    EXPECT_EQ(record({target(), "exit", "100"}).ending.status(), 0);
    const auto check = [&](const std::string& said) {
        std::ofstream(m_dir.file("said")) << said << "\n";
        const std::string command =
            "TAPESCOPE_GPU_EVENTS='" TAPESCOPE_GPU_EVENTS "' python3 '" TAPESCOPE_SOURCE_DIR
            "/scripts/gpu/check_tape.py' '" +
            m_dir.file("said") + "' '" + m_dir.path() + "' > '" + m_dir.file("log") + "'";
        return std::system(command.c_str());
    };
    EXPECT_EQ(check(R"({"test":"exit","kernels":105})"), 0);
    EXPECT_NE(check(R"({"test":"exit","kernels":106})"), 0);
    // Single events: order of calls and kernels, no overlap in a stream, sizes of allocations.
    EXPECT_EQ(check(R"({"test":"torch","how":"20","segments":[]})"), 0);
    EXPECT_NE(check(R"({"test":"torch","how":"20","segments":[[1,2]]})"), 0);
    EXPECT_NE(check(R"({"test":"clock","around":[[1,2]]})"), 0);
    EXPECT_NE(check(""), 0);  // a program that said nothing
}

TEST_F(Injected, TheLibraryNeedsAnOldCLibraryOnly) {
    const std::string floor = glibcFloor(TAPESCOPE_INJECT);
    EXPECT_EQ(floor.rfind("GLIBC_2.", 0), 0U) << floor;
}

}  // namespace
}  // namespace tapescope::profiler::record
