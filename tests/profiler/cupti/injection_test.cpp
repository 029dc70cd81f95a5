// SPDX-License-Identifier: Apache-2.0
// End to end without a GPU: an unmodified program, the injection library, the fake driver and
// CUPTI, the tape.
#include "tests/profiler/cupti/process_support.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>

namespace tapescope::profiler::cupti {
namespace {

using storage::GpuEventKind;
using storage::TapeState;

Ended runTarget(const Folder& folder, const std::string& how, int n,
                const std::map<std::string, std::string>& extra = {}) {
    Program p = Program::on(folder, {kTarget, how, std::to_string(n)}).injected();
    for (const auto& [name, value] : extra) p.with(name, value);
    return p.run(folder);
}

TEST(Injection, RecordsAProgramWhole) {
    const Folder folder;
    const Ended ended = runTarget(folder, "exit", 100);
    EXPECT_EQ(ended.exitCode, 0);
    EXPECT_EQ(ended.output, "target: done\ntarget: late\n");
    const Tape tape = only(folder);
    EXPECT_EQ(tape.state, TapeState::Sealed);
    EXPECT_EQ(tape.code(), "ok");
    EXPECT_EQ(tape.kernels(), 105U);  // 100, and 5 of a graph
    EXPECT_EQ(tape.count(GpuEventKind::MemAlloc), 2U);
    EXPECT_EQ(tape.count(GpuEventKind::MemFree), 1U);
    EXPECT_EQ(tape.count(GpuEventKind::Memcpy), 1U);
    EXPECT_EQ(tape.count(GpuEventKind::Sync), 1U);
    std::set<std::string> names;
    std::map<std::uint32_t, std::string> launches;
    for (const auto& e : tape.events) {
        if (e.kind == GpuEventKind::Kernel) names.insert(tape.names.at(e.name));
        if (e.kind == GpuEventKind::DriverApi) launches[e.correlation] = tape.names.at(e.name);
    }
    EXPECT_EQ(names,
              (std::set<std::string>{"_Z4axpyPKfS0_Pfi", "_Z4gemmPKfS0_Pfi", "graph_node_kernel"}));
    for (const auto& e : tape.events) {
        EXPECT_EQ(e.process, 1U);
        if (!e.drawable()) continue;
        EXPECT_GE(e.startNs, 0);
        EXPECT_GE(e.durationNs, 0);
        EXPECT_LT(e.startNs, 60'000'000'000);
        if (e.kind != GpuEventKind::Kernel) continue;
        const std::string& call = launches[e.correlation];
        EXPECT_EQ(call, e.graph != 0 ? "cuGraphLaunch" : "cuLaunchKernel");
    }
    EXPECT_EQ(tape.counts.at("records"), static_cast<std::int64_t>(tape.events.size()));
    EXPECT_EQ(tape.counts.at("dropped records"), 0);
    ASSERT_EQ(tape.devices.size(), 1U);
    EXPECT_EQ(tape.devices[0].name, "Fake H200");
    ASSERT_EQ(tape.processes.size(), 1U);
    EXPECT_NE(tape.processes[0].command.find("fake_target exit 100"), std::string::npos);
    EXPECT_EQ(tape.processes[0].rank, -1);
    EXPECT_EQ(tape.processes[0].clock, "same clock");
    EXPECT_LT(tape.processes[0].clockErrorNs, 10'000'000);
    EXPECT_NEAR(static_cast<double>(tape.processes[0].realtimeZeroNs) * 1e-9, tape.info.startWall,
                1e-6);
}

TEST(Injection, PreloadingAloneIsEnough) {
    const Folder folder;
    const Ended ended = Program::on(folder, {kTarget, "exit", "50"}).preloaded().run(folder);
    EXPECT_EQ(ended.exitCode, 0);
    EXPECT_EQ(only(folder).kernels(), 55U);
}
TEST(Injection, EightThreads) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "threads", 2000).exitCode, 0);
    const Tape tape = only(folder);
    EXPECT_EQ(tape.kernels(), 16'040U);
    EXPECT_EQ(tape.counts.at("dropped records"), 0);
    std::set<std::uint32_t> threads;
    for (const auto& e : tape.events) {
        if (e.kind == GpuEventKind::DriverApi) threads.insert(e.thread);
    }
    EXPECT_EQ(threads.size(), 8U);
}
TEST(Injection, KnowsItsRank) {
    const Folder folder;
    runTarget(folder, "exit", 1, {{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}});
    const Tape tape = only(folder);
    ASSERT_EQ(tape.processes.size(), 1U);
    EXPECT_EQ(tape.processes[0].rank, 3);
    EXPECT_EQ(tape.processes[0].localRank, 1);
    EXPECT_EQ(tape.processes[0].worldSize, 8);
}
TEST(Injection, AProgramThatOnlyInitialisesCuda) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "idle", 0).exitCode, 0);
    const Tape tape = only(folder);
    EXPECT_EQ(tape.state, TapeState::Sealed);
    EXPECT_EQ(tape.code(), "ok");
    EXPECT_EQ(tape.kernels(), 0U);
}
TEST(Injection, KindsCanBeLeftOut) {
    const Folder folder;
    runTarget(folder, "exit", 10, {{"TAPESCOPE_GPU_KINDS", "-memory,-sync"}});
    const Tape tape = only(folder);
    EXPECT_EQ(tape.kernels(), 15U);
    EXPECT_EQ(tape.count(GpuEventKind::MemAlloc), 0U);
    EXPECT_EQ(tape.count(GpuEventKind::Sync), 0U);
}
TEST(Injection, ACuda12Process) {
    const Folder folder;
    runTarget(folder, "exit", 100,
              {{"FAKE_CUPTI_PATH", kFakeCupti12},
               {"TAPESCOPE_CUPTI_PATH", kFakeCupti12},
               {"FAKE_CUPTI_VERSION", "22"},
               {"FAKE_CUDA_VERSION", "12040"}});
    const Tape tape = only(folder);
    EXPECT_EQ(tape.kernels(), 105U);
    std::map<std::string, std::string> facts(tape.info.environment.begin(),
                                             tape.info.environment.end());
    EXPECT_EQ(facts["cupti.toolkit"], "CUDA 12.4");
    EXPECT_EQ(facts["driver.cuda"], "CUDA 12.4");
}

// ---- children ----

TEST(InjectionFork, AChildThatEndsAtOnce) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "fork", 10).exitCode, 0);
    const Tape tape = only(folder);
    EXPECT_EQ(tape.kernels(), 21U);  // 10 + 5, 1 + 5
    EXPECT_EQ(tape.state, TapeState::Sealed);
}
TEST(InjectionFork, AChildThatGoesOnToUseCuda) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "forkwork", 10).exitCode, 0);
    EXPECT_EQ(only(folder).kernels(), 15U);
}
TEST(InjectionFork, AChildThatIsAProgramOfItsOwn) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "forkexec", 10).exitCode, 0);
    const auto tapes = folder.tapes();
    ASSERT_EQ(tapes.size(), 2U);
    std::set<std::int64_t> pids;
    for (const std::string& path : tapes) {
        const Tape tape(path);
        EXPECT_EQ(tape.kernels(), 15U);
        EXPECT_EQ(tape.state, TapeState::Sealed);
        pids.insert(tape.processes.at(0).pid);
    }
    EXPECT_EQ(pids.size(), 2U);
}
TEST(InjectionFork, WorkersOfAParentWithoutCuda) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "preforked", 10).exitCode, 0);
    const auto tapes = folder.tapes();
    ASSERT_EQ(tapes.size(), 3U);
    for (const std::string& path : tapes) EXPECT_EQ(Tape(path).kernels(), 15U);
}
TEST(InjectionFork, WorkersOfAPreloadedParent) {
    const Folder folder;
    Program::on(folder, {kTarget, "preforked", "10"}).preloaded().run(folder);
    EXPECT_EQ(folder.tapes().size(), 3U);
}

TEST(InjectionFork, AtAnyMoment) {
    const Folder folder;
    const Ended ended = runTarget(folder, "forkstorm", 1, {{"TAPESCOPE_GPU_FLUSH_MS", "2"}});
    EXPECT_EQ(ended.exitCode, 0) << ended.output;
    const Tape tape = only(folder);
    EXPECT_EQ(tape.state, TapeState::Sealed);
    EXPECT_GT(tape.kernels(), 6U);
}
TEST(Injection, NvtxMayComeBeforeCuda) {
    const Folder folder;
    Program p = Program::on(folder, {kTarget, "nvtxfirst", "10"}).injected();
    // CUPTI's start then calls cuInit, and the driver calls the library that waits for CUPTI.
    p.with("NVTX_INJECTION64_PATH", kInjection).with("FAKE_CUPTI_SUBSCRIBE_INITS", "1");
    const Ended ended = p.run(folder);
    EXPECT_EQ(ended.exitCode, 0) << ended.output;
    EXPECT_EQ(ended.output, "target: NVTX 1\ntarget: done\ntarget: late\n");
    EXPECT_EQ(only(folder).kernels(), 15U);
}
TEST(Injection, NvtxStaysANoOpWithoutCupti) {
    const Folder folder;
    Program p = Program::on(folder, {kTarget, "nvtxfirst", "10"}).injected();
    p.with("NVTX_INJECTION64_PATH", kInjection).with("FAKE_CUPTI_SUBSCRIBE_RC", "39");
    const Ended ended = p.run(folder);
    EXPECT_EQ(ended.output, "target: NVTX 0\ntarget: done\ntarget: late\n");
    EXPECT_EQ(only(folder).code(), "busy");
}

// ---- ends ----

struct End {
    const char* how;
    int exitCode;
    TapeState state;
};
void PrintTo(const End& end, std::ostream* out) { *out << end.how; }  // not its padding
class InjectionEnd : public testing::TestWithParam<End> {};
TEST_P(InjectionEnd, KeepsWhatWasRecordedAndTheExitCode) {
    const Folder folder;
    const Ended ended = runTarget(folder, GetParam().how, 10);
    EXPECT_EQ(ended.exitCode, GetParam().exitCode) << ended.output;
    const Tape tape = only(folder);
    EXPECT_EQ(tape.kernels(), 15U);
    EXPECT_EQ(tape.state, GetParam().state);
    EXPECT_EQ(tape.code(), "ok");
}
INSTANTIATE_TEST_SUITE_P(
    Roads, InjectionEnd,
    testing::Values(End{"exit", 0, TapeState::Sealed}, End{"code", 7, TapeState::Sealed},
                    End{"ctxdestroy", 0, TapeState::Sealed},
                    End{"otherthread", 3, TapeState::Sealed}, End{"_exit", 5, TapeState::Cut},
                    End{"kill", -SIGKILL, TapeState::Cut}, End{"abort", -SIGABRT, TapeState::Cut},
                    End{"throw", 6, TapeState::Cut}),
    [](const auto& one) {
        const std::string how = one.param.how;
        return how == "_exit" ? "immediately" : how;
    });
TEST(InjectionEnd, QuickExitRunsNoHandlersOfOurs) {
    const Folder folder;
    const Ended ended = runTarget(folder, "quick_exit", 10);
    EXPECT_EQ(ended.exitCode, 4);
    EXPECT_EQ(only(folder).state, TapeState::Cut);
}
TEST(InjectionEnd, AFlushThatHangsDoesNotHangTheProgram) {
    const Folder folder;
    const Ended ended = runTarget(
        folder, "exit", 10, {{"FAKE_CUPTI_FLUSH_HANG", "1"}, {"TAPESCOPE_GPU_STOP_MS", "500"}});
    EXPECT_EQ(ended.exitCode, 0);
    EXPECT_LT(ended.seconds, 10);
    const Tape tape = only(folder);
    EXPECT_EQ(tape.code(), "flush-timeout");
    EXPECT_EQ(tape.state, TapeState::Sealed);
}
TEST(InjectionEnd, AShortFlushIsWaitedFor) {
    const Folder folder;
    runTarget(folder, "exit", 10, {{"FAKE_CUPTI_FLUSH_SLOW_MS", "700"}});
    const Tape tape = only(folder);
    EXPECT_EQ(tape.code(), "ok");
    EXPECT_EQ(tape.kernels(), 15U);
}
/// Every road, over and over: TAPESCOPE_EXIT_RUNS runs (16 without).
TEST(InjectionEnd, StressOfTheExitRoads) {
    const char* text = std::getenv("TAPESCOPE_EXIT_RUNS");
    const int runs = text != nullptr ? std::atoi(text) : 16;
    const std::vector<std::pair<std::string, int>> roads = {
        {"exit", 0},        {"code", 7},         {"threads", 0},  {"otherthread", 3},
        {"ctxdestroy", 0},  {"fork", 0},         {"forkwork", 0}, {"_exit", 5},
        {"kill", -SIGKILL}, {"abort", -SIGABRT}, {"forkexec", 0}, {"quick_exit", 4}};
    for (int i = 0; i < runs; ++i) {
        const auto& [how, code] = roads[static_cast<std::size_t>(i) % roads.size()];
        const Folder folder;
        const std::string flush = std::to_string(1 + i % 7);
        const Ended ended = runTarget(
            folder, how, 200 + i % 50,
            {{"TAPESCOPE_GPU_FLUSH_MS", flush}, {"TARGET_WAIT_MS", std::to_string(i % 30)}});
        ASSERT_EQ(ended.exitCode, code) << how << ", run " << i << ": " << ended.output;
        for (const std::string& tape : folder.tapes())
            ASSERT_TRUE(storage::TapeReader::open(tape).ok()) << how << ", run " << i;
    }
}

// ---- what goes wrong ----

TEST(InjectionTrouble, AnotherSubscriber) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "exit", 10, {{"FAKE_CUPTI_SUBSCRIBE_RC", "39"}}).exitCode, 0);
    const Tape tape = only(folder);
    EXPECT_EQ(tape.code(), "busy");
    EXPECT_EQ(tape.state, TapeState::Sealed);
    EXPECT_NE(tape.statuses.at(0).message.find("another profiler"), std::string::npos);
}
TEST(InjectionTrouble, NoDevice) {
    const Folder folder;
    const Ended ended = runTarget(
        folder, "exit", 10, {{"FAKE_CUDA_NO_DEVICE", "1"}, {"FAKE_CUPTI_SUBSCRIBE_RC", "999"}});
    EXPECT_EQ(ended.exitCode, 0);
    EXPECT_NE(ended.output.find("cuInit 100, working on the CPU"), std::string::npos);
    EXPECT_EQ(only(folder).code(), "no-device");
}
TEST(InjectionTrouble, NoFolderNamedNothingHappens) {
    const Folder folder;
    EXPECT_EQ(runTarget(folder, "exit", 10, {{"TAPESCOPE_GPU_DIR", ""}}).exitCode, 0);
    EXPECT_TRUE(folder.tapes().empty());
}
TEST(InjectionTrouble, AFolderThatIsNotThere) {
    const Folder folder;
    const Ended ended = runTarget(folder, "exit", 10, {{"TAPESCOPE_GPU_DIR", "/nonexistent"}});
    EXPECT_EQ(ended.exitCode, 0);
    EXPECT_EQ(ended.output, "target: done\ntarget: late\n");
}
TEST(InjectionTrouble, AFolderThatCannotBeWritten) {
    const Folder folder;
    // /proc refuses root as well.
    EXPECT_EQ(runTarget(folder, "exit", 10, {{"TAPESCOPE_GPU_DIR", "/proc/self"}}).exitCode, 0);
}
TEST(InjectionTrouble, SaysSoOnlyWhenAsked) {
    const Folder folder;
    const Ended ended = runTarget(folder, "exit", 10, {{"TAPESCOPE_GPU_VERBOSE", "1"}});
    EXPECT_NE(ended.output.find("[tapescope] GPU tracing is on (CUDA 13.0"), std::string::npos)
        << ended.output;
}
TEST(InjectionTrouble, ADiskThatIsFullFromTheStart) {
    const Folder folder;
    Program p = Program::on(folder, {kTarget, "threads", "3000"}).injected();
    p.maxFileBytes = 16U << 10U;  // an empty tape is larger
    const Ended ended = p.run(folder);
    EXPECT_EQ(ended.exitCode, 0) << ended.output;
    EXPECT_TRUE(folder.tapes().empty());
}
TEST(InjectionTrouble, ADiskThatFillsUp) {
    const Folder folder;
    Program p = Program::on(folder, {kTarget, "threads", "20000"}).injected();
    p.maxFileBytes = 400U << 10U;
    const Ended ended = p.run(folder);
    EXPECT_EQ(ended.exitCode, 0) << ended.output;
    for (const std::string& path : folder.tapes())
        EXPECT_TRUE(storage::TapeReader::open(path).ok());
}
TEST(InjectionTrouble, ASizeCap) {
    const Folder folder;
    runTarget(folder, "threads", 20'000, {{"TAPESCOPE_GPU_MAX_BYTES", "1"}});
    const Tape tape = only(folder);
    EXPECT_EQ(tape.code(), "size-cap");
    EXPECT_GT(tape.counts.at("records above the size cap"), 0);
    EXPECT_EQ(tape.counts.at("records"), static_cast<std::int64_t>(tape.events.size()));
    EXPECT_EQ(tape.state, TapeState::Sealed);
    std::int64_t kernels = 0;
    for (const auto& row : tape.summary)
        kernels += row.kind == GpuEventKind::Kernel ? row.count : 0;
    EXPECT_EQ(kernels, 160'040);  // the sums are whole
}
TEST(InjectionTrouble, TheOtherToolsVariablesAreLeftAlone) {
    if (!std::string(TAPESCOPE_SANITIZED).empty()) GTEST_SKIP() << "env has no sanitizer";
    const Folder folder;
    Program p = Program::on(folder, {"/usr/bin/env"}).preloaded();
    p.with("CUDA_INJECTION64_PATH", "/other/tool.so");
    const Ended ended = p.run(folder);
    EXPECT_NE(ended.output.find("CUDA_INJECTION64_PATH=/other/tool.so\n"), std::string::npos);
    EXPECT_NE(ended.output.find("NVTX_INJECTION64_PATH=" + kInjection), std::string::npos);
}
TEST(InjectionTrouble, NoDriverAtAll) {
    const Folder folder;
    Program p = Program::on(folder, {kTarget, "exit", "5"}).preloaded();
    p.environment.erase("LD_LIBRARY_PATH");
    const Ended ended = p.run(folder);
    if (ended.output.find("no CUDA") == std::string::npos)
        GTEST_SKIP() << "this machine has a driver";
    EXPECT_EQ(ended.exitCode, 0);
    EXPECT_TRUE(folder.tapes().empty());
}
TEST(InjectionTrouble, PythonsOwnSqliteIsUntouched) {
    if (!std::string(TAPESCOPE_SANITIZED).empty()) GTEST_SKIP() << "Python has no sanitizer";
    // The system's rather than a version manager's, which needs more of the environment.
    const std::string python =
        access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : TAPESCOPE_PYTHON;
    if (python.empty()) GTEST_SKIP() << "no Python";
    const Folder folder;
    const std::string script =
        "import sqlite3, ctypes\n"
        "cuda = ctypes.CDLL('libcuda.so.1')\n"
        "assert cuda.cuInit(0) == 0\n"
        "c = sqlite3.connect(':memory:')\n"
        "print('rows', c.execute('select count(*) from (values (1), (2))').fetchone()[0])\n"
        "cuda.cuLaunchKernel(b'k', 1, 1, 1, 32, 1, 1, 0, None, None, None)\n"
        "cuda.cuCtxSynchronize()\n";
    const Ended ended = Program::on(folder, {python, "-c", script}).preloaded().run(folder);
    EXPECT_EQ(ended.exitCode, 0) << ended.output;
    EXPECT_EQ(ended.output, "rows 2\n");
    EXPECT_EQ(only(folder).kernels(), 1U);
}

// ---- the scripted training step ----

TEST(InjectionTraining, ATrainingStepIsSeenWhole) {
    const Folder folder;
    const Ended ended =
        Program::on(folder, {fakeFile("fake_training"), "6", "3"}).injected().run(folder);
    EXPECT_EQ(ended.exitCode, 0) << ended.output;
    const Tape tape = only(folder);
    EXPECT_EQ(tape.code(), "ok");
    EXPECT_EQ(tape.counts.at("dropped records"), 3);
    EXPECT_EQ(tape.kernels(), 6U * (5 + 10 + 6));
    EXPECT_EQ(tape.count(GpuEventKind::Memcpy), 12U);
    EXPECT_EQ(tape.count(GpuEventKind::Memset), 6U);
    EXPECT_EQ(tape.count(GpuEventKind::NvtxPush), 30U);
    EXPECT_EQ(tape.count(GpuEventKind::NvtxPop), 30U);
    EXPECT_EQ(tape.count(GpuEventKind::NvtxData), 30U);
    EXPECT_EQ(tape.count(GpuEventKind::ExternalId), 6U * 15);
    EXPECT_EQ(tape.count(GpuEventKind::MemAlloc), 12U);
    EXPECT_EQ(tape.count(GpuEventKind::MemFree), 6U);
    EXPECT_EQ(tape.streams.size(), 2U);
    ASSERT_EQ(tape.objectNames.size(), 2U);
    EXPECT_EQ(tape.objectNames[0].name, "copies");
    // On a stream kernels follow each other; the two streams overlap.
    std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> lanes;
    std::set<std::uint32_t> graphs;
    for (const auto& e : tape.events) {
        if (e.kind != GpuEventKind::Kernel) continue;
        EXPECT_TRUE(e.drawable());
        lanes[e.stream].emplace_back(e.startNs, e.startNs + e.durationNs);
        if (e.graph != 0) graphs.insert(e.graph);
    }
    EXPECT_EQ(lanes.size(), 2U);
    EXPECT_EQ(graphs.size(), 1U);
    for (auto& [stream, lane] : lanes) {
        std::ranges::sort(lane);
        // Converted times may be off by a nanosecond.
        for (std::size_t i = 1; i < lane.size(); ++i)
            EXPECT_GE(lane[i].first, lane[i - 1].second - 5);
    }
}

}  // namespace
}  // namespace tapescope::profiler::cupti
