// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/buffer_pool.h"
#include "profiler/cupti/clock_map.h"
#include "profiler/cupti/collector.h"
#include "profiler/cupti/decoder.h"
#include "profiler/cupti/totals.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tapescope::profiler::cupti {

/// What a Collector owns together with its thread, and, once CUPTI has our functions, with the
/// process: CUPTI keeps calling them.
struct Collector::Session {
    Session(CollectorOptions o, SinkFactory f) : options(std::move(o)), makeSink(std::move(f)) {}

    // session_start.cpp, on the caller's thread
    State start();
    Verdict subscribe();
    Verdict enableKinds();
    bool clockIsRealtime() const;

    // session.cpp, on the session's own thread
    void run();
    void loop();
    void lastFlush();
    void drain(std::deque<BufferPool::Full> full);
    void store(std::vector<storage::GpuEvent>& batch);
    void housekeeping(bool last);
    void watchForSilence(std::int64_t now);
    void watch(bool on);
    void checkDevices();
    void switchOff();
    void closeSink();
    /// For people and the tape.
    void enter(State state, const std::string& detail);

    // called by CUPTI
    static void onRequest(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords);
    static void onComplete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                           std::size_t validSize);
    static void onCallback(void* user, int domain, std::uint32_t id, const void* data);

    const CollectorOptions options;
    SinkFactory makeSink;
    Library library;
    std::unique_ptr<BufferPool> pool;  ///< set before CUPTI knows us, never replaced
    std::vector<std::uint32_t> enabled;
    void* subscriber = nullptr;
    int unexplained = abi::kSuccess;  ///< what CUPTI answered, when the driver must still be asked

    std::thread thread;
    std::atomic<bool> stopping{false};
    std::atomic<bool> dead{false};     ///< given up: the sink is closed or not ours any more
    std::atomic<bool> forked{false};   ///< we are in a child: not even the locks can be trusted
    std::atomic<bool> tracing{false};  ///< operator ids may be pushed
    std::atomic<std::uint64_t> launches{0};
    std::atomic<std::int64_t> firstLaunchNs{0};
    std::atomic<std::uint64_t> newContexts{0};  ///< devices, one bit each

    mutable std::mutex stateMutex;
    // Guarded by stateMutex:
    State state = State::Ok;
    std::string detail;
    std::string cuptiSays;  ///< from CUPTI's own error callback, not yet on the tape
    Counters counters;

    std::mutex doneMutex;
    std::condition_variable doneChanged;
    bool done = false;  ///< guarded by doneMutex

    /// Held by whoever uses the sink. The session's thread lets go of it while it is in CUPTI's
    /// flush, which may hang; no callback of CUPTI's takes it.
    std::mutex sinkMutex;
    // Guarded by sinkMutex, otherwise the session's thread's own:
    std::unique_ptr<Sink> sink;
    std::unique_ptr<Decoder> decoder;
    ClockMap clock;
    Totals totals;
    Counters counting;
    bool writable = true;

    // The session's thread's own:
    std::int64_t nextHousekeeping = 0;
    std::uint64_t checkedDevices = 0;
    bool watching = true;  ///< launches have callbacks: from the start
    std::int64_t lastRecordNs = 0;
    std::uint64_t recordsSeen = 0;
    std::uint64_t deviceRecordsSeen = 0;
    std::uint64_t recordsAtWatch = 0;
};

}  // namespace tapescope::profiler::cupti
