// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tapescope::profiler {

/// What the GPUs of a tape did. Kernels, copies and calls come from the tape's sums; busy and idle
/// times and memory need the events, which are read in pieces.
struct GpuReport {
    bool present = false;  ///< the tape has a GPU part at all

    struct Row {
        std::string name;
        std::int64_t count = 0;
        std::int64_t totalNs = 0;
        std::int64_t minNs = 0;
        std::int64_t maxNs = 0;
        std::int64_t bytes = 0;
        double share = 0;  ///< of the total time of all rows of its table
        double meanNs() const {
            return count > 0 ? static_cast<double>(totalNs) / static_cast<double>(count) : 0;
        }
        double gigabytesPerSecond() const {
            return totalNs > 0 ? static_cast<double>(bytes) / static_cast<double>(totalNs) : 0;
        }
    };
    std::vector<Row> kernels;    ///< of all devices and processes, most time first, demangled
    std::vector<Row> transfers;  ///< by direction; "memset"
    std::vector<Row> calls;      ///< runtime and driver calls, as the program's threads saw them

    struct Gap {
        std::int64_t startNs = 0;
        std::int64_t durationNs = 0;
        std::string before;  ///< the work that ended last before it: a kernel's short name, a copy
        std::string after;   ///< the work that ended it
        /// The CUDA call of the device's processes that filled most of it; empty: none was made.
        std::string call;
        std::int64_t callNs = 0;  ///< of the gap
    };
    struct Device {
        std::string name;
        std::string uuid;
        std::string host;
        std::uint32_t index = 0;     ///< in its process
        std::int64_t processes = 0;  ///< that used it
        std::uint64_t memoryBytes = 0;
        std::int64_t firstNs = 0;  ///< begin of its first work, end of its last
        std::int64_t lastNs = 0;
        std::int64_t busyNs = 0;
        double busyShare = 0;           ///< of the time between first and last
        std::int64_t resolutionNs = 0;  ///< idle times up to this may be counted as busy
        std::vector<Gap> gaps;          ///< the longest idle times, longest first
        /// The most that all recorded processes held of it at once: allocations that tracing saw,
        /// pools by their size. What a process had not freed ends with it.
        std::int64_t peakBytes = 0;
        std::int64_t peakNs = 0;
    };
    std::vector<Device> devices;
    bool memoryKnown = true;  ///< false: too many allocations to put in order

    struct Allocator {
        std::int64_t pid = 0;
        std::uint32_t device = 0;
        std::int64_t events = 0;
        std::int64_t peakAllocatedBytes = 0;  ///< above what it held when its history began
        std::int64_t peakReservedBytes = 0;
        std::int64_t outOfMemory = 0;
    };
    std::vector<Allocator> allocators;

    struct Process {
        std::int64_t pid = 0;
        std::string host;
        std::int32_t rank = -1;
        std::string command;
        std::int64_t clockErrorNs = 0;
        std::string clock;
    };
    std::vector<Process> processes;
    struct State {
        std::int64_t pid = 0;
        std::string source;
        std::string code;
        std::string message;
        std::string command;
    };
    std::vector<State> states;
    struct Loss {
        std::string name;
        std::int64_t count = 0;
    };
    std::vector<Loss> losses;  ///< summed over processes; what is 0 is left out
    std::int64_t records = 0;
    std::int64_t processesWithCuda = 0;   ///< those that have a count of records, or events
    std::int64_t countsOfLastCommit = 0;  ///< processes whose losses after it are not known
    std::vector<std::string> damage;      ///< parts that cannot be read, and why
};

/// Blocks on disk. Errors are the reader's.
storage::Result<GpuReport> makeGpuReport(storage::TapeReader& tape, std::size_t gaps = 5);

}  // namespace tapescope::profiler
