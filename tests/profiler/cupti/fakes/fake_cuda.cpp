// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that knows the injection handshake and a few driver calls: enough for programs
// that use the driver API by name. The real libcudart, cuBLAS or PyTorch cannot run on it.
//
// Environment: FAKE_CUDA_VERSION (13000), FAKE_CUDA_NO_DEVICE, FAKE_CUPTI_PATH (the fake libcupti),
//              CUDA_INJECTION64_PATH as the real driver.
#include "tests/profiler/cupti/fakes/fake_api.h"
#include "tests/profiler/cupti/fakes/fake_records.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

using namespace tapescope::profiler::cupti;
#define API extern "C" __attribute__((visibility("default")))

namespace {

/// The fake CUPTI, once the injected library has loaded it. Without one, calls trace nothing.
fake::Cupti cupti() {
    static std::atomic<void*> handle{nullptr};
    if (handle == nullptr) {
        if (const char* path = std::getenv("FAKE_CUPTI_PATH"))
            handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    }
    return fake::Cupti(handle);
}

std::uint64_t now() {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(t.tv_nsec);
}

class Call {
public:
    explicit Call(std::uint32_t id) : m_cupti(cupti()), m_id(id) {
        m_correlation = m_cupti.begin(id, m_start);
    }
    ~Call() { m_cupti.end(m_id, m_correlation, m_start); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    std::uint32_t correlation() const { return m_correlation; }
    template <class R>
    void emit(const R& record) const {
        m_cupti.emit(record);
    }

private:
    fake::Cupti m_cupti;
    std::uint32_t m_id;
    std::uint32_t m_correlation = 0;
    std::uint64_t m_start = 0;
};

std::mutex g_mutex;
// Guarded by g_mutex:
std::map<std::uint32_t, std::uint64_t> g_streamFree;  ///< when a stream has done its work
std::uint64_t g_nextAddress = 0x7f0000000000;
fake::Pool g_pool{0, 32U << 20};
std::map<std::uint64_t, std::uint64_t> g_sizes;
std::uint32_t g_nextStream = 13;

constexpr std::uint32_t kDefaultStream = 7;
constexpr std::uint64_t kLaunchNs = 2500;  // from the call to the start on an idle stream

std::uint32_t streamOf(void* stream) {
    const auto id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
    return id == 0 ? kDefaultStream : id;
}

struct Work {
    std::uint64_t start;
    std::uint64_t end;
};
Work schedule(std::uint32_t stream, std::uint64_t durationNs) {
    const std::lock_guard lock(g_mutex);
    std::uint64_t& free = g_streamFree[stream];
    const std::uint64_t start = std::max(free, now() + kLaunchNs);
    free = start + durationNs;
    return {start, free};
}

void waitUntil(std::uint64_t time) {
    const std::uint64_t at = now();
    if (time <= at) return;
    timespec t{};
    t.tv_sec = static_cast<time_t>((time - at) / 1'000'000'000U);
    t.tv_nsec = static_cast<long>((time - at) % 1'000'000'000U);
    nanosleep(&t, nullptr);
}

int copy(std::uint32_t id, std::uint64_t bytes, std::uint8_t kind, void* stream) {
    const Call call(id);
    const std::uint32_t s = streamOf(stream);
    // 25 GB/s and a microsecond.
    const Work w = schedule(s, bytes / 25 + 1000);
    call.emit(fake::memcpyRecord(call.correlation(), w.start, w.end, bytes, kind, s));
    return 0;
}

}  // namespace

API int cuDriverGetVersion(int* version) {
    const char* text = std::getenv("FAKE_CUDA_VERSION");
    *version = text != nullptr ? std::atoi(text) : 13000;
    return 0;
}
API int cuInit(unsigned) {
    static std::once_flag once;
    std::call_once(once, [] {
        const char* path = std::getenv("CUDA_INJECTION64_PATH");
        if (path == nullptr || *path == 0) return;
        void* handle = dlopen(path, RTLD_NOW);
        if (handle == nullptr) return;  // as the real one: silently
        if (auto* initialize = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection")))
            initialize();
    });
    // As the real one: after the injection, even without a device.
    if (std::getenv("FAKE_CUDA_NO_DEVICE") != nullptr) return 100;
    static std::once_flag context;
    std::call_once(context, [] { cupti().contextCreated(0); });
    return 0;
}
API int cuDeviceGetCount(int* count) {
    *count = std::getenv("FAKE_CUDA_NO_DEVICE") != nullptr ? 0 : 1;
    return 0;
}
API int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    const Call call(243);
    {
        const std::lock_guard lock(g_mutex);
        *address = g_nextAddress;
        g_nextAddress += (bytes + 511) / 512 * 512;
        g_sizes[*address] = bytes;
    }
    call.emit(fake::memoryRecord(call.correlation(), 1, *address, bytes, now()));
    return 0;
}
API int cuMemFree_v2(std::uint64_t address) {
    const Call call(245);
    std::uint64_t bytes = 0;
    {
        const std::lock_guard lock(g_mutex);
        bytes = g_sizes[address];
        g_sizes.erase(address);
    }
    call.emit(fake::memoryRecord(call.correlation(), 2, address, bytes, now()));
    return 0;
}
API int cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void*) {
    const Call call(612);
    fake::Pool pool;
    {
        const std::lock_guard lock(g_mutex);
        *address = g_nextAddress;
        g_nextAddress += bytes;
        g_pool.used += bytes;
        pool = g_pool;
    }
    call.emit(fake::memoryRecord(call.correlation(), 1, *address, bytes, now(), &pool));
    return 0;
}
API int cuMemcpyHtoD_v2(std::uint64_t, const void*, std::size_t bytes) {
    return copy(276, bytes, 1, nullptr);
}
API int cuMemcpyHtoDAsync_v2(std::uint64_t, const void*, std::size_t bytes, void* stream) {
    return copy(277, bytes, 1, stream);
}
API int cuMemcpyDtoHAsync_v2(void*, std::uint64_t, std::size_t bytes, void* stream) {
    return copy(279, bytes, 2, stream);
}
API int cuMemsetD32Async(std::uint64_t, unsigned value, std::size_t count, void* stream) {
    const Call call(213);
    const std::uint32_t s = streamOf(stream);
    const Work w = schedule(s, count / 500 + 800);
    call.emit(fake::memsetRecord(call.correlation(), w.start, w.end, 4 * count, value, s));
    return 0;
}
API int cuStreamCreate(void** stream, unsigned) {
    const Call call(124);
    std::uint32_t id = 0;
    {
        const std::lock_guard lock(g_mutex);
        id = g_nextStream++;
    }
    *stream = reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));
    call.emit(fake::streamRecord(id));
    return 0;
}
/// `function` is the kernel's name; `extra` points to its duration in ns (3000 without).
API int cuLaunchKernel(const char* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned, void* stream, void**, void** extra) {
    const Call call(307);
    const std::uint32_t s = streamOf(stream);
    const std::uint64_t duration =
        extra != nullptr ? *reinterpret_cast<const std::uint64_t*>(extra) : 3000;
    const Work w = schedule(s, duration);
    const auto i = [](unsigned v) { return static_cast<std::int32_t>(v); };
    const fake::Dims dims{{i(gx), i(gy), i(gz)}, {i(bx), i(by), i(bz)}};
    call.emit(fake::kernelRecord(function, call.correlation(), w.start, w.end, s, dims));
    return 0;
}
/// A graph of `nodes` kernels.
API int cuGraphLaunch(int nodes, void* stream) {
    const Call call(514);
    const std::uint32_t s = streamOf(stream);
    for (int i = 0; i < nodes; ++i) {
        const Work w = schedule(s, 4000);
        auto record = fake::kernelRecord("graph_node_kernel", call.correlation(), w.start, w.end, s,
                                         {{1, 1, 1}, {32, 1, 1}}, 5);
        record.with(abi::kernel::kGraphNode, static_cast<std::uint64_t>(100 + i));
        call.emit(record);
    }
    return 0;
}
API int cuCtxSynchronize() {
    const Call call(17);
    const std::uint64_t start = now();
    std::uint64_t last = 0;
    {
        const std::lock_guard lock(g_mutex);
        for (const auto& [stream, free] : g_streamFree) last = std::max(last, free);
    }
    waitUntil(last);
    call.emit(fake::syncRecord(call.correlation(), 4, start, now()));
    return 0;
}
API int cuCtxDestroy_v2(void*) {
    const Call call(322);
    return 0;
}

/// A copy for good: a program may free its text right after the call, and CUPTI's records outlive
/// it.
const char* kept(const char* text) {
    static std::mutex mutex;
    static auto& texts = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return text ? texts.emplace(text).first->c_str() : nullptr;
}

// What a program does through NVTX and kineto.
API void fakeNvtxPush(const char* name, std::uint32_t id) {
    cupti().emit(fake::markerRecord(kept(name), abi::marker::kBegin, id, now(),
                                    static_cast<std::uint32_t>(syscall(SYS_gettid))));
    cupti().emit(fake::markerDataRecord(id, 0xFF3070B0U + 0x101010U * (id % 5), id % 3));
}
API void fakeNvtxPop(std::uint32_t id) {
    cupti().emit(fake::markerRecord(nullptr, abi::marker::kFinish, id, now(),
                                    static_cast<std::uint32_t>(syscall(SYS_gettid))));
}
API void fakeNvtxNameStream(void* stream, const char* name) {
    cupti().emit(fake::streamNameRecord(streamOf(stream), kept(name)));
}
API void fakeDrop(std::size_t records) { cupti().drop(records); }
API void fakeTakeOver() { cupti().takeOver(); }
API void fakeOperatorPush(std::uint64_t id) {
    if (const char* path = std::getenv("FAKE_CUPTI_PATH")) {
        if (void* h = dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
            if (auto* f = reinterpret_cast<int (*)(int, std::uint64_t)>(
                    dlsym(h, "cuptiActivityPushExternalCorrelationId")))
                f(abi::kCustom0, id);
            dlclose(h);
        }
    }
}
API void fakeOperatorPop() {
    if (const char* path = std::getenv("FAKE_CUPTI_PATH")) {
        if (void* h = dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
            std::uint64_t last = 0;
            if (auto* f = reinterpret_cast<int (*)(int, std::uint64_t*)>(
                    dlsym(h, "cuptiActivityPopExternalCorrelationId")))
                f(abi::kCustom0, &last);
            dlclose(h);
        }
    }
}
