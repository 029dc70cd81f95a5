// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <array>
#include <cstddef>

namespace tapescope::engine {

extern OpDef kConv1d, kConv1dInputGrad, kConv1dWeightGrad;
extern OpDef kConv2d, kConv2dInputGrad, kConv2dWeightGrad;
extern OpDef kConv3d, kConv3dInputGrad, kConv3dWeightGrad;
extern OpDef kConvTranspose1d, kConvTranspose2d, kConvTranspose3d;
extern OpDef kMaxPool1d, kMaxPool2d, kMaxPool3d;
extern OpDef kMaxPool1dBackward, kMaxPool2dBackward, kMaxPool3dBackward;
extern OpDef kMaxUnpool1d, kMaxUnpool2d, kMaxUnpool3d;
extern OpDef kAdaptiveMaxPool1d, kAdaptiveMaxPool2d, kAdaptiveMaxPool3d;
extern OpDef kAvgPool1d, kAvgPool2d, kAvgPool3d;
extern OpDef kAvgPool1dBackward, kAvgPool2dBackward, kAvgPool3dBackward;
extern OpDef kAdaptiveAvgPool1d, kAdaptiveAvgPool2d, kAdaptiveAvgPool3d;
extern OpDef kAdaptiveAvgPool1dBackward, kAdaptiveAvgPool2dBackward, kAdaptiveAvgPool3dBackward;
extern OpDef kLpPool1d, kLpPool2d, kLpPool3d;
extern OpDef kBatchNorm, kBatchNormBackward, kLayerNorm, kLayerNormBackward;
extern OpDef kGroupNorm, kGroupNormBackward, kInstanceNorm, kRmsNorm, kLocalResponseNorm,
    kNormalize, kWeightNorm;
extern OpDef kSoftmax, kSoftmaxBackward, kLogSoftmax, kLogSoftmaxBackward;
extern OpDef kSoftmin;
extern OpDef kDropout, kDropoutBackward;
extern OpDef kEmbedding, kEmbeddingRenorm, kEmbeddingBag;
/// The modes of interpolation, forward and then backward.
inline constexpr std::size_t kUpsampleRows = 20;
extern std::array<OpDef, kUpsampleRows> kUpsample;
extern OpDef kGridSample, kAffineGrid, kRoiAlign, kRoiAlignBackward, kBoxArea, kBoxIou, kNms;
extern OpDef kNllLoss, kNllLossBackward, kCrossEntropyLoss, kMseLoss, kL1Loss, kBceWithLogits;
extern OpDef kBinaryCrossEntropy, kSmoothL1Loss, kHuberLoss, kKlDiv, kPoissonNllLoss,
    kGaussianNllLoss;
extern OpDef kMultiMarginLoss, kMultilabelMarginLoss, kMultilabelSoftMarginLoss, kSoftMarginLoss;
extern OpDef kCosineSimilarity, kPairwiseDistance, kHingeEmbeddingLoss, kMarginRankingLoss,
    kCosineEmbeddingLoss, kTripletMarginLoss, kCtcLoss;

}  // namespace tapescope::engine
