// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Variables that the injection library reads. `tapescope record` sets them for the program that it
/// starts; children inherit them.
namespace tapescope::profiler::cupti::environment {

/// NVIDIA's: the driver loads this library inside cuInit, NVTX at the first NVTX call. Where the
/// program has one set already, another tool is configured: leave it alone and say so.
inline constexpr const char* kCudaInjection = "CUDA_INJECTION64_PATH";
inline constexpr const char* kNvtxInjection = "NVTX_INJECTION64_PATH";

/// Folder of the shards, one tape a process. Unset: the library does nothing.
inline constexpr const char* kFolder = "TAPESCOPE_GPU_DIR";
/// Behind a shard's name: an empty tape's forerunner, left when CUDA starts and before anything can
/// go wrong. It holds the process's arguments, each ended by a zero.
inline constexpr const char* kStartedSuffix = ".started";
/// A libcupti to use when the process has none of its own.
inline constexpr const char* kCuptiPath = "TAPESCOPE_CUPTI_PATH";
/// How old a record gets before it is stored, in ms (500).
inline constexpr const char* kFlushMs = "TAPESCOPE_GPU_FLUSH_MS";
/// How long the program's end waits for CUPTI's last records, in ms (10000).
inline constexpr const char* kStopMs = "TAPESCOPE_GPU_STOP_MS";
inline constexpr const char* kBufferBytes = "TAPESCOPE_GPU_BUFFER_BYTES";
inline constexpr const char* kMaxBuffers = "TAPESCOPE_GPU_MAX_BUFFERS";
/// Size a shard may reach, in bytes (16 GiB).
inline constexpr const char* kMaxBytes = "TAPESCOPE_GPU_MAX_BYTES";
/// Kinds of record to add or leave out: "-runtime,-sync,+driver". Names: runtime, driver, memory,
/// sync, nvtx, external, overhead, graph-level.
inline constexpr const char* kKinds = "TAPESCOPE_GPU_KINDS";
/// Set: say on stderr how it goes.
inline constexpr const char* kVerbose = "TAPESCOPE_GPU_VERBOSE";

}  // namespace tapescope::profiler::cupti::environment
