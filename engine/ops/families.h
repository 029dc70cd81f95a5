// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine {

// The rows of each family, which OpTable concatenates in this order. Rows are constant-initialised,
// so that the table may be built at any time.
std::span<OpDef* const> pointwiseOps();
std::span<OpDef* const> pointwiseMoreOps();  // comparison, random, creation and in place too
std::span<OpDef* const> compareOps();
std::span<OpDef* const> reduceOps();
std::span<OpDef* const> createOps();
std::span<OpDef* const> randomOps();
std::span<OpDef* const> sortingOps();
std::span<OpDef* const> scanOps();
std::span<OpDef* const> statisticsOps();
std::span<OpDef* const> shapeOps();
std::span<OpDef* const> diagonalOps();
std::span<OpDef* const> rearrangeOps();
std::span<OpDef* const> indexOps();
std::span<OpDef* const> linalgOps();
std::span<OpDef* const> nnOps();
std::span<OpDef* const> optimOps();
std::span<OpDef* const> ampOps();
std::span<OpDef* const> sequenceOps();  ///< attention and recurrent layers
std::span<OpDef* const> complexOps();
std::span<OpDef* const> fftOps();

}  // namespace tapescope::engine
