// SPDX-License-Identifier: Apache-2.0
// How a session begins: the order of CUPTI's calls.
#include "profiler/cupti/session.h"

#include <array>
#include <csignal>
#include <pthread.h>

namespace tapescope::profiler::cupti {
namespace {

// CUPTI keeps our buffer functions for the life of the process, so their session stays as well.
std::atomic<Collector::Session*> g_session{nullptr};
std::shared_ptr<Collector::Session>& keptSession() {
    static auto* const kept = new std::shared_ptr<Collector::Session>;  // outlives every static
    return *kept;
}

}  // namespace

Collector::Collector(CollectorOptions options, SinkFactory makeSink)
    : m_session(std::make_shared<Session>(std::move(options), std::move(makeSink))) {}

State Collector::start() {
    Session& s = *m_session;
    Session* none = nullptr;
    if (!g_session.compare_exchange_strong(none, &s)) {
        const std::lock_guard lock(s.stateMutex);
        s.state = State::Busy;
        s.detail = "this program traces already";
        return s.state;
    }
    try {
        keptSession() = m_session;
        const State state = s.start();
        // Also where tracing failed: the thread makes the sink and writes why. From here on it owns
        // the state.
        sigset_t all;
        sigset_t before;
        sigfillset(&all);  // it takes none of the program's signals
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            s.thread = std::thread([session = m_session] { session->run(); });
        } catch (...) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw;
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return state;
    } catch (...) {
        s.switchOff();
        const std::lock_guard lock(s.stateMutex);
        s.state = State::InternalError;
        s.detail = "no memory, or no thread";
        return s.state;
    }
}

State Collector::Session::start() {
    const auto conclude = [this](const Verdict& verdict) {
        const std::lock_guard lock(stateMutex);
        state = verdict.state;
        detail = verdict.detail;
        if (!library.overrideProblem.empty())
            detail += (detail.empty() ? "" : "; ") + library.overrideProblem;
        return state;
    };
    library = loadLibrary(options.cuptiPath);
    if (library.state != State::Ok) return conclude({library.state, library.detail});
    clock.sample();
    if (!clockIsRealtime()) return conclude({State::ClockUnknown, toolkitName(library.version)});
    if (const Verdict v = subscribe(); v.state != State::Ok) return conclude(v);
    const Verdict verdict = enableKinds();
    if (isTracing(verdict.state)) {
        tracing = true;
    } else {
        library.fn.cuptiUnsubscribe(subscriber);
        subscriber = nullptr;
    }
    return conclude(verdict);
}

/// CUPTI's clock must be CLOCK_REALTIME: one reading of it between two of ours.
bool Collector::Session::clockIsRealtime() const {
    constexpr std::int64_t kSlackNs = 1000;
    for (int i = 0; i < 10; ++i) {
        std::uint64_t time = 0;
        const std::int64_t before = nowNs(CLOCK_REALTIME);
        if (library.fn.cuptiGetTimestamp(&time) != abi::kSuccess) return false;
        const std::int64_t after = nowNs(CLOCK_REALTIME);
        const auto t = static_cast<std::int64_t>(time);
        if (t >= before - kSlackNs && t <= after + kSlackNs) return true;
    }
    return false;
}

Verdict Collector::Session::subscribe() {
    const FunctionTable& f = library.fn;
    int result = abi::kInvalidParameter;
    // 13.0 and 13.1: the second form says who is in the way. From 13.2 on it belongs to an
    // interface that may not be mixed with this one.
    if (f.cuptiSubscribe_v2 != nullptr && library.version < abi::kV13_2) {
        std::array<char, 64> other{};
        abi::SubscriberParams params{sizeof params, "Tapescope", other.data(), other.size()};
        result = f.cuptiSubscribe_v2(&subscriber, onCallback, this, &params);
        if (result == abi::kMultipleSubscribers && other[0] != 0) {
            other.back() = 0;
            return {State::Busy, other.data()};
        }
    }
    if (result == abi::kInvalidParameter) result = f.cuptiSubscribe(&subscriber, onCallback, this);
    if (result != abi::kSuccess) {
        if (options.lateAttach) return explainFailedStart(library, result);
        // Inside cuInit, which would wait for itself: our thread asks the driver later.
        unexplained = result;
        return explainResult(library, result);
    }
    for (const std::uint32_t id : {abi::kStateFatal, abi::kStateError})
        f.cuptiEnableCallback(1, subscriber, abi::kDomainState, id);
    f.cuptiEnableCallback(1, subscriber, abi::kDomainResource, abi::kResourceContextCreated);
    // Contexts that go away take records along that were not handed over: flush before.
    f.cuptiEnableCallback(1, subscriber, abi::kDomainRuntime, abi::kRtDeviceReset);
    for (const std::uint32_t id :
         {abi::kDrvCtxDestroyV2, abi::kDrvPrimaryCtxReleaseV2, abi::kDrvPrimaryCtxResetV2})
        f.cuptiEnableCallback(1, subscriber, abi::kDomainDriver, id);
    // Launches are watched until the first record of one has come: watchForSilence().
    for (const std::uint32_t id : abi::kLaunchCalls)
        f.cuptiEnableCallback(1, subscriber, abi::kDomainDriver, id);
    return {State::Ok, ""};
}

Verdict Collector::Session::enableKinds() {
    const FunctionTable& f = library.fn;
    const RecordKinds& want = options.kinds;
    // gettid(), as everywhere else on a tape.
    if (f.cuptiSetThreadIdType != nullptr) f.cuptiSetThreadIdType(abi::kThreadIdSystem);
    if (f.cuptiActivitySetAttribute != nullptr && library.version >= abi::kV12_3) {
        std::uint8_t on = 1;
        std::size_t size = sizeof on;
        f.cuptiActivitySetAttribute(abi::kAttrPerThreadBuffer, &size, &on);
    }
    pool = std::make_unique<BufferPool>(options.bufferBytes, options.maxBuffers,
                                        library.version >= abi::kV12_9);
    // No timestamp callback: CUPTI 12.6 Update 2 to 13.0 lose kernel times with one.
    if (const int r = f.cuptiActivityRegisterCallbacks(onRequest, onComplete); r != abi::kSuccess)
        return {State::InternalError, resultName(library, r)};
    struct Kind {
        std::uint32_t kind;
        bool on;
        const char* name;
    };
    const bool everyDriverCall = want.driverApi || f.cuptiActivityEnableDriverApi == nullptr;
    const std::array<Kind, 19> kinds = {
        {{abi::kDevice, true, "devices"},
         {abi::kContext, true, "contexts"},
         {abi::kStream, true, "streams"},
         {abi::kName, want.nvtx, "names"},
         {abi::kRuntime, want.runtimeApi || want.external, "runtime calls"},
         {abi::kDriver, everyDriverCall, "driver calls"},
         {abi::kExternalCorrelation, want.external, "operator ids"},
         {abi::kConcurrentKernel, true, "kernels"},
         {abi::kMemcpy, true, "copies"},
         {abi::kMemcpy2, true, "peer copies"},
         {abi::kMemset, true, "memsets"},
         {abi::kMemory2, want.memory, "allocations"},
         {abi::kMemoryPool, want.memory, "memory pools"},
         {abi::kSynchronization, want.sync, "synchronisation"},
         {abi::kCudaEvent, want.sync, "events"},
         {abi::kMarker, want.nvtx, "NVTX ranges"},
         {abi::kMarkerData, want.nvtx, "NVTX data"},
         {abi::kOverhead, want.overhead, "overhead"},
         {abi::kGraphTrace, want.graphLevel, "graphs"}}};
    std::string failed;
    int lastError = abi::kSuccess;
    for (const Kind& k : kinds) {
        if (!k.on) continue;
        const bool existing =
            options.lateAttach && f.cuptiActivityEnableAndDump != nullptr &&
            (k.kind == abi::kDevice || k.kind == abi::kContext || k.kind == abi::kStream);
        const int r =
            existing ? f.cuptiActivityEnableAndDump(k.kind) : f.cuptiActivityEnable(k.kind);
        if (r == abi::kSuccess) {
            enabled.push_back(k.kind);
            continue;
        }
        lastError = r;
        failed +=
            (failed.empty() ? "" : ", ") + std::string(k.name) + ": " + resultName(library, r);
        if (r == abi::kInsufficientPrivileges) break;
    }
    if (lastError == abi::kInsufficientPrivileges || enabled.empty()) {
        for (const std::uint32_t kind : enabled) f.cuptiActivityDisable(kind);
        enabled.clear();
        pool->close();
        return {
            lastError == abi::kInsufficientPrivileges ? State::NoPermission : State::InternalError,
            failed};
    }
    // 12.5 and later choose single calls: leave out what only fills the log. Of the driver's, take
    // launches and mapping alone, since every runtime call repeats itself there.
    if (f.cuptiActivityEnableRuntimeApi != nullptr && want.runtimeApi) {
        for (const std::uint32_t id : {abi::kRtGetLastError, abi::kRtPeekAtLastError,
                                       abi::kRtGetDevice, abi::kRtStreamIsCapturing})
            f.cuptiActivityEnableRuntimeApi(id, 0);
    }
    if (f.cuptiActivityEnableDriverApi != nullptr && want.driverApi) {
        for (const std::uint32_t id :
             {abi::kDrvCtxGetCurrent, abi::kDrvPrimaryCtxGetState, abi::kDrvKernelGetAttribute})
            f.cuptiActivityEnableDriverApi(id, 0);
    } else if (f.cuptiActivityEnableDriverApi != nullptr) {
        for (const std::uint32_t id : abi::kLaunchCalls) f.cuptiActivityEnableDriverApi(id, 1);
        for (const std::uint32_t id : abi::kMappingCalls) f.cuptiActivityEnableDriverApi(id, 1);
    }
    if (!failed.empty()) return {State::EnableFailed, failed};
    return {State::Ok,
            toolkitName(library.version) +
                (library.version > abi::kNewestTested ? ", newer than any that was tested" : "") +
                ", " + library.path};
}

void Collector::Session::onRequest(std::uint8_t** buffer, std::size_t* size,
                                   std::size_t* maxRecords) {
    *buffer = nullptr;
    *size = 0;
    *maxRecords = 0;
    Session* s = g_session.load();
    if (s == nullptr || s->forked || s->pool == nullptr) return;
    try {
        if (s->options.onProgramThread != nullptr) s->options.onProgramThread();
        *buffer = s->pool->request(*size);
    } catch (...) {
        *buffer = nullptr;  // an exception may not go through CUDA
        *size = 0;
    }
}

void Collector::Session::onComplete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                    std::size_t validSize) {
    Session* s = g_session.load();
    if (s == nullptr || s->forked || buffer == nullptr) return;
    try {
        s->pool->complete(buffer, validSize);
    } catch (...) {
        // No memory to remember the buffer: its records are lost, and it counts as unreturned.
    }
}

void Collector::Session::onCallback(void* user, int domain, std::uint32_t id, const void* data) {
    auto& s = *static_cast<Session*>(user);
    if (s.dead || data == nullptr) return;
    try {
        if (domain == abi::kDomainState) {
            const auto& state = *static_cast<const abi::StateData*>(data);
            std::string text = resultName(s.library, state.result);
            if (state.message != nullptr) text += std::string(": ") + state.message;
            const std::lock_guard lock(s.stateMutex);
            s.cuptiSays = std::move(text);
        } else if (domain == abi::kDomainResource) {
            std::uint32_t device = 0;
            void* context = abi::get(data, abi::resource::kContext);
            if (s.library.fn.cuptiGetDeviceId != nullptr &&
                s.library.fn.cuptiGetDeviceId(context, &device) == abi::kSuccess && device < 64)
                s.newContexts |= std::uint64_t{1} << device;
        } else if (abi::get(data, abi::callback::kSite) == abi::kApiEnter) {
            // On the program's thread, in an API callback, the one kind where flushing is allowed.
            for (const std::uint32_t launch : abi::kLaunchCalls) {
                if (domain != abi::kDomainDriver || id != launch) continue;
                if (s.launches.fetch_add(1) == 0) s.firstLaunchNs = nowNs(CLOCK_MONOTONIC);
                return;
            }
            if (!s.stopping) s.library.fn.cuptiActivityFlushAll(0);
        }
    } catch (...) {
        // An exception may not go through CUDA; what CUPTI said is lost.
    }
}

}  // namespace tapescope::profiler::cupti
