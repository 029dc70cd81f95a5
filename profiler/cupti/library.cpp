// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/library.h"

#include "profiler/cupti/inject/environment.h"

#include <array>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <sys/stat.h>

namespace tapescope::profiler::cupti {
namespace {

struct Release {
    std::uint32_t cupti;
    int toolkit;
    const char* name;
};
// Before 13.0 the numbers follow no rule.
constexpr std::array<Release, 10> kReleases = {{{18, 11080, "CUDA 11.8"},
                                                {19, 12000, "CUDA 12.0"},
                                                {20, 12020, "CUDA 12.2"},
                                                {21, 12030, "CUDA 12.3"},
                                                {22, 12040, "CUDA 12.4"},
                                                {23, 12050, "CUDA 12.5"},
                                                {24, 12060, "CUDA 12.6"},
                                                {26, 12080, "CUDA 12.8"},
                                                {27, 12090, "CUDA 12.9"},
                                                {28, 12090, "CUDA 12.9 Update 1"}}};

const Release* releaseOf(std::uint32_t cuptiVersion) {
    for (const Release& r : kReleases) {
        if (r.cupti == cuptiVersion) return &r;
    }
    return nullptr;
}

int majorOf(std::uint32_t cuptiVersion) {
    if (cuptiVersion >= abi::kV13_0) return static_cast<int>(cuptiVersion / 10000);
    return cuptiVersion >= abi::kV12_0 ? 12 : 11;
}

/// Real paths of the mapped shared objects whose file name begins with prefix.
std::vector<std::string> mapped(const char* prefix) {
    struct Search {
        std::string prefix;
        std::set<std::string> found;
    } search{prefix, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            auto& s = *static_cast<Search*>(to);
            if (info->dlpi_name == nullptr) return 0;
            const std::string name = info->dlpi_name;
            if (name.substr(name.rfind('/') + 1).rfind(s.prefix, 0) != 0) return 0;
            std::array<char, PATH_MAX> real{};
            s.found.insert(realpath(name.c_str(), real.data()) != nullptr ? real.data() : name);
            return 0;
        },
        &search);
    return {search.found.begin(), search.found.end()};
}

bool exists(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0;
}

/// What to give to dlopen, best first, when the process has no libcupti yet.
std::vector<std::string> candidates(const std::string& overridePath, int driverVersion) {
    std::vector<std::string> out;
    if (!overridePath.empty()) out.push_back(overridePath);
    const int major = driverVersion / 1000;
    // Beside the runtime that the process uses: the same toolkit. Also pip's layout.
    for (const std::string& runtime : mapped("libcudart")) {
        const std::string folder = runtime.substr(0, runtime.rfind('/'));
        for (const char* place :
             {"/libcupti.so.13", "/libcupti.so.12", "/../../cuda_cupti/lib/libcupti.so.12",
              "/../extras/CUPTI/lib64/libcupti.so"}) {
            if (exists(folder + place)) out.push_back(folder + place);
        }
    }
    std::vector<std::string> names;
    if (major >= 13) names.emplace_back("libcupti.so.13");
    if (major >= 12) names.emplace_back("libcupti.so.12");
    names.emplace_back("libcupti.so.11.8");
    out.insert(out.end(), names.begin(), names.end());  // the loader's own search
    for (const char* root : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"}) {
        for (const char* sub :
             {"/lib64/", "/extras/CUPTI/lib64/", "/lib/", "/targets/x86_64-linux/lib/"}) {
            for (const std::string& name : names) {
                const std::string path = std::string(root) + sub + name;
                if (exists(path)) out.push_back(path);
            }
        }
    }
    return out;
}

bool sameFile(const std::string& a, const std::string& b) {
    struct stat first {};
    struct stat second {};
    return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
    return out;
}

template <class Function>
Function symbol(void* handle, const char* name) {
    return reinterpret_cast<Function>(dlsym(handle, name));
}

void fillTable(Library& l) {
    std::vector<std::string> missing;
#define TAPESCOPE_LOAD(name, required, result, args)     \
    l.fn.name = symbol<result(*) args>(l.handle, #name); \
    if (l.fn.name == nullptr && (required) != 0) missing.emplace_back(#name);
    TAPESCOPE_CUPTI_FUNCTIONS(TAPESCOPE_LOAD)
#undef TAPESCOPE_LOAD
    if (missing.empty()) return;
    l.state = State::CuptiIncomplete;
    l.detail = l.path + " has no " + joined(missing);
}

}  // namespace

std::string toolkitName(std::uint32_t v) {
    if (v >= abi::kV13_0) {
        const std::string patch =
            v % 100 != 0 ? " (CUPTI patch " + std::to_string(v % 100) + ")" : "";
        return "CUDA " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + patch;
    }
    const Release* r = releaseOf(v);
    return r != nullptr ? r->name : "CUPTI API " + std::to_string(v);
}

int toolkitVersion(std::uint32_t v) {
    if (v >= abi::kV13_0) return static_cast<int>(v / 10000 * 1000 + v / 100 % 100 * 10);
    const Release* r = releaseOf(v);
    return r != nullptr ? r->toolkit : 0;
}

std::string driverName(int v) {
    return "CUDA " + std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
}

std::string resultName(const Library& library, int result) {
    const char* text = nullptr;
    if (library.fn.cuptiGetResultString != nullptr &&
        library.fn.cuptiGetResultString(result, &text) == abi::kSuccess && text != nullptr) {
        return text;
    }
    return "error " + std::to_string(result);
}

Library loadLibrary(const std::string& overridePath) {
    Library l;
#ifdef TAPESCOPE_WITHOUT_CUPTI
    l.state = State::NotBuilt;
    return l;
#endif
    // In an injected process the driver is mapped already; elsewhere loading it is harmless.
    l.driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (l.driver == nullptr) {
        l.state = State::NoDriver;
        l.detail = "libcuda.so.1 could not be loaded";
        return l;
    }
    const auto driverVersion = symbol<int (*)(int*)>(l.driver, "cuDriverGetVersion");
    if (driverVersion == nullptr || driverVersion(&l.driverVersion) != 0) {
        l.state = State::NoDriver;
        l.detail = "libcuda.so.1 does not answer";
        return l;
    }
    // CUPTI is one a process: if the program has one (PyTorch brings its own), that is the one.
    const auto present = mapped("libcupti.so");
    if (present.size() > 1) {
        l.state = State::CuptiTwice;
        l.detail = joined(present);
        return l;
    }
    l.alreadyInProcess = present.size() == 1;
    for (const std::string& path :
         l.alreadyInProcess ? present : candidates(overridePath, l.driverVersion)) {
        l.tried.push_back(path);
        const int flags = RTLD_NOW | RTLD_LOCAL | (l.alreadyInProcess ? RTLD_NOLOAD : 0);
        l.handle = dlopen(path.c_str(), flags);
        if (l.handle == nullptr && path == overridePath) {
            const char* why = dlerror();
            l.overrideProblem = std::string(environment::kCuptiPath) + " names \"" + path +
                                "\", which cannot be loaded" +
                                (why != nullptr ? ": " + std::string(why) : "");
        }
        if (l.handle == nullptr) continue;
        l.path = path;
        break;
    }
    if (l.alreadyInProcess && !overridePath.empty() && !sameFile(overridePath, present.front())) {
        l.overrideProblem = std::string(environment::kCuptiPath) + " names \"" + overridePath +
                            "\", but the program has loaded another one";
    }
    if (l.handle == nullptr) {
        l.detail = "tried " + joined(l.tried);
        return l;
    }
    // The file behind the name.
    if (const auto now = mapped("libcupti.so"); now.size() == 1) l.path = now[0];
    l.state = State::Ok;
    fillTable(l);
    if (l.state != State::Ok) return l;
    if (l.fn.cuptiGetVersion(&l.version) != abi::kSuccess) {
        l.state = State::CuptiIncomplete;
        l.detail = l.path + " does not say its version";
    } else if (l.version < abi::kOldestSupported) {
        l.state = State::CuptiTooOld;
        l.detail = l.path + " is of " + toolkitName(l.version);
    } else if (majorOf(l.version) > l.driverVersion / 1000) {
        l.state = State::CuptiNewerThanDriver;
        l.detail = l.path + " is of " + toolkitName(l.version) + ", the driver supports " +
                   driverName(l.driverVersion);
    }
    return l;
}

Verdict explainResult(const Library& l, int result) {
    const std::string name = resultName(l, result);
    switch (result) {
        case abi::kMultipleSubscribers:
        case abi::kMaxLimitReached:
            return {State::Busy, name};
        case abi::kInsufficientPrivileges:
        case abi::kVirtualizedInsufficient:
            return {State::NoPermission, name};
        case abi::kVirtualizedDevice:
        case abi::kConfidentialComputing:
        case abi::kCmpDevice:
        case abi::kMigDevice:
        case abi::kSliDevice:
        case abi::kWslDevice:
            return {State::EnvironmentUnsupported, name};
        default:
            return {State::InternalError, name};
    }
}

Verdict explainFailedStart(const Library& l, int result) {
    Verdict known = explainResult(l, result);
    if (known.state != State::InternalError) return known;
    const std::string& name = known.detail;
    const auto init = symbol<int (*)(unsigned)>(l.driver, "cuInit");
    const auto count = symbol<int (*)(int*)>(l.driver, "cuDeviceGetCount");
    int devices = 0;
    if (init == nullptr || init(0) != 0 || count == nullptr || count(&devices) != 0 ||
        devices == 0) {
        return {State::NoDevice, name};
    }
    const std::string pair = "CUPTI of " + toolkitName(l.version) + " on a driver for " +
                             driverName(l.driverVersion) + ": " + name;
    return {
        l.driverVersion < toolkitVersion(l.version) ? State::DriverTooOld : State::InternalError,
        pair};
}

}  // namespace tapescope::profiler::cupti
