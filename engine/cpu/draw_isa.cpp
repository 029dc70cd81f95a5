// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/draw_isa.h"

namespace tapescope::engine::cpu {

const DrawTable* drawTableFor(Isa isa) {
    if (!loopsFor(isa)) return nullptr;
#if TAPESCOPE_X86_ISAS
    if (isa == Isa::Avx512) return &avx512::kDrawTable;
    if (isa == Isa::Avx2) return &avx2::kDrawTable;
#endif
    return &base::kDrawTable;
}

const DrawTable& drawTable() {
    static const DrawTable& best = *drawTableFor(bestIsa());
    return best;
}

}  // namespace tapescope::engine::cpu
