// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/records.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tapescope::storage {

/// What a tape knows of GPUs: events of any number of processes, on the tape's one time axis
/// (nanoseconds since the tape's time 0), and who they belong to. docs/tape.md describes the
/// tables. Ids of devices, contexts, streams, graphs and correlations are CUDA's own: they mean
/// something only together with their process.

using GpuProcessId = std::uint32_t;  ///< per tape, from 1; 0 = none

/// CUPTI's value for "no such id": a synchronisation of a whole context has this stream.
inline constexpr std::uint32_t kNoGpuId = 0xFFFFFFFFU;

enum class GpuEventKind : std::uint8_t {
    Unknown,
    Kernel,
    Memcpy,
    MemcpyPeer,
    Memset,
    RuntimeApi,
    DriverApi,
    MemAlloc,
    MemFree,
    PoolCreate,
    PoolDestroy,
    PoolTrim,
    Sync,
    CudaEventRecord,
    NvtxPush,  ///< start of a range; a pop with the same process and id ends it
    NvtxPop,   ///< has no name
    NvtxMark,
    NvtxData,     ///< colour, category, payload of the range or mark with the same process and id
    ExternalId,   ///< ties a correlation id to an operator: see ExternalKind
    Overhead,     ///< what the tracing itself cost
    GraphLaunch,  ///< a whole CUDA graph, when graphs are traced as one
};

/// Bits of GpuEvent::flags.
enum GpuFlag : std::uint16_t {
    kGpuNoTime = 1,        ///< CUPTI had no time for it: startNs and durationNs are 0. Never draw
    kGpuBadTime = 2,       ///< its times cannot be (end before start, far away). Count, never draw
    kGpuClockStepped = 4,  ///< recorded while the system clock was being set: place uncertain
    kGpuAsync = 8,
    kGpuFromGraph = 16,       ///< launched by a CUDA graph; `graph` and the graph node say which
    kGpuDeviceLaunched = 32,  ///< launched by a kernel
    kGpuPool = 64,            ///< memory of a pool (cudaMallocAsync)
    kGpuError = 128,          ///< the call returned an error: apiReturn()
};

/// One record. The payload words u and x mean different things by kind: read them with the
/// functions below, docs/tape.md has the table.
struct GpuEvent {
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;  ///< 0 for instants
    std::array<std::uint64_t, 3> u{};
    std::uint32_t correlation = 0;  ///< ties launch call, kernel, ExternalId; per process, 0 = none
    NameId name = 0;                ///< kernels: mangled, see demangled()
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t thread = 0;  ///< Linux thread id of host-side events, 0 = unknown
    std::uint32_t graph = 0;   ///< CUDA graph, 0 = none
    std::array<std::uint32_t, 6> x{};
    GpuProcessId process = 0;
    std::uint16_t flags = 0;
    GpuEventKind kind = GpuEventKind::Unknown;

    friend bool operator==(const GpuEvent&, const GpuEvent&) = default;
    /// False for what only counts: it has no place on a time axis.
    bool drawable() const { return (flags & (kGpuNoTime | kGpuBadTime)) == 0; }
};

/// Kinds that run on the device and belong on a stream's lane.
constexpr bool runsOnDevice(GpuEventKind kind) {
    return (kind >= GpuEventKind::Kernel && kind <= GpuEventKind::Memset) ||
           kind == GpuEventKind::GraphLaunch;
}
/// Kinds that happen on a thread of the program.
constexpr bool runsOnHost(GpuEventKind kind) {
    return kind == GpuEventKind::RuntimeApi || kind == GpuEventKind::DriverApi ||
           kind == GpuEventKind::Sync;
}

struct KernelLaunch {
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint8_t, 3> cluster{};  ///< 0: no clusters
    std::uint32_t staticSharedBytes = 0;
    std::uint32_t dynamicSharedBytes = 0;
    std::uint16_t registersPerThread = 0;
    std::uint8_t launchType = 0;  ///< 0 regular, 1 and 2 cooperative (one, several devices)
    std::uint64_t graphNode = 0;
    friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};
KernelLaunch kernelLaunch(const GpuEvent& e);
void setKernelLaunch(GpuEvent& e, const KernelLaunch& launch);

/// Memory kinds of copies and allocations, as CUPTI numbers them.
enum class GpuMemoryKind : std::uint8_t { Unknown, Pageable, Pinned, Device, Array, Managed };
/// Direction of a copy, as CUPTI numbers them.
enum class GpuCopyKind : std::uint8_t {
    Unknown,
    HostToDevice,
    DeviceToHost,
    HostToArray,
    ArrayToHost,
    ArrayToArray,
    ArrayToDevice,
    DeviceToArray,
    DeviceToDevice,
    HostToHost,
    PeerToPeer
};
std::string_view gpuCopyKindName(GpuCopyKind kind);      ///< "host to device"
std::string_view gpuMemoryKindName(GpuMemoryKind kind);  ///< "pinned"
std::string_view gpuEventKindName(GpuEventKind kind);    ///< "kernel", "runtime call"

/// A copy, peer copy or memset.
struct GpuTransfer {
    std::uint64_t bytes = 0;
    std::uint64_t graphNode = 0;
    std::uint64_t copies = 1;  ///< in one batch
    GpuCopyKind copyKind = GpuCopyKind::Unknown;
    GpuMemoryKind from = GpuMemoryKind::Unknown;
    GpuMemoryKind to = GpuMemoryKind::Unknown;
    std::uint32_t fromDevice = 0;  ///< peer copies
    std::uint32_t toDevice = 0;
    std::uint32_t value = 0;  ///< memset
};
GpuTransfer gpuTransfer(const GpuEvent& e);
/// Bytes per second, 0 for events without duration.
double transferRate(const GpuEvent& e);

/// MemAlloc, MemFree and the pool kinds.
struct GpuMemory {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< pools: their size
    GpuMemoryKind memory = GpuMemoryKind::Unknown;
    std::uint32_t poolType = 0;  ///< 0 none, 1 local, 2 imported
    std::uint64_t poolAddress = 0;
    std::uint64_t poolBytes = 0;  ///< the pool's size after the event
    std::uint64_t poolUsed = 0;   ///< of it in use
};
GpuMemory gpuMemory(const GpuEvent& e);
void setGpuMemory(GpuEvent& e, const GpuMemory& memory);

/// Runtime and driver calls: CUPTI's callback id, and what the call returned (0 = success).
inline std::uint32_t apiCallId(const GpuEvent& e) { return static_cast<std::uint32_t>(e.u[0]); }
inline std::uint32_t apiReturn(const GpuEvent& e) { return e.x[0]; }

enum class GpuSyncKind : std::uint8_t { Unknown, Event, StreamWaitsEvent, Stream, Context };
inline GpuSyncKind gpuSyncKind(const GpuEvent& e) {
    return e.x[0] > 4 ? GpuSyncKind::Unknown : static_cast<GpuSyncKind>(e.x[0]);
}
/// CudaEventRecord, and Sync of kinds Event and StreamWaitsEvent: which event; kNoGpuId: none.
inline std::uint32_t cudaEventId(const GpuEvent& e) { return e.x[1]; }
/// NVTX: the id that ties push, pop and data together; the domain's name (0 = the default one).
inline std::uint64_t nvtxId(const GpuEvent& e) { return e.u[0]; }
inline NameId nvtxDomain(const GpuEvent& e) { return e.x[0]; }
/// NvtxData only.
inline std::uint32_t nvtxColour(const GpuEvent& e) { return e.x[0]; }  ///< 0xAARRGGBB, 0 = none
inline std::uint32_t nvtxCategory(const GpuEvent& e) { return e.x[1]; }

/// Whose id an ExternalId event carries; CUPTI's numbers.
enum class ExternalKind : std::uint32_t {
    Kineto = 3,      ///< torch.profiler's operator ids (CUPTI's CUSTOM0)
    KinetoUser = 4,  ///< its user ranges (CUSTOM1)
    Engine = 5,      ///< OpEvent::opId of this tape (CUSTOM2)
};
inline ExternalKind externalKind(const GpuEvent& e) { return static_cast<ExternalKind>(e.x[0]); }
inline std::uint64_t externalId(const GpuEvent& e) { return e.u[0]; }

/// What `mangled` stands for, "gemm(float const*, …)"; itself if it is no mangled name. A name
/// whose text could be very long is cut to "cutlass::Kernel<…>".
std::string demangled(const std::string& mangled);

/// A process whose events are on the tape.
struct GpuProcess {
    GpuProcessId id = 0;
    std::int64_t pid = 0;
    std::int64_t parentPid = 0;
    std::string host;
    std::string bootId;
    std::string command;  ///< arguments joined by spaces
    std::int32_t rank = -1;
    std::int32_t localRank = -1;
    std::int32_t worldSize = -1;
    /// CLOCK_MONOTONIC and CLOCK_REALTIME of the process's machine at the tape's time 0. Processes
    /// of one boot are aligned by the first, others by the second.
    std::int64_t monotonicZeroNs = 0;
    std::int64_t realtimeZeroNs = 0;
    /// How far its events may be off from the tape's time axis; -1 = not known.
    std::int64_t clockErrorNs = 0;
    std::string clock;  ///< how that is known: "same clock", "aligned by wall clock"
    friend bool operator==(const GpuProcess&, const GpuProcess&) = default;
};
struct GpuDevice {
    GpuProcessId process = 0;
    std::uint32_t device = 0;  ///< index in that process
    std::string name;
    std::string uuid;  ///< "GPU-xxxxxxxx-…", the same in all processes; "" = not known
    std::uint64_t memoryBytes = 0;
    std::uint32_t multiprocessors = 0;
    std::uint32_t capabilityMajor = 0;
    std::uint32_t capabilityMinor = 0;
    friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};
struct GpuContext {
    GpuProcessId process = 0;
    std::uint32_t context = 0;
    std::uint32_t device = 0;
    std::uint32_t nullStream = 0;  ///< id of the default stream
    friend bool operator==(const GpuContext&, const GpuContext&) = default;
};
struct GpuStream {
    GpuProcessId process = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::int32_t priority = 0;
    std::uint32_t flag = 0;  ///< 0 unknown, 1 default, 2 non-blocking, 3 null, 4 null per thread
    friend bool operator==(const GpuStream&, const GpuStream&) = default;
};
enum class GpuObject : std::uint8_t { Unknown, Process, Thread, Device, Context, Stream };
/// A name that the program gave (nvtxNameCudaStream, …).
struct GpuObjectName {
    GpuProcessId process = 0;
    GpuObject object = GpuObject::Unknown;
    std::uint32_t id = 0;       ///< thread, device, context or stream id; the pid's low bits
    std::uint32_t context = 0;  ///< of a stream
    std::string name;
    friend bool operator==(const GpuObjectName&, const GpuObjectName&) = default;
};

/// How a source stands; the latest of each (process, source) is on the tape.
struct GpuStatus {
    GpuProcessId process = 0;
    std::string source;   ///< "cupti", "nvml", "allocator"
    std::string code;     ///< stable: "ok", "no-driver", "busy", …
    std::string message;  ///< a sentence for people, with the remedy
    std::string detail;
    std::int64_t timeNs = 0;
    friend bool operator==(const GpuStatus&, const GpuStatus&) = default;
};
/// A total so far, by name: "records", "dropped records", …; docs/tape.md lists them. Anything but
/// kGpuCountRecords and kGpuCountBytes is a loss or a doubt and deserves a notice when not 0.
struct GpuCount {
    GpuProcessId process = 0;
    std::string name;
    std::int64_t count = 0;
    friend bool operator==(const GpuCount&, const GpuCount&) = default;
};
inline constexpr const char* kGpuCountRecords = "records";
inline constexpr const char* kGpuCountBytes = "bytes of records";

/// Per process, device, kind and name, so that a report needs no event scan.
struct GpuSummary {
    GpuProcessId process = 0;
    std::uint32_t device = 0;
    GpuEventKind kind = GpuEventKind::Unknown;
    NameId name = 0;
    std::int64_t count = 0;
    std::int64_t totalNs = 0;
    std::int64_t minNs = 0;
    std::int64_t maxNs = 0;
    std::int64_t bytes = 0;  ///< copies and memsets
    friend bool operator==(const GpuSummary&, const GpuSummary&) = default;
};

/// A measured quantity (NVML): its samples make a curve.
struct GpuCounter {
    std::uint32_t id = 0;  ///< per tape, from 1
    std::string name;      ///< "utilisation", "memory used", "power", …
    std::string unit;      ///< "%", "B", "W", "MHz", "°C"
    std::string device;    ///< uuid as GpuDevice::uuid; "" = the whole machine
    std::string deviceName;
    std::string host;
    friend bool operator==(const GpuCounter&, const GpuCounter&) = default;
};
struct CounterSample {
    std::int64_t timeNs = 0;
    double value = 0;
    std::uint32_t counter = 0;
    friend bool operator==(const CounterSample&, const CounterSample&) = default;
};

enum class AllocatorAction : std::uint8_t {
    Alloc,
    FreeRequested,
    FreeCompleted,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Snapshot,
    OutOfMemory
};
std::string_view allocatorActionName(AllocatorAction action);  ///< as PyTorch: "free_requested"
/// One entry of PyTorch's allocator history.
struct AllocatorEvent {
    std::int64_t timeNs = 0;
    std::uint64_t address = 0;
    std::int64_t sizeBytes = 0;
    std::int64_t deviceFreeBytes = 0;  ///< OutOfMemory
    std::uint64_t stream = 0;          ///< cudaStream_t's value
    GpuProcessId process = 0;
    std::uint32_t device = 0;
    NameId site = 0;  ///< "train.py:31 forward", the innermost frame that is the user's; 0 = none
    AllocatorAction action = AllocatorAction::Alloc;
    friend bool operator==(const AllocatorEvent&, const AllocatorEvent&) = default;
};

}  // namespace tapescope::storage
