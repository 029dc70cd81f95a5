// SPDX-License-Identifier: Apache-2.0
// Distinct values, and places in a sorted sequence.
#include "engine/cpu/unique_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/shape.h"
#include "engine/ops/sorting.h"
#include "engine/ops/sorting_rows.h"

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr ArgDef kSearchArgs[] = {
    {"sorted_sequence"}, {"values"}, {.name = "sorter", .optional = true}};
constexpr ArgDef kBucketArgs[] = {{"input"}, {"boundaries"}};
constexpr AttrDef kUniqueAttrs[] = {{"sorted", AttrKind::Bool, "true"},
                                    {"return_inverse", AttrKind::Bool, "false"},
                                    {"return_counts", AttrKind::Bool, "false"},
                                    {"dim", AttrKind::Int, "none"}};
constexpr AttrDef kConsecutiveAttrs[] = {{"return_inverse", AttrKind::Bool, "false"},
                                         {"return_counts", AttrKind::Bool, "false"},
                                         {"dim", AttrKind::Int, "none"}};
constexpr AttrDef kRight[] = {{"right", AttrKind::Bool, "false"}};

void inferGroups(std::string_view op, const OpArgs& a, int from, OutputMetas& out) {
    if (a.attrs.has(from + 2)) {
        const int dim = wrapDim(op, a.attrs.integer(from + 2), a[0].dim());
        for (int d = 0; d < a[0].dim(); ++d) {
            if (d != dim && a[0].sizes()[d] == 0)
                throw ShapeError(message(op, ": dimension ", d, " of ", a[0].sizes(),
                                         " is empty, its slices cannot be compared"));
        }
    }
    out.addDynamic(a[0].dtype());
    if (a.attrs.flag(from)) out.addDynamic(DType::I64);
    if (a.attrs.flag(from + 1)) out.addDynamic(DType::I64);
}
void inferUnique(const OpArgs& a, OutputMetas& out) { inferGroups("unique", a, 1, out); }
void inferConsecutive(const OpArgs& a, OutputMetas& out) {
    inferGroups("unique_consecutive", a, 0, out);
}

void inferSearchsorted(const OpArgs& a, OutputMetas& out) {
    const Tensor& sequence = a[0];
    const Tensor& values = a[1];
    if (sequence.dim() == 0)
        throw ShapeError("searchsorted: sorted_sequence must have at least 1 dimension");
    if (sequence.dim() > 1) {
        bool fits = values.dim() == sequence.dim();
        for (int d = 0; fits && d + 1 < values.dim(); ++d)
            fits = values.sizes()[d] == sequence.sizes()[d];
        if (!fits)
            throw ShapeError(message("searchsorted: values ", values.sizes(),
                                     " must have the leading sizes of sorted_sequence ",
                                     sequence.sizes()));
    }
    if (a.has(2)) {
        checkIndexDType("searchsorted", a[2], "sorter");
        if (a[2].sizes() != sequence.sizes())
            throw ShapeError(message("searchsorted: sorter ", a[2].sizes(),
                                     " must have the sizes of sorted_sequence ", sequence.sizes()));
    }
    out.add(values.sizes(), DType::I64);
}

Tensor bucketizeOf(const OpArgs& a, Site site) {
    if (a[1].dim() != 1)
        throw ShapeError(message("bucketize: boundaries ", a[1].sizes(), " must have 1 dimension"));
    return searchsorted(a[1], a[0], a.attrs.flag(0), {}, site);
}

std::tuple<Tensor, Tensor, Tensor> groupsOf(Outputs outs, bool inverse, bool counts) {
    const Tensor none;
    return {outs[0], inverse ? outs[1] : none, counts ? outs[inverse ? 2 : 1] : none};
}

}  // namespace

constinit OpDef kUnique{.name = "unique",
                        .family = Family::Reduction,
                        .args = kInput,
                        .attrs = kUniqueAttrs,
                        .infer = inferUnique,
                        .kernels = {cpu::unique}};
constinit OpDef kUniqueConsecutive{.name = "unique_consecutive",
                                   .family = Family::Reduction,
                                   .args = kInput,
                                   .attrs = kConsecutiveAttrs,
                                   .infer = inferConsecutive,
                                   .kernels = {cpu::uniqueConsecutive}};
constinit OpDef kSearchsorted{.name = "searchsorted",
                              .family = Family::Reduction,
                              .args = kSearchArgs,
                              .attrs = kRight,
                              .infer = inferSearchsorted,
                              .kernels = {cpu::searchsorted}};
constinit OpDef kBucketize = compositeRow("bucketize", Family::Reduction, kBucketArgs, kRight,
                                          composeOne<bucketizeOf>, TypeRule::AsIs, false);

std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& x, bool sorted, bool return_inverse,
                                          bool return_counts, std::optional<std::int64_t> dim,
                                          Site site) {
    return groupsOf(
        call(kUnique, {&x}, Attrs(sorted, return_inverse, return_counts, attrOf(dim)), site),
        return_inverse, return_counts);
}
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& x, bool return_inverse,
                                                      bool return_counts,
                                                      std::optional<std::int64_t> dim, Site site) {
    return groupsOf(
        call(kUniqueConsecutive, {&x}, Attrs(return_inverse, return_counts, attrOf(dim)), site),
        return_inverse, return_counts);
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right,
                    const Tensor& sorter, Site site) {
    return call1(kSearchsorted, {&sorted_sequence, &values, &sorter}, Attrs(right), site);
}
Tensor searchsorted(const Tensor& sorted_sequence, double value, bool right, const Tensor& sorter,
                    Site site) {
    return searchsorted(sorted_sequence, Tensor::scalar(value, sorted_sequence.dtype()), right,
                        sorter, site);
}
Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool right, Site site) {
    return call1(kBucketize, {&x, &boundaries}, Attrs(right), site);
}

}  // namespace tapescope::engine
