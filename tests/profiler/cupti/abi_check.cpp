// SPDX-License-Identifier: Apache-2.0
// Compiled only where NVIDIA's headers are: holds abi.h and abi_records.h against them. Seen to
// pass with CUPTI 13.0; the branches for 12.4 and 11.8 name the structs of those versions.
#include "profiler/cupti/abi_records.h"

#include <cstddef>
#include <cstdio>
#include <cupti.h>

namespace abi = tapescope::profiler::cupti::abi;

// The newest struct of each kind is what that CUPTI writes.
#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Memcpy = CUpti_ActivityMemcpy6;
using Memory = CUpti_ActivityMemory4;
using Pool = CUpti_ActivityMemoryPool3;
using Sync = CUpti_ActivitySynchronization2;
using CudaEvent = CUpti_ActivityCudaEvent2;
using Overhead = CUpti_ActivityOverhead3;
using Graph = CUpti_ActivityGraphTrace2;
using Context = CUpti_ActivityContext3;
using Device = CUpti_ActivityDevice5;
using MarkerData = CUpti_ActivityMarkerData2;
#elif CUPTI_API_VERSION >= 22
using Kernel = CUpti_ActivityKernel9;
using Memcpy = CUpti_ActivityMemcpy5;
using Memory = CUpti_ActivityMemory3;
using Pool = CUpti_ActivityMemoryPool2;
using Sync = CUpti_ActivitySynchronization;
using CudaEvent = CUpti_ActivityCudaEvent;
using Overhead = CUpti_ActivityOverhead3;
using Graph = CUpti_ActivityGraphTrace2;
using Context = CUpti_ActivityContext2;
using Device = CUpti_ActivityDevice5;
using MarkerData = CUpti_ActivityMarkerData;
#else
using Kernel = CUpti_ActivityKernel8;
using Memcpy = CUpti_ActivityMemcpy5;
using Memory = CUpti_ActivityMemory3;
using Pool = CUpti_ActivityMemoryPool2;
using Sync = CUpti_ActivitySynchronization;
using CudaEvent = CUpti_ActivityCudaEvent;
using Overhead = CUpti_ActivityOverhead;
using Graph = CUpti_ActivityGraphTrace;
using Context = CUpti_ActivityContext;
using Device = CUpti_ActivityDevice4;
using MarkerData = CUpti_ActivityMarkerData;
#endif

#define TAPESCOPE_OFFSET(Struct, member, field)                                                \
    static_assert(                                                                             \
        offsetof(Struct, member) == (field).offset &&                                          \
            sizeof(static_cast<Struct*>(nullptr)->member) >= sizeof(abi::get(nullptr, field)), \
        #Struct "." #member)
#define TAPESCOPE_VALUE(theirs, ours) \
    static_assert(static_cast<long long>(theirs) == static_cast<long long>(ours), #theirs)

TAPESCOPE_OFFSET(Kernel, registersPerThread, abi::kernel::kRegisters);
TAPESCOPE_OFFSET(Kernel, start, abi::kernel::kStart);
TAPESCOPE_OFFSET(Kernel, end, abi::kernel::kEnd);
TAPESCOPE_OFFSET(Kernel, deviceId, abi::kernel::kDevice);
TAPESCOPE_OFFSET(Kernel, contextId, abi::kernel::kContext);
TAPESCOPE_OFFSET(Kernel, streamId, abi::kernel::kStream);
TAPESCOPE_OFFSET(Kernel, gridX, abi::kernel::kGridX);
TAPESCOPE_OFFSET(Kernel, gridY, abi::kernel::kGridY);
TAPESCOPE_OFFSET(Kernel, gridZ, abi::kernel::kGridZ);
TAPESCOPE_OFFSET(Kernel, blockX, abi::kernel::kBlockX);
TAPESCOPE_OFFSET(Kernel, blockY, abi::kernel::kBlockY);
TAPESCOPE_OFFSET(Kernel, blockZ, abi::kernel::kBlockZ);
TAPESCOPE_OFFSET(Kernel, staticSharedMemory, abi::kernel::kStaticSmem);
TAPESCOPE_OFFSET(Kernel, dynamicSharedMemory, abi::kernel::kDynamicSmem);
TAPESCOPE_OFFSET(Kernel, localMemoryPerThread, abi::kernel::kLocalPerThread);
TAPESCOPE_OFFSET(Kernel, correlationId, abi::kernel::kCorrelation);
TAPESCOPE_OFFSET(Kernel, gridId, abi::kernel::kGridId);
TAPESCOPE_OFFSET(Kernel, name, abi::kernel::kName);
TAPESCOPE_OFFSET(Kernel, queued, abi::kernel::kQueued);
TAPESCOPE_OFFSET(Kernel, submitted, abi::kernel::kSubmitted);
TAPESCOPE_OFFSET(Kernel, graphNodeId, abi::kernel::kGraphNode);
TAPESCOPE_OFFSET(Kernel, graphId, abi::kernel::kGraph);
TAPESCOPE_OFFSET(Kernel, clusterX, abi::kernel::kClusterX);
TAPESCOPE_OFFSET(Kernel, clusterY, abi::kernel::kClusterY);
TAPESCOPE_OFFSET(Kernel, clusterZ, abi::kernel::kClusterZ);
TAPESCOPE_OFFSET(Memcpy, copyKind, abi::memcopy::kCopyKind);
TAPESCOPE_OFFSET(Memcpy, srcKind, abi::memcopy::kSrcKind);
TAPESCOPE_OFFSET(Memcpy, dstKind, abi::memcopy::kDstKind);
TAPESCOPE_OFFSET(Memcpy, flags, abi::memcopy::kFlags);
TAPESCOPE_OFFSET(Memcpy, bytes, abi::memcopy::kBytes);
TAPESCOPE_OFFSET(Memcpy, start, abi::memcopy::kStart);
TAPESCOPE_OFFSET(Memcpy, end, abi::memcopy::kEnd);
TAPESCOPE_OFFSET(Memcpy, deviceId, abi::memcopy::kDevice);
TAPESCOPE_OFFSET(Memcpy, contextId, abi::memcopy::kContext);
TAPESCOPE_OFFSET(Memcpy, streamId, abi::memcopy::kStream);
TAPESCOPE_OFFSET(Memcpy, correlationId, abi::memcopy::kCorrelation);
TAPESCOPE_OFFSET(Memcpy, graphNodeId, abi::memcopy::kGraphNode);
TAPESCOPE_OFFSET(Memcpy, graphId, abi::memcopy::kGraph);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, bytes, abi::peer::kBytes);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, start, abi::peer::kStart);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, end, abi::peer::kEnd);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, deviceId, abi::peer::kDevice);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, contextId, abi::peer::kContext);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, streamId, abi::peer::kStream);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, srcDeviceId, abi::peer::kSrcDevice);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, dstDeviceId, abi::peer::kDstDevice);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, correlationId, abi::peer::kCorrelation);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, graphId, abi::peer::kGraph);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, value, abi::fill::kValue);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, bytes, abi::fill::kBytes);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, start, abi::fill::kStart);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, end, abi::fill::kEnd);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, correlationId, abi::fill::kCorrelation);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, graphId, abi::fill::kGraph);
TAPESCOPE_OFFSET(Memory, memoryOperationType, abi::memory::kOp);
TAPESCOPE_OFFSET(Memory, memoryKind, abi::memory::kMemKind);
TAPESCOPE_OFFSET(Memory, correlationId, abi::memory::kCorrelation);
TAPESCOPE_OFFSET(Memory, address, abi::memory::kAddress);
TAPESCOPE_OFFSET(Memory, bytes, abi::memory::kBytes);
TAPESCOPE_OFFSET(Memory, timestamp, abi::memory::kTimestamp);
TAPESCOPE_OFFSET(Memory, PC, abi::memory::kPc);
TAPESCOPE_OFFSET(Memory, processId, abi::memory::kProcess);
TAPESCOPE_OFFSET(Memory, deviceId, abi::memory::kDevice);
TAPESCOPE_OFFSET(Memory, contextId, abi::memory::kContext);
TAPESCOPE_OFFSET(Memory, streamId, abi::memory::kStream);
TAPESCOPE_OFFSET(Memory, name, abi::memory::kName);
TAPESCOPE_OFFSET(Memory, isAsync, abi::memory::kIsAsync);
TAPESCOPE_OFFSET(Memory, memoryPoolConfig.memoryPoolType, abi::memory::kPoolType);
TAPESCOPE_OFFSET(Memory, memoryPoolConfig.address, abi::memory::kPoolAddress);
TAPESCOPE_OFFSET(Memory, memoryPoolConfig.releaseThreshold, abi::memory::kPoolReleaseThreshold);
TAPESCOPE_OFFSET(Memory, memoryPoolConfig.pool, abi::memory::kPoolSize);
TAPESCOPE_OFFSET(Memory, memoryPoolConfig.utilizedSize, abi::memory::kPoolUsed);
TAPESCOPE_OFFSET(Pool, memoryPoolOperationType, abi::pool::kOp);
TAPESCOPE_OFFSET(Pool, memoryPoolType, abi::pool::kPoolType);
TAPESCOPE_OFFSET(Pool, correlationId, abi::pool::kCorrelation);
TAPESCOPE_OFFSET(Pool, deviceId, abi::pool::kDevice);
TAPESCOPE_OFFSET(Pool, minBytesToKeep, abi::pool::kMinKeep);
TAPESCOPE_OFFSET(Pool, address, abi::pool::kAddress);
TAPESCOPE_OFFSET(Pool, size, abi::pool::kSize);
TAPESCOPE_OFFSET(Pool, releaseThreshold, abi::pool::kReleaseThreshold);
TAPESCOPE_OFFSET(Pool, timestamp, abi::pool::kTimestamp);
TAPESCOPE_OFFSET(Pool, utilizedSize, abi::pool::kUsed);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, cbid, abi::api::kCbid);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, start, abi::api::kStart);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, end, abi::api::kEnd);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, processId, abi::api::kProcess);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, threadId, abi::api::kThread);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, correlationId, abi::api::kCorrelation);
TAPESCOPE_OFFSET(CUpti_ActivityAPI, returnValue, abi::api::kRet);
TAPESCOPE_OFFSET(CUpti_ActivityExternalCorrelation, externalKind, abi::external::kExtKind);
TAPESCOPE_OFFSET(CUpti_ActivityExternalCorrelation, externalId, abi::external::kId);
TAPESCOPE_OFFSET(CUpti_ActivityExternalCorrelation, correlationId, abi::external::kCorrelation);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, flags, abi::marker::kFlags);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, timestamp, abi::marker::kTimestamp);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, id, abi::marker::kId);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, objectKind, abi::marker::kObjectKind);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, objectId.pt.threadId, abi::marker::kThread);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, name, abi::marker::kName);
TAPESCOPE_OFFSET(CUpti_ActivityMarker2, domain, abi::marker::kDomain);
TAPESCOPE_OFFSET(Overhead, overheadKind, abi::overhead::kWhat);
TAPESCOPE_OFFSET(Overhead, start, abi::overhead::kStart);
TAPESCOPE_OFFSET(Overhead, end, abi::overhead::kEnd);
TAPESCOPE_OFFSET(Overhead, objectId.pt.threadId, abi::overhead::kThread);
TAPESCOPE_OFFSET(Sync, type, abi::sync::kType);
TAPESCOPE_OFFSET(Sync, start, abi::sync::kStart);
TAPESCOPE_OFFSET(Sync, end, abi::sync::kEnd);
TAPESCOPE_OFFSET(Sync, correlationId, abi::sync::kCorrelation);
TAPESCOPE_OFFSET(Sync, contextId, abi::sync::kContext);
TAPESCOPE_OFFSET(Sync, streamId, abi::sync::kStream);
TAPESCOPE_OFFSET(Sync, cudaEventId, abi::sync::kEvent);
TAPESCOPE_OFFSET(CudaEvent, correlationId, abi::cuda_event::kCorrelation);
TAPESCOPE_OFFSET(CudaEvent, contextId, abi::cuda_event::kContext);
TAPESCOPE_OFFSET(CudaEvent, streamId, abi::cuda_event::kStream);
TAPESCOPE_OFFSET(CudaEvent, eventId, abi::cuda_event::kEvent);
TAPESCOPE_OFFSET(Graph, correlationId, abi::graph::kCorrelation);
TAPESCOPE_OFFSET(Graph, start, abi::graph::kStart);
TAPESCOPE_OFFSET(Graph, end, abi::graph::kEnd);
TAPESCOPE_OFFSET(Graph, deviceId, abi::graph::kDevice);
TAPESCOPE_OFFSET(Graph, graphId, abi::graph::kGraphId);
TAPESCOPE_OFFSET(Graph, contextId, abi::graph::kContext);
TAPESCOPE_OFFSET(Graph, streamId, abi::graph::kStream);
TAPESCOPE_OFFSET(Context, contextId, abi::context::kId);
TAPESCOPE_OFFSET(Context, deviceId, abi::context::kDevice);
TAPESCOPE_OFFSET(Context, nullStreamId, abi::context::kNullStream);
TAPESCOPE_OFFSET(CUpti_ActivityStream, contextId, abi::stream::kContext);
TAPESCOPE_OFFSET(CUpti_ActivityStream, streamId, abi::stream::kId);
TAPESCOPE_OFFSET(CUpti_ActivityStream, priority, abi::stream::kPriority);
TAPESCOPE_OFFSET(CUpti_ActivityStream, flag, abi::stream::kFlag);
TAPESCOPE_OFFSET(Device, id, abi::device::kId);
TAPESCOPE_OFFSET(Device, numMultiprocessors, abi::device::kSmCount);
TAPESCOPE_OFFSET(Device, computeCapabilityMajor, abi::device::kCcMajor);
TAPESCOPE_OFFSET(Device, computeCapabilityMinor, abi::device::kCcMinor);
TAPESCOPE_OFFSET(Device, globalMemorySize, abi::device::kMemory);
TAPESCOPE_OFFSET(Device, name, abi::device::kName);
TAPESCOPE_OFFSET(CUpti_CallbackData, callbackSite, abi::callback::kSite);
TAPESCOPE_OFFSET(CUpti_CallbackData, correlationId, abi::callback::kCorrelation);
TAPESCOPE_OFFSET(MarkerData, flags, abi::marker_data::kFlags);
TAPESCOPE_OFFSET(MarkerData, id, abi::marker_data::kId);
TAPESCOPE_OFFSET(MarkerData, payloadKind, abi::marker_data::kPayloadKind);
TAPESCOPE_OFFSET(MarkerData, payload, abi::marker_data::kPayload);
TAPESCOPE_OFFSET(MarkerData, color, abi::marker_data::kColor);
TAPESCOPE_OFFSET(MarkerData, category, abi::marker_data::kCategory);
TAPESCOPE_OFFSET(CUpti_ActivityName, objectKind, abi::name::kObjectKind);
TAPESCOPE_OFFSET(CUpti_ActivityName, objectId.dcs.deviceId, abi::name::kFirst);
TAPESCOPE_OFFSET(CUpti_ActivityName, objectId.pt.processId, abi::name::kFirst);
TAPESCOPE_OFFSET(CUpti_ActivityName, objectId.pt.threadId, abi::name::kSecond);
TAPESCOPE_OFFSET(CUpti_ActivityName, objectId.dcs.contextId, abi::name::kSecond);
TAPESCOPE_OFFSET(CUpti_ActivityName, objectId.dcs.streamId, abi::name::kThird);
TAPESCOPE_OFFSET(CUpti_ActivityName, name, abi::name::kName);
TAPESCOPE_OFFSET(Device, uuid, abi::device::kUuid);
TAPESCOPE_OFFSET(CUpti_ResourceData, context, abi::resource::kContext);
TAPESCOPE_OFFSET(Kernel, launchType, abi::kernel::kLaunchType);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, copyKind, abi::peer::kCopyKind);
TAPESCOPE_OFFSET(CUpti_ActivityMemcpyPtoP4, graphNodeId, abi::peer::kGraphNode);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, graphNodeId, abi::fill::kGraphNode);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, deviceId, abi::fill::kDevice);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, contextId, abi::fill::kContext);
TAPESCOPE_OFFSET(CUpti_ActivityMemset4, streamId, abi::fill::kStream);
TAPESCOPE_OFFSET(Pool, processId, abi::pool::kProcess);
TAPESCOPE_OFFSET(Overhead, objectKind, abi::overhead::kObjectKind);
#if CUPTI_API_VERSION >= 22
TAPESCOPE_OFFSET(Overhead, correlationId, abi::overhead::kCorrelation);
TAPESCOPE_OFFSET(Overhead, overheadData, abi::overhead::kData);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute, abi::kDrvKernelGetAttribute);
#endif
#if CUPTI_API_VERSION >= 26
TAPESCOPE_OFFSET(Memcpy, copyCount, abi::memcopy::kCopyCount);
TAPESCOPE_OFFSET(Memory, source, abi::memory::kSource);
TAPESCOPE_OFFSET(Sync, cudaEventSyncId, abi::sync::kEventSyncId);
TAPESCOPE_OFFSET(Sync, returnValue, abi::sync::kRet);
TAPESCOPE_OFFSET(CudaEvent, deviceId, abi::cuda_event::kDevice);
TAPESCOPE_OFFSET(CudaEvent, deviceTimestamp, abi::cuda_event::kDeviceTimestamp);
TAPESCOPE_OFFSET(CudaEvent, cudaEventSyncId, abi::cuda_event::kEventSyncId);
#endif
#if CUPTI_API_VERSION >= 130000
TAPESCOPE_OFFSET(Kernel, isDeviceLaunched, abi::kernel::kDeviceLaunched);
TAPESCOPE_VALUE(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, abi::kMigDevice);
TAPESCOPE_VALUE(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, abi::kConfidentialComputing);
TAPESCOPE_VALUE(CUPTI_CB_DOMAIN_STATE, abi::kDomainState);
static_assert(offsetof(CUpti_SubscriberParams, oldSubscriberSize) ==
                  offsetof(abi::SubscriberParams, oldSize) &&
              sizeof(CUpti_SubscriberParams) == sizeof(abi::SubscriberParams));
#endif
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, abi::kConcurrentKernel);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_MEMORY2, abi::kMemory2);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_MEMORY_POOL, abi::kMemoryPool);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, abi::kExternalCorrelation);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, abi::kSynchronization);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_CUDA_EVENT, abi::kCudaEvent);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_MARKER, abi::kMarker);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_OVERHEAD, abi::kOverhead);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_MEMCPY2, abi::kMemcpy2);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, abi::kGraphTrace);
TAPESCOPE_VALUE(CUPTI_ERROR_NOT_INITIALIZED, abi::kNotInitialized);
TAPESCOPE_VALUE(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, abi::kMultipleSubscribers);
TAPESCOPE_VALUE(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, abi::kInsufficientPrivileges);
TAPESCOPE_VALUE(CUPTI_ERROR_MAX_LIMIT_REACHED, abi::kMaxLimitReached);
TAPESCOPE_VALUE(CUPTI_ERROR_INVALID_KIND, abi::kInvalidKind);
TAPESCOPE_VALUE(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, abi::kVirtualizedDevice);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, abi::kFlushForced);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, abi::kThreadIdSystem);
TAPESCOPE_VALUE(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, abi::kCustom0);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_FLAG_MARKER_START, abi::marker::kBegin);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_FLAG_MARKER_END, abi::marker::kFinish);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, abi::marker::kInstant);
TAPESCOPE_VALUE(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, abi::kRtDeviceReset);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2, abi::kDrvCtxDestroyV2);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2, abi::kDrvPrimaryCtxReleaseV2);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2, abi::kDrvPrimaryCtxResetV2);
TAPESCOPE_VALUE(CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, abi::kRtGetLastError);
TAPESCOPE_VALUE(CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, abi::kRtPeekAtLastError);
TAPESCOPE_VALUE(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, abi::kRtGetDevice);
TAPESCOPE_VALUE(CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000, abi::kRtStreamIsCapturing);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, abi::kDrvCtxGetCurrent);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState, abi::kDrvPrimaryCtxGetState);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, abi::kDrvLaunchKernel);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, abi::kDrvLaunchKernelPtsz);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, abi::kDrvLaunchKernelEx);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, abi::kDrvLaunchKernelExPtsz);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, abi::kDrvLaunchCooperative);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
                abi::kDrvLaunchCooperativePtsz);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, abi::kDrvGraphLaunch);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, abi::kDrvGraphLaunchPtsz);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuMemCreate, abi::kDrvMemCreate);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuMemRelease, abi::kDrvMemRelease);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuMemMap, abi::kDrvMemMap);
TAPESCOPE_VALUE(CUPTI_DRIVER_TRACE_CBID_cuMemUnmap, abi::kDrvMemUnmap);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_NAME, abi::kName);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_MARKER_DATA, abi::kMarkerData);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, abi::kInternalLaunchApi);
TAPESCOPE_VALUE(CUPTI_CB_DOMAIN_RESOURCE, abi::kDomainResource);
TAPESCOPE_VALUE(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, abi::kResourceContextCreated);
TAPESCOPE_VALUE(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, abi::kCustom1);
TAPESCOPE_VALUE(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, abi::kCustom2);
TAPESCOPE_VALUE(CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB, abi::marker_data::kHasColor);

int main() {
    int wrong = 0;
    const auto check = [&wrong](const char* what, std::size_t theirs, std::uint32_t kind) {
        const std::size_t ours = abi::recordSize(kind, CUPTI_API_VERSION);
        if (ours == theirs) return;
        ++wrong;
        std::printf("%s: the headers say %zu bytes, abi_records.cpp says %zu\n", what, theirs,
                    ours);
    };
    check("kernel", sizeof(Kernel), abi::kConcurrentKernel);
    check("copy", sizeof(Memcpy), abi::kMemcpy);
    check("peer copy", sizeof(CUpti_ActivityMemcpyPtoP4), abi::kMemcpy2);
    check("memset", sizeof(CUpti_ActivityMemset4), abi::kMemset);
    check("API call", sizeof(CUpti_ActivityAPI), abi::kRuntime);
    check("external correlation", sizeof(CUpti_ActivityExternalCorrelation),
          abi::kExternalCorrelation);
    check("memory", sizeof(Memory), abi::kMemory2);
    check("pool", sizeof(Pool), abi::kMemoryPool);
    check("marker", sizeof(CUpti_ActivityMarker2), abi::kMarker);
    check("marker data", sizeof(MarkerData), abi::kMarkerData);
    check("name", sizeof(CUpti_ActivityName), abi::kName);
    check("overhead", sizeof(Overhead), abi::kOverhead);
    check("synchronisation", sizeof(Sync), abi::kSynchronization);
    check("event", sizeof(CudaEvent), abi::kCudaEvent);
    check("stream", sizeof(CUpti_ActivityStream), abi::kStream);
    check("context", sizeof(Context), abi::kContext);
    check("device", sizeof(Device), abi::kDevice);
    check("graph", sizeof(Graph), abi::kGraphTrace);
    std::printf("abi.h %s CUPTI's headers of API %d\n", wrong == 0 ? "agrees with" : "DIFFERS from",
                CUPTI_API_VERSION);
    return wrong == 0 ? 0 : 1;
}
