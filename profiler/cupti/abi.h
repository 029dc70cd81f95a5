// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// The part of CUPTI's binary interface that the collector uses, as facts: numbers and field
/// offsets, found out by measuring NVIDIA's headers. So the profiler builds without a CUDA toolkit
/// and one binary reads the records of CUPTI 11.8 to 13.x. tests/profiler/cupti/abi_check.cpp holds
/// every number against the real headers wherever they are installed.
namespace tapescope::profiler::cupti::abi {

enum Result : int {
    kSuccess = 0,
    kInvalidParameter = 1,
    kInvalidOperation = 7,
    kMaxLimitReached = 12,
    kNotReady = 13,
    kNotCompatible = 14,
    kNotInitialized = 15,
    kQueueEmpty = 18,
    kInvalidKind = 21,
    kNotSupported = 27,
    kVirtualizedDevice = 33,
    kInsufficientPrivileges = 35,
    kLegacyNotSupported = 38,
    kMultipleSubscribers = 39,
    kVirtualizedInsufficient = 40,
    kConfidentialComputing = 41,
    kCmpDevice = 42,
    kMigDevice = 43,
    kSliDevice = 44,
    kWslDevice = 45,
    kUnknown = 999,
};

enum Kind : std::uint32_t {
    kMemcpy = 1,
    kMemset = 2,
    kKernel = 3,
    kDriver = 4,
    kRuntime = 5,
    kDevice = 8,
    kContext = 9,
    kConcurrentKernel = 10,
    kName = 11,
    kMarker = 12,
    kMarkerData = 13,
    kOverhead = 17,
    kMemcpy2 = 22,
    kCudaEvent = 36,
    kStream = 37,
    kSynchronization = 38,
    kExternalCorrelation = 39,
    kMemory = 45,
    kInternalLaunchApi = 48,
    kMemory2 = 49,
    kMemoryPool = 50,
    kGraphTrace = 51,
    kDeviceGraphTrace = 53,
};

enum Domain : int { kDomainDriver = 1, kDomainRuntime = 2, kDomainResource = 3, kDomainState = 6 };
enum CallbackSite : int { kApiEnter = 0, kApiExit = 1 };
enum StateCallback : std::uint32_t { kStateFatal = 1, kStateError = 2, kStateWarning = 3 };
inline constexpr std::uint32_t kResourceContextCreated = 1;

enum Call : std::uint32_t {
    kRtDeviceReset = 164,
    kDrvCtxDestroyV2 = 322,
    kDrvPrimaryCtxReleaseV2 = 544,
    kDrvPrimaryCtxResetV2 = 545,
    // Calls that fill a log and say nothing.
    kRtGetLastError = 10,
    kRtPeekAtLastError = 11,
    kRtGetDevice = 17,
    kRtStreamIsCapturing = 317,
    kDrvCtxGetCurrent = 304,
    kDrvPrimaryCtxGetState = 392,
    kDrvKernelGetAttribute = 686,
    // Launches through the driver API (Triton, CuPy, users of NVRTC).
    kDrvLaunchKernel = 307,
    kDrvLaunchKernelPtsz = 442,
    kDrvLaunchKernelEx = 652,
    kDrvLaunchKernelExPtsz = 653,
    kDrvLaunchCooperative = 477,
    kDrvLaunchCooperativePtsz = 478,
    kDrvGraphLaunch = 514,
    kDrvGraphLaunchPtsz = 515,
    // Virtual memory management: PyTorch's expandable segments.
    kDrvMemCreate = 549,
    kDrvMemRelease = 550,
    kDrvMemMap = 551,
    kDrvMemUnmap = 552,
};
inline constexpr std::array kLaunchCalls = {
    kDrvLaunchKernel,      kDrvLaunchKernelPtsz,      kDrvLaunchKernelEx, kDrvLaunchKernelExPtsz,
    kDrvLaunchCooperative, kDrvLaunchCooperativePtsz, kDrvGraphLaunch,    kDrvGraphLaunchPtsz};
inline constexpr std::array kMappingCalls = {kDrvMemCreate, kDrvMemRelease, kDrvMemMap,
                                             kDrvMemUnmap};

enum Attribute : int { kAttrDeviceBufferPoolLimit = 2, kAttrPerThreadBuffer = 9 };
enum ExternalKind : int { kCustom0 = 3, kCustom1 = 4, kCustom2 = 5 };
inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr int kThreadIdSystem = 1;
inline constexpr std::uint32_t kInvalidId = 0xFFFFFFFFU;

/// cuptiGetVersion(): before 13.0 a running number, since then major * 10000 + minor * 100 + patch.
inline constexpr std::uint32_t kV11_8 = 18;
inline constexpr std::uint32_t kV12_0 = 19;
inline constexpr std::uint32_t kV12_2 = 20;
inline constexpr std::uint32_t kV12_3 = 21;
inline constexpr std::uint32_t kV12_4 = 22;
inline constexpr std::uint32_t kV12_5 = 23;
inline constexpr std::uint32_t kV12_6 = 24;
inline constexpr std::uint32_t kV12_8 = 26;
inline constexpr std::uint32_t kV12_9 = 27;
inline constexpr std::uint32_t kV13_0 = 130000;
inline constexpr std::uint32_t kV13_2 = 130200;
inline constexpr std::uint32_t kOldestSupported = kV11_8;
inline constexpr std::uint32_t kNewestTested = 130001;

/// A field of a record: where it lies, and the first version that has it.
template <class T>
struct Field {
    std::uint16_t offset;
    std::uint32_t since = 0;
};
template <class T>
T get(const void* record, Field<T> field) {
    T value;
    std::memcpy(&value, static_cast<const char*>(record) + field.offset, sizeof value);
    return value;
}
template <class T>
T get(const void* record, Field<T> field, std::uint32_t api, T absent) {
    return api >= field.since ? get(record, field) : absent;
}
template <class T>
void put(void* record, Field<T> field, T value) {
    std::memcpy(static_cast<char*>(record) + field.offset, &value, sizeof value);
}

// Entry points as C function types; CUcontext and the like are opaque pointers here.
extern "C" {
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t size, std::size_t validSize);
using Callback = void (*)(void* user, int domain, std::uint32_t id, const void* data);
}
struct SubscriberParams {  // since 13.0
    std::size_t structSize;
    const char* name;
    char* oldName;
    std::size_t oldSize;
};
struct StateData {
    int result;
    const char* message;
};

// clang-format off
// name, required, result, arguments
#define TAPESCOPE_CUPTI_FUNCTIONS(X)                                                              \
  X(cuptiGetVersion, 1, int, (std::uint32_t*))                                                    \
  X(cuptiGetResultString, 0, int, (int, const char**))                                       \
  X(cuptiGetErrorMessage, 0, int, (int, const char**))                                       \
  X(cuptiGetTimestamp, 1, int, (std::uint64_t*))                                                  \
  X(cuptiSubscribe, 1, int, (void**, ::tapescope::profiler::cupti::abi::Callback, void*))                          \
  X(cuptiSubscribe_v2, 0, int, (void**, ::tapescope::profiler::cupti::abi::Callback, void*, ::tapescope::profiler::cupti::abi::SubscriberParams*)) \
  X(cuptiUnsubscribe, 1, int, (void*))                                                       \
  X(cuptiEnableCallback, 1, int, (std::uint32_t, void*, int, std::uint32_t))                           \
  X(cuptiGetCallbackName, 0, int, (int, std::uint32_t, const char**))                             \
  X(cuptiSetThreadIdType, 0, int, (int))                                                     \
  X(cuptiActivityRegisterCallbacks, 1, int, (::tapescope::profiler::cupti::abi::BufferRequested, ::tapescope::profiler::cupti::abi::BufferCompleted)) \
  X(cuptiActivityEnable, 1, int, (std::uint32_t))                                                 \
  X(cuptiActivityEnableAndDump, 0, int, (std::uint32_t))                                          \
  X(cuptiActivityDisable, 1, int, (std::uint32_t))                                                \
  X(cuptiActivityFlushAll, 1, int, (std::uint32_t))                                               \
  X(cuptiActivityGetNextRecord, 1, int, (std::uint8_t*, std::size_t, void**))                          \
  X(cuptiActivityGetNumDroppedRecords, 1, int, (void*, std::uint32_t, std::size_t*))                   \
  X(cuptiActivitySetAttribute, 0, int, (int, std::size_t*, void*))                                \
  X(cuptiActivityPushExternalCorrelationId, 0, int, (int, std::uint64_t))                         \
  X(cuptiActivityPopExternalCorrelationId, 0, int, (int, std::uint64_t*))                         \
  X(cuptiActivityEnableRuntimeApi, 0, int, (std::uint32_t, std::uint8_t))                              \
  X(cuptiActivityEnableDriverApi, 0, int, (std::uint32_t, std::uint8_t))                               \
  X(cuptiActivityEnableAllSyncRecords, 0, int, (std::uint8_t))                                    \
  X(cuptiDeviceSupported, 0, int, (int, int*))                                               \
  X(cuptiGetDeviceId, 0, int, (void*, std::uint32_t*))                                       \
  X(cuptiNvtxInitialize2, 0, int, (void*))
// clang-format on

}  // namespace tapescope::profiler::cupti::abi
