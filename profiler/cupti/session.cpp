// SPDX-License-Identifier: Apache-2.0
// The session's own thread, and how it ends.
#include "profiler/cupti/session.h"

#include <array>
#include <pthread.h>

namespace tapescope::profiler::cupti {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kHousekeepingNs = 1000 * kMillisecond;
constexpr std::size_t kBatch = 4096;
// So many launches without a record are no coincidence of one long kernel.
constexpr std::uint64_t kSuspiciousLaunches = 20;
// CUPTI's worker may still hand a buffer over when its flush has returned: so long is waited.
constexpr int kQuietRounds = 10;
constexpr std::chrono::milliseconds kQuietRound{20};
constexpr std::chrono::milliseconds kCloseTimeout{2000};

}  // namespace

void Collector::Session::enter(State to, const std::string& why) {
    {
        const std::lock_guard lock(stateMutex);
        if (state == to && detail == why) return;
        state = to;
        detail = why;
    }
    if (sink) sink->status(to, why);
}

void Collector::Session::run() {
    pthread_setname_np(pthread_self(), "tapescope-gpu");
    try {
        if (unexplained != abi::kSuccess) {
            const Verdict v = explainFailedStart(library, unexplained);
            const std::lock_guard guard(stateMutex);
            state = v.state;
            detail = v.detail;
        }
        std::unique_lock lock(sinkMutex);
        auto made = makeSink();
        State now = State::Ok;
        std::string why;
        {
            const std::lock_guard guard(stateMutex);
            now = state;
            why = detail;
        }
        if (!made.ok()) {
            switchOff();
            enter(State::CannotWrite, made.status().message());
        } else {
            sink = std::move(made).value();
            sink->fact("cupti.path", library.path);
            sink->fact("cupti.version", std::to_string(library.version));
            if (library.version != 0) sink->fact("cupti.toolkit", toolkitName(library.version));
            if (library.driverVersion != 0)
                sink->fact("driver.cuda", driverName(library.driverVersion));
            sink->status(now, why);
            lock.unlock();
            if (isTracing(now)) loop();
        }
    } catch (...) {
        // No memory. What is on the tape stays.
        switchOff();
    }
    {
        const std::lock_guard lock(sinkMutex);
        if (!dead) closeSink();
    }
    {
        const std::lock_guard lock(doneMutex);
        done = true;
    }
    doneChanged.notify_all();
}

void Collector::Session::loop() {
    const auto& fn = library.fn;
    {
        const std::lock_guard lock(sinkMutex);
        decoder = std::make_unique<Decoder>(
            library.version, clock, *sink, [&fn](bool driver, std::uint32_t id) -> const char* {
                const char* name = nullptr;
                const int domain = driver ? abi::kDomainDriver : abi::kDomainRuntime;
                const bool known = fn.cuptiGetCallbackName != nullptr &&
                                   fn.cuptiGetCallbackName(domain, id, &name) == abi::kSuccess;
                return known ? name : nullptr;
            });
    }
    const std::int64_t began = nowNs(CLOCK_MONOTONIC);
    std::int64_t nextTick = 50 * kMillisecond;
    lastRecordNs = began;
    while (!stopping && writable) {
        const std::int64_t now = nowNs(CLOCK_MONOTONIC);
        if (options.tick != nullptr && now - began >= nextTick) {
            options.tick();
            nextTick *= 2;
        }
        auto full = pool->take(options.flush);
        const bool idle = full.empty();
        {
            const std::lock_guard lock(sinkMutex);
            if (dead) return;
            clock.sample();
            drain(std::move(full));
            housekeeping(false);
        }
        // Nothing lent, nothing to flush: CUPTI is left alone. And not while buffers come anyway.
        if (idle && !stopping && writable && pool->stats().out != 0) {
            const int result = fn.cuptiActivityFlushAll(0);
            const std::lock_guard lock(sinkMutex);
            if (dead) return;
            if (result != abi::kSuccess) ++counting.flushErrors;
        }
        watchForSilence(nowNs(CLOCK_MONOTONIC));
    }
    lastFlush();
}

void Collector::Session::lastFlush() {
    tracing = false;
    if (!writable) {
        switchOff();
        return;
    }
    for (auto kind = enabled.rbegin(); kind != enabled.rend(); ++kind)
        library.fn.cuptiActivityDisable(*kind);
    // May hang in a driver that is being torn down: stop() waits for a while only.
    const int result = library.fn.cuptiActivityFlushAll(abi::kFlushForced);
    const std::lock_guard lock(sinkMutex);
    if (dead) return;
    if (result != abi::kSuccess) ++counting.flushErrors;
    clock.sample();
    using std::chrono::milliseconds;
    drain(pool->take(milliseconds(0)));
    for (int quiet = 0; quiet < kQuietRounds && pool->stats().out != 0;) {
        auto late = pool->take(kQuietRound);
        quiet = late.empty() ? quiet + 1 : 0;
        if (!late.empty()) drain(std::move(late));
    }
    drain(pool->take(milliseconds(0)));
    counting.unreturnedBuffers = pool->stats().out;
    pool->close();
    // Unsubscribed, but not finalised: that is where CUPTI's crashes live.
    library.fn.cuptiUnsubscribe(subscriber);
    housekeeping(true);
}

void Collector::Session::switchOff() {
    tracing = false;
    if (pool) pool->close();
    for (const std::uint32_t kind : enabled) library.fn.cuptiActivityDisable(kind);
    enabled.clear();
    if (subscriber != nullptr) library.fn.cuptiUnsubscribe(subscriber);
    subscriber = nullptr;
}

void Collector::Session::closeSink() {
    decoder.reset();
    if (sink) sink->close();
    sink.reset();
}

void Collector::Session::store(std::vector<storage::GpuEvent>& batch) {
    if (batch.empty()) return;
    const std::size_t n = batch.size();
    switch (sink->events(std::exchange(batch, {}))) {
        case Stored::Yes:
            counting.records += n;
            break;
        case Stored::AboveCap:
            counting.aboveCap += n;
            enter(State::SizeCap, "");
            break;
        case Stored::NotWritten:
            counting.notWritten += n;
            writable = false;
            break;
    }
    batch.reserve(kBatch);
}

void Collector::Session::drain(std::deque<BufferPool::Full> full) {
    const auto directionName = [this](storage::GpuCopyKind kind) {
        return sink->name(storage::gpuCopyKindName(kind));
    };
    std::vector<storage::GpuEvent> batch;
    batch.reserve(kBatch);
    storage::GpuEvent event;
    for (const BufferPool::Full& buffer : full) {
        if (buffer.discard) {
            counting.discardedBytes += buffer.validBytes;
        } else if (buffer.validBytes != 0) {
            counting.recordBytes += buffer.validBytes;
            void* record = nullptr;
            int result = abi::kSuccess;
            while ((result = library.fn.cuptiActivityGetNextRecord(buffer.data, buffer.validBytes,
                                                                   &record)) == abi::kSuccess) {
                // Never beyond the buffer, whatever CUPTI says its record is.
                const auto* at = static_cast<const std::uint8_t*>(record);
                const auto left = static_cast<std::size_t>(buffer.data + buffer.validBytes - at);
                if (at < buffer.data || at >= buffer.data + buffer.validBytes ||
                    left < sizeof(std::uint32_t) ||
                    left < abi::recordSize(abi::get(record, abi::kKind), library.version)) {
                    result = abi::kInvalidKind;
                    break;
                }
                if (!decoder->decode(record, event)) continue;
                totals.add(event, directionName);
                batch.push_back(event);
                if (batch.size() == kBatch) store(batch);
            }
            if (result != abi::kMaxLimitReached) ++counting.brokenBuffers;
        }
        pool->giveBack(buffer);
    }
    store(batch);
}

void Collector::Session::housekeeping(bool last) {
    const std::int64_t now = nowNs(CLOCK_MONOTONIC);
    std::string said;
    {
        const std::lock_guard lock(stateMutex);
        said = std::exchange(cuptiSays, {});
    }
    if (!said.empty()) enter(State::InternalError, "CUPTI says " + said);
    if (!last && writable && now < nextHousekeeping) return;
    nextHousekeeping = now + kHousekeepingNs;
    std::size_t dropped = 0;
    if (library.fn.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == abi::kSuccess)
        counting.dropped += dropped;
    checkDevices();
    counting.declinedBuffers = pool->stats().declined;
    counting.clockSteps = static_cast<std::uint64_t>(clock.steps());
    decoder->addTo(counting);
    {
        const std::lock_guard lock(stateMutex);
        counters = counting;
    }
    sink->clockError(clock.errorNs());
    sink->summary(totals.changed());
    sink->counters(counting);
    if (!writable) enter(State::CannotWrite, sink->problem());
}

void Collector::Session::checkDevices() {
    const std::uint64_t fresh =
        (decoder->devicesWithContext() | newContexts.load()) & ~checkedDevices;
    checkedDevices |= fresh;
    if (library.fn.cuptiDeviceSupported == nullptr) return;
    for (int device = 0; device < 64; ++device) {
        if ((fresh >> device & 1U) == 0) continue;
        int supported = 1;
        if (library.fn.cuptiDeviceSupported(device, &supported) == abi::kSuccess && supported == 0)
            enter(State::DeviceUnsupported,
                  "device " + std::to_string(device) + ", " + toolkitName(library.version));
    }
}

void Collector::Session::watch(bool on) {
    watching = on;
    if (on) {
        launches = 0;
        firstLaunchNs = 0;
        recordsAtWatch = decoder->records();
    }
    for (const std::uint32_t id : abi::kLaunchCalls)
        library.fn.cuptiEnableCallback(on ? 1 : 0, subscriber, abi::kDomainDriver, id);
}

// Launches cost a callback each while they are watched: only until the first record of one comes,
// and again when none has come for a while.
void Collector::Session::watchForSilence(std::int64_t now) {
    const std::lock_guard lock(sinkMutex);
    if (dead) return;
    State is = State::Ok;
    {
        const std::lock_guard guard(stateMutex);
        is = state;
    }
    const std::int64_t patience = options.silence.count() * kMillisecond;
    const std::uint64_t seen = decoder->deviceRecords();
    if (seen != deviceRecordsSeen) {
        deviceRecordsSeen = seen;
        lastRecordNs = now;
        if (watching) watch(false);
        if (is == State::NoRecords || is == State::TakenOver)
            enter(State::Ok, "records come again");
        return;
    }
    if (!watching) {
        if (now - lastRecordNs > patience) watch(true);
        return;
    }
    const std::int64_t first = firstLaunchNs;
    if (launches < kSuspiciousLaunches || first == 0 || now - first < patience) return;
    if (!isTracing(is)) return;  // a better reason is known
    const bool nothingAtAll = decoder->records() == recordsAtWatch;
    enter(nothingAtAll ? State::TakenOver : State::NoRecords,
          std::to_string(launches.load()) + " launches");
}

void Collector::stop() {
    Session& s = *m_session;
    if (s.dead || !s.thread.joinable() || s.stopping.exchange(true)) return;
    s.tracing = false;
    if (s.pool) s.pool->wake();
    const auto wait = [&s](std::chrono::milliseconds limit) {
        std::unique_lock lock(s.doneMutex);
        return s.doneChanged.wait_for(lock, limit, [&s] { return s.done; });
    };
    if (wait(s.options.stopTimeout)) {
        s.thread.join();
        return;
    }
    // The thread hangs in CUPTI's flush and is left behind, with the session. Somebody else closes
    // the sink, unless that is what hangs.
    s.thread.detach();
    std::thread([session = m_session] {
        Session& left = *session;
        // Not a timed mutex: ThreadSanitizer does not see its locks.
        std::unique_lock lock(left.sinkMutex, std::try_to_lock);
        for (auto waited = kQuietRound; !lock.owns_lock() && waited < kCloseTimeout;
             waited += kQuietRound) {
            std::this_thread::sleep_for(kQuietRound);
            (void)lock.try_lock();
        }
        left.dead = true;
        if (lock.owns_lock() && left.sink) {
            left.enter(State::FlushTimeout,
                       std::to_string(left.options.stopTimeout.count()) + " ms");
            if (left.decoder) left.decoder->addTo(left.counting);
            left.counting.unreturnedBuffers = left.pool ? left.pool->stats().out : 0;
            left.sink->summary(left.totals.changed());
            left.sink->counters(left.counting);
            left.closeSink();
        }
        {
            const std::lock_guard done(left.doneMutex);
            left.done = true;
        }
        left.doneChanged.notify_all();
    }).detach();
    wait(kCloseTimeout + kQuietRound);
    s.dead = true;
}

Collector::~Collector() {
    if (!m_session->dead) stop();
    if (m_session->thread.joinable()) m_session->thread.detach();
}

void Collector::abandonInChild() {
    m_session->forked = true;
    m_session->dead = true;
    m_session->tracing = false;
}

State Collector::state() const {
    const std::lock_guard lock(m_session->stateMutex);
    return m_session->state;
}
std::string Collector::message() const {
    const std::lock_guard lock(m_session->stateMutex);
    return stateMessage(m_session->state, m_session->detail);
}
Counters Collector::counters() const {
    const std::lock_guard lock(m_session->stateMutex);
    return m_session->counters;
}
const Library& Collector::library() const { return m_session->library; }
void Collector::flushSoon() {
    if (m_session->pool) m_session->pool->wake();
}

bool Collector::pushOperator(std::uint64_t opId) const {
    if (!m_session->tracing) return false;
    const auto push = m_session->library.fn.cuptiActivityPushExternalCorrelationId;
    return push != nullptr && push(abi::kCustom2, opId) == abi::kSuccess;
}
bool Collector::popOperator() const {
    if (!m_session->tracing) return false;
    const auto pop = m_session->library.fn.cuptiActivityPopExternalCorrelationId;
    std::uint64_t last = 0;
    return pop != nullptr && pop(abi::kCustom2, &last) == abi::kSuccess;
}

}  // namespace tapescope::profiler::cupti
