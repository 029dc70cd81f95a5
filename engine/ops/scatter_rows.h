// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>
#include <string_view>

namespace tapescope::engine {

// What scatter.cpp's operators share with their in-place forms (scatter_inplace.cpp).
inline constexpr ArgDef kScatterArgs[] = {{"input"}, {"index"}, {.name = "src", .optional = true}};
inline constexpr ArgDef kSourceArgs[] = {{"input"}, {"index"}, {"source"}};
inline constexpr ArgDef kFillArgs[] = {{"input"}, {"index"}};
inline constexpr AttrDef kDimAttr[] = {{"dim", AttrKind::Int}};
inline constexpr AttrDef kScatterAttrs[] = {{"dim", AttrKind::Int},
                                            {"value", AttrKind::Float, "0"}};
inline constexpr AttrDef kFillAttrs[] = {{"dim", AttrKind::Int}, {"value", AttrKind::Float}};
/// reduce: 0 sum, 1 prod, 2 mean, 3 amax, 4 amin.
inline constexpr AttrDef kReduceAttrs[] = {
    {"dim", AttrKind::Int}, {"reduce", AttrKind::Int}, {"include_self", AttrKind::Bool, "true"}};

/// "sum" … as the attribute's number. Throws Error.
std::int64_t reductionCode(std::string_view op, std::string_view name, Site site);

void inferScatterOf(const OpDef& row, const OpArgs& a, OutputMetas& out);
void inferScatterReduceOf(const OpDef& row, const OpArgs& a, OutputMetas& out);
void inferIndexFillOf(const OpDef& row, const OpArgs& a, OutputMetas& out);
void inferIndexCopyOf(const OpDef& row, const OpArgs& a, OutputMetas& out);
template <void (*infer)(const OpDef&, const OpArgs&, OutputMetas&), const OpDef& row>
void inferRow(const OpArgs& a, OutputMetas& out) {
    infer(row, a, out);
}

// Kernels of both forms: where the output is not the input, the input is copied first.
void scatterKernel(const OpArgs& a, std::span<Tensor> out);
void scatterReduceKernel(const OpArgs& a, std::span<Tensor> out);
void scatterSumKernel(const OpArgs& a, std::span<Tensor> out);  ///< scatter_add_, index_add_
void indexFillKernel(const OpArgs& a, std::span<Tensor> out);
void indexCopyKernel(const OpArgs& a, std::span<Tensor> out);

}  // namespace tapescope::engine
