// SPDX-License-Identifier: Apache-2.0
// libtapescope-inject.so: loaded into any CUDA process by CUDA_INJECTION64_PATH (the driver calls
// InitializeInjection inside cuInit), by NVTX_INJECTION64_PATH, or by LD_PRELOAD, which only sets
// these two. It never harms its host: no exception leaves it, no output unless asked for, no exit
// code, nothing in forked children.
#include "profiler/cupti/collector.h"
#include "profiler/cupti/inject/environment.h"
#include "profiler/cupti/inject/options.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace cupti = tapescope::profiler::cupti;

#define TAPESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Never deleted: threads may still be inside when the process ends.
std::atomic<cupti::Collector*> g_collector{nullptr};
std::atomic<pid_t> g_owner{0};
pthread_once_t g_once = PTHREAD_ONCE_INIT;

void lastFlush() noexcept {
    cupti::Collector* collector = g_collector.load();
    if (collector != nullptr && getpid() == g_owner) collector->stop();
}

bool onMainThread() { return gettid() == getpid(); }

// When is the last flush? exit() first runs the destructors of the calling thread's thread_local
// objects, then exit handlers and static destructors, the last registered first. Whatever CUPTI,
// the driver or a framework makes lazily after our atexit() is torn down before our handler runs,
// and a flush would then walk through dead objects. So a thread_local of the main thread does it;
// exit handlers, registered again and again, are for processes whose main thread never meets us.
struct MainThreadEnd {
    bool armed = false;
    ~MainThreadEnd() {
        if (armed && onMainThread()) lastFlush();
    }
};
thread_local MainThreadEnd t_mainThreadEnd;

void arm() {
    if (onMainThread()) t_mainThreadEnd.armed = true;
}
void registerExitHandler() { std::atexit(lastFlush); }

void inChild() {
    if (cupti::Collector* collector = g_collector.load()) collector->abandonInChild();
}

void begin() {
    auto options = cupti::injectionOptions();
    if (!options) return;
    g_owner = getpid();
    options->shard.name = cupti::shardName(options->shard.folder);
    cupti::leaveMark(options->shard.folder, options->shard.name);
    // cuInit is running: nothing exists that could be asked for.
    options->collector.lateAttach = false;
    options->collector.onProgramThread = arm;
    options->collector.tick = registerExitHandler;
    auto* collector = new cupti::Collector(options->collector, cupti::shardSink(options->shard));
    // Before the start: another thread may fork at any moment.
    g_collector = collector;
    pthread_atfork(nullptr, nullptr, inChild);
    // Also where nothing is traced there is a tape to be finished, which says why.
    collector->start();
    if (options->verbose) std::fprintf(stderr, "[tapescope] %s\n", collector->message().c_str());
    registerExitHandler();
    arm();
}

void beginSafely() {
    try {
        begin();
    } catch (...) {
        // No memory: the program goes on untraced.
    }
}

/// Where NVTX comes first, CUPTI's start calls cuInit, and that calls us again on this thread,
/// which may not wait for itself.
thread_local bool t_beginning = false;
void beginOnce() {
    if (t_beginning) return;
    t_beginning = true;
    pthread_once(&g_once, beginSafely);
    t_beginning = false;
}

}  // namespace

/// The driver's call, inside the program's first cuInit.
TAPESCOPE_EXPORT int InitializeInjection() {
    beginOnce();
    return 1;
}

/// NVTX's call, at the program's first NVTX call. CUPTI does the work; without it NVTX stays a
/// no-op.
TAPESCOPE_EXPORT int InitializeInjectionNvtx2(void* getExportTable) {
    beginOnce();
    const cupti::Collector* collector = g_collector.load();
    if (collector == nullptr || !cupti::isTracing(collector->state())) return 0;
    const auto initialize = collector->library().fn.cuptiNvtxInitialize2;
    return initialize != nullptr && initialize(getExportTable) == cupti::abi::kSuccess ? 1 : 0;
}

/// Preloaded: the driver shall load us when CUDA starts, if it ever does.
__attribute__((constructor)) static void preloaded() {
    Dl_info self{};
    const char* folder = std::getenv(cupti::environment::kFolder);
    if (folder == nullptr || *folder == 0 ||
        dladdr(reinterpret_cast<void*>(&InitializeInjection), &self) == 0 ||
        self.dli_fname == nullptr) {
        return;
    }
    setenv(cupti::environment::kCudaInjection, self.dli_fname, 0);
    setenv(cupti::environment::kNvtxInjection, self.dli_fname, 0);
}
