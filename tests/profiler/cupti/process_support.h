// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/reader.h"
#include "tests/profiler/cupti/cupti_support.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tapescope::profiler::cupti {

inline const std::string kInjection = TAPESCOPE_INJECT;
inline const std::string kTarget = fakeFile("fake_target");

/// A folder that goes away with the test.
class Folder {
public:
    Folder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "tapescope-gpu-XXXXXX").string();
        m_path = mkdtemp(name.data());
    }
    ~Folder() {
        std::error_code ec;
        std::filesystem::remove_all(m_path, ec);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::string& path() const { return m_path; }
    std::vector<std::string> tapes() const {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
            if (entry.path().extension() == ".tape") out.push_back(entry.path().string());
        }
        return out;
    }

private:
    std::string m_path;
};

struct Ended {
    int exitCode = -1;  ///< -signal if a signal ended it
    std::string output;
    double seconds = 0;
};

struct Program {
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;
    rlim_t maxFileBytes = RLIM_INFINITY;

    /// The fakes and the folder of tapes, nothing of this process's environment.
    static Program on(const Folder& folder, std::vector<std::string> arguments) {
        Program p;
        p.arguments = std::move(arguments);
        const char* path = std::getenv("PATH");
        p.environment = {{"PATH", path != nullptr ? path : "/usr/bin"},
                         {"LD_LIBRARY_PATH", TAPESCOPE_FAKES},
                         {"FAKE_CUPTI_PATH", kFakeCupti13},
                         {"TAPESCOPE_CUPTI_PATH", kFakeCupti13},
                         {"TAPESCOPE_GPU_DIR", folder.path()},
                         {"TAPESCOPE_GPU_FLUSH_MS", "100"},
                         {"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0"}};
        return p;
    }
    Program& with(const std::string& name, const std::string& value) {
        environment[name] = value;
        return *this;
    }
    Program& injected() { return with("CUDA_INJECTION64_PATH", kInjection); }
    Program& preloaded() { return with("LD_PRELOAD", kInjection); }

    Ended run(const Folder& folder) const {
        const std::string log = folder.path() + "/output";
        std::vector<std::string> texts;
        for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
        std::vector<char*> envp;
        std::vector<char*> argv;
        for (std::string& t : texts) envp.push_back(t.data());
        auto args = arguments;
        for (std::string& a : args) argv.push_back(a.data());
        envp.push_back(nullptr);
        argv.push_back(nullptr);
        const auto begin = std::chrono::steady_clock::now();
        const pid_t child = fork();
        if (child == 0) {
            const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(out, 1);
            dup2(out, 2);
            if (maxFileBytes != RLIM_INFINITY) {
                const rlimit limit{maxFileBytes, maxFileBytes};
                setrlimit(RLIMIT_FSIZE, &limit);
            }
            alarm(100);  // it survives exec
            execve(argv[0], argv.data(), envp.data());
            _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        Ended ended;
        ended.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        ended.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        std::ifstream in(log);
        ended.output.assign(std::istreambuf_iterator<char>(in), {});
        return ended;
    }
};

/// A shard, read whole.
struct Tape {
    std::vector<storage::GpuEvent> events;
    std::vector<std::string> names;
    std::map<std::string, std::int64_t> counts;
    std::vector<storage::GpuStatus> statuses;
    std::vector<storage::GpuProcess> processes;
    std::vector<storage::GpuObjectName> objectNames;
    std::vector<storage::GpuStream> streams;
    std::vector<storage::GpuDevice> devices;
    std::vector<storage::GpuSummary> summary;
    storage::TapeState state = storage::TapeState::Live;
    storage::RunInfo info;

    explicit Tape(const std::string& path) {
        auto opened = storage::TapeReader::open(path);
        EXPECT_TRUE(opened.ok()) << opened.status().message();
        if (!opened.ok()) return;
        const auto& r = **opened;
        const auto take = [](auto result) {
            EXPECT_TRUE(result.ok()) << result.status().message();
            return result.ok() ? std::move(result).value()
                               : std::remove_cvref_t<decltype(result.value())>{};
        };
        events = take(r.gpuEvents()).events;
        names = take(r.names());
        for (const auto& c : take(r.gpuCounts())) counts[c.name] = c.count;
        statuses = take(r.gpuStatuses());
        processes = take(r.gpuProcesses());
        objectNames = take(r.gpuObjectNames());
        streams = take(r.gpuStreams());
        devices = take(r.gpuDevices());
        summary = take(r.gpuSummary());
        state = r.state();
        info = take(r.info());
        for (const auto& loss : take(r.losses())) counts["lost " + loss.what] = loss.count;
    }
    std::size_t count(storage::GpuEventKind kind) const {
        std::size_t n = 0;
        for (const auto& e : events) n += e.kind == kind ? 1 : 0;
        return n;
    }
    std::size_t kernels() const { return count(storage::GpuEventKind::Kernel); }
    std::string code() const { return statuses.empty() ? "" : statuses[0].code; }
};

/// The one tape of a folder.
inline Tape only(const Folder& folder) {
    const auto tapes = folder.tapes();
    EXPECT_EQ(tapes.size(), 1U);
    return Tape(tapes.empty() ? "none" : tapes[0]);
}

}  // namespace tapescope::profiler::cupti
