// SPDX-License-Identifier: Apache-2.0
#include "storage/tape/gpu_records.h"

#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>

namespace tapescope::storage {
namespace {

using namespace std::string_view_literals;

constexpr std::array kCopyKinds = {"unknown"sv,         "host to device"sv,  "device to host"sv,
                                   "host to array"sv,   "array to host"sv,   "array to array"sv,
                                   "array to device"sv, "device to array"sv, "device to device"sv,
                                   "host to host"sv,    "device to peer"sv};
constexpr std::array kMemoryKinds = {"unknown"sv, "pageable"sv, "pinned"sv,
                                     "device"sv,  "array"sv,    "managed"sv};
constexpr std::array kEventKinds = {
    "unknown"sv,      "kernel"sv,       "copy"sv,       "peer copy"sv,    "memset"sv,
    "runtime call"sv, "driver call"sv,  "allocation"sv, "free"sv,         "pool created"sv,
    "pool gone"sv,    "pool trimmed"sv, "wait"sv,       "event record"sv, "NVTX push"sv,
    "NVTX pop"sv,     "NVTX mark"sv,    "NVTX data"sv,  "external id"sv,  "overhead"sv,
    "graph launch"sv};
constexpr std::array kActions = {"alloc"sv,         "free_requested"sv, "free_completed"sv,
                                 "segment_alloc"sv, "segment_free"sv,   "segment_map"sv,
                                 "segment_unmap"sv, "snapshot"sv,       "oom"sv};

template <class Names, class E>
std::string_view nameIn(const Names& names, E value) {
    const auto i = static_cast<std::size_t>(value);
    return i < names.size() ? names[i] : "unknown"sv;
}

// Word u[2] of a kernel: registers << 48 | cluster x, y, z << 40, 32, 24 | launch type.
constexpr unsigned kRegistersAt = 48;
constexpr std::array<unsigned, 3> kClusterAt = {40, 32, 24};

template <class E>
E enumIn(std::uint32_t value, E last) {
    return value > static_cast<std::uint32_t>(last) ? E{} : static_cast<E>(value);
}

// A crafted name of a hundred bytes can stand for gigabytes, and a tape may come from anywhere.
constexpr double kLongestDemangled = 64 << 20;

/// A bound for the length of what a mangled name stands for. Each back reference (S1_, T0_) repeats
/// a part that may itself hold references to earlier ones: at worst, all of them multiply.
double expansionBound(std::string_view mangled) {
    std::map<std::string_view, int> references;
    int packs = 0;
    for (std::size_t i = 0; i < mangled.size(); ++i) {
        if (mangled[i] == 'D' && i + 1 < mangled.size() && mangled[i + 1] == 'p') ++packs;
        if (mangled[i] != 'S' && mangled[i] != 'T') continue;
        std::size_t end = i + 1;
        while (end < mangled.size() && (std::isdigit(static_cast<unsigned char>(mangled[end])) ||
                                        std::isupper(static_cast<unsigned char>(mangled[end]))))
            ++end;
        if (end < mangled.size() && mangled[end] == '_') ++references[mangled.substr(i, end - i)];
    }
    double bound = static_cast<double>(mangled.size()) * 4;
    for (const auto& [name, count] : references) bound *= 1 + count;
    for (int i = 0; i < packs; ++i) bound *= static_cast<double>(mangled.size());
    return bound;
}

/// "cutlass::Kernel<…>" of "_ZN7cutlass6KernelI…": the plain names at the front.
std::string frontOf(const std::string& mangled) {
    std::size_t at = 2;
    if (at < mangled.size() && mangled[at] == 'N') ++at;
    std::string out;
    while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at]))) {
        std::size_t length = 0;
        while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) &&
               length < mangled.size())
            length = length * 10 + static_cast<std::size_t>(mangled[at++] - '0');
        if (length == 0 || length > mangled.size() - at) return mangled;
        out += (out.empty() ? "" : "::") + mangled.substr(at, length);
        at += length;
    }
    if (out.empty()) return mangled;
    return at < mangled.size() && mangled[at] == 'I' ? out + "<…>" : out;
}

}  // namespace

std::string_view gpuCopyKindName(GpuCopyKind kind) { return nameIn(kCopyKinds, kind); }
std::string_view gpuMemoryKindName(GpuMemoryKind kind) { return nameIn(kMemoryKinds, kind); }
std::string_view gpuEventKindName(GpuEventKind kind) { return nameIn(kEventKinds, kind); }
std::string_view allocatorActionName(AllocatorAction action) { return nameIn(kActions, action); }

KernelLaunch kernelLaunch(const GpuEvent& e) {
    KernelLaunch k;
    for (std::size_t i = 0; i < 3; ++i) {
        k.grid[i] = e.x[i];
        k.block[i] = e.x[i + 3];
        k.cluster[i] = static_cast<std::uint8_t>(e.u[2] >> kClusterAt[i]);
    }
    k.graphNode = e.u[0];
    k.staticSharedBytes = static_cast<std::uint32_t>(e.u[1] >> 32U);
    k.dynamicSharedBytes = static_cast<std::uint32_t>(e.u[1]);
    k.registersPerThread = static_cast<std::uint16_t>(e.u[2] >> kRegistersAt);
    k.launchType = static_cast<std::uint8_t>(e.u[2]);
    return k;
}

void setKernelLaunch(GpuEvent& e, const KernelLaunch& k) {
    e.u[0] = k.graphNode;
    e.u[1] = static_cast<std::uint64_t>(k.staticSharedBytes) << 32U | k.dynamicSharedBytes;
    e.u[2] = static_cast<std::uint64_t>(k.registersPerThread) << kRegistersAt | k.launchType;
    for (std::size_t i = 0; i < 3; ++i) {
        e.x[i] = k.grid[i];
        e.x[i + 3] = k.block[i];
        e.u[2] |= static_cast<std::uint64_t>(k.cluster[i]) << kClusterAt[i];
    }
}

GpuTransfer gpuTransfer(const GpuEvent& e) {
    GpuTransfer t;
    t.bytes = e.u[0];
    t.graphNode = e.u[1];
    switch (e.kind) {
        case GpuEventKind::Memcpy:
            t.copies = e.u[2];
            t.copyKind = enumIn(e.x[0], GpuCopyKind::PeerToPeer);
            t.from = enumIn(e.x[1], GpuMemoryKind::Managed);
            t.to = enumIn(e.x[2], GpuMemoryKind::Managed);
            break;
        case GpuEventKind::MemcpyPeer:
            t.copyKind = enumIn(e.x[0], GpuCopyKind::PeerToPeer);
            t.fromDevice = e.x[1];
            t.toDevice = e.x[2];
            break;
        default:
            t.value = e.x[0];
            break;
    }
    return t;
}

double transferRate(const GpuEvent& e) {
    if (e.durationNs <= 0 || !e.drawable()) return 0;
    return static_cast<double>(e.u[0]) * 1e9 / static_cast<double>(e.durationNs);
}

GpuMemory gpuMemory(const GpuEvent& e) {
    GpuMemory m;
    m.address = e.u[0];
    m.bytes = e.u[1];
    m.poolUsed = e.u[2];
    if (e.kind == GpuEventKind::MemAlloc || e.kind == GpuEventKind::MemFree) {
        m.memory = enumIn(e.x[0], GpuMemoryKind::Managed);
        m.poolType = e.x[1];
        m.poolBytes = static_cast<std::uint64_t>(e.x[2]) << 32U | e.x[3];
        m.poolAddress = static_cast<std::uint64_t>(e.x[4]) << 32U | e.x[5];
    } else {
        m.poolType = e.x[0];
        m.poolAddress = m.address;
        m.poolBytes = m.bytes;
    }
    return m;
}

void setGpuMemory(GpuEvent& e, const GpuMemory& m) {
    e.u = {m.address, m.bytes, m.poolUsed};
    if (e.kind == GpuEventKind::MemAlloc || e.kind == GpuEventKind::MemFree) {
        e.x = {static_cast<std::uint32_t>(m.memory),
               m.poolType,
               static_cast<std::uint32_t>(m.poolBytes >> 32U),
               static_cast<std::uint32_t>(m.poolBytes),
               static_cast<std::uint32_t>(m.poolAddress >> 32U),
               static_cast<std::uint32_t>(m.poolAddress)};
    } else {
        e.x[0] = m.poolType;
    }
}

std::string demangled(const std::string& mangled) {
    if (mangled.rfind("_Z", 0) != 0) return mangled;
    if (expansionBound(mangled) > kLongestDemangled) return frontOf(mangled);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : mangled;
}

}  // namespace tapescope::storage
