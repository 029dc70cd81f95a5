// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/isa.h"

#include <cstdlib>

namespace tapescope::engine::cpu {
namespace {

constexpr Loops kBase{base::kConvertTable, base::kUnaryTable, base::kBinaryTable,
                      base::kReduceTable};
#if TAPESCOPE_X86_ISAS
constexpr Loops kAvx2{avx2::kConvertTable, avx2::kUnaryTable, avx2::kBinaryTable,
                      avx2::kReduceTable};
constexpr Loops kAvx512{avx512::kConvertTable, avx512::kUnaryTable, avx512::kBinaryTable,
                        avx512::kReduceTable};

bool haveAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool haveAvx512() {
    return haveAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

Isa pick() {
    const char* wish = std::getenv("TAPESCOPE_ISA");
    const std::string_view cap = wish ? wish : "";
    for (const Isa isa : {Isa::Avx512, Isa::Avx2}) {
        if (cap == "base" || (cap == "avx2" && isa == Isa::Avx512)) continue;
        if (loopsFor(isa)) return isa;
    }
    return Isa::Base;
}

}  // namespace

std::string_view isaName(Isa isa) {
    return isa == Isa::Base ? "base" : isa == Isa::Avx2 ? "avx2" : "avx512";
}

const Loops* loopsFor(Isa isa) {
#if TAPESCOPE_X86_ISAS
    if (isa == Isa::Avx512) return haveAvx512() ? &kAvx512 : nullptr;
    if (isa == Isa::Avx2) return haveAvx2() ? &kAvx2 : nullptr;
#else
    if (isa != Isa::Base) return nullptr;
#endif
    return &kBase;
}

Isa bestIsa() {
    static const Isa best = pick();
    return best;
}

const Loops& loops() {
    static const Loops& best = *loopsFor(bestIsa());
    return best;
}

}  // namespace tapescope::engine::cpu
