// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// statistics.cpp
extern OpDef kCountNonzero, kNansum, kNanmean, kAminmax, kVarMean, kStdMean, kCov, kCorrcoef;
// histogram.cpp
extern OpDef kHistc, kBincount, kHistogram;

}  // namespace tapescope::engine
