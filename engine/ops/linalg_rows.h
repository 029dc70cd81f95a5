// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

extern OpDef kMatmul, kMm, kBmm, kLinear;
extern OpDef kMv, kDot, kVdot, kOuter, kAddmm, kAddmv, kAddr, kAddbmm, kBaddbmm, kCdist;
extern OpDef kLinalgDet, kLinalgSlogdet, kLinalgInv, kLinalgSolve, kLinalgSolveTriangular,
    kLinalgLuFactor, kLinalgLuSolve;
extern OpDef kLinalgCholesky, kCholeskySolve, kCholeskyInverse, kLinalgQr;
extern OpDef kLinalgSvd, kLinalgSvdvals, kLinalgEigh, kLinalgEigvalsh, kLinalgPinv, kLinalgLstsq,
    kLinalgMatrixExp;

}  // namespace tapescope::engine
