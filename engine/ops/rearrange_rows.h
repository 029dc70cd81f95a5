// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// rearrange.cpp
extern OpDef kRoll, kRot90, kRepeat, kTile, kRepeatInterleave;
// reshape_more.cpp
extern OpDef kMovedim, kSwapaxes, kSwapdims, kUnflatten, kRavel, kAtleast1d, kAtleast2d, kAtleast3d,
    kBroadcastTo, kExpandAs, kViewAs, kPixelShuffle, kPixelUnshuffle, kChannelShuffle;
// stacking.cpp
extern OpDef kHstack, kVstack, kDstack, kBlockDiag, kCartesianProd, kCombinations;
// windows.cpp
extern OpDef kUnfold, kUnfoldBackward, kAsStrided, kAsStridedBackward, kIm2col, kCol2im;
// pad_modes.cpp
extern OpDef kReflectionPad1d, kReflectionPad2d, kReflectionPad3d, kReplicationPad1d,
    kReplicationPad2d, kReplicationPad3d, kCircularPad1d, kCircularPad2d, kCircularPad3d,
    kPadModeBackward;

}  // namespace tapescope::engine
