// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// The transforms themselves (fft_transforms.cpp), as ATen has them: everything else in fft.cpp is
// made of these.
extern OpDef kFftC2C, kFftR2C, kFftC2R;

/// x with zeros behind its end along dim.
Tensor padEnd(const Tensor& x, int dim, std::int64_t count, Site site = {});

/// How a transform is scaled, as ATen's rows say it: by nothing, by 1/sqrt(n) or by 1/n.
enum class FftScale : std::int64_t { None, ByRootN, ByN };

Tensor fftC2C(const Tensor& x, const Dims& dims, FftScale scale, bool forward, Site site = {});
Tensor fftR2C(const Tensor& x, const Dims& dims, FftScale scale, bool onesided, Site site = {});
/// lastSize: of the result along the last of dims.
Tensor fftC2R(const Tensor& x, const Dims& dims, FftScale scale, std::int64_t lastSize,
              Site site = {});

}  // namespace tapescope::engine
