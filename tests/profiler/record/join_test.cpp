// SPDX-License-Identifier: Apache-2.0
// Shards of many processes and machines become one tape, on one time axis.
#include "profiler/record/join.h"

#include "profiler/record/allocator_history.h"
#include "profiler/record/clock_align.h"
#include "tests/storage/tape/tape_support.h"

#include <algorithm>
#include <array>
#include <sys/wait.h>

namespace tapescope::profiler::record {
namespace {

using namespace storage;  // NOLINT(google-build-using-namespace): the records under test

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kEpoch = 1'700'000'000 * kSecond;

/// A process that began `beginNs` after its machine's boot.
GpuProcess process(std::int64_t pid, const std::string& boot, std::int64_t beginNs,
                   std::int64_t bootRealtimeNs = kEpoch) {
    GpuProcess p;
    p.id = 1;
    p.pid = pid;
    p.host = "host-" + boot;
    p.bootId = boot;
    p.command = "train " + std::to_string(pid);
    p.monotonicZeroNs = beginNs;
    p.realtimeZeroNs = bootRealtimeNs + beginNs;
    p.clockErrorNs = 500;
    p.clock = "same clock";
    return p;
}

GpuEvent kernel(NameId name, std::int64_t startNs, std::int64_t durationNs) {
    GpuEvent e;
    e.kind = GpuEventKind::Kernel;
    e.process = 1;
    e.name = name;
    e.startNs = startNs;
    e.durationNs = durationNs;
    e.correlation = 7;
    e.stream = 13;
    return e;
}
GpuEvent copyToDevice(std::int64_t startNs, std::int64_t durationNs, std::uint64_t bytes) {
    GpuEvent e;
    e.kind = GpuEventKind::Memcpy;
    e.process = 1;
    e.startNs = startNs;
    e.durationNs = durationNs;
    e.u = {bytes, 0, 1};
    e.x[0] = static_cast<std::uint32_t>(GpuCopyKind::HostToDevice);
    return e;
}

/// A shard with one kernel, 100 ns after its begin, called `name`.
void writeShard(const std::string& path, const GpuProcess& p, const std::string& name,
                const RunInfo& info = {}) {
    const auto tape = newTape(path, info);
    tape->gpuProcess(p);
    (void)tape->name("only to move the ids of " + name);
    tape->gpuEvents({kernel(tape->name(name), 100, 50)});
    tape->gpuStatus({1, "cupti", "ok", "GPU tracing is on.", "", 10});
    tape->gpuCount({1, kGpuCountRecords, 1});
    EXPECT_OK(tape->seal(RunOutcome::Finished));
}

JoinReport joined(const std::vector<std::string>& inputs, const std::string& out) {
    return get(joinTapes(inputs, out));
}

TEST(Join, PlacesProcessesOfOneBootByTheirMonotonicClock) {
    const TempDir dir;
    writeShard(dir.file("a.tape"), process(11, "b1", 5 * kSecond), "first");
    // Between the two the wall clock was set back by two seconds: that must not move it.
    writeShard(dir.file("b.tape"), process(12, "b1", 6 * kSecond, kEpoch - kSecond / 2), "second");
    const std::string out = dir.file("out.tape");
    const JoinReport report = joined({dir.file("b.tape"), dir.file("a.tape")}, out);
    EXPECT_EQ(report.processes, 2U);
    EXPECT_EQ(report.gpuEvents, 2);
    EXPECT_TRUE(report.notes.empty() && report.refused.empty());

    const auto tape = get(TapeReader::open(out));
    EXPECT_EQ(tape->outcome(), RunOutcome::Finished);
    const auto processes = get(tape->gpuProcesses());
    ASSERT_EQ(processes.size(), 2U);
    EXPECT_EQ(processes[0].pid, 11);
    EXPECT_EQ(processes[1].pid, 12);
    for (const GpuProcess& p : processes) {
        EXPECT_EQ(p.monotonicZeroNs, 5 * kSecond);
        EXPECT_EQ(p.clock, "same clock");
        EXPECT_EQ(p.clockErrorNs, 500);
    }
    const auto names = get(tape->names());
    const auto events = get(tape->gpuEvents()).events;
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].startNs, 100);
    EXPECT_EQ(names[events[0].name], "first");
    EXPECT_EQ(events[1].startNs, kSecond + 100);
    EXPECT_EQ(names[events[1].name], "second");
    EXPECT_EQ(events[1].process, 2U);
    EXPECT_EQ(get(tape->gpuStatuses()).size(), 2U);
    EXPECT_EQ(get(tape->gpuCounts()).size(), 2U);
    EXPECT_DOUBLE_EQ(get(tape->info()).startWall, static_cast<double>(kEpoch + 5 * kSecond) / 1e9);
}

TEST(Join, PlacesOtherMachinesByWallClockAndSaysHowFarOffTheyMayBe) {
    const TempDir dir;
    writeShard(dir.file("a.tape"), process(11, "b1", 5 * kSecond), "first");
    // Booted 1000 s later; begins at the same wall time plus 3 s.
    const GpuProcess other =
        process(11, "b2", 8 * kSecond - 1000 * kSecond + 2000 * kSecond, kEpoch - 1000 * kSecond);
    writeShard(dir.file("b.tape"), other, "second");
    (void)joined({dir.file("a.tape"), dir.file("b.tape")}, dir.file("unknown.tape"));
    auto tape = get(TapeReader::open(dir.file("unknown.tape")));
    auto processes = get(tape->gpuProcesses());
    ASSERT_EQ(processes.size(), 2U);
    EXPECT_EQ(processes[0].clockErrorNs, 500);
    EXPECT_EQ(processes[1].clock, "aligned by wall clock");
    EXPECT_EQ(processes[1].clockErrorNs, -1);
    EXPECT_EQ(processes[1].realtimeZeroNs, kEpoch + 5 * kSecond);
    EXPECT_EQ(get(tape->gpuEvents()).events[1].startNs, 3 * kSecond + 100);

    RunInfo known;
    known.environment = {{"wall_clock_error_ns host-b1", "2000000"},
                         {"wall_clock_error_ns host-b2", "30000"}};
    writeShard(dir.file("c.tape"), process(10, "b1", 9 * kSecond), "third", known);
    (void)joined({dir.file("a.tape"), dir.file("b.tape"), dir.file("c.tape")},
                 dir.file("known.tape"));
    tape = get(TapeReader::open(dir.file("known.tape")));
    for (const GpuProcess& p : get(tape->gpuProcesses())) {
        EXPECT_EQ(p.clockErrorNs, p.bootId == "b2" ? 500 + 2'000'000 + 30'000 : 500) << p.pid;
    }
}

TEST(Join, CopiesOfARunningMachineAreNotTakenForOneClock) {
    const TempDir dir;
    // Both say boot b1, but their wall clocks are an hour apart at the same monotonic time.
    writeShard(dir.file("a.tape"), process(1, "b1", 5 * kSecond), "first");
    writeShard(dir.file("b.tape"), process(2, "b1", 5 * kSecond, kEpoch + 3600 * kSecond),
               "second");
    (void)joined({dir.path()}, dir.file("out.tape"));
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    EXPECT_EQ(get(tape->gpuEvents()).events[1].startNs, 3600 * kSecond + 100);
    EXPECT_EQ(get(tape->gpuProcesses())[1].clockErrorNs, -1);
}

TEST(Join, WritesSummariesFromTheEvents) {
    const TempDir dir;
    {
        const auto tape = newTape(dir.file("a.tape"));
        tape->gpuProcess(process(1, "b1", 0));
        const NameId gemm = tape->name("gemm");
        GpuEvent untimed = kernel(gemm, 0, 0);
        untimed.flags = kGpuNoTime;
        GpuEvent push;
        push.kind = GpuEventKind::NvtxPush;
        push.process = 1;
        push.name = tape->name("step");
        push.x[0] = tape->name("domain");
        tape->gpuEvents({kernel(gemm, 10, 100), kernel(gemm, 300, 50), untimed, push,
                         copyToDevice(400, 1000, 4000), copyToDevice(2000, 3000, 8000)});
        // A summary that a killed process left behind must not count beside it.
        tape->gpuSummary({{1, 0, GpuEventKind::Kernel, gemm, 77, 77, 7, 7, 0}});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    (void)joined({dir.path()}, dir.file("out.tape"));
    EXPECT_EQ(sql(dir.file("out.tape"), "SELECT name, count, total_ms FROM gpu_kernels"),
              Rows{"gemm|2|0.00015"});
    EXPECT_EQ(sql(dir.file("out.tape"), "SELECT name, count, bytes, gb_per_s FROM gpu_copies"),
              Rows{"host to device|2|12000|3.0"});
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    const auto events = get(tape->gpuEvents()).events;
    EXPECT_EQ(get(tape->names())[nvtxDomain(events[3])], "domain");
    EXPECT_EQ(events[2].startNs, 0);
}

TEST(Join, KeepsEveryEventOfALargeShard) {
    const TempDir dir;
    constexpr std::int64_t kEvents = 300'000;
    {
        const auto tape = newTape(dir.file("a.tape"));
        tape->gpuProcess(process(1, "b1", 0));
        for (std::int64_t at = 0; at < kEvents; at += 20'000) {
            auto events = gpuEvents(at, 20'000);
            for (GpuEvent& e : events) e.process = 1;
            tape->gpuEvents(std::move(events));
            EXPECT_OK(tape->flush());
        }
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    EXPECT_EQ(joined({dir.path()}, dir.file("out.tape")).gpuEvents, kEvents);
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    EXPECT_TRUE(get(tape->losses()).empty());
    const auto events = get(tape->gpuEvents()).events;
    ASSERT_EQ(static_cast<std::int64_t>(events.size()), kEvents);
    EXPECT_EQ(events[123'457].u, gpuEvent(123'457).u);
    EXPECT_EQ(events[123'457].startNs, gpuEvent(123'457).startNs);
}

TEST(Join, TakesWhatAKilledProcessHadFlushedAndSaysSo) {
    const TempDir dir;
    writeShard(dir.file("a.tape"), process(1, "b1", 0), "whole");
    const pid_t child = fork();
    if (child == 0) {
        auto tape = TapeWriter::create(dir.file("killed.tape"), {});
        if (!tape.ok()) _exit(1);
        (*tape)->gpuProcess(process(2, "b1", 0));
        const NameId name = (*tape)->name("flushed");
        (*tape)->gpuEvents({kernel(name, 5, 5), kernel(name, 2 * kSecond, 5), kernel(name, 9, 1)});
        // Its collector's last look was before most of them.
        (*tape)->gpuSummary({{1, 0, GpuEventKind::Kernel, name, 1, 5, 5, 5, 0}});
        (*tape)->gpuCount({1, kGpuCountRecords, 1});
        (*tape)->gpuCount({1, "dropped records", 4});
        (*tape)->gpuStatus({1, "cupti", "ok", "GPU tracing is on.", "CUPTI 13", 10});
        _exit((*tape)->flush().ok() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    const JoinReport report = joined({dir.path()}, dir.file("out.tape"));
    EXPECT_EQ(report.gpuEvents, 4);
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_EQ(report.notes[0],
              "process 2 (train 2) ended without closing its record (killed, _exit, exec): what it "
              "had written until 2.000 s is here");
    const std::string out = dir.file("out.tape");
    EXPECT_EQ(get(TapeReader::open(out))->outcome(), RunOutcome::Unknown);
    EXPECT_EQ(sql(out, "SELECT pid, name, count FROM gpu_counts ORDER BY 1, 2"),
              (Rows{"1|records|1", "2|dropped records|4", "2|records|3"}));
    EXPECT_EQ(sql(out, "SELECT name, count FROM gpu_kernels ORDER BY name"),
              (Rows{"flushed|3", "whole|1"}));
    EXPECT_EQ(sql(out, "SELECT pid, code FROM gpu_states ORDER BY pid"), (Rows{"1|ok", "2|cut"}));
    EXPECT_EQ(sql(out, "SELECT time_ns, detail FROM gpu_status WHERE code = 'cut'"),
              Rows{"2000000005|CUPTI 13"});
    EXPECT_EQ(sql(out,
                  "SELECT count(*) FROM gpu_status WHERE code = 'cut' AND message LIKE '%until "
                  "2.000 s;%loss counters are those of the last commit.'"),
              Rows{"1"});
    // Where an earlier process moves the axis, the sentence goes with it.
    writeShard(dir.file("earlier.tape"), process(4, "b2", 0, kEpoch - kSecond), "other boot");
    (void)joined({out, dir.file("earlier.tape")}, dir.file("again.tape"));
    EXPECT_EQ(sql(dir.file("again.tape"),
                  "SELECT count(*) FROM gpu_status WHERE code = 'cut' AND time_ns = 3000000005 AND "
                  "message LIKE '%until 3.000 s;%'"),
              Rows{"1"});
}

TEST(Join, AReasonThatAKilledProcessGaveItselfStays) {
    const TempDir dir;
    const pid_t child = fork();
    if (child == 0) {
        auto tape = TapeWriter::create(dir.file("killed.tape"), {});
        if (!tape.ok()) _exit(1);
        (*tape)->gpuProcess(process(2, "b1", 0));
        (*tape)->gpuStatus({1, "cupti", "size-cap", "It is full.", "", 10});
        _exit((*tape)->flush().ok() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    (void)joined({dir.path()}, dir.file("out.tape"));
    EXPECT_EQ(sql(dir.file("out.tape"), "SELECT code, message FROM gpu_states"),
              Rows{"size-cap|It is full. The process ended without closing its record."});
}

TEST(Join, AProcessThatTwoInputsTellOfIsTakenOnce) {
    const TempDir dir;
    writeShard(dir.file("a.tape"), process(1, "b1", kSecond), "a");
    writeShard(dir.file("b.tape"), process(2, "b1", 2 * kSecond), "b");
    {
        const auto tape = newTape(dir.file(kLauncherTape));
        tape->gpuProcess(process(9, "b1", kSecond / 2));
        tape->gpuCounter({1, "power", "W", "GPU-1", "H200", "host-b1"});
        tape->counterSamples({{10, 300.0, 1}, {20, 310.0, 1}});
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    }
    (void)joined({dir.path()}, dir.file("ab.tape"));
    // The folder with an earlier join's output in it.
    const JoinReport again = joined({dir.path()}, dir.file("again.tape"));
    EXPECT_EQ(again.processes, 2U);
    EXPECT_EQ(again.gpuEvents, 2);
    EXPECT_EQ(again.counterSamples, 2);
    EXPECT_EQ(again.damaged, 0U);
    EXPECT_TRUE(again.refused.empty());
    ASSERT_FALSE(again.notes.empty());
    EXPECT_NE(again.notes[0].find("taken once"), std::string::npos) << again.notes[0];
    const std::string out = dir.file("again.tape");
    EXPECT_EQ(sql(out, "SELECT pid FROM gpu_process ORDER BY pid"), (Rows{"1", "2", "9"}));
    EXPECT_EQ(sql(out, "SELECT name, count FROM gpu_kernels ORDER BY name"), (Rows{"a|1", "b|1"}));
    EXPECT_EQ(sql(out, "SELECT count(*) FROM gpu_counts WHERE name = 'records'"), Rows{"2"});
}

TEST(Join, OfTwoRecordsOfOneProcessTheFullerOneIsTaken) {
    const TempDir dir;
    const auto write = [&](const char* file, std::int64_t events) {
        const auto tape = newTape(dir.file(file));
        tape->gpuProcess(process(5, "b1", kSecond));
        std::vector<GpuEvent> all;
        for (std::int64_t i = 0; i < events; ++i)
            all.push_back(kernel(tape->name("k"), 100 + i * 10, 5));
        tape->gpuEvents(std::move(all));
        EXPECT_OK(tape->seal(RunOutcome::Finished));
    };
    write("early.tape", 3);
    writeShard(dir.file("other.tape"), process(6, "b1", kSecond / 2), "other");
    (void)joined({dir.file("early.tape"), dir.file("other.tape")}, dir.file("joined.tape"));
    write("whole.tape", 7);
    for (const auto& inputs : {std::vector{dir.file("joined.tape"), dir.file("whole.tape")},
                               std::vector{dir.file("whole.tape"), dir.file("joined.tape")}}) {
        const std::string out = dir.file("out.tape");
        JoinOptions force;
        force.overwrite = true;
        const JoinReport report = get(joinTapes(inputs, out, force));
        EXPECT_EQ(report.gpuEvents, 8);
        EXPECT_EQ(report.processes, 2U);
        EXPECT_EQ(sql(out, "SELECT pid, count FROM gpu_counts WHERE name = 'records' ORDER BY 1"),
                  (Rows{"5|7", "6|1"}));
    }
    // The same pid at another time is another process.
    writeShard(dir.file("later.tape"), process(5, "b1", 900 * kSecond), "later");
    EXPECT_EQ(
        joined({dir.file("whole.tape"), dir.file("later.tape")}, dir.file("two.tape")).processes,
        2U);
}

TEST(Join, AMachineWithoutAWallClockDoesNotMoveTheOthers) {
    const TempDir dir;
    writeShard(dir.file("good.tape"), process(1, "b1", 5 * kSecond), "good");
    writeShard(dir.file("odd.tape"), process(2, "b2", 7 * kSecond, -7 * kSecond), "odd");
    const JoinReport report = joined({dir.path()}, dir.file("out.tape"));
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_NE(report.notes[0].find("odd.tape: its machine's wall clock was not set"),
              std::string::npos);
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    EXPECT_DOUBLE_EQ(get(tape->info()).startWall, static_cast<double>(kEpoch + 5 * kSecond) / 1e9);
    for (const GpuEvent& e : get(tape->gpuEvents()).events) EXPECT_EQ(e.startNs, 100);
    EXPECT_EQ(
        sql(dir.file("out.tape"), "SELECT pid, clock_error_ns, clock FROM gpu_process ORDER BY 1"),
        (Rows{"1|500|same clock", "2|-1|its wall clock was not set"}));
}

TEST(Join, RefusesForeignDamagedAndRepeatedFilesByNameAndJoinsTheOthers) {
    const TempDir dir;
    writeShard(dir.file("good.tape"), process(1, "b1", 0), "good");
    std::filesystem::copy_file(dir.file("good.tape"), dir.file("twin.tape"));
    std::ofstream(dir.file("text.tape")) << std::string(500, 'x');
    std::ofstream(dir.file("empty.tape"));
    std::ofstream(dir.file("odd.allocator")) << "hello\n";
    writeShard(dir.file("time.tape"), process(3, "b1", -5), "impossible");
    writeShard(dir.file("torn.tape"), process(2, "b1", 0), "torn");
    sql(dir.file("torn.tape"), "UPDATE gpu_event_chunk SET data = x'00'");
    const JoinReport report = joined({dir.path()}, dir.file("out.tape"));
    EXPECT_EQ(report.gpuEvents, 1);
    std::string refused;
    for (const std::string& r : report.refused) refused += r + "\n";
    EXPECT_EQ(report.refused.size(), 5U) << refused;
    for (const char* name : {"twin.tape", "text.tape", "empty.tape", "odd.allocator", "time.tape"})
        EXPECT_NE(refused.find(name), std::string::npos) << name << " in " << refused;
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_EQ(report.notes[0].rfind("torn.tape: a part cannot be read", 0), 0U);
    EXPECT_EQ(report.damaged, 1U);
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    EXPECT_EQ(get(tape->losses()).size(), 6U);
}

TEST(Join, LeavesNothingBehindWhenItCannotJoin) {
    const TempDir dir;
    std::ofstream(dir.file("text.tape")) << std::string(500, 'x');
    const auto none = joinTapes({dir.file("text.tape")}, dir.file("out.tape"));
    ASSERT_FALSE(none.ok());
    EXPECT_NE(messageOf(none).find("text.tape"), std::string::npos);
    writeShard(dir.file("a.tape"), process(1, "b1", 0), "a");
    EXPECT_FALSE(joinTapes({dir.file("a.tape")}, dir.file("no/out.tape")).ok());
    EXPECT_FALSE(joinTapes({dir.file("none")}, dir.file("out.tape")).ok());
    // What exists is kept, and replaced on request only; never if it is to be read.
    const auto existing = joinTapes({dir.file("a.tape")}, dir.file("text.tape"));
    ASSERT_FALSE(existing.ok());
    EXPECT_NE(messageOf(existing).find("--force"), std::string::npos);
    JoinOptions force;
    force.overwrite = true;
    EXPECT_FALSE(joinTapes({dir.file("a.tape")}, dir.file("a.tape"), force).ok());
    EXPECT_TRUE(joinTapes({dir.file("a.tape")}, dir.file("text.tape"), force).ok());
    EXPECT_EQ(dir.names(), (std::vector<std::string>{"a.tape", "text.tape"}));
}

TEST(Join, AJoinedTapeCanBeJoinedAgain) {
    const TempDir dir;
    writeShard(dir.file("a.tape"), process(1, "b1", kSecond), "a");
    writeShard(dir.file("b.tape"), process(2, "b1", 2 * kSecond), "b");
    writeShard(dir.file("c.tape"), process(3, "b1", kSecond / 2), "c");
    (void)joined({dir.file("a.tape"), dir.file("b.tape")}, dir.file("ab.tape"));
    (void)joined({dir.file("ab.tape"), dir.file("c.tape")}, dir.file("abc.tape"));
    const auto tape = get(TapeReader::open(dir.file("abc.tape")));
    const auto names = get(tape->names());
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const GpuEvent& e : get(tape->gpuEvents()).events)
        found.emplace_back(names[e.name], e.startNs);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (std::vector<std::pair<std::string, std::int64_t>>{
                         {"a", kSecond / 2 + 100}, {"b", 3 * kSecond / 2 + 100}, {"c", 100}}));
    EXPECT_EQ(get(tape->gpuProcesses()).size(), 3U);
}

TEST(Join, TheLauncherKnowsLessThanTheProcessItself) {
    const TempDir dir;
    writeShard(dir.file("gpu-5.tape"), process(5, "b1", kSecond), "k");
    {
        RunInfo info;
        info.name = "train";
        info.command = "tapescope record -- train";
        info.environment = {{"host", "host-b1"}};
        const auto tape = newTape(dir.file(kLauncherTape), info);
        GpuProcess child = process(5, "b1", kSecond / 2);
        child.command = "only the launcher's word";
        tape->gpuProcess(child);
        tape->gpuStatus({1, "cupti", "not-used", "No CUDA.", "", 0});
        tape->gpuStatus({1, "nvml", "no-driver", "No NVML.", "", 0});
        tape->gpuCounter({1, "power", "W", "GPU-1", "H200", "host-b1"});
        tape->counterSamples({{10, 300.0, 1}, {20, 310.0, 1}});
        EXPECT_OK(tape->seal(RunOutcome::Failed, "exit status 3"));
    }
    const JoinReport report = joined({dir.path()}, dir.file("out.tape"));
    EXPECT_EQ(report.processes, 1U);
    EXPECT_EQ(report.counterSamples, 2);
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    EXPECT_EQ(tape->outcome(), RunOutcome::Failed);
    EXPECT_EQ(tape->outcomeMessage(), "exit status 3");
    EXPECT_EQ(get(tape->info()).command, "tapescope record -- train");
    EXPECT_EQ(get(tape->info()).environment.size(), 1U);
    const auto processes = get(tape->gpuProcesses());
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_EQ(processes[0].command, "train 5");
    EXPECT_EQ(sql(dir.file("out.tape"), "SELECT source, code FROM gpu_states ORDER BY source"),
              (Rows{"cupti|ok", "nvml|no-driver"}));
    EXPECT_EQ(get(tape->counterSamples()).samples[0].timeNs, 10);
    EXPECT_EQ(get(tape->gpuEvents()).events[0].startNs, kSecond / 2 + 100);
}

std::string historyHead(std::int64_t pid = 5) {
    return "tapescope-allocator-history\t1\nP\t" + std::to_string(pid) +
           "\t1\t-1\t-1\t-1\thost-b1\tb1\tpython3 train.py\nC\t" + std::to_string(kSecond) + "\t" +
           std::to_string(kEpoch + kSecond) + "\n";
}
std::string micros(std::int64_t afterBootNs) {
    return std::to_string((kEpoch + afterBootNs) / 1000);
}

TEST(Join, BringsAllocatorHistoryToItsProcess) {
    const TempDir dir;
    writeShard(dir.file("gpu-5.tape"), process(5, "b1", kSecond), "k");
    std::ofstream(dir.file("5.allocator"))
        << historyHead() << "V\t2.15.0\nS\t1\ttrain.py:31 forward\n"
        << "E\t" << micros(kSecond + 2'000'000) << "\talloc\t0\t139637976727552\t512\t0\t0\t1\n"
        << "C\t" << 2 * kSecond << "\t" << kEpoch + 12 * kSecond << "\n"  // set forward by 10 s
        << "E\t" << micros(12 * kSecond) << "\toom\t1\t0\t4096\t7\t100\t0\n"
        << "L\t3\tthe ring was too small\nX\n";
    const JoinReport report = joined({dir.path()}, dir.file("out.tape"));
    EXPECT_EQ(report.allocatorEvents, 2);
    EXPECT_TRUE(report.notes.empty());
    const auto tape = get(TapeReader::open(dir.file("out.tape")));
    EXPECT_EQ(get(tape->gpuProcesses()).size(), 1U);
    const auto events = get(tape->allocatorEvents()).events;
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].timeNs, 2'000'000);
    EXPECT_EQ(events[0].address, 139'637'976'727'552U);
    EXPECT_EQ(get(tape->names())[events[0].site], "train.py:31 forward");
    EXPECT_EQ(events[1].timeNs, kSecond);
    EXPECT_EQ(events[1].action, AllocatorAction::OutOfMemory);
    EXPECT_EQ(events[1].deviceFreeBytes, 100);
    EXPECT_EQ(events[1].device, 1U);
    EXPECT_EQ(sql(dir.file("out.tape"), "SELECT what, count FROM losses"),
              Rows{"allocator events|3"});
    EXPECT_EQ(
        sql(dir.file("out.tape"), "SELECT code, detail FROM gpu_status WHERE source = 'allocator'"),
        Rows{"ok|torch 2.15.0"});
}

TEST(AllocatorHistory, IsReadUpToWhatIsNoneOfItsLines) {
    const TempDir dir;
    const std::string good = "E\t" + micros(kSecond) + "\talloc\t0\t512\t512\t0\t0\t0\n";
    const auto read = [&](const std::string& lines) {
        std::ofstream(dir.file("h.allocator")) << historyHead() << good << lines;
        const auto history = get(AllocatorHistory::open(dir.file("h.allocator")));
        std::size_t n = 0;
        for (auto part = history->next(2); !part.empty(); part = history->next(2)) n += part.size();
        return std::pair(n, history->damage());
    };
    EXPECT_EQ(read(good + good + good), std::pair(std::size_t{4}, std::string()));
    const std::array bad = {
        std::string("E\t1\talloc\t0\t512\t512\t0\t0\t1\n"),    // no such site
        std::string("E\t1\tmalloc\t0\t512\t512\t0\t0\t0\n"),   // no such action
        std::string("E\t-1\talloc\t0\t512\t512\t0\t0\t0\n"),   // before 1970
        std::string("E\t1\talloc\t0\t0x200\t512\t0\t0\t0\n"),  // no decimal number
        std::string("E\t1\talloc\t0\t512\t512\t0\t0\n"),       // a field short
        std::string("E\t99999999999999999999\talloc\t0\t512\t512\t0\t0\t0\n"),
        std::string("S\t2\tsite\n"),  // not the next number
        std::string("Z\n"),
        std::string("\n"),
        std::string("C\t5\n"),
        std::string("L\t0\tnothing\n"),
        std::string(20'000, 'E') + "\n",
        std::string("E\t1\talloc"),  // cut
    };
    for (const std::string& line : bad) {
        const auto [n, damage] = read(line + good);
        EXPECT_EQ(n, 1U) << line;
        EXPECT_NE(damage.find("line 5"), std::string::npos) << line << ": " << damage;
    }
    for (const char* head : {"", "x", "tapescope-allocator-history\t1\n",
                             "tapescope-allocator-history\t1\nP\t0\t1\t-1\t-1\t-1\th\tb\tc\n",
                             "tapescope-allocator-history\t2\nP\t1\t1\t-1\t-1\t-1\th\tb\tc\n"}) {
        std::ofstream(dir.file("h.allocator")) << head;
        EXPECT_FALSE(AllocatorHistory::open(dir.file("h.allocator")).ok()) << head;
    }
    EXPECT_FALSE(AllocatorHistory::open(dir.file("none.allocator")).ok());
    EXPECT_FALSE(AllocatorHistory::open("/dev/zero").ok());
}

TEST(ClockAligner, ExtremeTimesStayInRange) {
    EXPECT_EQ(saturatingAdd(INT64_MAX, 1), INT64_MAX);
    EXPECT_EQ(saturatingAdd(INT64_MIN, -1), INT64_MIN);
    EXPECT_EQ(saturatingAdd(-5, 7), 2);
    ClockAligner clocks;
    constexpr std::int64_t kLatest = 3'629'059'200'000'000'000;
    GpuProcess early = process(1, "b1", 0, 0);
    GpuProcess late = process(2, "b2", kLatest, 0);
    GpuProcess odd = process(3, "b3", 0, kLatest);
    EXPECT_TRUE(clocks.add(early) && clocks.add(late) && clocks.add(odd));
    EXPECT_FALSE(clocks.add(process(4, "b4", kLatest, 1)));
    EXPECT_EQ(clocks.offsetNs(early), 0);
    EXPECT_EQ(clocks.offsetNs(late), kLatest);
    EXPECT_EQ(clocks.offsetNs(odd), kLatest);
    EXPECT_EQ(clocks.aligned(odd).monotonicZeroNs, -kLatest);
}

}  // namespace
}  // namespace tapescope::profiler::record
