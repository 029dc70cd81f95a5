// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

extern OpDef kConv2d, kConv2dInputGrad, kConv2dWeightGrad;
extern OpDef kMaxPool2d, kMaxPool2dBackward, kAvgPool2d, kAvgPool2dBackward, kAdaptiveAvgPool2d,
    kAdaptiveAvgPool2dBackward;
extern OpDef kBatchNorm, kBatchNormBackward, kLayerNorm, kLayerNormBackward;
extern OpDef kSoftmax, kSoftmaxBackward, kLogSoftmax, kLogSoftmaxBackward;
extern OpDef kDropout, kDropoutBackward, kEmbedding;
extern OpDef kNllLoss, kNllLossBackward, kMseLoss, kL1Loss, kBceWithLogits;

}  // namespace tapescope::engine
