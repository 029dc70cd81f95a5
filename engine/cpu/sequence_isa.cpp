// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/sequence_isa.h"

namespace tapescope::engine::cpu {

const SequenceTable& sequenceTable() {
    static const SequenceTable& best = [](Isa isa) -> const SequenceTable& {
#if TAPESCOPE_X86_ISAS
        if (isa == Isa::Avx512) return avx512::kSequenceTable;
        if (isa == Isa::Avx2) return avx2::kSequenceTable;
#endif
        static_cast<void>(isa);
        return base::kSequenceTable;
    }(bestIsa());
    return best;
}

}  // namespace tapescope::engine::cpu
