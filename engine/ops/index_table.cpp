// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/index_rows.h"

namespace tapescope::engine {

std::span<OpDef* const> indexOps() {
    static constexpr OpDef* kRows[] = {&kIndexSelect,
                                       &kGather,
                                       &kScatterAdd,
                                       &kIndexAdd,
                                       &kOneHot,
                                       &kScatter,
                                       &kScatterReduce,
                                       &kIndexFill,
                                       &kIndexCopy,
                                       &kIndexReduce,
                                       &kScatterInplace,
                                       &kScatterAddInplace,
                                       &kScatterReduceInplace,
                                       &kIndexAddInplace,
                                       &kIndexFillInplace,
                                       &kIndexCopyInplace,
                                       &kNonzero,
                                       &kArgwhere,
                                       &kMaskedSelect,
                                       &kMaskedScatter,
                                       &kMaskedScatterInplace,
                                       &kTake,
                                       &kTakeAlongDim,
                                       &kPut,
                                       &kPutInplace,
                                       &kIndex,
                                       &kIndexPut,
                                       &kIndexPutInplace};
    return kRows;
}

}  // namespace tapescope::engine
