// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"
#include "engine/tensor/tensor_impl.h"

#include <optional>

namespace tapescope::engine {

// Views (shape_view.cpp).
extern OpDef kView, kReshape, kFlatten, kPermute, kTranspose, kExpand, kSqueeze, kUnsqueeze;
// Parts (shape_slice.cpp).
extern OpDef kNarrow, kSlice, kSelect, kSliceBackward;
// Copies (shape_copy.cpp).
extern OpDef kContiguous, kClone, kFlip, kPad;
// Joins (shape_join.cpp).
extern OpDef kCat, kStack;

/// Where the elements of a view lie: what a view row works out from its input's sizes and strides.
struct ViewPlan {
    Dims sizes;
    Dims strides;
    std::int64_t offset = 0;
};
using PlanFn = ViewPlan (*)(const OpArgs&);

template <PlanFn plan>
void inferView(const OpArgs& args, OutputMetas& out) {
    out.add(plan(args).sizes, args[0].dtype());
}
template <PlanFn plan>
Tensor applyView(const OpArgs& args) {
    const ViewPlan p = plan(args);
    return makeView(args[0], p.sizes, p.strides, p.offset);
}

/// sizes with a -1 filled in. Throws ShapeError.
Dims inferSizes(std::string_view op, const Dims& from, const Dims& sizes);
/// The strides under which the elements read as `to`; none where only a copy can do it. numel must
/// agree.
std::optional<Dims> viewStrides(const Dims& sizes, const Dims& strides, const Dims& to);

}  // namespace tapescope::engine
