// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/join.h"

#include "profiler/record/allocator_history.h"
#include "profiler/record/clock_align.h"
#include "profiler/record/open_end.h"
#include "profiler/record/repeats.h"
#include "profiler/record/shard_copy.h"
#include "storage/tape/move_in_place.h"
#include "storage/tape/reader.h"
#include "storage/tape/writer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tapescope::profiler::record {
namespace {

namespace fs = std::filesystem;
using storage::GpuProcess;
using storage::Result;
using storage::Status;

constexpr std::size_t kMostInputs = 100'000;

std::string systemError() { return std::generic_category().message(errno); }
std::string inQuotes(const std::string& path) { return "\"" + path + "\""; }

bool endsWith(const std::string& text, std::string_view end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The files of the inputs, folders opened up, each once, in the order of their names.
Result<std::vector<std::string>> filesOf(const std::vector<std::string>& inputs) {
    std::vector<std::string> out;
    std::set<fs::path> seen;
    std::error_code ec;
    const auto add = [&](const fs::path& path) {
        fs::path real = fs::canonical(path, ec);
        if (seen.insert(ec ? path : real).second) out.push_back(path.string());
    };
    for (const std::string& input : inputs) {
        if (!fs::is_directory(input, ec)) {
            add(input);
            continue;
        }
        std::vector<fs::path> found;
        fs::recursive_directory_iterator it(input, ec);
        for (; !ec && it != fs::recursive_directory_iterator(); it.increment(ec)) {
            const std::string name = it->path().filename().string();
            if (!endsWith(name, ".tape") && !endsWith(name, kAllocatorSuffix)) continue;
            std::error_code kind;
            if (it->is_regular_file(kind)) found.push_back(it->path());
        }
        if (ec) return Status::error("cannot read folder " + inQuotes(input) + ": " + ec.message());
        if (found.empty()) {
            return Status::error("folder " + inQuotes(input) +
                                 " holds no tape: name the folder that `tapescope record` named");
        }
        std::sort(found.begin(), found.end());
        for (const fs::path& path : found) add(path);
    }
    if (out.size() > kMostInputs) {
        return Status::error(std::to_string(out.size()) + " files are too many to join, at most " +
                             std::to_string(kMostInputs) + ": join parts of them first");
    }
    return out;
}

Result<Source> lookAt(const std::string& path) {
    Source source;
    source.path = path;
    if (endsWith(path, kAllocatorSuffix)) {
        const auto history = AllocatorHistory::open(path);
        if (!history.ok()) return history.status();
        source.allocatorFile = true;
        source.processes.push_back((*history)->process());
        return source;
    }
    const auto tape = storage::TapeReader::open(path);
    if (!tape.ok()) return tape.status();
    auto info = (*tape)->info();
    if (!info.ok()) return info.status();
    auto processes = (*tape)->gpuProcesses();
    if (!processes.ok()) return processes.status();
    source.launcher = source.name() == kLauncherTape;
    source.info = std::move(info).value();
    source.state = (*tape)->state();
    source.outcome = (*tape)->outcome();
    source.outcomeMessage = (*tape)->outcomeMessage();
    source.processes = std::move(processes).value();
    const auto counters = (*tape)->gpuCounters();
    source.counters = counters.ok() && !counters->empty();
    if (source.processes.empty()) {
        GpuProcess clock;
        const double ns = source.info.startWall * 1e9;
        clock.realtimeZeroNs = ns >= 0 && ns < 3e18 ? std::llround(ns) : -1;
        clock.monotonicZeroNs = clock.realtimeZeroNs;
        source.processes.push_back(clock);
    }
    return source;
}

/// A machine whose wall clock was not set would put all others decades after the axis' 0. Its
/// processes are placed by another one of its boot, else at the earliest of the others.
void mendWallClocks(std::vector<Source>& sources, JoinReport& report) {
    constexpr std::int64_t kEarliestNs = 946'684'800'000'000'000;  // 2000: before any CUDA
    const auto unset = [](const GpuProcess& p) { return p.realtimeZeroNs < kEarliestNs; };
    std::vector<GpuProcess> good;
    for (const Source& source : sources)
        for (const GpuProcess& p : source.processes)
            if (!unset(p)) good.push_back(p);
    if (good.empty()) return;  // on one axis with each other
    const GpuProcess earliest =
        *std::min_element(good.begin(), good.end(), [](const GpuProcess& a, const GpuProcess& b) {
            return a.realtimeZeroNs < b.realtimeZeroNs;
        });
    for (Source& source : sources) {
        for (GpuProcess& p : source.processes) {
            if (!unset(p)) continue;
            const auto same = std::find_if(good.begin(), good.end(), [&](const GpuProcess& g) {
                return !p.bootId.empty() && g.bootId == p.bootId;
            });
            if (same != good.end()) {
                p.realtimeZeroNs =
                    same->realtimeZeroNs + (p.monotonicZeroNs - same->monotonicZeroNs);
                continue;
            }
            p.realtimeZeroNs = earliest.realtimeZeroNs;
            p.clockErrorNs = -1;
            p.clock = kWallClockNotSet;
            report.notes.push_back(source.name() +
                                   ": its machine's wall clock was not set: it is placed at the "
                                   "beginning of the others, and how far off that is is not known");
        }
    }
}

std::int64_t beginOf(const Source& source) { return source.processes.front().realtimeZeroNs; }

/// Looks at all files; those that cannot be joined are reported.
std::vector<Source> sourcesOf(const std::vector<std::string>& files, ClockAligner& clocks,
                              JoinReport& report) {
    std::vector<Source> sources;
    std::map<std::string, std::string> runs;
    for (const std::string& path : files) {
        auto source = lookAt(path);
        if (!source.ok()) {
            report.refused.push_back(source.status().message());
            continue;
        }
        if (!source->info.runId.empty()) {
            const auto [it, fresh] = runs.try_emplace(source->info.runId, path);
            if (!fresh) {
                report.refused.push_back(inQuotes(path) + " is a copy of " + inQuotes(it->second) +
                                         ": it is joined once");
                continue;
            }
        }
        if (!std::all_of(source->processes.begin(), source->processes.end(),
                         ClockAligner::plausible)) {
            report.refused.push_back(inQuotes(path) +
                                     " says it began at a time that cannot be: it cannot be "
                                     "placed beside the others");
            continue;
        }
        for (const auto& [key, value] : source->info.environment) {
            const std::string prefix = std::string(kWallClockErrorKey) + " ";
            std::int64_t ns = -1;
            if (key.rfind(prefix, 0) != 0) continue;
            if (std::from_chars(value.data(), value.data() + value.size(), ns).ec == std::errc())
                clocks.setWallClockError(key.substr(prefix.size()), ns);
        }
        sources.push_back(std::move(source).value());
    }
    mendWallClocks(sources, report);
    for (const Source& source : sources)
        for (const GpuProcess& p : source.processes) (void)clocks.add(p);
    // What processes say of themselves first, in the order in which they began.
    std::stable_sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) {
        return std::tuple(a.weak(), beginOf(a)) < std::tuple(b.weak(), beginOf(b));
    });
    return sources;
}

/// Gives every process its new id and writes it. A process that only its launcher or its allocator
/// history tells of is added; one that wrote a tape itself is the one it says it is.
void numberProcesses(std::vector<Source>& sources, const ClockAligner& clocks,
                     storage::TapeWriter& writer) {
    storage::GpuProcessId last = 0;
    std::map<std::pair<std::string, std::int64_t>, storage::GpuProcessId> known;
    for (Source& source : sources) {
        for (const GpuProcess& p : source.processes) {
            if (p.id == 0 && !source.allocatorFile) continue;  // stands for a clock only
            if (source.repeated.contains(p.id)) continue;
            const std::pair key(p.bootId, p.pid);
            const auto there = known.find(key);
            if (source.weak() && there != known.end()) {
                source.ids[p.id] = there->second;
                continue;
            }
            GpuProcess row = clocks.aligned(p);
            row.id = ++last;
            source.ids[p.id] = row.id;
            known.try_emplace(key, row.id);
            writer.gpuProcess(std::move(row));
        }
    }
    for (Source& source : sources)
        for (const auto& [id, kept] : source.repeated)
            source.ids[id] = sources[kept.first].ids[kept.second];
}

storage::RunInfo infoOf(const std::vector<Source>& sources, const ClockAligner& clocks,
                        const JoinOptions& options) {
    const auto launcher =
        std::find_if(sources.begin(), sources.end(), [](const Source& s) { return s.launcher; });
    const Source& first = launcher != sources.end() ? *launcher : sources.front();
    storage::RunInfo info;
    info.name = first.info.name;
    info.command = first.info.command.empty() ? options.command : first.info.command;
    info.config = first.info.config;
    info.environment = first.info.environment;
    info.startWall = static_cast<double>(clocks.zeroRealtimeNs()) / 1e9;
    if (info.name.empty()) info.name = first.processes.front().command;
    return info;
}

/// How it ended: as the launcher says; else in order if every part did.
std::pair<storage::RunOutcome, std::string> outcomeOf(const std::vector<Source>& sources) {
    bool whole = true;
    for (const Source& source : sources) {
        if (source.launcher) return {source.outcome, source.outcomeMessage};
        whole = whole && source.state == storage::TapeState::Sealed;
    }
    if (whole) return {storage::RunOutcome::Finished, ""};
    return {storage::RunOutcome::Unknown, "some of the joined processes did not end in order"};
}

Status publish(const std::string& from, const std::string& to, bool overwrite) {
    if (Status s = checkOutput(to, overwrite); !s.ok()) return s;
    return storage::moveInPlace(from, to, overwrite);
}

void removeTape(const std::string& path) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

}  // namespace

Status checkOutput(const std::string& output, bool overwrite) {
    const auto cannot = [&output](const std::string& why) {
        return Status::error("cannot create " + inQuotes(output) + ": " + why);
    };
    const fs::path path(output);
    if (path.filename().empty()) return cannot("it names no file: add a name, as run.tape");
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code ec;
    if (!fs::is_directory(folder, ec))
        return cannot("folder " + inQuotes(folder.string()) + " does not exist: make it first");
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
        return cannot("folder " + inQuotes(folder.string()) + " cannot be written (" +
                      systemError() + "): choose another place");
    }
    // Files with longer names lie beside it while it is made.
    if (path.filename().string().size() > 200) return cannot("its name is too long: 200 bytes do");
    struct stat info {};
    if (lstat(output.c_str(), &info) != 0) return {};
    if (!S_ISREG(info.st_mode)) {
        const std::string what = S_ISLNK(info.st_mode)   ? "a symbolic link"
                                 : S_ISDIR(info.st_mode) ? "a folder"
                                                         : "something that is not a file";
        return cannot(what + " has this name: choose another one");
    }
    if (!overwrite)
        return cannot("it exists already: choose another name, or overwrite it (--force)");
    const auto old = storage::TapeReader::open(output);
    if (old.ok() && (*old)->state() == storage::TapeState::Live)
        return cannot("a running process records to it: stop that one or choose another name");
    return {};
}

Result<JoinReport> joinTapes(const std::vector<std::string>& inputs, const std::string& output,
                             const JoinOptions& options) {
    if (Status s = checkOutput(output, options.overwrite); !s.ok()) return s;
    auto files = filesOf(inputs);
    if (!files.ok()) return files.status();
    std::error_code ec;
    for (const std::string& input : inputs) {
        if (fs::equivalent(input, output, ec))
            return Status::error(inQuotes(output) + " is also to be read: choose another name");
    }
    // An earlier join of the same folder.
    std::erase_if(*files, [&](const std::string& f) { return fs::equivalent(f, output, ec); });

    JoinReport report;
    ClockAligner clocks;
    std::vector<Source> sources = sourcesOf(*files, clocks, report);
    findRepeats(sources, report);
    if (sources.empty()) {
        std::string why = "nothing to join";
        for (const std::string& refused : report.refused) why += "\n" + refused;
        return Status::error(why);
    }

    const std::string temporary =
        (options.workFolder.empty()
             ? output
             : options.workFolder + "/" + fs::path(output).filename().string()) +
        ".join-" + std::to_string(getpid());
    storage::WriterOptions writing;
    writing.overwrite = true;
    const storage::RunInfo info = infoOf(sources, clocks, options);
    auto created = storage::TapeWriter::create(temporary, info, writing);
    if (!created.ok()) return created.status();
    storage::TapeWriter& writer = **created;
    const auto fail = [&](const Status& why) {
        (void)writer.seal(storage::RunOutcome::Failed).ok();
        removeTape(temporary);
        return why.withContext("joining to " + inQuotes(output));
    };
    numberProcesses(sources, clocks, writer);
    ShardCopier copier(writer, clocks, report);
    copier.expects(sources);
    copier.knows(info.environment);
    for (Source& source : sources) {
        if (Status s = copier.copy(source); !s.ok()) return fail(s);
    }
    copier.finish();
    for (const std::string& refused : report.refused) writer.lost("damaged parts", 1, refused);
    const auto [outcome, message] = outcomeOf(sources);
    const Status sealed = writer.seal(outcome, message);
    if (!sealed.ok()) return fail(sealed);
    if (Status s = publish(temporary, output, options.overwrite); !s.ok()) {
        removeTape(temporary);
        return s;
    }
    return report;
}

}  // namespace tapescope::profiler::record
