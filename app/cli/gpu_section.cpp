// SPDX-License-Identifier: Apache-2.0
#include "app/cli/gpu_section.h"

#include "app/cli/progress.h"
#include "app/cli/terminal_text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace tapescope::app {
namespace {

using nlohmann::ordered_json;
using profiler::GpuReport;

std::string timeText(double ns) {
    const std::string text = nanosecondsText(ns);
    // printf pads bytes, and µ is two of them.
    return std::string(text.find("µ") != std::string::npos ? 1 : 0, ' ') + text;
}
std::string timeText(std::int64_t ns) { return timeText(static_cast<double>(ns)); }

/// At most so many bytes, cut between characters.
std::string shortened(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t at = most - 3;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    text.resize(at);
    return text + "…";
}

void printRows(const char* title, const std::vector<GpuReport::Row>& rows, std::size_t top,
               bool bytes) {
    if (rows.empty()) return;
    std::printf("\n%-46s %9s %11s %7s %11s%s\n", title, "count", "total", "share", "mean",
                bytes ? "      bytes      GB/s" : "");
    for (std::size_t i = 0; i < std::min(top, rows.size()); ++i) {
        const GpuReport::Row& r = rows[i];
        std::printf("  %-44s %9lld %11s %6.1f%% %11s", printable(shortened(r.name, 44)).c_str(),
                    static_cast<long long>(r.count), timeText(r.totalNs).c_str(), r.share * 100,
                    timeText(r.meanNs()).c_str());
        if (bytes) {
            std::printf(" %10s %9.2f", bytesText(static_cast<double>(r.bytes)).c_str(),
                        r.gigabytesPerSecond());
        }
        std::printf("\n");
    }
    if (rows.size() > top) std::printf("  … and %zu more (--top N)\n", rows.size() - top);
}

void printGap(const GpuReport::Gap& g, bool first) {
    std::printf("  %-14s %s at %s, between %s and %s; ", first ? "longest idle" : "",
                nanosecondsText(static_cast<double>(g.durationNs)).c_str(),
                nanosecondsText(static_cast<double>(g.startNs)).c_str(),
                printable(shortened(g.before, 44)).c_str(),
                printable(shortened(g.after, 44)).c_str());
    if (g.call.empty()) {
        std::printf("no CUDA call meanwhile\n");
    } else {
        std::printf("meanwhile %s, %s\n", printable(g.call).c_str(),
                    nanosecondsText(static_cast<double>(g.callNs)).c_str());
    }
}

std::string processesText(std::int64_t n) {
    return std::to_string(n) + (n == 1 ? " process" : " processes");
}

/// One line a state; processes of which the same is to be said share one.
void printStates(const std::vector<GpuReport::State>& states) {
    std::vector<std::vector<const GpuReport::State*>> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (const GpuReport::State& s : states) {
        const std::string says = s.code == "ok" ? "ok" : s.message;
        const auto [it, fresh] = known.try_emplace({s.source, says}, groups.size());
        if (fresh) groups.emplace_back();
        groups[it->second].push_back(&s);
    }
    for (const auto& group : groups) {
        const GpuReport::State& s = *group.front();
        const std::string says = s.code == "ok" ? "ok" : s.message;
        std::string line = s.source;
        if (group.size() > 1) {
            const std::string who = processesText(static_cast<std::int64_t>(group.size()));
            line += s.code == "ok" ? ": ok in " + who : " in " + who + ": " + says;
        } else {
            line += " of " + std::to_string(s.pid);
            if (!s.command.empty()) line += " (" + shortened(s.command, 60) + ")";
            line += ": " + says;
        }
        std::printf("  %s\n", printable(line).c_str());
    }
}

void printDevice(const GpuReport::Device& d, bool memoryKnown) {
    std::printf("\nGPU %s%s%s\n", printable(d.name).c_str(), d.host.empty() ? "" : " of ",
                printable(d.host).c_str());
    if (d.lastNs > d.firstNs) {
        std::printf(
            "  busy           %.1f %% of %s%s\n", d.busyShare * 100,
            nanosecondsText(static_cast<double>(d.lastNs - d.firstNs)).c_str(),
            d.processes > 1 ? (", " + std::to_string(d.processes) + " processes").c_str() : "");
        if (d.resolutionNs > 0) {
            std::printf("                 (idle times up to %s may be counted as busy)\n",
                        nanosecondsText(static_cast<double>(d.resolutionNs)).c_str());
        }
    } else {
        std::printf("  busy           no work was recorded\n");
    }
    for (const GpuReport::Gap& g : d.gaps) printGap(g, &g == d.gaps.data());
    if (!memoryKnown) {
        std::printf("  peak memory    not known: too many allocations to put in order\n");
    } else if (d.peakBytes > 0) {
        std::printf("  peak memory    %s held by the recorded processes, at %s\n",
                    bytesText(static_cast<double>(d.peakBytes)).c_str(),
                    nanosecondsText(static_cast<double>(d.peakNs)).c_str());
    }
}

ordered_json rowsJson(const std::vector<GpuReport::Row>& rows, std::size_t top) {
    ordered_json out = ordered_json::array();
    for (std::size_t i = 0; i < std::min(top, rows.size()); ++i) {
        const GpuReport::Row& r = rows[i];
        out.push_back({{"name", r.name},
                       {"count", r.count},
                       {"totalNs", r.totalNs},
                       {"meanNs", r.meanNs()},
                       {"minNs", r.minNs},
                       {"maxNs", r.maxNs},
                       {"share", r.share},
                       {"bytes", r.bytes},
                       {"gbPerSecond", r.gigabytesPerSecond()}});
    }
    return out;
}

}  // namespace

void printGpuSection(const GpuReport& r, std::size_t top) {
    if (!r.present) return;
    std::printf("\nGPU recording    %lld %s, %s used CUDA\n", static_cast<long long>(r.records),
                r.records == 1 ? "record" : "records", processesText(r.processesWithCuda).c_str());
    printStates(r.states);
    for (const GpuReport::Process& p : r.processes) {
        if (p.clock.empty() || p.clock == "same clock") continue;
        const std::string error =
            p.clockErrorNs < 0
                ? "how far off is not known"
                : "up to " + nanosecondsText(static_cast<double>(p.clockErrorNs)) + " off";
        std::printf("  times of %lld on %s: %s, %s\n", static_cast<long long>(p.pid),
                    p.host.c_str(), p.clock.c_str(), error.c_str());
    }
    for (const GpuReport::Device& d : r.devices) printDevice(d, r.memoryKnown);
    printRows("Kernels", r.kernels, top, false);
    printRows("Copies", r.transfers, top, true);
    printRows("CUDA calls", r.calls, top, false);
    for (const GpuReport::Allocator& a : r.allocators) {
        std::printf(
            "\nPyTorch's allocator of %lld, device %u: peak %s in use, %s reserved%s\n",
            static_cast<long long>(a.pid), a.device,
            bytesText(static_cast<double>(a.peakAllocatedBytes)).c_str(),
            bytesText(static_cast<double>(a.peakReservedBytes)).c_str(),
            a.outOfMemory > 0
                ? (", ran out of memory " + std::to_string(a.outOfMemory) + " times").c_str()
                : "");
    }
    const std::string open =
        r.countsOfLastCommit > 0
            ? "; those of " + processesText(r.countsOfLastCommit) + " as of the last commit"
            : "";
    std::printf("\nGPU losses       %s%s\n", r.losses.empty() ? "none counted" : "as counted",
                open.c_str());
    for (const GpuReport::Loss& l : r.losses)
        std::printf("  %lld %s\n", static_cast<long long>(l.count), l.name.c_str());
}

ordered_json gpuJson(const GpuReport& r, std::size_t top) {
    ordered_json devices = ordered_json::array();
    for (const GpuReport::Device& d : r.devices) {
        ordered_json gaps = ordered_json::array();
        for (const GpuReport::Gap& g : d.gaps)
            gaps.push_back({{"startNs", g.startNs},
                            {"durationNs", g.durationNs},
                            {"before", g.before},
                            {"after", g.after},
                            {"call", g.call},
                            {"callNs", g.callNs}});
        devices.push_back({{"name", d.name},
                           {"uuid", d.uuid},
                           {"host", d.host},
                           {"index", d.index},
                           {"processes", d.processes},
                           {"memoryBytes", d.memoryBytes},
                           {"firstNs", d.firstNs},
                           {"lastNs", d.lastNs},
                           {"busyNs", d.busyNs},
                           {"busyShare", d.busyShare},
                           {"resolutionNs", d.resolutionNs},
                           {"idle", gaps},
                           {"peakBytes", r.memoryKnown ? ordered_json(d.peakBytes) : nullptr}});
    }
    ordered_json states = ordered_json::array();
    for (const GpuReport::State& s : r.states) {
        states.push_back(
            {{"pid", s.pid}, {"source", s.source}, {"code", s.code}, {"message", s.message}});
    }
    ordered_json processes = ordered_json::array();
    for (const GpuReport::Process& p : r.processes) {
        processes.push_back({{"pid", p.pid},
                             {"host", p.host},
                             {"rank", p.rank},
                             {"command", p.command},
                             {"clock", p.clock},
                             {"clockErrorNs", p.clockErrorNs}});
    }
    ordered_json allocators = ordered_json::array();
    for (const GpuReport::Allocator& a : r.allocators) {
        allocators.push_back({{"pid", a.pid},
                              {"device", a.device},
                              {"events", a.events},
                              {"peakAllocatedBytes", a.peakAllocatedBytes},
                              {"peakReservedBytes", a.peakReservedBytes},
                              {"outOfMemory", a.outOfMemory}});
    }
    ordered_json losses = ordered_json::object();
    for (const GpuReport::Loss& l : r.losses) losses[l.name] = l.count;
    return {{"records", r.records},
            {"processesWithCuda", r.processesWithCuda},
            {"lossesAsOfLastCommit", r.countsOfLastCommit},
            {"states", states},
            {"processes", processes},
            {"devices", devices},
            {"kernels", rowsJson(r.kernels, top)},
            {"copies", rowsJson(r.transfers, top)},
            {"calls", rowsJson(r.calls, top)},
            {"allocators", allocators},
            {"losses", losses}};
}

}  // namespace tapescope::app
