// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/nn_isa.h"

namespace tapescope::engine::cpu {

const NnTable* nnTableFor(Isa isa) {
    if (!loopsFor(isa)) return nullptr;
#if TAPESCOPE_X86_ISAS
    if (isa == Isa::Avx512) return &avx512::kNnTable;
    if (isa == Isa::Avx2) return &avx2::kNnTable;
#endif
    return &base::kNnTable;
}

const NnTable& nnTable() {
    static const NnTable& best = *nnTableFor(bestIsa());
    return best;
}

}  // namespace tapescope::engine::cpu
