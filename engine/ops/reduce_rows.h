// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// Sums and products (reduce_sum.cpp), extremes (reduce_extreme.cpp), statistics (reduce_stats.cpp),
// norms (reduce_norm.cpp).
extern OpDef kSum, kMean, kProd, kCumsum;
extern OpDef kAmax, kAmin, kArgmax, kArgmin, kAny, kAll;
extern OpDef kVar, kStd, kLogsumexp;
extern OpDef kNorm, kVectorNorm, kDist, kRenorm;

inline constexpr ArgDef kReduceInput[] = {{"input"}};
inline constexpr AttrDef kReduceDims[] = {{"dim", AttrKind::Dims, "[]"},
                                          {"keepdim", AttrKind::Bool, "false"}};

// Attribute 0 of the reductions over `dim`: the dimensions, empty for all. Attribute `keepdimAt`:
// keepdim.
Dims dimsAttr(const Attrs& attrs);
bool keepdimAttr(const Attrs& attrs, int keepdimAt = 1);
/// x's sizes with the reduced dimensions of size 1, or without them. Throws IndexError naming op.
Dims reducedSizes(std::string_view op, const Dims& sizes, const Dims& dims, bool keepdim);
/// A reduction's gradient or output, with the reduced dimensions back as size 1 so that it
/// broadcasts to the input.
Tensor restoreDims(const VjpArgs& a, const Tensor& reduced);
/// How many elements go into one.
std::int64_t reducedCount(const VjpArgs& a);

template <const OpDef& row>
void inferReduction(const OpArgs& args, OutputMetas& out) {
    out.add(reducedSizes(row.name, args[0].sizes(), dimsAttr(args.attrs), keepdimAttr(args.attrs)),
            args[0].dtype());
}

/// A reduction over `dim` with `keepdim`.
constexpr OpDef reductionRow(std::string_view name, TypeRule types, InferFn infer, VjpFn vjp,
                             bool saveInput, bool saveOutput, KernelFn kernel,
                             std::span<const AttrDef> attrs = kReduceDims) {
    return {.name = name,
            .family = Family::Reduction,
            .args = kReduceInput,
            .attrs = attrs,
            .types = types,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = saveInput,
            .saveOutputs = saveOutput,
            .kernels = {kernel}};
}

}  // namespace tapescope::engine
