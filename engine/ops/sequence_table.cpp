// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/sequence_rows.h"

namespace tapescope::engine {

std::span<OpDef* const> sequenceOps() {
    static constexpr OpDef* kRows[] = {&kScaledDotProductAttention,
                                       &kScaledDotProductAttentionBackward,
                                       &kRnnLayer,
                                       &kRnnLayerBackward,
                                       &kLstmLayer,
                                       &kLstmLayerBackward,
                                       &kGruLayer,
                                       &kGruLayerBackward};
    return kRows;
}

}  // namespace tapescope::engine
