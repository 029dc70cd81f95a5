// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/abi_records.h"

#include <array>
#include <cstdint>

/// Activity records as CUPTI writes them, for the fake driver and the tests.
namespace tapescope::profiler::cupti::fake {

struct Record {
    alignas(8) std::array<std::uint8_t, 256> bytes{};
    explicit Record(std::uint32_t kind) { abi::put(bytes.data(), abi::kKind, kind); }
    template <class T>
    Record& with(abi::Field<T> field, std::type_identity_t<T> value) {
        abi::put(bytes.data(), field, value);
        return *this;
    }
    template <class T>
    T get(abi::Field<T> field) const {
        return abi::get(bytes.data(), field);
    }
    std::uint32_t kind() const { return get(abi::kKind); }
};

struct Dims {
    std::array<std::int32_t, 3> grid{4, 1, 1};
    std::array<std::int32_t, 3> block{128, 1, 1};
};

inline Record kernelRecord(const char* name, std::uint32_t correlation, std::uint64_t start,
                           std::uint64_t end, std::uint32_t stream = 7, const Dims& dims = {},
                           std::uint32_t graph = 0) {
    namespace k = abi::kernel;
    Record r(abi::kConcurrentKernel);
    return r.with(k::kName, name)
        .with(k::kStart, start)
        .with(k::kEnd, end)
        .with(k::kCorrelation, correlation)
        .with(k::kStream, stream)
        .with(k::kContext, 1)
        .with(k::kGraph, graph)
        .with(k::kRegisters, 32)
        .with(k::kGridX, dims.grid[0])
        .with(k::kGridY, dims.grid[1])
        .with(k::kGridZ, dims.grid[2])
        .with(k::kBlockX, dims.block[0])
        .with(k::kBlockY, dims.block[1])
        .with(k::kBlockZ, dims.block[2]);
}

inline Record memcpyRecord(std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
                           std::uint64_t bytes, std::uint8_t kind, std::uint32_t stream = 7) {
    namespace m = abi::memcopy;
    Record r(abi::kMemcpy);
    // 1 host to device: from pinned (2) to device (3); 2 the other way; else device to device.
    return r.with(m::kBytes, bytes)
        .with(m::kCopyKind, kind)
        .with(m::kSrcKind, kind == 1 ? 2 : 3)
        .with(m::kDstKind, kind == 2 ? 2 : 3)
        .with(m::kStart, start)
        .with(m::kEnd, end)
        .with(m::kCorrelation, correlation)
        .with(m::kStream, stream)
        .with(m::kContext, 1)
        .with(m::kCopyCount, 1);
}

inline Record memsetRecord(std::uint32_t correlation, std::uint64_t start, std::uint64_t end,
                           std::uint64_t bytes, std::uint32_t value, std::uint32_t stream = 7) {
    namespace m = abi::fill;
    Record r(abi::kMemset);
    return r.with(m::kBytes, bytes)
        .with(m::kValue, value)
        .with(m::kStart, start)
        .with(m::kEnd, end)
        .with(m::kCorrelation, correlation)
        .with(m::kStream, stream)
        .with(m::kContext, 1);
}

struct Pool {
    std::uint64_t used = 0;
    std::uint64_t size = 0;
};
/// operation: 1 allocation, 2 free.
inline Record memoryRecord(std::uint32_t correlation, std::uint32_t operation,
                           std::uint64_t address, std::uint64_t bytes, std::uint64_t time,
                           const Pool* pool = nullptr) {
    namespace m = abi::memory;
    Record r(abi::kMemory2);
    r.with(m::kOp, operation)
        .with(m::kMemKind, 3)
        .with(m::kAddress, address)
        .with(m::kBytes, bytes)
        .with(m::kTimestamp, time)
        .with(m::kCorrelation, correlation)
        .with(m::kContext, 1)
        .with(m::kStream, pool != nullptr ? 7 : abi::kInvalidId);
    if (pool != nullptr) {
        r.with(m::kIsAsync, 1)
            .with(m::kPoolType, 1)
            .with(m::kPoolAddress, 0x300000000)
            .with(m::kPoolSize, pool->size)
            .with(m::kPoolUsed, pool->used);
    }
    return r;
}

inline Record syncRecord(std::uint32_t correlation, std::uint32_t type, std::uint64_t start,
                         std::uint64_t end) {
    namespace s = abi::sync;
    Record r(abi::kSynchronization);
    return r.with(s::kType, type)
        .with(s::kStart, start)
        .with(s::kEnd, end)
        .with(s::kCorrelation, correlation)
        .with(s::kContext, 1)
        .with(s::kStream, abi::kInvalidId)
        .with(s::kEvent, abi::kInvalidId);
}

/// flags: marker::kBegin, kFinish or kInstant.
inline Record markerRecord(const char* name, std::uint32_t flags, std::uint32_t id,
                           std::uint64_t time, std::uint32_t thread, const char* domain = nullptr) {
    namespace m = abi::marker;
    Record r(abi::kMarker);
    return r.with(m::kFlags, flags)
        .with(m::kId, id)
        .with(m::kTimestamp, time)
        .with(m::kObjectKind, 2)
        .with(m::kThread, thread)
        .with(m::kName, name)
        .with(m::kDomain, domain);
}

inline Record markerDataRecord(std::uint32_t id, std::uint32_t colour, std::uint32_t category) {
    namespace m = abi::marker_data;
    Record r(abi::kMarkerData);
    return r.with(m::kId, id)
        .with(m::kFlags, m::kHasColor)
        .with(m::kColor, colour)
        .with(m::kCategory, category);
}

inline Record streamRecord(std::uint32_t stream, std::uint32_t priority = 0) {
    Record r(abi::kStream);
    return r.with(abi::stream::kContext, 1)
        .with(abi::stream::kId, stream)
        .with(abi::stream::kPriority, priority)
        .with(abi::stream::kFlag, 2);
}

inline Record contextRecord() {
    Record r(abi::kContext);
    return r.with(abi::context::kId, 1)
        .with(abi::context::kDevice, 0)
        .with(abi::context::kNullStream, 7);
}

inline Record streamNameRecord(std::uint32_t stream, const char* name) {
    namespace n = abi::name;
    Record r(abi::kName);
    return r.with(n::kObjectKind, 5)
        .with(n::kFirst, 0)
        .with(n::kSecond, 1)
        .with(n::kThird, stream)
        .with(n::kName, name);
}

}  // namespace tapescope::profiler::cupti::fake
