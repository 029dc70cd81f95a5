// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/recording.h"

#include "profiler/cupti/inject/environment.h"
#include "profiler/record/injection.h"
#include "profiler/record/join.h"
#include "profiler/record/marks.h"
#include "profiler/record/nvml.h"
#include "profiler/record/open_end.h"
#include "storage/tape/process_identity.h"
#include "storage/tape/reader.h"
#include "storage/tape/writer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tapescope::profiler::record {
namespace {

namespace fs = std::filesystem;
using storage::Result;
using storage::Status;

constexpr storage::GpuProcessId kProgram = 1;

std::int64_t clockNs(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
}

/// "train.py" of `python3 -u train.py --lr 1`, else the program's own name.
std::string nameOf(const std::vector<std::string>& command) {
    const std::string program = fs::path(command.front()).filename().string();
    if (program.rfind("python", 0) != 0) return program;
    for (std::size_t i = 1; i < command.size(); ++i) {
        if (command[i].size() > 3 && command[i].ends_with(".py"))
            return fs::path(command[i]).filename().string();
        if (command[i].empty() || command[i][0] != '-') break;
    }
    return program;
}

/// The folder of the parts, beside the tape: on the same disk, so that joining can move the result.
Result<std::string> makeShardFolder(const std::string& output) {
    std::error_code ec;
    std::string pattern = fs::absolute(output, ec).string() + ".parts-XXXXXX";
    if (ec || mkdtemp(pattern.data()) == nullptr) {
        return Status::error("cannot make a folder beside \"" + output + "\" (" +
                             std::generic_category().message(errno) + "): choose another place");
    }
    return pattern;
}

bool driverIsHere() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver != nullptr) dlclose(driver);
    return driver != nullptr;
}

/// Less than a new tape needs.
bool diskIsFull(const std::string& folder) {
    constexpr std::uint64_t kLeast = 1 << 20;
    struct statvfs info {};
    return statvfs(folder.c_str(), &info) == 0 && info.f_bavail * info.f_frsize < kLeast;
}

storage::GpuProcess processOf(const Mark& mark) {
    storage::GpuProcess p;
    p.pid = mark.process.pid;
    p.host = mark.process.host;
    p.bootId = mark.process.bootId;
    p.command = mark.command;
    return p;
}

/// The first few, and how many more.
std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
        out += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kShown) out += " and " + std::to_string(names.size() - kShown) + " more";
    return out;
}

class Recording {
public:
    explicit Recording(const RecordOptions& options) : m_options(options) {}
    Result<RecordResult> run();

private:
    Status begin();
    void sample();
    void finishLauncherTape(const Ending& ending);
    std::vector<fs::path> shards() const;
    std::vector<std::string> stillRecording() const;
    void waitForShards() const;
    void tellOfMarks();
    bool nested() const;
    void wantedToEnd(int signal, int count);
    std::string howToJoin(const std::string& before = "") const;
    bool join();
    void removeParts(const JoinReport& report);
    void tellHowItWent(const JoinReport& report) const;
    void say(const std::string& text) const {
        if (m_options.say) m_options.say(text);
    }
    void status(const char* source, const std::string& code, const std::string& message,
                const std::string& detail) {
        m_tape->gpuStatus({kProgram, source, code, message, detail, sinceZero()});
    }
    std::int64_t sinceZero() const { return clockNs(CLOCK_MONOTONIC) - m_zeroNs; }

    const RecordOptions& m_options;
    Child m_child;  // first: its constructor comes before any thread
    std::string m_folder;
    std::int64_t m_zeroNs = 0;
    std::int64_t m_realtimeZeroNs = 0;
    PlannedEnvironment m_plan;
    std::unique_ptr<storage::TapeWriter> m_tape;
    std::unique_ptr<Nvml> m_nvml;
    std::unique_ptr<NvmlSampler> m_sampler;
    std::atomic<int> m_wantsEnd{0};         ///< signals since the program's end
    std::mutex m_removing;                  ///< held from the joined tape's being there on
    bool m_joined = false;                  ///< guarded by m_removing
    std::unique_ptr<AfterSignals> m_after;  ///< last: it calls us
};

Status Recording::begin() {
    if (Status s = checkOutput(m_options.output, m_options.overwrite); !s.ok()) return s;
    auto folder = makeShardFolder(m_options.output);
    if (!folder.ok()) return folder.status();
    m_folder = std::move(folder).value();

    const storage::ProcessIdentity me = storage::ProcessIdentity::self();
    storage::RunInfo info;
    info.name = nameOf(m_options.command);
    info.command = m_options.commandLine;
    info.environment = m_options.environment;
    if (const std::int64_t error = wallClockErrorNs(); error >= 0) {
        info.environment.emplace_back(std::string(kWallClockErrorKey) + " " + me.host,
                                      std::to_string(error));
    }
    m_zeroNs = clockNs(CLOCK_MONOTONIC);
    m_realtimeZeroNs = clockNs(CLOCK_REALTIME);
    info.startWall = static_cast<double>(m_realtimeZeroNs) / 1e9;
    auto tape = storage::TapeWriter::create(m_folder + "/" + kLauncherTape, info);
    if (!tape.ok()) return tape.status();
    m_tape = std::move(tape).value();

    InjectionPlan plan;
    plan.library = m_options.injectionLibrary;
    plan.shardFolder = m_folder;
    plan.kinds = m_options.kinds;
    if (m_options.allocatorHistory) plan.pythonHook = m_options.pythonHook;
    m_plan = plannedEnvironment(currentEnvironment(), plan);
    // For a recorder around us, which would wonder where our processes are.
    const char* outer = std::getenv(cupti::environment::kFolder);
    std::error_code ec;
    if (outer != nullptr && fs::is_directory(outer, ec)) {
        std::ofstream(std::string(outer) + "/" + me.host + "-" + std::to_string(me.pid) +
                      kNestedSuffix);
    }
    return {};
}

void Recording::sample() {
    if (!m_options.counters) return;
    m_nvml = std::make_unique<Nvml>(m_options.nvmlLibrary);
    status("nvml", m_nvml->code(), m_nvml->message(), m_nvml->detail());
    if (m_nvml->code() != "ok") {
        say(m_nvml->message());
        return;
    }
    const std::string host = storage::ProcessIdentity::self().host;
    for (storage::GpuCounter row : m_nvml->counters()) {
        row.host = host;
        m_tape->gpuCounter(std::move(row));
    }
    m_sampler = std::make_unique<NvmlSampler>(*m_nvml, m_options.samplePeriod,
                                              [this](const std::vector<Nvml::Reading>& readings) {
                                                  std::vector<storage::CounterSample> samples;
                                                  const std::int64_t now = sinceZero();
                                                  for (const Nvml::Reading& r : readings)
                                                      samples.push_back({now, r.value, r.counter});
                                                  m_tape->counterSamples(std::move(samples));
                                              });
}

std::vector<fs::path> Recording::shards() const {
    std::vector<fs::path> out;
    std::error_code ec;
    for (fs::directory_iterator it(m_folder, ec), end; !ec && it != end; it.increment(ec)) {
        if (it->path().extension() == ".tape" && it->path().filename() != kLauncherTape)
            out.push_back(it->path());
    }
    return out;
}

/// "process 42 (python3 worker.py)" for each that has a part open or is about to.
std::vector<std::string> Recording::stillRecording() const {
    std::vector<std::string> out;
    for (const fs::path& path : shards()) {
        const auto tape = storage::TapeReader::open(path.string());
        if (!tape.ok() || (*tape)->state() != storage::TapeState::Live) continue;
        const auto processes = (*tape)->gpuProcesses();
        out.push_back(processes.ok() && !processes->empty() ? processText(processes->front())
                                                            : path.filename().string());
    }
    for (const Mark& mark : marksWithoutShard(m_folder)) {
        if (storage::livenessOf(mark.process) == storage::Liveness::Alive)
            out.push_back(processText(processOf(mark)));
    }
    return out;
}

/// Workers may end a little after the program that started them.
void Recording::waitForShards() const {
    constexpr std::chrono::milliseconds kUnnoticed{500};
    const auto began = std::chrono::steady_clock::now();
    bool said = false;
    for (;;) {
        const auto live = stillRecording();
        const auto waited = std::chrono::steady_clock::now() - began;
        if (live.empty() || waited >= m_options.patience || m_wantsEnd > 0) return;
        if (!said && waited > kUnnoticed) {
            said = true;
            say("the program has ended; waiting up to " +
                std::to_string(m_options.patience.count() / 1000) + " s for " + listed(live) +
                ", which still " + (live.size() == 1 ? "records" : "record") +
                " (Ctrl-C ends the wait)");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

/// On the thread of m_after.
void Recording::wantedToEnd(int signal, int count) {
    m_wantsEnd = count;
    const std::lock_guard lock(m_removing);
    if (m_joined) return;
    if (count == 1) {
        say("the program has ended; its parts are being joined. Once more to stop that");
        return;
    }
    std::error_code ec;
    for (fs::directory_iterator it(m_folder, ec), end; !ec && it != end; it.increment(ec)) {
        std::error_code failed;
        if (it->path().filename().string().find(".join-") != std::string::npos)
            fs::remove(it->path(), failed);
    }
    say("stopped before the tape was made. The parts are kept in " + m_folder + ": " + howToJoin());
    _exit(128 + signal);
}

bool Recording::nested() const {
    std::error_code ec;
    for (fs::directory_iterator it(m_folder, ec), end; !ec && it != end; it.increment(ec))
        if (it->path().string().ends_with(kNestedSuffix)) return true;
    return false;
}

/// What is known of processes that left nothing but their marks goes on the tape.
void Recording::tellOfMarks() {
    storage::GpuProcessId last = kProgram;
    for (const Mark& mark : marksWithoutShard(m_folder)) {
        storage::GpuProcess p = processOf(mark);
        p.id = p.pid == m_child.pid() ? kProgram : ++last;
        p.monotonicZeroNs = m_zeroNs;
        p.realtimeZeroNs = m_realtimeZeroNs;
        p.clock = "same clock";
        const std::string who = processText(p);
        m_tape->gpuCount({p.id, storage::kGpuCountRecords, 0});
        m_tape->gpuStatus({p.id, kTracingSource, "ended-early",
                           "P" + who.substr(1) +
                               " used CUDA but ended, or lost its files, before it could record.",
                           "", sinceZero()});
        if (p.id != kProgram) m_tape->gpuProcess(std::move(p));
    }
}

void Recording::finishLauncherTape(const Ending& ending) {
    m_sampler.reset();
    tellOfMarks();
    if (shards().empty() && marksWithoutShard(m_folder).empty()) {
        if (m_options.injectionLibrary.empty()) {
            status("cupti", "no-injection",
                   "The GPU was not traced: libtapescope-inject.so was not found. See `tapescope "
                   "doctor`.",
                   "");
        } else if (!m_plan.cuda) {
            status("cupti", "busy",
                   "GPU tracing is off: another tool is configured in CUDA_INJECTION64_PATH. Unset "
                   "it, or record without that tool.",
                   joined(m_plan.otherTools));
        } else if (nested()) {
            status("cupti", "not-used",
                   "No process of this program used CUDA outside of a `tapescope record` that the "
                   "program itself started: that one has made a tape of its own.",
                   "");
        } else if (driverIsHere()) {
            status("cupti", "not-used",
                   "No process of this program used CUDA. One that clears its environment, or that "
                   "runs in a container or as another user, is not seen.",
                   "");
        } else {
            status("cupti", "no-driver",
                   "No process of this program used CUDA, and there is no NVIDIA driver on this "
                   "machine.",
                   "");
        }
    }
    if (m_options.allocatorHistory) {
        bool any = false;
        std::error_code ec;
        for (fs::directory_iterator it(m_folder, ec), end; !ec && it != end; it.increment(ec))
            any = any || it->path().string().ends_with(kAllocatorSuffix);
        if (!any) {
            status("allocator", "not-used",
                   "No allocator history came: no Python process of this program used torch.cuda, "
                   "or it was started with -I, -E or -S.",
                   "");
        }
    }
    if (ending.status() == 0) {
        (void)m_tape->seal(storage::RunOutcome::Finished).ok();
    } else {
        const std::string how = ending.signal != 0
                                    ? "ended by signal " + std::to_string(ending.signal)
                                    : "exit status " + std::to_string(ending.exitCode);
        (void)m_tape->seal(storage::RunOutcome::Failed, how).ok();
    }
    if (!m_tape->status().ok()) say(m_tape->status().message());
    m_tape.reset();
    m_nvml.reset();
}

void Recording::tellHowItWent(const JoinReport& report) const {
    for (const std::string& refused : report.refused) say(refused);
    for (const std::string& note : report.notes) say(note);
    const auto tape = storage::TapeReader::open(m_options.output);
    if (tape.ok()) {
        std::set<std::string> told;
        if (const auto rows = (*tape)->gpuStatuses(); rows.ok()) {
            for (const storage::GpuStatus& row : *rows) {
                const bool news = row.code != "ok" && row.code != kCut &&
                                  row.code != kStillRecords && row.source != "nvml";
                if (news && told.insert(row.message).second) say(row.message);
            }
        }
    }
    std::string what = std::to_string(report.processes) +
                       (report.processes == 1 ? " process" : " processes") + " used CUDA, " +
                       std::to_string(report.gpuEvents) + " GPU events";
    if (report.allocatorEvents > 0)
        what += ", " + std::to_string(report.allocatorEvents) + " allocator events";
    if (report.counterSamples > 0)
        what += ", " + std::to_string(report.counterSamples) + " counter samples";
    say(what + " in " + m_options.output);
}

bool Recording::join() {
    JoinOptions joining;
    joining.overwrite = m_options.overwrite;
    joining.workFolder = m_folder;
    const auto report = joinTapes({m_folder}, m_options.output, joining);
    if (!report.ok()) {
        std::error_code ec;
        const bool there = fs::exists(fs::path(m_folder) / kLauncherTape, ec) || !shards().empty();
        if (!there) {
            say(report.status().message() + "\nThe parts are gone from " + m_folder +
                ": there is nothing to join any more");
            fs::remove(m_folder, ec);  // if it is empty
            return false;
        }
        say(report.status().message() + "\nThe parts are kept in " + m_folder + ": " +
            howToJoin(diskIsFull(m_folder) ? "make room there and " : ""));
        return false;
    }
    const std::lock_guard lock(m_removing);
    m_joined = true;
    tellHowItWent(*report);
    removeParts(*report);
    return true;
}

std::string Recording::howToJoin(const std::string& before) const {
    return before + (before.empty() ? "join them with" : "run") + " `tapescope join -o FILE " +
           m_folder + "`";
}

void Recording::removeParts(const JoinReport& report) {
    std::error_code ec;
    if (!report.refused.empty() || report.damaged != 0) {
        say("the parts are kept in " + m_folder);
        return;
    }
    if (report.live.empty()) {
        fs::remove_all(m_folder, ec);
        return;
    }
    // A process writes on: its files stay, also the allocator's, which do not say whose they are.
    std::vector<fs::path> ended;
    for (fs::directory_iterator it(m_folder, ec), end; !ec && it != end; it.increment(ec)) {
        const std::string path = it->path().string();
        const bool stays =
            path.ends_with(kAllocatorSuffix) ||
            std::any_of(report.live.begin(), report.live.end(),
                        [&](const std::string& live) { return path.rfind(live, 0) == 0; });
        if (!stays) ended.push_back(it->path());
    }
    for (const fs::path& path : ended) fs::remove(path, ec);
    say("what it writes from now on stays in " + m_folder +
        ": when it has ended, `tapescope join -o FILE " + m_options.output + " " + m_folder +
        "` makes one tape of both");
}

Result<RecordResult> Recording::run() {
    std::error_code ec;
    if (Status s = begin(); !s.ok()) {
        if (!m_folder.empty()) fs::remove_all(m_folder, ec);
        return s;
    }
    for (const std::string& tool : m_plan.otherTools)
        say(tool + ": that tool is left in place, and what it replaces is not recorded");
    RecordResult result;
    result.startError = m_child.start(m_options.command, m_plan.variables);
    if (result.startError != 0) {
        (void)m_tape->seal(storage::RunOutcome::Failed).ok();
        m_tape.reset();
        fs::remove_all(m_folder, ec);
        return result;
    }
    const storage::ProcessIdentity me = storage::ProcessIdentity::self();
    storage::GpuProcess program;
    program.id = kProgram;
    program.pid = m_child.pid();
    program.parentPid = me.pid;
    program.host = me.host;
    program.bootId = me.bootId;
    program.command = joined(m_options.command);
    program.monotonicZeroNs = m_zeroNs;
    program.realtimeZeroNs = m_realtimeZeroNs;
    program.clock = "same clock";
    m_tape->gpuProcess(std::move(program));
    sample();
    result.ending = m_child.wait();
    m_after = std::make_unique<AfterSignals>(
        [this](int signal, int count) { wantedToEnd(signal, count); });
    waitForShards();
    finishLauncherTape(result.ending);
    result.recorded = join();
    m_after.reset();
    return result;
}

}  // namespace

std::int64_t wallClockErrorNs() {
    timex state{};
    const int clock = adjtimex(&state);
    if (clock < 0 || clock == TIME_ERROR || (state.status & STA_UNSYNC) != 0) return -1;
    return static_cast<std::int64_t>(state.maxerror) * 1000;
}

Result<RecordResult> recordProgram(const RecordOptions& options) {
    return Recording(options).run();
}

}  // namespace tapescope::profiler::record
