// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

extern OpDef kScaledDotProductAttention, kScaledDotProductAttentionBackward;
extern OpDef kRnnLayer, kRnnLayerBackward, kLstmLayer, kLstmLayerBackward, kGruLayer,
    kGruLayerBackward;

}  // namespace tapescope::engine
