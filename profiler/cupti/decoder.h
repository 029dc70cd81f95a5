// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/abi_records.h"
#include "profiler/cupti/clock_map.h"
#include "profiler/cupti/names.h"
#include "profiler/cupti/sink.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tapescope::profiler::cupti {

/// Turns CUPTI's activity records into events of a tape, and rows about devices, contexts, streams
/// and names into calls of the sink. A record that cannot be is counted and left out; one whose
/// times cannot be is kept and flagged. One thread.
class Decoder final {
public:
    /// Name of a callback id of the driver's or the runtime's, or null.
    using ApiName = std::function<const char*(bool driver, std::uint32_t id)>;
    Decoder(std::uint32_t cuptiVersion, const ClockMap& clock, Sink& sink, ApiName apiName);

    /// True if there is an event. The record is whole: recordSize() bytes of it can be read.
    bool decode(const void* record, storage::GpuEvent& out);

    /// Adds its part: noTime to impossible.
    void addTo(Counters& counters) const;
    std::uint64_t deviceRecords() const { return m_deviceRecords; }
    std::uint64_t records() const { return m_records; }
    /// Devices of the contexts seen so far, one bit each.
    std::uint64_t devicesWithContext() const { return m_devices; }

private:
    bool kernel(const void* r, storage::GpuEvent& e);
    void copy(const void* r, storage::GpuEvent& e);
    void peerCopy(const void* r, storage::GpuEvent& e);
    void fill(const void* r, storage::GpuEvent& e);
    void call(const void* r, storage::GpuEvent& e);
    bool memory(const void* r, storage::GpuEvent& e);
    bool pool(const void* r, storage::GpuEvent& e);
    void sync(const void* r, storage::GpuEvent& e);
    void cudaEvent(const void* r, storage::GpuEvent& e);
    void marker(const void* r, storage::GpuEvent& e);
    void markerData(const void* r, storage::GpuEvent& e);
    void external(const void* r, storage::GpuEvent& e);
    void overhead(const void* r, storage::GpuEvent& e);
    void graph(const void* r, storage::GpuEvent& e);
    void device(const void* r);
    void context(const void* r);
    void stream(const void* r);
    void objectName(const void* r);

    void span(storage::GpuEvent& e, std::uint64_t start, std::uint64_t end);
    void instant(storage::GpuEvent& e, std::uint64_t time);
    bool place(std::int64_t monotonic) const;
    storage::NameId apiName(bool driver, std::uint32_t id);

    const std::uint32_t m_api;
    const bool m_newer;  ///< than any that was tested
    const ClockMap& m_clock;
    Sink& m_sink;
    ApiName m_apiName;
    NameCache m_name;
    const storage::GpuProcessId m_process;
    const std::int64_t m_zeroNs;
    storage::NameId m_internalLaunch = 0;
    storage::NameId m_unnamed = 0;
    std::vector<storage::NameId> m_driverNames;
    std::vector<storage::NameId> m_runtimeNames;

    std::uint64_t m_records = 0;
    std::uint64_t m_deviceRecords = 0;
    std::uint64_t m_devices = 0;
    std::uint64_t m_noTime = 0;
    std::uint64_t m_badTime = 0;
    std::uint64_t m_clockStepped = 0;
    std::uint64_t m_unknownKind = 0;
    std::uint64_t m_impossible = 0;
};

}  // namespace tapescope::profiler::cupti
