// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/nn_rows.h"

namespace tapescope::engine {

std::span<OpDef* const> nnOps() {
    static constexpr OpDef* kRows[] = {&kConv2d,
                                       &kConv2dInputGrad,
                                       &kConv2dWeightGrad,
                                       &kMaxPool2d,
                                       &kMaxPool2dBackward,
                                       &kAvgPool2d,
                                       &kAvgPool2dBackward,
                                       &kAdaptiveAvgPool2d,
                                       &kAdaptiveAvgPool2dBackward,
                                       &kBatchNorm,
                                       &kBatchNormBackward,
                                       &kLayerNorm,
                                       &kLayerNormBackward,
                                       &kSoftmax,
                                       &kSoftmaxBackward,
                                       &kLogSoftmax,
                                       &kLogSoftmaxBackward,
                                       &kDropout,
                                       &kDropoutBackward,
                                       &kEmbedding,
                                       &kNllLoss,
                                       &kNllLossBackward,
                                       &kMseLoss,
                                       &kL1Loss,
                                       &kBceWithLogits};
    return kRows;
}

}  // namespace tapescope::engine
