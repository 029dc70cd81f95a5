// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

extern OpDef kMatmul, kMm, kBmm, kLinear;

}  // namespace tapescope::engine
