// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"

#include <string_view>

namespace tapescope::engine::cpu {

enum class Isa : std::uint8_t { Base, Avx2, Avx512 };
std::string_view isaName(Isa isa);

struct Loops {
    const ConvertTable& convert;
    const UnaryTable& unary;
    const BinaryTable& binary;
    const ReduceTable& reduce;
};
/// Null if this processor or this build has no such instructions.
const Loops* loopsFor(Isa isa);
/// The widest this processor has. TAPESCOPE_ISA=base or avx2 in the environment lowers it, to
/// compare results.
Isa bestIsa();
const Loops& loops();

}  // namespace tapescope::engine::cpu
