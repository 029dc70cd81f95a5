// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tapescope::engine::cpu {

// To about 1e-15, from additions, multiplications and divisions only, so that every machine gets
// the same bits (C libraries differ). Compiled without contraction into fused multiply-adds.

/// x: a normal number > 0.
double portableLog(double x);
/// Sine and cosine of 2 pi t for t in [0, 1).
void portableSinCosTurns(double t, double& sine, double& cosine);

}  // namespace tapescope::engine::cpu
