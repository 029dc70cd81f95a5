// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

extern OpDef kIndexSelect, kGather, kScatterAdd, kIndexAdd, kOneHot;

}  // namespace tapescope::engine
