// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/marks.h"

#include "profiler/cupti/inject/environment.h"
#include "storage/tape/reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace tapescope::profiler::record {
namespace {

/// The last "-<number>" of the text, taken off; -1: there is none.
std::int64_t takeNumber(std::string& text) {
    const std::size_t dash = text.rfind('-');
    if (dash == std::string::npos) return -1;
    std::int64_t value = -1;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + dash + 1, end, value);
    if (error != std::errc() || at != end || value < 0) return -1;
    text.resize(dash);
    return value;
}

/// A shard that is there but was left before its first commit says nothing of its process.
bool hasProcess(const std::string& shard) {
    const auto tape = storage::TapeReader::open(shard);
    if (!tape.ok()) return std::filesystem::exists(shard);  // damage is said elsewhere
    if ((*tape)->state() == storage::TapeState::Live) return true;
    const auto processes = (*tape)->gpuProcesses();
    return !processes.ok() || !processes->empty();
}

}  // namespace

std::vector<Mark> marksWithoutShard(const std::string& folder) {
    namespace fs = std::filesystem;
    constexpr std::size_t kLongest = 1024;
    const std::string suffix = std::string(".tape") + cupti::environment::kStartedSuffix;
    std::vector<Mark> out;
    std::error_code ec;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
        std::string stem = it->path().filename().string();
        if (!stem.ends_with(suffix) || hasProcess(fs::path(it->path()).replace_extension()))
            continue;
        stem.resize(stem.size() - suffix.size());
        Mark mark;
        mark.process = storage::ProcessIdentity::self();
        // "<host>-<pid>-<start>", after an exec() with ".2" behind it.
        if (const std::size_t dot = stem.rfind('.');
            dot != std::string::npos && stem.rfind('-') < dot)
            stem.resize(dot);
        const std::int64_t ticks = takeNumber(stem);
        const std::int64_t pid = takeNumber(stem);
        if (ticks < 0 || pid <= 0) continue;
        mark.process.pid = pid;
        mark.process.startTicks = ticks;
        std::ifstream in(it->path(), std::ios::binary);
        mark.command.resize(kLongest);
        in.read(mark.command.data(), static_cast<std::streamsize>(kLongest));
        mark.command.resize(static_cast<std::size_t>(in.gcount()));
        while (!mark.command.empty() && mark.command.back() == '\0') mark.command.pop_back();
        std::replace(mark.command.begin(), mark.command.end(), '\0', ' ');
        out.push_back(std::move(mark));
    }
    std::sort(out.begin(), out.end(),
              [](const Mark& a, const Mark& b) { return a.process.pid < b.process.pid; });
    return out;
}

}  // namespace tapescope::profiler::record
