// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/index_rows.h"
#include "engine/ops/indexing.h"
#include "engine/ops/scatter_rows.h"

namespace tapescope::engine {
namespace {

void inferScatterAddOf(const OpDef& row, const OpArgs& a, OutputMetas& out) {
    checkWritable(row.name, a[0]);
    checkAddable(row.name, a[0], a[2]);
    checkScatter(row.name, a);
    out.add(a[0].sizes(), a[0].dtype());
}
void inferIndexAddOf(const OpDef& row, const OpArgs& a, OutputMetas& out) {
    checkWritable(row.name, a[0]);
    checkAddable(row.name, a[0], a[2]);
    checkIndexedSource(row.name, a);
    out.add(a[0].sizes(), a[0].dtype());
}

constexpr OpDef writing(std::string_view name, std::span<const ArgDef> args,
                        std::span<const AttrDef> attrs, InferFn infer, VjpFn vjp, KernelFn kernel) {
    return {.name = name,
            .family = Family::Index,
            .args = args,
            .attrs = attrs,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = 0b10,
            .inplace = true,
            .kernels = {kernel}};
}
constexpr OpDef reducing() {
    OpDef op = writing("scatter_reduce_", kSourceArgs, kReduceAttrs,
                       inferRow<inferScatterReduceOf, kScatterReduceInplace>, vjpScatterReduce,
                       scatterReduceKernel);
    op.saveInputs = 0b111;
    op.saveOutputs = 1;
    return op;
}

}  // namespace

constinit OpDef kScatterInplace =
    writing("scatter_", kScatterArgs, kScatterAttrs, inferRow<inferScatterOf, kScatterInplace>,
            vjpScatter, scatterKernel);
constinit OpDef kScatterAddInplace =
    writing("scatter_add_", kSourceArgs, kDimAttr, inferRow<inferScatterAddOf, kScatterAddInplace>,
            vjpScatterAdd, scatterSumKernel);
constinit OpDef kScatterReduceInplace = reducing();
constinit OpDef kIndexAddInplace =
    writing("index_add_", kSourceArgs, kDimAttr, inferRow<inferIndexAddOf, kIndexAddInplace>,
            vjpIndexAdd, scatterSumKernel);
constinit OpDef kIndexFillInplace =
    writing("index_fill_", kFillArgs, kFillAttrs, inferRow<inferIndexFillOf, kIndexFillInplace>,
            vjpIndexFill, indexFillKernel);
constinit OpDef kIndexCopyInplace =
    writing("index_copy_", kSourceArgs, kDimAttr, inferRow<inferIndexCopyOf, kIndexCopyInplace>,
            vjpIndexCopy, indexCopyKernel);

Tensor scatter_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                Site site) {
    return call1(kScatterInplace, {&x, &index, &source}, Attrs(dim, 0.0), site);
}
Tensor scatter_(const Tensor& x, std::int64_t dim, const Tensor& index, double value, Site site) {
    return call1(kScatterInplace, {&x, &index}, Attrs(dim, value), site);
}
Tensor scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    Site site) {
    return call1(kScatterAddInplace, {&x, &index, &source}, Attrs(dim), site);
}
Tensor scatter_reduce_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                       std::string_view reduce, bool include_self, Site site) {
    return call1(kScatterReduceInplace, {&x, &index, &source},
                 Attrs(dim, reductionCode("scatter_reduce_", reduce, site), include_self), site);
}
Tensor index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  Site site) {
    return call1(kIndexAddInplace, {&x, &index, &source}, Attrs(dim), site);
}
Tensor index_fill_(const Tensor& x, std::int64_t dim, const Tensor& index, double value,
                   Site site) {
    return call1(kIndexFillInplace, {&x, &index}, Attrs(dim, value), site);
}
Tensor index_copy_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                   Site site) {
    return call1(kIndexCopyInplace, {&x, &index, &source}, Attrs(dim), site);
}

}  // namespace tapescope::engine
