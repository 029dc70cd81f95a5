// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/library.h"
#include "profiler/cupti/sink.h"
#include "profiler/cupti/status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tapescope::profiler::cupti {

/// Which kinds of record are asked for. Kernels, copies and memsets always are: CUPTI mistakes
/// their order in graphs otherwise.
struct RecordKinds {
    bool runtimeApi = true;  ///< without the four calls that only fill a log
    bool driverApi = false;  ///< all of them; launches and mapping calls are recorded anyway
    bool memory = true;
    bool sync = true;
    bool nvtx = true;
    bool external = true;  ///< operator ids; needs API records, which it switches on
    bool overhead = true;
    bool graphLevel = false;  ///< CUDA graphs as a whole, *instead of* the kernels in them
};

struct CollectorOptions {
    std::string cuptiPath;                          ///< a libcupti to use; empty: look for one
    std::size_t bufferBytes = 1U << 20;             ///< CUPTI advises 1 to 10 MiB
    std::size_t maxBuffers = 64;                    ///< so at most 64 MiB of host memory
    std::chrono::milliseconds flush{500};           ///< how old a record gets before it is stored
    std::chrono::milliseconds stopTimeout{10'000};  ///< stop() gives up on a flush that hangs
    /// No record for so long although kernels are launched: somebody says so.
    std::chrono::milliseconds silence{10'000};
    /// Asks for devices, contexts and streams that exist already; not from inside cuInit.
    bool lateAttach = true;
    RecordKinds kinds;
    /// Called on each program thread that asks for a buffer, inside a CUDA call.
    void (*onProgramThread)() = nullptr;
    /// Called on the collector's thread about 50, 100, 200, … ms after the start.
    void (*tick)() = nullptr;
};

/// The CUPTI session of this process: one a process, started once, stopped once, because starting
/// again is where CUPTI 12 and 13.0 have bugs. Nothing of it throws; whatever goes wrong is a State
/// with a sentence. Threads: CUPTI calls us on the program's threads and on its own (one short
/// lock, no CUPTI call); one thread of ours decodes, writes and flushes.
class Collector final {
public:
    /// makeSink is called once, on the collector's thread.
    Collector(CollectorOptions options, SinkFactory makeSink);
    /// Stops. If CUPTI hangs, its thread and what it uses are left behind.
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    /// Finds CUPTI and switches it on; also where that fails, the state reaches the sink.
    State start();
    /// The last flush, and closes the sink. Takes stopTimeout at most, and two seconds more if the
    /// flush hangs. Further calls do nothing.
    void stop();
    /// After fork(), in the child: CUPTI and the tape are the parent's. Nothing is touched again.
    void abandonInChild();

    State state() const;
    std::string message() const;  ///< the sentence of state()
    Counters counters() const;    ///< as of the last batch
    const Library& library() const;
    /// Everything finished so far is stored soon.
    void flushSoon();

    /// Ties what CUDA does on this thread from now on to an id of ours. Both say whether they did.
    bool pushOperator(std::uint64_t opId) const;
    bool popOperator() const;

    struct Session;

private:
    std::shared_ptr<Session> m_session;
};

}  // namespace tapescope::profiler::cupti
