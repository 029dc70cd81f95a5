// SPDX-License-Identifier: Apache-2.0
// libtapescope-gpu-embedded.so: the collector inside a program that starts, stops and names its
// operators itself, as Tapescope's own engine does, for scripts/gpu/gpu_check.cu. One session a
// process.
#include "profiler/cupti/collector.h"
#include "profiler/cupti/tape_output.h"

#include <cstdint>
#include <cstdio>
#include <memory>

namespace cupti = tapescope::profiler::cupti;

#define TAPESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
std::unique_ptr<cupti::Collector> g_collector;
}

/// 1: it traces.
TAPESCOPE_EXPORT int tapescopeCheckStart(const char* folder) {
    g_collector = std::make_unique<cupti::Collector>(cupti::CollectorOptions{},
                                                     cupti::shardSink({.folder = folder}));
    const cupti::State state = g_collector->start();
    std::fprintf(stderr, "[tapescope] %s\n", g_collector->message().c_str());
    return state == cupti::State::Ok ? 1 : 0;
}
TAPESCOPE_EXPORT void tapescopeCheckPush(std::uint64_t id) { g_collector->pushOperator(id); }
TAPESCOPE_EXPORT void tapescopeCheckPop() { g_collector->popOperator(); }
TAPESCOPE_EXPORT void tapescopeCheckStop() { g_collector->stop(); }
