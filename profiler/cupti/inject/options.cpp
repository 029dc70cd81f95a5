// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/inject/options.h"

#include "profiler/cupti/inject/environment.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace tapescope::profiler::cupti {
namespace {

long long number(const char* variable, long long least, long long most, long long otherwise) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == 0) return otherwise;
    errno = 0;
    char* end = nullptr;
    const long long value = std::strtoll(text, &end, 10);
    return errno == 0 && *end == 0 && value >= least && value <= most ? value : otherwise;
}

}  // namespace

RecordKinds recordKinds(const char* text) {
    RecordKinds kinds;
    const std::array<std::pair<std::string_view, bool*>, 8> names = {
        {{"runtime", &kinds.runtimeApi},
         {"driver", &kinds.driverApi},
         {"memory", &kinds.memory},
         {"sync", &kinds.sync},
         {"nvtx", &kinds.nvtx},
         {"external", &kinds.external},
         {"overhead", &kinds.overhead},
         {"graph-level", &kinds.graphLevel}}};
    std::string_view rest = text != nullptr ? text : "";
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view one = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        if (one.size() < 2 || (one[0] != '+' && one[0] != '-')) continue;
        for (const auto& [name, to] : names) {
            if (one.substr(1) == name) *to = one[0] == '+';
        }
    }
    return kinds;
}

std::optional<InjectionOptions> injectionOptions() {
    const char* folder = std::getenv(environment::kFolder);
    if (folder == nullptr || *folder == 0) return std::nullopt;
    InjectionOptions o;
    o.shard.folder = folder;
    o.shard.maxBytes = number(environment::kMaxBytes, 0, INT64_MAX, o.shard.maxBytes);
    o.verbose = std::getenv(environment::kVerbose) != nullptr;
    CollectorOptions& c = o.collector;
    if (const char* path = std::getenv(environment::kCuptiPath)) c.cuptiPath = path;
    using std::chrono::milliseconds;
    c.flush = milliseconds(number(environment::kFlushMs, 1, 60'000, c.flush.count()));
    c.stopTimeout = milliseconds(number(environment::kStopMs, 0, 600'000, c.stopTimeout.count()));
    // A kernel's record must fit; a gigabyte is a mistake.
    c.bufferBytes = static_cast<std::size_t>(
        number(environment::kBufferBytes, 4096, 1LL << 30, static_cast<long long>(c.bufferBytes)));
    c.maxBuffers = static_cast<std::size_t>(
        number(environment::kMaxBuffers, 1, 100'000, static_cast<long long>(c.maxBuffers)));
    c.kinds = recordKinds(std::getenv(environment::kKinds));
    return o;
}

}  // namespace tapescope::profiler::cupti
