// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// One element or an order (sorting.cpp), quantiles (quantile.cpp), distinct values (unique.cpp),
// places in a sorted sequence (searchsorted.cpp).
extern OpDef kSort, kArgsort, kMsort, kTopk, kKthvalue, kMedian, kNanmedian, kMode, kMax, kMin;
extern OpDef kQuantile, kNanquantile;
extern OpDef kUnique, kUniqueConsecutive;
extern OpDef kSearchsorted, kBucketize;

}  // namespace tapescope::engine
