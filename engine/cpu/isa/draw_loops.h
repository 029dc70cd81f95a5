// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Inner loops of random draws; see loops.h for the rules of this folder.
namespace tapescope::engine::cpu {

struct DrawTable {
    using Int = std::int64_t;
    /// out[4 i + k] = word k of Philox4x32-10(seed, counter + i), i < blocks.
    void (*words)(std::uint64_t seed, std::uint64_t counter, Int blocks, std::uint32_t* out);
    /// Pairs of uniform numbers become pairs of normal ones (Box and Muller), in place; n is even.
    /// The same bits in every instruction set.
    void (*normals)(Int n, double* u);
};

namespace base {
extern const DrawTable kDrawTable;
}
namespace avx2 {
extern const DrawTable kDrawTable;
}
namespace avx512 {
extern const DrawTable kDrawTable;
}

}  // namespace tapescope::engine::cpu
