// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft_isa.h"

namespace tapescope::engine::cpu {

const FftTable& fftTable() {
    static const FftTable& best = [](Isa isa) -> const FftTable& {
#if TAPESCOPE_X86_ISAS
        if (isa == Isa::Avx512) return avx512::kFftTable;
        if (isa == Isa::Avx2) return avx2::kFftTable;
#endif
        static_cast<void>(isa);
        return base::kFftTable;
    }(bestIsa());
    return best;
}

}  // namespace tapescope::engine::cpu
