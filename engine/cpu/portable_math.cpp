// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/portable_math.h"

#include "engine/cpu/isa/portable_math.h"

namespace tapescope::engine::cpu {

double portableLog(double x) { return portableLogOf(x); }

void portableSinCosTurns(double t, double& sine, double& cosine) {
    const PortableSinCos both = portableSinCosOfTurns(t);
    sine = both.sine;
    cosine = both.cosine;
}

}  // namespace tapescope::engine::cpu
