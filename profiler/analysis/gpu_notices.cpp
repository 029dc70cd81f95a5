// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/gpu_notices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tapescope::profiler {
namespace {

std::string grouped(std::int64_t value) {
    std::string digits = std::to_string(value);
    const std::size_t sign = value < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > sign + 3;) {
        at -= 3;
        digits.insert(at, "\u202f");  // narrow no-break space
    }
    return digits;
}

std::string duration(std::int64_t ns) {
    static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
        {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
    const auto value = static_cast<double>(ns);
    for (const auto& [scale, unit] : kUnits) {
        if (std::abs(value) < scale && scale > 1) continue;
        std::array<char, 48> text{};
        std::snprintf(text.data(), text.size(), "%.3g\u00a0%s", value / scale, unit);
        return text.data();
    }
    return "0\u00a0ns";
}

constexpr std::size_t kLongestTitle = 80;

/// Cut before a UTF-8 continuation, so that the rest is still text.
std::string cut(std::string text, std::size_t length) {
    if (text.size() <= length) return text;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    text.resize(length);
    return text + "…";
}

std::string sourceName(const std::string& source) {
    if (source == "cupti") return "GPU tracing (CUPTI)";
    if (source == "nvml") return "GPU counters (NVML)";
    if (source == "allocator") return "PyTorch's allocator history";
    return source;
}

}  // namespace

std::string gpuProcessTitle(const storage::GpuProcess& process) {
    std::string command = process.command;
    const std::size_t firstSpace = command.find(' ');
    const std::size_t slash = command.rfind('/', firstSpace);
    if (slash != std::string::npos && (firstSpace == std::string::npos || slash < firstSpace))
        command.erase(0, slash + 1);
    std::string title = cut(command, kLongestTitle);
    title += (title.empty() ? "process " : " · pid ") + std::to_string(process.pid);
    if (process.rank >= 0) title += " · rank " + std::to_string(process.rank);
    return title;
}

bool countsMissingRecords(const storage::GpuCount& count) {
    return count.name == "dropped records" || count.name == "records not written" ||
           count.name == "records above the size cap";
}

std::vector<GpuNotice> gpuNotices(const GpuRecordFacts& facts) {
    using Kind = GpuNotice::Kind;
    std::vector<GpuNotice> notices;
    const auto titleOf = [&facts](storage::GpuProcessId id) {
        for (const storage::GpuProcess& p : facts.processes)
            if (p.id == id) return gpuProcessTitle(p);
        return id == 0 ? std::string() : "process #" + std::to_string(id);
    };
    bool collectorCountsTimes = false;
    for (const storage::GpuCount& count : facts.counts) {
        if (count.count == 0 || count.name == storage::kGpuCountRecords ||
            count.name == storage::kGpuCountBytes)
            continue;
        collectorCountsTimes = collectorCountsTimes || count.name == "kernels without time" ||
                               count.name == "impossible times";
        notices.push_back(
            {Kind::Loss, titleOf(count.process), grouped(count.count) + " " + count.name, {}});
    }
    const GpuDoubts& d = facts.doubts;
    const auto loss = [&notices](std::int64_t count, const char* one, const char* text) {
        if (count != 0)
            notices.push_back(
                {Kind::Loss, {}, grouped(count) + " " + (count == 1 ? one : text), {}});
    };
    if (!collectorCountsTimes) {
        loss(d.noTime, "event without a time, not drawn", "events without a time, not drawn");
        loss(d.badTime, "event with an impossible time, not drawn",
             "events with impossible times, not drawn");
    }
    loss(d.withoutLaunch, "kernel or copy without its launch call",
         "kernels or copies without their launch call");
    loss(d.unknownKind, "event of an unknown kind", "events of unknown kinds");
    loss(d.openRanges, "NVTX range that never ended, not drawn",
         "NVTX ranges that never ended, not drawn");
    loss(d.beforeTape, "event from before the tape began, not drawn",
         "events from before the tape began, not drawn");
    loss(d.clipped, "event that began before the tape, drawn from its beginning",
         "events that began before the tape, drawn from its beginning");
    loss(d.clockStepped, "event recorded while the clock was being set: its place is uncertain",
         "events recorded while the clock was being set: their places are uncertain");
    loss(d.notLoaded, "event more than can be shown, not loaded",
         "events more than can be shown, not loaded");
    loss(facts.unplaced, "event for which there is no lane, not drawn",
         "events for which there is no lane, not drawn");
    loss(facts.unknownFrees, "free of memory that was not seen allocated",
         "frees of memory that was not seen allocated");

    for (const storage::GpuStatus& status : facts.statuses) {
        const bool ok = status.code == "ok";
        std::string text = sourceName(status.source) + ": " + status.code;
        if (!status.message.empty()) text += " – " + status.message;
        notices.push_back(
            {ok ? Kind::Fact : Kind::Off, titleOf(status.process), std::move(text), status.detail});
    }
    for (const storage::GpuProcess& p : facts.processes) {
        const bool unknown = p.clockErrorNs < 0;
        if (p.clockErrorNs == 0 && p.clock.empty()) continue;
        std::string text = unknown ? std::string("the clock's error is not known")
                                   : "times are right to ±" + duration(p.clockErrorNs);
        if (!p.clock.empty()) text += " (" + p.clock + ")";
        notices.push_back({Kind::Fact, gpuProcessTitle(p), std::move(text), {}});
    }
    for (const GpuRecordFacts::Overhead& o : facts.overheads) {
        if (o.costNs == 0) continue;
        std::string text = "tracing itself took " + duration(o.costNs);
        if (facts.spanNs > 0) {
            std::array<char, 32> share{};
            std::snprintf(
                share.data(), share.size(), " (%.2g\u00a0%%)",
                100.0 * static_cast<double>(o.costNs) / static_cast<double>(facts.spanNs));
            text += share.data();
        }
        notices.push_back({Kind::Fact, titleOf(o.process), std::move(text), {}});
    }
    std::stable_sort(notices.begin(), notices.end(), [](const GpuNotice& a, const GpuNotice& b) {
        const auto order = [](Kind k) { return k == Kind::Loss ? 0 : k == Kind::Off ? 1 : 2; };
        return order(a.kind) < order(b.kind);
    });
    return notices;
}

}  // namespace tapescope::profiler
