// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/status.h"
#include "storage/status.h"
#include "storage/tape/gpu_records.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::profiler::cupti {

/// Totals of a session. What they are called on a tape: countersOf().
struct Counters {
    std::uint64_t records = 0;  ///< handed to the sink
    std::uint64_t recordBytes = 0;
    std::uint64_t dropped = 0;  ///< by CUPTI, which says how many
    std::uint64_t declinedBuffers = 0;
    std::uint64_t discardedBytes = 0;
    std::uint64_t unreturnedBuffers = 0;
    std::uint64_t brokenBuffers = 0;  ///< the rest of such a buffer could not be read
    std::uint64_t noTime = 0;
    std::uint64_t badTime = 0;
    std::uint64_t clockStepped = 0;
    std::uint64_t clockSteps = 0;
    std::uint64_t unknownKind = 0;
    std::uint64_t impossible = 0;
    std::uint64_t notWritten = 0;
    std::uint64_t aboveCap = 0;
    std::uint64_t flushErrors = 0;
};
std::vector<storage::GpuCount> countersOf(const Counters& c, storage::GpuProcessId process);

enum class Stored : std::uint8_t { Yes, NotWritten, AboveCap };

/// Where a session's records go. All calls come from one thread, the collector's (or, after a
/// flush that hung, from one that has taken its place).
class Sink {
public:
    virtual ~Sink() = default;
    virtual storage::GpuProcessId process() const = 0;
    /// CLOCK_MONOTONIC of the tape's time 0.
    virtual std::int64_t monotonicZeroNs() const = 0;
    virtual storage::NameId name(std::string_view text) = 0;
    virtual Stored events(std::vector<storage::GpuEvent> batch) = 0;
    virtual void device(storage::GpuDevice row) = 0;
    virtual void context(storage::GpuContext row) = 0;
    virtual void stream(storage::GpuStream row) = 0;
    virtual void objectName(storage::GpuObjectName row) = 0;
    virtual void status(State state, const std::string& detail) = 0;
    /// Facts about how it was recorded: "cupti.path".
    virtual void fact(const std::string& key, const std::string& value) = 0;
    virtual void clockError(std::int64_t errorNs) = 0;
    virtual void counters(const Counters& counters) = 0;
    virtual void summary(std::vector<storage::GpuSummary> rows) = 0;
    /// Why events() could not store, as a sentence.
    virtual std::string problem() const = 0;
    /// Nothing comes after this.
    virtual void close() = 0;
};
using SinkFactory = std::function<storage::Result<std::unique_ptr<Sink>>()>;

}  // namespace tapescope::profiler::cupti
