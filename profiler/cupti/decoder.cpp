// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/decoder.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace tapescope::profiler::cupti {

using abi::get;
using storage::GpuEvent;
using storage::GpuEventKind;

namespace {

constexpr std::int64_t kHourNs = 3600LL * 1'000'000'000;
// Far above any callback id (they count to about a thousand); bounds the table of their names.
constexpr std::uint32_t kMaxCallId = 100'000;
constexpr std::uint32_t kMaxThreadsPerBlock = 1024;

void flag(GpuEvent& e, storage::GpuFlag bit) {
    e.flags = static_cast<std::uint16_t>(e.flags | static_cast<unsigned>(bit));
}

std::string uuidText(const abi::Uuid& uuid) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    if (std::ranges::all_of(uuid, [](std::uint8_t b) { return b == 0; })) return {};
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += kHex[uuid[i] >> 4U];
        text += kHex[uuid[i] & 15U];
    }
    return text;
}

}  // namespace

Decoder::Decoder(std::uint32_t cuptiVersion, const ClockMap& clock, Sink& sink, ApiName apiName)
    : m_api(cuptiVersion),
      m_newer(cuptiVersion > abi::kNewestTested),
      m_clock(clock),
      m_sink(sink),
      m_apiName(std::move(apiName)),
      m_name(sink, m_newer),
      m_process(sink.process()),
      m_zeroNs(sink.monotonicZeroNs()) {}

void Decoder::addTo(Counters& c) const {
    c.noTime = m_noTime;
    c.badTime = m_badTime;
    c.clockStepped = m_clockStepped;
    c.unknownKind = m_unknownKind;
    c.impossible = m_impossible;
}

/// Within the session, give or take an hour.
bool Decoder::place(std::int64_t monotonic) const {
    return monotonic >= m_clock.firstMonotonic() - kHourNs &&
           monotonic <= m_clock.lastMonotonic() + kHourNs;
}

void Decoder::instant(GpuEvent& e, std::uint64_t time) {
    if (time == 0) {
        flag(e, storage::kGpuNoTime);
        ++m_noTime;
        return;
    }
    const ClockMap::Time t = m_clock.toMonotonic(static_cast<std::int64_t>(time));
    if (!place(t.monotonic)) {
        flag(e, storage::kGpuBadTime);
        ++m_badTime;
        return;
    }
    e.startNs = t.monotonic - m_zeroNs;
    if (!t.stepped) return;
    flag(e, storage::kGpuClockStepped);
    ++m_clockStepped;
}

void Decoder::span(GpuEvent& e, std::uint64_t start, std::uint64_t end) {
    // 0 and 0: CUPTI had no room on the device to time it.
    if (start == 0 && end == 0) {
        flag(e, storage::kGpuNoTime);
        ++m_noTime;
        return;
    }
    const ClockMap::Time a = m_clock.toMonotonic(static_cast<std::int64_t>(start));
    const ClockMap::Time b = m_clock.toMonotonic(static_cast<std::int64_t>(end));
    // A forced flush hands out running kernels with end 0; other bugs gave starts a day away.
    if (start == 0 || end < start || !place(a.monotonic) || !place(b.monotonic)) {
        flag(e, storage::kGpuBadTime);
        ++m_badTime;
        return;
    }
    e.startNs = a.monotonic - m_zeroNs;
    e.durationNs = b.monotonic - a.monotonic;
    if (!a.stepped && !b.stepped) return;
    flag(e, storage::kGpuClockStepped);
    ++m_clockStepped;
    if (e.durationNs < 0) e.durationNs = static_cast<std::int64_t>(end - start);
}

bool Decoder::kernel(const void* r, GpuEvent& e) {
    namespace k = abi::kernel;
    const std::array<std::int32_t, 6> dims = {get(r, k::kGridX),  get(r, k::kGridY),
                                              get(r, k::kGridZ),  get(r, k::kBlockX),
                                              get(r, k::kBlockY), get(r, k::kBlockZ)};
    // Layouts of untested versions are taken to be append-only; a record that makes no sense says
    // they are not. Nodes of a graph may have zeros.
    e.graph = get(r, k::kGraph);
    const bool zeros = e.graph != 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const auto tooLarge = i >= 3 && dims[i] > static_cast<std::int32_t>(kMaxThreadsPerBlock);
        if (dims[i] < 0 || tooLarge || (dims[i] == 0 && !zeros)) return false;
    }
    storage::KernelLaunch launch;
    for (std::size_t i = 0; i < 3; ++i) {
        launch.grid[i] = static_cast<std::uint32_t>(dims[i]);
        launch.block[i] = static_cast<std::uint32_t>(dims[i + 3]);
    }
    if (launch.block[0] * launch.block[1] * launch.block[2] > kMaxThreadsPerBlock) return false;
    launch.cluster = {static_cast<std::uint8_t>(get(r, k::kClusterX, m_api, 0U)),
                      static_cast<std::uint8_t>(get(r, k::kClusterY, m_api, 0U)),
                      static_cast<std::uint8_t>(get(r, k::kClusterZ, m_api, 0U))};
    launch.staticSharedBytes = static_cast<std::uint32_t>(get(r, k::kStaticSmem));
    launch.dynamicSharedBytes = static_cast<std::uint32_t>(get(r, k::kDynamicSmem));
    launch.registersPerThread = get(r, k::kRegisters);
    launch.launchType = get(r, k::kLaunchType);
    launch.graphNode = get(r, k::kGraphNode);
    storage::setKernelLaunch(e, launch);
    e.kind = GpuEventKind::Kernel;
    e.name = m_name(get(r, k::kName));
    if (e.name == 0) {
        if (m_unnamed == 0) m_unnamed = m_sink.name("<unnamed kernel>");
        e.name = m_unnamed;
    }
    e.device = get(r, k::kDevice);
    e.context = get(r, k::kContext);
    e.stream = get(r, k::kStream);
    e.correlation = get(r, k::kCorrelation);
    if (e.graph != 0) flag(e, storage::kGpuFromGraph);
    if (get(r, k::kDeviceLaunched, m_api, std::uint8_t{0}) != 0)
        flag(e, storage::kGpuDeviceLaunched);
    span(e, get(r, k::kStart), get(r, k::kEnd));
    return true;
}

void Decoder::copy(const void* r, GpuEvent& e) {
    namespace m = abi::memcopy;
    e.kind = GpuEventKind::Memcpy;
    e.u = {get(r, m::kBytes), get(r, m::kGraphNode),
           get(r, m::kCopyCount, m_api, std::uint64_t{1})};
    e.x = {get(r, m::kCopyKind), get(r, m::kSrcKind), get(r, m::kDstKind), 0, 0, 0};
    e.device = get(r, m::kDevice);
    e.context = get(r, m::kContext);
    e.stream = get(r, m::kStream);
    e.correlation = get(r, m::kCorrelation);
    e.graph = get(r, m::kGraph);
    if ((get(r, m::kFlags) & 1U) != 0) flag(e, storage::kGpuAsync);
    if (e.graph != 0) flag(e, storage::kGpuFromGraph);
    span(e, get(r, m::kStart), get(r, m::kEnd));
}

void Decoder::peerCopy(const void* r, GpuEvent& e) {
    namespace m = abi::peer;
    e.kind = GpuEventKind::MemcpyPeer;
    e.u = {get(r, m::kBytes), get(r, m::kGraphNode), 0};
    e.x = {get(r, m::kCopyKind), get(r, m::kSrcDevice), get(r, m::kDstDevice), 0, 0, 0};
    e.device = get(r, m::kDevice);
    e.context = get(r, m::kContext);
    e.stream = get(r, m::kStream);
    e.correlation = get(r, m::kCorrelation);
    e.graph = get(r, m::kGraph);
    if (e.graph != 0) flag(e, storage::kGpuFromGraph);
    span(e, get(r, m::kStart), get(r, m::kEnd));
}

void Decoder::fill(const void* r, GpuEvent& e) {
    namespace m = abi::fill;
    e.kind = GpuEventKind::Memset;
    e.u = {get(r, m::kBytes), get(r, m::kGraphNode), 0};
    e.x[0] = get(r, m::kValue);
    e.device = get(r, m::kDevice);
    e.context = get(r, m::kContext);
    e.stream = get(r, m::kStream);
    e.correlation = get(r, m::kCorrelation);
    e.graph = get(r, m::kGraph);
    if (e.graph != 0) flag(e, storage::kGpuFromGraph);
    span(e, get(r, m::kStart), get(r, m::kEnd));
}

storage::NameId Decoder::apiName(bool driver, std::uint32_t id) {
    if (id >= kMaxCallId) return 0;
    auto& names = driver ? m_driverNames : m_runtimeNames;
    if (id >= names.size()) names.resize(id + 1, 0);
    if (names[id] == 0) {
        const char* text = m_apiName ? m_apiName(driver, id) : nullptr;
        names[id] =
            text != nullptr
                ? m_sink.name(text)
                : m_sink.name((driver ? "driver call " : "runtime call ") + std::to_string(id));
    }
    return names[id];
}

void Decoder::call(const void* r, GpuEvent& e) {
    namespace a = abi::api;
    const std::uint32_t kind = get(r, abi::kKind);
    const bool driver = kind != abi::kRuntime;
    const std::uint32_t id = get(r, a::kCbid);
    e.kind = driver ? GpuEventKind::DriverApi : GpuEventKind::RuntimeApi;
    if (kind == abi::kInternalLaunchApi) {
        if (m_internalLaunch == 0) m_internalLaunch = m_sink.name("<internal launch>");
        e.name = m_internalLaunch;
    } else {
        e.name = apiName(driver, id);
    }
    e.u[0] = id;
    e.thread = get(r, a::kThread);
    e.correlation = get(r, a::kCorrelation);
    e.x[0] = get(r, a::kRet);
    if (e.x[0] != 0) flag(e, storage::kGpuError);
    span(e, get(r, a::kStart), get(r, a::kEnd));
}

bool Decoder::memory(const void* r, GpuEvent& e) {
    namespace m = abi::memory;
    const std::uint32_t operation = get(r, m::kOp);
    if (operation != 1 && operation != 2) return false;
    e.kind = operation == 1 ? GpuEventKind::MemAlloc : GpuEventKind::MemFree;
    e.u = {get(r, m::kAddress), get(r, m::kBytes), 0};
    e.x[0] = get(r, m::kMemKind);
    e.x[1] = get(r, m::kPoolType);
    if (e.x[1] != 0) {
        flag(e, storage::kGpuPool);
        e.u[2] = get(r, m::kPoolUsed);
        const std::uint64_t size = get(r, m::kPoolSize);
        const std::uint64_t address = get(r, m::kPoolAddress);
        e.x[2] = static_cast<std::uint32_t>(size >> 32U);
        e.x[3] = static_cast<std::uint32_t>(size);
        e.x[4] = static_cast<std::uint32_t>(address >> 32U);
        e.x[5] = static_cast<std::uint32_t>(address);
    }
    if (get(r, m::kIsAsync) != 0) flag(e, storage::kGpuAsync);
    e.device = get(r, m::kDevice);
    e.context = get(r, m::kContext);
    e.stream = get(r, m::kStream);
    e.correlation = get(r, m::kCorrelation);
    e.name = m_name(get(r, m::kSource, m_api, abi::Str{nullptr}));
    if (e.name == 0) e.name = m_name(get(r, m::kName));
    instant(e, get(r, m::kTimestamp));
    return true;
}

bool Decoder::pool(const void* r, GpuEvent& e) {
    namespace m = abi::pool;
    switch (get(r, m::kOp)) {
        case 1:
            e.kind = GpuEventKind::PoolCreate;
            break;
        case 2:
            e.kind = GpuEventKind::PoolDestroy;
            break;
        case 3:
            e.kind = GpuEventKind::PoolTrim;
            break;
        default:
            return false;
    }
    e.u = {get(r, m::kAddress), get(r, m::kSize), get(r, m::kUsed)};
    e.x[0] = get(r, m::kPoolType);
    e.device = get(r, m::kDevice);
    e.correlation = get(r, m::kCorrelation);
    instant(e, get(r, m::kTimestamp));
    return true;
}

void Decoder::sync(const void* r, GpuEvent& e) {
    namespace s = abi::sync;
    e.kind = GpuEventKind::Sync;
    e.u[0] = get(r, s::kEventSyncId, m_api, std::uint64_t{0});
    e.x = {get(r, s::kType), get(r, s::kEvent), get(r, s::kRet, m_api, 0U), 0, 0, 0};
    e.context = get(r, s::kContext);
    e.stream = get(r, s::kStream);
    e.correlation = get(r, s::kCorrelation);
    span(e, get(r, s::kStart), get(r, s::kEnd));
}

void Decoder::cudaEvent(const void* r, GpuEvent& e) {
    namespace c = abi::cuda_event;
    e.kind = GpuEventKind::CudaEventRecord;
    e.u[0] = get(r, c::kEventSyncId, m_api, std::uint64_t{0});
    e.x[1] = get(r, c::kEvent);
    e.context = get(r, c::kContext);
    e.stream = get(r, c::kStream);
    e.correlation = get(r, c::kCorrelation);
    e.device = get(r, c::kDevice, m_api, 0U);
    // Without a time of its own by default: that is no loss, its call has one.
    const std::uint64_t time = get(r, c::kDeviceTimestamp, m_api, std::uint64_t{0});
    if (time == 0) {
        flag(e, storage::kGpuNoTime);
    } else {
        instant(e, time);
    }
}

void Decoder::marker(const void* r, GpuEvent& e) {
    namespace m = abi::marker;
    const std::uint32_t flags = get(r, m::kFlags);
    e.kind = (flags & m::kBegin) != 0    ? GpuEventKind::NvtxPush
             : (flags & m::kFinish) != 0 ? GpuEventKind::NvtxPop
                                         : GpuEventKind::NvtxMark;
    e.u[0] = get(r, m::kId);
    e.thread = get(r, m::kThread);
    e.name = m_name(get(r, m::kName));
    e.x[0] = m_name(get(r, m::kDomain));
    instant(e, get(r, m::kTimestamp));
}

void Decoder::markerData(const void* r, GpuEvent& e) {
    namespace m = abi::marker_data;
    e.kind = GpuEventKind::NvtxData;
    e.u = {get(r, m::kId), get(r, m::kPayload), get(r, m::kPayloadKind)};
    e.x[0] = (get(r, m::kFlags) & m::kHasColor) != 0 ? get(r, m::kColor) : 0;
    e.x[1] = get(r, m::kCategory);
    flag(e, storage::kGpuNoTime);
}

void Decoder::external(const void* r, GpuEvent& e) {
    namespace x = abi::external;
    e.kind = GpuEventKind::ExternalId;
    e.u[0] = get(r, x::kId);
    e.x[0] = get(r, x::kExtKind);
    e.correlation = get(r, x::kCorrelation);
    flag(e, storage::kGpuNoTime);
}

void Decoder::overhead(const void* r, GpuEvent& e) {
    namespace o = abi::overhead;
    e.kind = GpuEventKind::Overhead;
    e.x[0] = get(r, o::kWhat);
    constexpr std::uint32_t kObjectThread = 2;
    if (get(r, o::kObjectKind) == kObjectThread) e.thread = get(r, o::kThread);
    e.correlation = get(r, o::kCorrelation, m_api, 0U);
    // CUPTI leaves this memory to its client. An unknown layout is rather leaked than freed.
    if (!m_newer) std::free(get(r, o::kData, m_api, static_cast<void*>(nullptr)));
    span(e, get(r, o::kStart), get(r, o::kEnd));
}

void Decoder::graph(const void* r, GpuEvent& e) {
    namespace g = abi::graph;
    e.kind = GpuEventKind::GraphLaunch;
    e.graph = get(r, g::kGraphId);
    e.device = get(r, g::kDevice);
    e.context = get(r, g::kContext);
    e.stream = get(r, g::kStream);
    e.correlation = get(r, g::kCorrelation);
    span(e, get(r, g::kStart), get(r, g::kEnd));
}

void Decoder::device(const void* r) {
    namespace d = abi::device;
    storage::GpuDevice row;
    row.process = m_process;
    row.device = get(r, d::kId);
    row.uuid = uuidText(get(r, d::kUuid));
    row.memoryBytes = get(r, d::kMemory);
    row.multiprocessors = get(r, d::kSmCount);
    row.capabilityMajor = get(r, d::kCcMajor);
    row.capabilityMinor = get(r, d::kCcMinor);
    if (char* name = get(r, d::kName)) {
        constexpr std::size_t kLongest = 1024;
        if (!readText(name, kLongest, row.name)) row.name.clear();
        if (!m_newer) std::free(name);  // documented as the client's
    }
    m_sink.device(std::move(row));
}

void Decoder::context(const void* r) {
    namespace c = abi::context;
    const std::uint32_t device = get(r, c::kDevice);
    if (device < 64) m_devices |= std::uint64_t{1} << device;
    m_sink.context({m_process, get(r, c::kId), device, get(r, c::kNullStream)});
}

void Decoder::stream(const void* r) {
    namespace s = abi::stream;
    m_sink.stream({m_process, get(r, s::kContext), get(r, s::kId),
                   static_cast<std::int32_t>(get(r, s::kPriority)), get(r, s::kFlag)});
}

void Decoder::objectName(const void* r) {
    namespace n = abi::name;
    storage::GpuObjectName row;
    row.process = m_process;
    const std::uint32_t first = get(r, n::kFirst);
    const std::uint32_t second = get(r, n::kSecond);
    switch (get(r, n::kObjectKind)) {
        case 1:
            row.object = storage::GpuObject::Process;
            row.id = first;
            break;
        case 2:
            row.object = storage::GpuObject::Thread;
            row.id = second;
            break;
        case 3:
            row.object = storage::GpuObject::Device;
            row.id = first;
            break;
        case 4:
            row.object = storage::GpuObject::Context;
            row.id = second;
            break;
        case 5:
            row.object = storage::GpuObject::Stream;
            row.id = get(r, n::kThird);
            row.context = second;
            break;
        default:
            ++m_impossible;
            return;
    }
    constexpr std::size_t kLongest = 1024;
    const char* text = get(r, n::kName);
    if (text == nullptr || !readText(text, kLongest, row.name)) return;
    m_sink.objectName(std::move(row));
}

bool Decoder::decode(const void* record, GpuEvent& e) {
    ++m_records;
    e = {};
    e.process = m_process;
    bool possible = true;
    switch (get(record, abi::kKind)) {
        case abi::kKernel:
        case abi::kConcurrentKernel:
            possible = kernel(record, e);
            break;
        case abi::kMemcpy:
            copy(record, e);
            break;
        case abi::kMemcpy2:
            peerCopy(record, e);
            break;
        case abi::kMemset:
            fill(record, e);
            break;
        case abi::kRuntime:
        case abi::kDriver:
        case abi::kInternalLaunchApi:
            call(record, e);
            break;
        case abi::kMemory2:
            possible = memory(record, e);
            break;
        case abi::kMemoryPool:
            possible = pool(record, e);
            break;
        case abi::kSynchronization:
            sync(record, e);
            break;
        case abi::kCudaEvent:
            cudaEvent(record, e);
            break;
        case abi::kMarker:
            marker(record, e);
            break;
        case abi::kMarkerData:
            markerData(record, e);
            break;
        case abi::kExternalCorrelation:
            external(record, e);
            break;
        case abi::kOverhead:
            overhead(record, e);
            break;
        case abi::kGraphTrace:
            graph(record, e);
            break;
        case abi::kDevice:
            device(record);
            return false;
        case abi::kContext:
            context(record);
            return false;
        case abi::kStream:
            stream(record);
            return false;
        case abi::kName:
            objectName(record);
            return false;
        default:
            ++m_unknownKind;
            return false;
    }
    if (!possible) ++m_impossible;
    if (possible && storage::runsOnDevice(e.kind)) ++m_deviceRecords;
    return possible;
}

}  // namespace tapescope::profiler::cupti
