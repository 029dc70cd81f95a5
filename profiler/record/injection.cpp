// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/injection.h"

#include "profiler/cupti/inject/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace tapescope::profiler::record {
namespace {

namespace fs = std::filesystem;
namespace variable = cupti::environment;

constexpr const char* kLibraryName = "libtapescope-inject.so";
constexpr const char* kHookName = "sitecustomize.py";

Found find(const char* variable, const char* what, const std::vector<fs::path>& places) {
    std::error_code ec;
    if (const char* named = std::getenv(variable); named != nullptr && *named != 0) {
        if (fs::exists(named, ec)) return {fs::absolute(named, ec).string(), ""};
        return {"", std::string(variable) + " names \"" + named + "\", which does not exist"};
    }
    std::string tried;
    for (const fs::path& place : places) {
        if (fs::exists(place, ec)) return {fs::weakly_canonical(place, ec).string(), ""};
        tried += (tried.empty() ? "" : ", ") + place.lexically_normal().string();
    }
    return {"", std::string(what) + " was not found: install Tapescope again or name it in " +
                    variable + " (tried: " + tried + ")"};
}

std::string_view nameOf(std::string_view variable) {
    return variable.substr(0, variable.find('='));
}

/// A variable's value, or null.
const std::string* valueIn(const std::vector<std::string>& environment, std::string_view name) {
    const auto it = std::find_if(environment.begin(), environment.end(),
                                 [&](const std::string& v) { return nameOf(v) == name; });
    return it == environment.end() ? nullptr : &*it;
}
std::string textOf(const std::vector<std::string>& environment, std::string_view name) {
    const std::string* found = valueIn(environment, name);
    return found && found->size() > name.size() ? found->substr(name.size() + 1) : "";
}

void set(std::vector<std::string>& environment, std::string_view name, const std::string& value) {
    std::erase_if(environment, [&](const std::string& v) { return nameOf(v) == name; });
    environment.push_back(std::string(name) + "=" + value);
}

/// "GLIBC_2.34" as {2, 34}; {} for other names.
std::array<int, 3> glibcVersion(std::string_view name) {
    constexpr std::string_view kPrefix = "GLIBC_";
    std::array<int, 3> out{};
    if (name.substr(0, kPrefix.size()) != kPrefix) return out;
    const char* at = name.data() + kPrefix.size();
    const char* end = name.data() + name.size();
    for (int& part : out) {
        const auto [stop, error] = std::from_chars(at, end, part);
        if (error != std::errc()) return {};
        if (stop == end) return out;
        if (*stop != '.') return {};
        at = stop + 1;
    }
    return out;
}

/// A struct of the file, if it lies within.
template <class T>
bool at(const std::string& file, std::uint64_t offset, T& out) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, file.data() + offset, sizeof(T));
    return true;
}

std::string_view textAt(const std::string& file, std::uint64_t offset) {
    if (offset >= file.size()) return {};
    const std::string_view rest = std::string_view(file).substr(offset);
    const std::size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

}  // namespace

std::string programFolder() {
    std::error_code ec;
    return fs::read_symlink("/proc/self/exe", ec).parent_path().string();
}

Found findInjectionLibrary(const std::string& folder) {
    const fs::path here(folder);
    return find(
        "TAPESCOPE_INJECT", kLibraryName,
        {here / kLibraryName, here / "../lib" / kLibraryName,
         here / "../lib/tapescope" / kLibraryName, here / "../lib64/tapescope" / kLibraryName,
         here / "../lib/x86_64-linux-gnu/tapescope" / kLibraryName,
         here / "../lib/aarch64-linux-gnu/tapescope" / kLibraryName});
}

Found findPythonHook(const std::string& folder) {
    Found found = find("TAPESCOPE_PYTHON", "the Python hook",
                       {fs::path(folder) / "../share/tapescope/python" / kHookName});
    std::error_code ec;
    if (!found.path.empty() && !fs::is_directory(found.path, ec))
        found.path = fs::path(found.path).parent_path().string();
    return found;
}

std::string glibcFloor(const std::string& library) {
    constexpr std::streamsize kMost = 64 << 20;
    std::ifstream in(library, std::ios::binary | std::ios::ate);
    const std::streamsize size = in ? static_cast<std::streamsize>(in.tellg()) : 0;
    if (size <= 0 || size > kMost) return "";
    std::string file(static_cast<std::size_t>(size), '\0');
    in.seekg(0);
    if (!in.read(file.data(), size)) return "";
    Elf64_Ehdr head{};
    if (!at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr))
        return "";
    std::array<int, 3> newest{};
    std::string floor;
    for (std::uint64_t s = 0; s < head.e_shnum; ++s) {
        Elf64_Shdr section{};
        if (!at(file, head.e_shoff + s * sizeof section, section)) break;
        if (section.sh_type != SHT_GNU_verneed) continue;
        Elf64_Shdr strings{};
        if (!at(file, head.e_shoff + section.sh_link * sizeof strings, strings)) break;
        // Each step goes forward, so a crafted chain ends with the file.
        std::uint64_t need = section.sh_offset;
        for (Elf64_Verneed entry{}; at(file, need, entry);) {
            std::uint64_t aux = need + entry.vn_aux;
            Elf64_Vernaux version{};
            for (int i = 0; i < entry.vn_cnt && at(file, aux, version); ++i) {
                const std::string_view name = textAt(file, strings.sh_offset + version.vna_name);
                if (const auto parts = glibcVersion(name); parts > newest) {
                    newest = parts;
                    floor = name;
                }
                if (version.vna_next == 0) break;
                aux += version.vna_next;
            }
            if (entry.vn_next == 0) break;
            need += entry.vn_next;
        }
    }
    return floor;
}

std::vector<std::string> currentEnvironment() {
    std::vector<std::string> out;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
        out.emplace_back(*variable);
    return out;
}

PlannedEnvironment plannedEnvironment(const std::vector<std::string>& environment,
                                      const InjectionPlan& plan) {
    PlannedEnvironment out;
    out.variables = environment;
    std::error_code ec;
    if (!plan.library.empty()) {
        for (const char* name : {variable::kCudaInjection, variable::kNvtxInjection}) {
            const std::string other = textOf(environment, name);
            if (!other.empty() && other != plan.library &&
                !fs::equivalent(other, plan.library, ec)) {
                out.otherTools.push_back(std::string(name) + " names " + other);
                continue;
            }
            set(out.variables, name, plan.library);
            if (name == variable::kCudaInjection) out.cuda = true;
        }
        set(out.variables, variable::kFolder, plan.shardFolder);
        if (!plan.kinds.empty()) set(out.variables, variable::kKinds, plan.kinds);
    }
    if (!plan.pythonHook.empty()) {
        const std::string path = textOf(environment, "PYTHONPATH");
        set(out.variables, "PYTHONPATH", plan.pythonHook + (path.empty() ? "" : ":" + path));
        set(out.variables, kAllocatorFolder, plan.shardFolder);
    }
    return out;
}

}  // namespace tapescope::profiler::record
