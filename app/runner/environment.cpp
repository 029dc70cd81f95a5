// SPDX-License-Identifier: Apache-2.0
#include "app/runner/environment.h"

#include "engine/build_info.h"
#include "storage/build_info.h"

#include <array>
#include <fstream>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace tapescope::app {
namespace {

std::string trimmed(std::string text) {
    const auto isEdge = [](char c) { return c == ' ' || c == '\t' || c == '"'; };
    while (!text.empty() && isEdge(text.back())) text.pop_back();
    std::size_t first = 0;
    while (first < text.size() && isEdge(text[first])) ++first;
    return text.substr(first);
}

/// The value of the first line "key<separator>value" of a file of the system; "" if there is none.
std::string lineValue(const char* path, const std::string& key, char separator) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t at = line.find(separator);
        if (at != std::string::npos && trimmed(line.substr(0, at)) == key)
            return trimmed(line.substr(at + 1));
    }
    return "";
}

std::string memoryText() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long pageBytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || pageBytes <= 0) return "";
    const double gib =
        static_cast<double>(pages) * static_cast<double>(pageBytes) / (1024.0 * 1024.0 * 1024.0);
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f GiB", gib);
    return text.data();
}

}  // namespace

std::string programVersion() { return TAPESCOPE_VERSION; }

std::vector<std::pair<std::string, std::string>> describeEnvironment() {
    std::vector<std::pair<std::string, std::string>> facts;
    const auto add = [&](const char* key, const std::string& text) {
        if (!text.empty()) facts.emplace_back(key, text);
    };
    utsname names{};
    const bool known = uname(&names) == 0;
    const std::string system = lineValue("/etc/os-release", "PRETTY_NAME", '=');
    add("tapescope", programVersion());
    add("host", known ? names.nodename : "");
    add("os", known ? (system.empty() ? "" : system + ", ") + names.sysname + " " + names.release
                    : system);
    add("cpu", lineValue("/proc/cpuinfo", "model name", ':'));
    add("cores", std::to_string(std::thread::hardware_concurrency()));
    add("threads", std::to_string(engine::computeThreads()));
    add("memory", memoryText());
    add("onednn", engine::onednnVersion());
    add("sqlite", storage::sqliteVersion());
    add("zlib", engine::zlibVersion());
    add("zstd", storage::zstdVersion());
#if defined(__clang__)
    add("compiler", "clang " __clang_version__);
#else
    add("compiler", "gcc " __VERSION__);
#endif
    add("build", TAPESCOPE_BUILD);
    return facts;
}

}  // namespace tapescope::app
