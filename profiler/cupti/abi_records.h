// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/abi.h"

/// Where CUPTI's activity records keep what: field offsets of CUPTI 11.8, which every later version
/// up to 13.0 keeps as a prefix, and fields that came later with the version they came with.
namespace tapescope::profiler::cupti::abi {

using Str = const char*;
using Uuid = std::array<std::uint8_t, 16>;

inline constexpr Field<std::uint32_t> kKind{0};

namespace kernel {
inline constexpr Field<std::uint16_t> kRegisters{6};
inline constexpr Field<std::uint64_t> kStart{16};
inline constexpr Field<std::uint64_t> kEnd{24};
inline constexpr Field<std::uint64_t> kCompleted{32};
inline constexpr Field<std::uint32_t> kDevice{40};
inline constexpr Field<std::uint32_t> kContext{44};
inline constexpr Field<std::uint32_t> kStream{48};
inline constexpr Field<std::int32_t> kGridX{52};
inline constexpr Field<std::int32_t> kGridY{56};
inline constexpr Field<std::int32_t> kGridZ{60};
inline constexpr Field<std::int32_t> kBlockX{64};
inline constexpr Field<std::int32_t> kBlockY{68};
inline constexpr Field<std::int32_t> kBlockZ{72};
inline constexpr Field<std::int32_t> kStaticSmem{76};
inline constexpr Field<std::int32_t> kDynamicSmem{80};
inline constexpr Field<std::uint32_t> kLocalPerThread{84};
inline constexpr Field<std::uint32_t> kCorrelation{92};
inline constexpr Field<std::int64_t> kGridId{96};
inline constexpr Field<Str> kName{104};
inline constexpr Field<std::uint64_t> kQueued{120};
inline constexpr Field<std::uint64_t> kSubmitted{128};
inline constexpr Field<std::uint64_t> kGraphNode{144};
inline constexpr Field<std::uint8_t> kLaunchType{136};
inline constexpr Field<std::uint32_t> kGraph{156};
inline constexpr Field<std::uint32_t> kChannel{168};
inline constexpr Field<std::uint32_t> kClusterX{176, kV11_8};
inline constexpr Field<std::uint32_t> kClusterY{180, kV11_8};
inline constexpr Field<std::uint32_t> kClusterZ{184, kV11_8};
inline constexpr Field<std::uint8_t> kDeviceLaunched{208, kV13_0};
}  // namespace kernel

namespace memcopy {
inline constexpr Field<std::uint8_t> kCopyKind{4};
inline constexpr Field<std::uint8_t> kSrcKind{5};
inline constexpr Field<std::uint8_t> kDstKind{6};
inline constexpr Field<std::uint8_t> kFlags{7};
inline constexpr Field<std::uint64_t> kBytes{8};
inline constexpr Field<std::uint64_t> kStart{16};
inline constexpr Field<std::uint64_t> kEnd{24};
inline constexpr Field<std::uint64_t> kGraphNode{64};
inline constexpr Field<std::uint32_t> kDevice{32};
inline constexpr Field<std::uint32_t> kContext{36};
inline constexpr Field<std::uint32_t> kStream{40};
inline constexpr Field<std::uint32_t> kCorrelation{44};
inline constexpr Field<std::uint32_t> kGraph{72};
inline constexpr Field<std::uint64_t> kCopyCount{88, kV12_8};
}  // namespace memcopy

namespace peer {
inline constexpr Field<std::uint8_t> kCopyKind{4};
inline constexpr Field<std::uint64_t> kBytes{8};
inline constexpr Field<std::uint64_t> kStart{16};
inline constexpr Field<std::uint64_t> kEnd{24};
inline constexpr Field<std::uint64_t> kGraphNode{72};
inline constexpr Field<std::uint32_t> kDevice{32};
inline constexpr Field<std::uint32_t> kContext{36};
inline constexpr Field<std::uint32_t> kStream{40};
inline constexpr Field<std::uint32_t> kSrcDevice{44};
inline constexpr Field<std::uint32_t> kDstDevice{52};
inline constexpr Field<std::uint32_t> kCorrelation{60};
inline constexpr Field<std::uint32_t> kGraph{80};
}  // namespace peer

namespace fill {
inline constexpr Field<std::uint32_t> kValue{4};
inline constexpr Field<std::uint64_t> kBytes{8};
inline constexpr Field<std::uint64_t> kStart{16};
inline constexpr Field<std::uint64_t> kEnd{24};
inline constexpr Field<std::uint64_t> kGraphNode{64};
inline constexpr Field<std::uint32_t> kDevice{32};
inline constexpr Field<std::uint32_t> kContext{36};
inline constexpr Field<std::uint32_t> kStream{40};
inline constexpr Field<std::uint32_t> kCorrelation{44};
inline constexpr Field<std::uint32_t> kGraph{72};
}  // namespace fill

namespace memory {
inline constexpr Field<std::uint32_t> kOp{4};
inline constexpr Field<std::uint32_t> kMemKind{8};
inline constexpr Field<std::uint32_t> kCorrelation{12};
inline constexpr Field<std::uint32_t> kProcess{48};
inline constexpr Field<std::uint32_t> kDevice{52};
inline constexpr Field<std::uint32_t> kContext{56};
inline constexpr Field<std::uint32_t> kStream{60};
inline constexpr Field<std::uint32_t> kIsAsync{72};
inline constexpr Field<std::uint32_t> kPoolType{80};
inline constexpr Field<std::uint64_t> kAddress{16};
inline constexpr Field<std::uint64_t> kBytes{24};
inline constexpr Field<std::uint64_t> kTimestamp{32};
inline constexpr Field<std::uint64_t> kPc{40};
inline constexpr Field<std::uint64_t> kPoolAddress{88};
inline constexpr Field<std::uint64_t> kPoolReleaseThreshold{96};
inline constexpr Field<std::uint64_t> kPoolSize{104};
inline constexpr Field<std::uint64_t> kPoolUsed{112};
inline constexpr Field<Str> kName{64};
inline constexpr Field<Str> kSource{120, kV12_6};
}  // namespace memory

namespace pool {
inline constexpr Field<std::uint32_t> kOp{4};
inline constexpr Field<std::uint32_t> kPoolType{8};
inline constexpr Field<std::uint32_t> kCorrelation{12};
inline constexpr Field<std::uint32_t> kProcess{16};
inline constexpr Field<std::uint32_t> kDevice{20};
inline constexpr Field<std::uint64_t> kMinKeep{24};
inline constexpr Field<std::uint64_t> kAddress{32};
inline constexpr Field<std::uint64_t> kSize{40};
inline constexpr Field<std::uint64_t> kReleaseThreshold{48};
inline constexpr Field<std::uint64_t> kTimestamp{56};
inline constexpr Field<std::uint64_t> kUsed{64};
}  // namespace pool

namespace api {
inline constexpr Field<std::uint32_t> kCbid{4};
inline constexpr Field<std::uint32_t> kProcess{24};
inline constexpr Field<std::uint32_t> kThread{28};
inline constexpr Field<std::uint32_t> kCorrelation{32};
inline constexpr Field<std::uint32_t> kRet{36};
inline constexpr Field<std::uint64_t> kStart{8};
inline constexpr Field<std::uint64_t> kEnd{16};
}  // namespace api

namespace external {
inline constexpr Field<std::uint32_t> kExtKind{4};
inline constexpr Field<std::uint32_t> kCorrelation{16};
inline constexpr Field<std::uint64_t> kId{8};
}  // namespace external

namespace marker {
inline constexpr Field<std::uint32_t> kFlags{4};
inline constexpr Field<std::uint32_t> kId{16};
inline constexpr Field<std::uint32_t> kObjectKind{20};
inline constexpr Field<std::uint32_t> kThread{28};
inline constexpr Field<std::uint64_t> kTimestamp{8};
inline constexpr Field<Str> kName{40};
inline constexpr Field<Str> kDomain{48};
enum Flag : std::uint32_t { kInstant = 1, kBegin = 2, kFinish = 4 };
}  // namespace marker

namespace overhead {
inline constexpr Field<std::uint32_t> kWhat{4};
inline constexpr Field<std::uint32_t> kObjectKind{8};
inline constexpr Field<std::uint32_t> kThread{16};
inline constexpr Field<std::uint64_t> kStart{24};
inline constexpr Field<std::uint64_t> kEnd{32};
inline constexpr Field<std::uint32_t> kCorrelation{40, kV12_4};
inline constexpr Field<void*> kData{48, kV12_4};
}  // namespace overhead

namespace sync {
inline constexpr Field<std::uint32_t> kType{4};
inline constexpr Field<std::uint32_t> kCorrelation{24};
inline constexpr Field<std::uint32_t> kContext{28};
inline constexpr Field<std::uint32_t> kStream{32};
inline constexpr Field<std::uint32_t> kEvent{36};
inline constexpr Field<std::uint64_t> kStart{8};
inline constexpr Field<std::uint64_t> kEnd{16};
inline constexpr Field<std::uint64_t> kEventSyncId{40, kV12_8};
inline constexpr Field<std::uint32_t> kRet{48, kV12_8};
}  // namespace sync

namespace cuda_event {
inline constexpr Field<std::uint32_t> kCorrelation{4};
inline constexpr Field<std::uint32_t> kContext{8};
inline constexpr Field<std::uint32_t> kStream{12};
inline constexpr Field<std::uint32_t> kEvent{16};
inline constexpr Field<std::uint32_t> kDevice{24, kV12_8};
inline constexpr Field<std::uint64_t> kDeviceTimestamp{40, kV12_8};
inline constexpr Field<std::uint64_t> kEventSyncId{48, kV12_8};
}  // namespace cuda_event

namespace graph {
inline constexpr Field<std::uint32_t> kCorrelation{4};
inline constexpr Field<std::uint32_t> kDevice{24};
inline constexpr Field<std::uint32_t> kGraphId{28};
inline constexpr Field<std::uint32_t> kContext{32};
inline constexpr Field<std::uint32_t> kStream{36};
inline constexpr Field<std::uint64_t> kStart{8};
inline constexpr Field<std::uint64_t> kEnd{16};
}  // namespace graph

namespace context {
inline constexpr Field<std::uint32_t> kId{4};
inline constexpr Field<std::uint32_t> kDevice{8};
inline constexpr Field<std::uint16_t> kNullStream{14};
}  // namespace context

namespace stream {
inline constexpr Field<std::uint32_t> kContext{4};
inline constexpr Field<std::uint32_t> kId{8};
inline constexpr Field<std::uint32_t> kPriority{12};
inline constexpr Field<std::uint32_t> kFlag{16};
}  // namespace stream

namespace device {
inline constexpr Field<std::uint32_t> kId{112};
inline constexpr Field<std::uint32_t> kSmCount{44};
inline constexpr Field<std::uint32_t> kCcMajor{104};
inline constexpr Field<std::uint32_t> kCcMinor{108};
inline constexpr Field<std::uint64_t> kMemory{16};
inline constexpr Field<char*> kName{136};
inline constexpr Field<Uuid> kUuid{120};
}  // namespace device

namespace callback {
inline constexpr Field<int> kSite{0};
inline constexpr Field<std::uint32_t> kCorrelation{64};
}  // namespace callback

namespace marker_data {
inline constexpr Field<std::uint32_t> kFlags{4};
inline constexpr Field<std::uint32_t> kId{8};
inline constexpr Field<std::uint32_t> kPayloadKind{12};
inline constexpr Field<std::uint64_t> kPayload{16};
inline constexpr Field<std::uint32_t> kColor{24};
inline constexpr Field<std::uint32_t> kCategory{28};
/// In kFlags: the colour field says something.
inline constexpr std::uint32_t kHasColor = 2;
}  // namespace marker_data

namespace name {
inline constexpr Field<std::uint32_t> kObjectKind{4};
/// Process and thread, or device, context and stream.
inline constexpr Field<std::uint32_t> kFirst{8};
inline constexpr Field<std::uint32_t> kSecond{12};
inline constexpr Field<std::uint32_t> kThird{16};
inline constexpr Field<Str> kName{24};
}  // namespace name

namespace resource {
inline constexpr Field<void*> kContext{0};
}  // namespace resource

/// Size of a record as CUPTI of version `api` writes it; 0 = a kind that is not known.
std::size_t recordSize(std::uint32_t kind, std::uint32_t api);

}  // namespace tapescope::profiler::cupti::abi
