// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tapescope::viewers::test {

struct GpuSampleOptions {
    int steps = 3;
    bool operators = false;   ///< the engine's operators too, tied to kernels by external ids
    bool losses = true;       ///< drops, declined buffers, a clock step
    bool counters = true;     ///< NVML
    bool memory = true;       ///< PyTorch's allocator history and driver allocations
    int outOfMemoryAt = -1;   ///< PyTorch runs out of memory in the middle of this step
    bool longNames = true;    ///< one kernel of some hundred letters
    std::size_t kernels = 0;  ///< more kernels than a step has, to make a tape big
    bool seal = true;
};

/// A training as CUPTI would record it: NVTX ranges of steps and phases in colours, launch calls on
/// two threads, kernels on two streams, copies in and out, a graph replay of five kernels, waits,
/// allocations. Returns the writer, sealed unless options say otherwise.
std::unique_ptr<storage::TapeWriter> writeGpuSample(const std::string& path,
                                                    const GpuSampleOptions& options = {});

/// A tape of a machine without a driver: a status and its sentence, nothing else.
std::unique_ptr<storage::TapeWriter> writeNoDriverSample(const std::string& path);

/// Makes events with the fields that tests look at; times in ns.
storage::GpuEvent gpuCall(storage::NameId name, std::int64_t start, std::int64_t duration,
                          std::uint32_t correlation, std::uint32_t thread = 11,
                          storage::GpuProcessId process = 1);
storage::GpuEvent gpuKernel(storage::NameId name, std::int64_t start, std::int64_t duration,
                            std::uint32_t correlation, std::uint32_t stream = 7,
                            storage::GpuProcessId process = 1);
storage::GpuEvent gpuCopy(storage::GpuCopyKind kind, std::uint64_t bytes, std::int64_t start,
                          std::int64_t duration, std::uint32_t correlation,
                          std::uint32_t stream = 7);
storage::GpuEvent nvtx(storage::GpuEventKind kind, storage::NameId name, std::uint64_t id,
                       std::int64_t at, std::uint32_t thread = 11);
/// What was said of the range or mark of that id.
storage::GpuEvent nvtxData(std::uint64_t id, std::uint32_t argb, std::uint32_t category = 0,
                           std::int64_t payload = 0);
/// A CUDA event recorded in a stream, at a time of the device if at >= 0.
storage::GpuEvent eventRecord(std::uint32_t event, std::int64_t at, std::uint32_t correlation,
                              std::uint32_t stream = 7);
/// A call that makes a stream wait for an event, as it was on the host.
storage::GpuEvent streamWait(std::uint32_t event, std::int64_t start, std::int64_t duration,
                             std::uint32_t correlation, std::uint32_t stream = 7);
storage::GpuEvent externalId(storage::ExternalKind kind, std::uint64_t id,
                             std::uint32_t correlation);
storage::GpuEvent deviceMemory(bool alloc, std::uint64_t address, std::uint64_t bytes,
                               std::int64_t at);

}  // namespace tapescope::viewers::test
