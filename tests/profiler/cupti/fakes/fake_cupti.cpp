// SPDX-License-Identifier: Apache-2.0
// A libcupti for machines without a GPU. It speaks the collector's part of CUPTI, writes records in
// the layouts of the API version that it plays, and enforces CUPTI's rules: it aborts with a
// message when a client breaks one. Records come from the fake driver or from a test.
//
// Environment: FAKE_CUPTI_VERSION (130001), FAKE_CUPTI_SUBSCRIBE_RC,
// FAKE_CUPTI_ENABLE_RC="kind:rc,…",
//              FAKE_CUPTI_FLUSH_HANG, FAKE_CUPTI_FLUSH_SLOW_MS, FAKE_CUPTI_CLOCK=monotonic,
//              FAKE_CUPTI_UNSUPPORTED (cuptiDeviceSupported says no), FAKE_CUPTI_WITHOUT="kind,…"
//              (kinds that are on and yet never come), FAKE_CUPTI_SUBSCRIBE_INITS (starting calls
//              cuInit)
#include "profiler/cupti/abi_records.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace abi = tapescope::profiler::cupti::abi;
#define API extern "C" __attribute__((visibility("default")))

namespace {

std::uint32_t number(const char* variable, std::uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))
                           : otherwise;
}

std::uint64_t now() {
    const char* clock = std::getenv("FAKE_CUPTI_CLOCK");
    const bool other = clock != nullptr && std::strcmp(clock, "monotonic") == 0;
    timespec t{};
    clock_gettime(other ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint32_t thread() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

[[noreturn]] void brokenRule(const char* what) {
    std::fprintf(stderr, "FAKE CUPTI: %s\n", what);
    std::abort();
}

struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    bool complete = true;  ///< holds no record that is still running
};

struct State {
    const std::uint32_t version = number("FAKE_CUPTI_VERSION", 130001);
    std::mutex mutex;  ///< CUPTI's own lock: held while the client's request function runs
    abi::BufferRequested requested = nullptr;
    abi::BufferCompleted completed = nullptr;
    abi::Callback callback = nullptr;
    void* user = nullptr;
    bool subscribed = false;
    std::set<std::pair<int, std::uint32_t>> callbacks;
    std::set<std::uint32_t> kinds;
    std::set<std::uint32_t> driverCalls;  ///< chosen one by one (12.5 and later)
    std::set<std::uint32_t> without;
    std::map<pthread_t, Buffer> current;  ///< a thread has its own, the default since 13.0
    std::deque<Buffer> ready;
    std::map<pthread_t, std::map<int, std::vector<std::uint64_t>>> external;
    std::size_t dropped = 0;
    std::size_t lent = 0;
    std::size_t returned = 0;
    bool perThread = true;
    std::atomic<std::uint32_t> correlation{100};
    std::thread worker;
    std::condition_variable haveReady;
};
State& state() {
    static auto* const s = [] {
        auto* made = new State;  // outlives every exit handler, as the real one's core does
        if (const char* text = std::getenv("FAKE_CUPTI_WITHOUT")) {
            for (const char* p = text; p != nullptr && *p != 0;) {
                made->without.insert(static_cast<std::uint32_t>(std::strtoul(p, nullptr, 10)));
                p = std::strchr(p, ',');
                if (p != nullptr) ++p;
            }
        }
        return made;
    }();
    return *s;
}
thread_local int t_inCompletion = 0;

void deliver(const Buffer& b) {
    State& s = state();
    abi::BufferCompleted completed = nullptr;
    {
        const std::lock_guard lock(s.mutex);
        completed = s.completed;
    }
    ++t_inCompletion;
    completed(nullptr, 0, b.data, b.size, b.used);
    --t_inCompletion;
    const std::lock_guard lock(s.mutex);
    ++s.returned;
}

void work() {
    State& s = state();
    std::unique_lock lock(s.mutex);
    while (true) {
        s.haveReady.wait(lock, [&] { return !s.ready.empty(); });
        const Buffer b = s.ready.front();
        s.ready.pop_front();
        lock.unlock();
        deliver(b);
        lock.lock();
    }
}

std::size_t sizeOf(std::uint32_t kind) {
    constexpr std::size_t kFutureKind = 64;
    const std::size_t n = abi::recordSize(kind, state().version);
    return n != 0 ? n : kFutureKind;
}

/// Room for one record, with the state's mutex held; null if it is dropped.
std::uint8_t* append(std::uint32_t kind, bool complete) {
    State& s = state();
    const std::size_t n = sizeOf(kind);
    const pthread_t key = s.perThread ? pthread_self() : pthread_t{};
    auto at = s.current.find(key);
    if (at != s.current.end() && at->second.used + n > at->second.size) {
        s.ready.push_back(at->second);
        s.current.erase(at);
        at = s.current.end();
        s.haveReady.notify_one();
    }
    if (at == s.current.end()) {
        Buffer b;
        std::size_t maxRecords = 0;
        s.requested(&b.data, &b.size, &maxRecords);
        if (b.data == nullptr) {
            if (s.version < abi::kV12_9)
                brokenRule("no buffer given to a CUPTI before 12.9: the real one crashes here");
            ++s.dropped;
            return nullptr;
        }
        if (reinterpret_cast<std::uintptr_t>(b.data) % 8 != 0) brokenRule("buffer not aligned");
        ++s.lent;
        at = s.current.emplace(key, b).first;
        if (n > b.size) {
            ++s.dropped;
            return nullptr;
        }
    }
    Buffer& b = at->second;
    std::uint8_t* record = b.data + b.used;
    b.used += n;
    b.complete = b.complete && complete;
    return record;
}

bool wanted(std::uint32_t kind) {
    State& s = state();
    return s.requested != nullptr && s.kinds.count(kind) != 0 && s.without.count(kind) == 0;
}

void emitLocked(const void* record, bool complete) {
    const std::uint32_t kind = abi::get(record, abi::kKind);
    if (std::uint8_t* to = append(kind, complete)) std::memcpy(to, record, sizeOf(kind));
}

}  // namespace

API int cuptiGetVersion(std::uint32_t* version) {
    *version = state().version;
    return abi::kSuccess;
}
API int cuptiGetTimestamp(std::uint64_t* time) {
    *time = now();
    return abi::kSuccess;
}
API int cuptiGetResultString(int result, const char** text) {
    // Made lazily and destroyed at exit, before handlers registered earlier run: the real one has
    // such objects too, and whoever calls too late meets their remains.
    static const std::map<int, std::string> names = {
        {0, "CUPTI_SUCCESS"},
        {15, "CUPTI_ERROR_NOT_INITIALIZED"},
        {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"},
        {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
        {999, "CUPTI_ERROR_UNKNOWN"}};
    const auto found = names.find(result);
    *text = found != names.end() ? found->second.c_str() : "CUPTI_ERROR_OTHER";
    return abi::kSuccess;
}
API int cuptiSubscribe(void** handle, abi::Callback callback, void* user) {
    State& s = state();
    if (const std::uint32_t result = number("FAKE_CUPTI_SUBSCRIBE_RC", 0))
        return static_cast<int>(result);
    if (std::getenv("FAKE_CUPTI_SUBSCRIBE_INITS") != nullptr) {
        void* driver = dlopen("libcuda.so.1", RTLD_NOW);
        const auto init = driver != nullptr
                              ? reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"))
                              : nullptr;
        if (init != nullptr) init(0);
    }
    const std::lock_guard lock(s.mutex);
    if (s.subscribed) return abi::kMultipleSubscribers;
    s.subscribed = true;
    s.callback = callback;
    s.user = user;
    *handle = &s;
    return abi::kSuccess;
}
API int cuptiSubscribe_v2(void** handle, abi::Callback callback, void* user,
                          abi::SubscriberParams* params) {
    if (params != nullptr && params->structSize != sizeof *params) return abi::kInvalidParameter;
    const int result = cuptiSubscribe(handle, callback, user);
    if (result == abi::kMultipleSubscribers && params != nullptr && params->oldName != nullptr)
        std::snprintf(params->oldName, params->oldSize, "CUPTI for fake Nsight");
    return result;
}
API int cuptiUnsubscribe(void* handle) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (handle != &s) return abi::kInvalidParameter;
    s.subscribed = false;
    s.callback = nullptr;
    s.callbacks.clear();
    return abi::kSuccess;
}
API int cuptiEnableCallback(std::uint32_t on, void* handle, int domain, std::uint32_t id) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (handle != &s) return abi::kInvalidParameter;
    if (on != 0) {
        s.callbacks.insert({domain, id});
    } else {
        s.callbacks.erase({domain, id});
    }
    return abi::kSuccess;
}
API int cuptiGetCallbackName(int domain, std::uint32_t id, const char** name) {
    static const std::map<std::pair<int, std::uint32_t>, std::string> names = {
        {{1, 17}, "cuCtxSynchronize"},       {{1, 243}, "cuMemAlloc_v2"},
        {{1, 245}, "cuMemFree_v2"},          {{1, 276}, "cuMemcpyHtoD_v2"},
        {{1, 278}, "cuMemcpyDtoH_v2"},       {{1, 307}, "cuLaunchKernel"},
        {{1, 322}, "cuCtxDestroy_v2"},       {{1, 514}, "cuGraphLaunch"},
        {{1, 612}, "cuMemAllocAsync"},       {{1, 255}, "cuMemsetD32_v2"},
        {{2, 211}, "cudaLaunchKernel"},      {{2, 41}, "cudaMemcpyAsync"},
        {{2, 311}, "cudaGraphLaunch"},       {{2, 20}, "cudaMalloc"},
        {{2, 165}, "cudaDeviceSynchronize"}, {{2, 51}, "cudaMemsetAsync"},
        {{2, 131}, "cudaStreamSynchronize"}};
    const auto found = names.find({domain, id});
    if (found == names.end()) return abi::kInvalidParameter;
    *name = found->second.c_str();
    return abi::kSuccess;
}
API int cuptiSetThreadIdType(int) { return abi::kSuccess; }
API int cuptiActivityRegisterCallbacks(abi::BufferRequested requested,
                                       abi::BufferCompleted completed) {
    State& s = state();
    if (requested == nullptr || completed == nullptr) return abi::kInvalidParameter;
    const std::lock_guard lock(s.mutex);
    s.requested = requested;
    s.completed = completed;
    if (!s.worker.joinable()) s.worker = std::thread(work);
    return abi::kSuccess;
}
API int cuptiActivityEnable(std::uint32_t kind) {
    if (const char* text = std::getenv("FAKE_CUPTI_ENABLE_RC")) {
        for (const char* p = text; p != nullptr && *p != 0;) {
            unsigned which = 0;
            int result = 0;
            if (std::sscanf(p, "%u:%d", &which, &result) == 2 && which == kind) return result;
            p = std::strchr(p, ',');
            if (p != nullptr) ++p;
        }
    }
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.kinds.insert(kind);
    return abi::kSuccess;
}
API int cuptiActivityDisable(std::uint32_t kind) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.kinds.erase(kind);
    return abi::kSuccess;
}
namespace {
void emitDevice() {
    alignas(8) std::uint8_t r[256] = {};
    abi::put(r, abi::kKind, std::uint32_t{abi::kDevice});
    abi::put(r, abi::device::kMemory, std::uint64_t{141} << 30U);
    abi::put(r, abi::device::kSmCount, std::uint32_t{132});
    abi::put(r, abi::device::kCcMajor, std::uint32_t{9});
    abi::Uuid uuid{};
    for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<std::uint8_t>(0x10 + i);
    abi::put(r, abi::device::kUuid, uuid);
    abi::put(r, abi::device::kName, strdup("Fake H200"));  // the client's to free
    emitLocked(r, true);
}
void emitContext() {
    alignas(8) std::uint8_t r[256] = {};
    abi::put(r, abi::kKind, std::uint32_t{abi::kContext});
    abi::put(r, abi::context::kId, std::uint32_t{1});
    abi::put(r, abi::context::kNullStream, std::uint16_t{7});
    emitLocked(r, true);
}
}  // namespace
API int cuptiActivityEnableAndDump(std::uint32_t kind) {
    if (const int result = cuptiActivityEnable(kind)) return result;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.requested == nullptr) return abi::kUnknown;
    if (kind == abi::kDevice) emitDevice();
    if (kind == abi::kContext) emitContext();
    return abi::kSuccess;
}
API int cuptiActivityFlushAll(std::uint32_t flag) {
    State& s = state();
    if (t_inCompletion != 0) brokenRule("cuptiActivityFlushAll from a buffer callback");
    if (flag != 0 && std::getenv("FAKE_CUPTI_FLUSH_HANG") != nullptr) {
        while (true) pause();
    }
    if (flag != 0) usleep(number("FAKE_CUPTI_FLUSH_SLOW_MS", 0) * 1000);
    std::deque<Buffer> out;
    {
        const std::lock_guard lock(s.mutex);
        if (s.completed == nullptr) return abi::kInvalidOperation;
        out.swap(s.ready);
        for (auto it = s.current.begin(); it != s.current.end();) {
            if (it->second.used != 0 && (flag != 0 || it->second.complete)) {
                out.push_back(it->second);
                it = s.current.erase(it);
            } else {
                ++it;
            }
        }
    }
    for (const Buffer& b : out) deliver(b);
    return abi::kSuccess;
}
API int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, void** record) {
    if (buffer == nullptr) return abi::kInvalidParameter;
    auto* at = static_cast<std::uint8_t*>(*record);
    at = at == nullptr ? buffer : at + sizeOf(abi::get(at, abi::kKind));
    if (at >= buffer + valid) return abi::kMaxLimitReached;
    const auto left = static_cast<std::size_t>(buffer + valid - at);
    if (left < sizeof(std::uint32_t)) return abi::kInvalidKind;
    const std::uint32_t kind = abi::get(at, abi::kKind);
    if (kind == 0 || sizeOf(kind) > left) return abi::kInvalidKind;
    *record = at;
    return abi::kSuccess;
}
API int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    *dropped = std::exchange(s.dropped, 0);
    return abi::kSuccess;
}
API int cuptiActivitySetAttribute(int attribute, std::size_t* size, void* value) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (attribute == abi::kAttrPerThreadBuffer && *size == 1)
        s.perThread = *static_cast<std::uint8_t*>(value) != 0;
    return abi::kSuccess;
}
API int cuptiActivityPushExternalCorrelationId(int kind, std::uint64_t id) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.external[pthread_self()][kind].push_back(id);
    return abi::kSuccess;
}
API int cuptiActivityPopExternalCorrelationId(int kind, std::uint64_t* last) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    auto& stack = s.external[pthread_self()][kind];
    if (stack.empty()) return abi::kQueueEmpty;
    if (last != nullptr) *last = stack.back();
    stack.pop_back();
    return abi::kSuccess;
}
API int cuptiDeviceSupported(int, int* supported) {
    *supported = std::getenv("FAKE_CUPTI_UNSUPPORTED") == nullptr ? 1 : 0;
    return abi::kSuccess;
}
API int cuptiGetDeviceId(void* context, std::uint32_t* device) {
    *device = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context) & 0xFFU);
    return abi::kSuccess;
}
API int cuptiNvtxInitialize2(void*) { return abi::kSuccess; }
#ifndef FAKE_CUPTI_OLD  // what CUPTI before 12.5 does not have
API int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t) { return abi::kSuccess; }
API int cuptiActivityEnableDriverApi(std::uint32_t id, std::uint8_t on) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (on != 0) {
        s.driverCalls.insert(id);
    } else {
        s.driverCalls.erase(id);
    }
    return abi::kSuccess;
}
#endif

// ---- for the fake driver and the tests ----

// Ids from 10000 on are runtime calls, 10000 + callback id.
namespace {
constexpr std::uint32_t kRuntimeCalls = 10000;
}

API std::uint32_t fake_cupti_api_begin(std::uint32_t call, std::uint64_t* start) {
    State& s = state();
    const std::uint32_t correlation = ++s.correlation;
    *start = now();
    const bool runtime = call >= kRuntimeCalls;
    const int domain = runtime ? abi::kDomainRuntime : abi::kDomainDriver;
    const std::uint32_t id = runtime ? call - kRuntimeCalls : call;
    abi::Callback callback = nullptr;
    void* user = nullptr;
    {
        const std::lock_guard lock(s.mutex);
        if (s.callbacks.count({domain, id}) != 0) {
            callback = s.callback;
            user = s.user;
        }
    }
    if (callback != nullptr) {
        alignas(8) std::uint8_t data[128] = {};
        abi::put(data, abi::callback::kSite, static_cast<int>(abi::kApiEnter));
        abi::put(data, abi::callback::kCorrelation, correlation);
        callback(user, domain, id, data);
    }
    return correlation;
}

API void fake_cupti_api_end(std::uint32_t call, std::uint32_t correlation, std::uint64_t start,
                            std::uint32_t result) {
    State& s = state();
    const bool runtime = call >= kRuntimeCalls;
    const std::uint32_t id = runtime ? call - kRuntimeCalls : call;
    const std::lock_guard lock(s.mutex);
    const std::uint32_t kind = runtime ? abi::kRuntime : abi::kDriver;
    if (s.requested == nullptr || s.without.count(kind) != 0) return;
    const bool traced = s.kinds.count(kind) != 0 || (!runtime && s.driverCalls.count(id) != 0);
    if (!traced) return;
    if (wanted(abi::kExternalCorrelation)) {
        for (const auto& [whose, stack] : s.external[pthread_self()]) {
            if (stack.empty()) continue;
            alignas(8) std::uint8_t r[256] = {};
            abi::put(r, abi::kKind, std::uint32_t{abi::kExternalCorrelation});
            abi::put(r, abi::external::kExtKind, static_cast<std::uint32_t>(whose));
            abi::put(r, abi::external::kId, stack.back());
            abi::put(r, abi::external::kCorrelation, correlation);
            emitLocked(r, true);
        }
    }
    alignas(8) std::uint8_t r[256] = {};
    abi::put(r, abi::kKind, kind);
    abi::put(r, abi::api::kCbid, id);
    abi::put(r, abi::api::kStart, start);
    abi::put(r, abi::api::kEnd, now());
    abi::put(r, abi::api::kProcess, static_cast<std::uint32_t>(getpid()));
    abi::put(r, abi::api::kThread, thread());
    abi::put(r, abi::api::kCorrelation, correlation);
    abi::put(r, abi::api::kRet, result);
    emitLocked(r, true);
}

API void fake_cupti_emit(const void* record) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const std::uint32_t kind = abi::get(record, abi::kKind);
    // Kinds that CUPTI does not know today come as they are.
    if (abi::recordSize(kind, s.version) != 0 && !wanted(kind)) return;
    if (s.requested == nullptr) return;
    const bool running = kind == abi::kConcurrentKernel &&
                         abi::get(record, abi::kernel::kStart) != 0 &&
                         abi::get(record, abi::kernel::kEnd) == 0;
    emitLocked(record, !running);
}
API void fake_cupti_cut(std::size_t bytes) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const auto at = s.current.find(s.perThread ? pthread_self() : pthread_t{});
    if (at != s.current.end() && at->second.used >= bytes) at->second.used -= bytes;
}
API void fake_cupti_drop(std::size_t records) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.dropped += records;
}
API void fake_cupti_report(int result, const char* message) {
    State& s = state();
    abi::Callback callback = nullptr;
    void* user = nullptr;
    {
        const std::lock_guard lock(s.mutex);
        if (s.callbacks.count({abi::kDomainState, abi::kStateError}) != 0) {
            callback = s.callback;
            user = s.user;
        }
    }
    const abi::StateData data{result, message};
    if (callback != nullptr) callback(user, abi::kDomainState, abi::kStateError, &data);
}
API void fake_cupti_context_created(std::uint32_t device) {
    State& s = state();
    abi::Callback callback = nullptr;
    void* user = nullptr;
    {
        const std::lock_guard lock(s.mutex);
        if (s.callbacks.count({abi::kDomainResource, abi::kResourceContextCreated}) != 0) {
            callback = s.callback;
            user = s.user;
        }
        if (wanted(abi::kDevice)) emitDevice();
        if (wanted(abi::kContext)) emitContext();
    }
    void* data[3] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(0x1000 | device)), nullptr,
                     nullptr};
    if (callback != nullptr)
        callback(user, abi::kDomainResource, abi::kResourceContextCreated,
                 static_cast<void*>(data));
}
API void fake_cupti_take_over() {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.requested = [](std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) {
        constexpr std::size_t kSize = 65536;
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, kSize));
        *size = kSize;
        *maxRecords = 0;
    };
    s.completed = [](void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
        std::free(buffer);
    };
}
API std::size_t fake_cupti_outstanding() {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    return s.lent - s.returned;
}
API std::uint64_t fake_cupti_now() { return now(); }
