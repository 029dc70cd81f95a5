// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/sink.h"
#include "storage/tape/writer.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tapescope::profiler::cupti {

struct ShardOptions {
    std::string folder;
    /// Above it no more events are stored; they are counted.
    std::int64_t maxBytes = 16LL << 30;
    std::string name{};  ///< "" = shardName(folder)
};

/// A tape of this process alone, "<host>-<pid>-<start>.tape" in a folder: its time 0 is the moment
/// of this call.
SinkFactory shardSink(ShardOptions options);
/// "<host>-<pid>-<start>.tape" of this process; start is in clock ticks since boot. If the folder
/// has that name, from before an exec(), a number is added.
std::string shardName(const std::string& folder);
/// Leaves the mark that this process has started CUDA: a launcher can say so if nothing else comes.
/// Some 50 µs; nothing happens if it cannot.
void leaveMark(const std::string& folder, const std::string& shard);

/// Into a tape that somebody else writes and seals as well (the recorder's); process 1 of it.
/// monotonicZeroNs: CLOCK_MONOTONIC at the tape's time 0. The writer outlives the collector.
SinkFactory tapeSink(storage::TapeWriter& writer, std::int64_t monotonicZeroNs);

}  // namespace tapescope::profiler::cupti
