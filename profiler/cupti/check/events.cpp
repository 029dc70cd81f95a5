// SPDX-License-Identifier: Apache-2.0
// tapescope-gpu-events TAPE: every GPU event as a line of JSON, for scripts/gpu/check_tape.py on a
// machine that has nothing of ours installed. Times are CLOCK_MONOTONIC of the recorded process's
// machine, nanoseconds.
#include "storage/tape/reader.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace tapescope::storage;

template <class T>
T get(Result<T> result) {
    if (!result.ok()) {
        std::fprintf(stderr, "tapescope-gpu-events: %s\n", result.status().message().c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < ' ') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else {
            out += c;
        }
    }
    return out + '"';
}

void print(const GpuEvent& e, std::int64_t zeroNs, const std::string& name) {
    std::printf(R"({"kind":%s,"process":%u,"start":%lld,"end":%lld,"correlation":%u,"device":%u)"
                R"(,"context":%u,"stream":%u,"thread":%u,"graph":%u,"flags":%u,"name":%s)",
                quoted(std::string(gpuEventKindName(e.kind))).c_str(), e.process,
                static_cast<long long>(zeroNs + e.startNs),
                static_cast<long long>(zeroNs + e.startNs + e.durationNs), e.correlation, e.device,
                e.context, e.stream, e.thread, e.graph, static_cast<unsigned>(e.flags),
                quoted(name).c_str());
    switch (e.kind) {
        case GpuEventKind::Kernel: {
            const KernelLaunch k = kernelLaunch(e);
            std::printf(R"(,"grid":[%u,%u,%u],"block":[%u,%u,%u],"shared":%u)", k.grid[0],
                        k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2],
                        k.dynamicSharedBytes);
            break;
        }
        case GpuEventKind::MemAlloc:
        case GpuEventKind::MemFree: {
            const GpuMemory m = gpuMemory(e);
            std::printf(R"(,"address":%llu,"bytes":%llu,"memory":%s)",
                        static_cast<unsigned long long>(m.address),
                        static_cast<unsigned long long>(m.bytes),
                        quoted(std::string(gpuMemoryKindName(m.memory))).c_str());
            break;
        }
        case GpuEventKind::ExternalId:
            std::printf(R"(,"whose":%u,"id":%llu)", static_cast<unsigned>(externalKind(e)),
                        static_cast<unsigned long long>(externalId(e)));
            break;
        default:
            break;
    }
    std::puts("}");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: tapescope-gpu-events TAPE\n", stderr);
        return 2;
    }
    const auto tape = get(TapeReader::open(argv[1]));
    const std::vector<std::string> names = get(tape->names());
    std::map<GpuProcessId, std::int64_t> zeros;
    for (const GpuProcess& process : get(tape->gpuProcesses()))
        zeros[process.id] = process.monotonicZeroNs;
    std::int64_t cursor = 0;
    for (;;) {
        const auto part = get(tape->gpuEvents(cursor, 100'000));
        if (part.events.empty()) return 0;
        for (const GpuEvent& e : part.events)
            print(e, zeros[e.process], e.name < names.size() ? names[e.name] : "");
        cursor = part.cursor;
    }
}
