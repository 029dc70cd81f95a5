// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/abi_records.h"

namespace tapescope::profiler::cupti::abi {

std::size_t recordSize(std::uint32_t kind, std::uint32_t api) {
    switch (kind) {
        case kKernel:
        case kConcurrentKernel:
            return api >= kV13_0 ? 216 : api >= kV12_0 ? 208 : 200;
        case kMemcpy:
            return api >= kV12_8 ? 96 : 88;
        case kMemcpy2:
            return 96;
        case kMemset:
            return 88;
        case kDriver:
        case kRuntime:
        case kInternalLaunchApi:
            return 40;
        case kExternalCorrelation:
            return 24;
        case kMemory2:
            return api >= kV12_6 ? 128 : 120;
        case kMemoryPool:
            return api >= kV13_0 ? 80 : 72;
        case kMarker:
            return 56;
        case kMarkerData:
            return api >= kV13_0 ? 40 : 32;
        case kName:
            return 32;
        case kOverhead:
            return api >= kV12_4 ? 56 : 40;
        case kSynchronization:
            return api >= kV12_8 ? 56 : 40;
        case kCudaEvent:
            return api >= kV12_8 ? 56 : 24;
        case kStream:
            return 24;
        case kContext:
            return api >= kV12_5 ? 32 : api >= kV12_4 ? 24 : 16;
        case kDevice:
            return api >= kV12_2 ? 184 : 176;
        case kGraphTrace:
            return api >= kV12_3 ? 56 : 48;
        default:
            return 0;
    }
}

}  // namespace tapescope::profiler::cupti::abi
