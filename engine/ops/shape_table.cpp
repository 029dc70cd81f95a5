// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/shape_rows.h"

namespace tapescope::engine {

std::span<OpDef* const> shapeOps() {
    static constexpr OpDef* kRows[] = {
        &kView,       &kReshape,   &kFlatten, &kPermute, &kTranspose, &kExpand,
        &kSqueeze,    &kUnsqueeze, &kNarrow,  &kSlice,   &kSelect,    &kSliceBackward,
        &kContiguous, &kClone,     &kCat,     &kStack,   &kFlip,      &kPad};
    return kRows;
}

}  // namespace tapescope::engine
