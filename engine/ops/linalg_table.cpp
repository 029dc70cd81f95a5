// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/linalg_rows.h"

namespace tapescope::engine {

std::span<OpDef* const> linalgOps() {
    static constexpr OpDef* kRows[] = {&kMatmul,
                                       &kMm,
                                       &kBmm,
                                       &kLinear,
                                       &kMv,
                                       &kDot,
                                       &kVdot,
                                       &kOuter,
                                       &kAddmm,
                                       &kAddmv,
                                       &kAddr,
                                       &kAddbmm,
                                       &kBaddbmm,
                                       &kCdist,
                                       &kLinalgDet,
                                       &kLinalgSlogdet,
                                       &kLinalgInv,
                                       &kLinalgSolve,
                                       &kLinalgSolveTriangular,
                                       &kLinalgLuFactor,
                                       &kLinalgLuSolve,
                                       &kLinalgCholesky,
                                       &kCholeskySolve,
                                       &kCholeskyInverse,
                                       &kLinalgQr,
                                       &kLinalgSvd,
                                       &kLinalgSvdvals,
                                       &kLinalgEigh,
                                       &kLinalgEigvalsh,
                                       &kLinalgPinv,
                                       &kLinalgLstsq,
                                       &kLinalgMatrixExp};
    return kRows;
}

}  // namespace tapescope::engine
