// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/families.h"
#include "engine/ops/pointwise_more_rows.h"

#include <vector>

namespace tapescope::engine {

std::span<OpDef* const> pointwiseMoreOps() {
    static const std::vector<OpDef*> kAll = [] {
        std::vector<OpDef*> rows;
        for (const auto part : {mathRows, specialRows, roundRows, activationRows, gateRows,
                                arithmeticRows, binaryMathRows, bitRows, ternaryRows, testRows,
                                creationRows, randomDrawRows, inplaceRows}) {
            for (OpDef* row : part()) rows.push_back(row);
        }
        return rows;
    }();
    return kAll;
}

}  // namespace tapescope::engine
