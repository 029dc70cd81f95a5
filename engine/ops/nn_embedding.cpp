// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/nn_embedding.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/index_kernels.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

#include <cmath>
#include <vector>

namespace tapescope::engine {

namespace {

void inferEmbedding(const OpArgs& a, OutputMetas& out) {
    checkRank("embedding", "weight", a[0], 2, "[V, D]");
    checkIndexDType("embedding", a[1]);
    const std::int64_t padding = a.attrs.integer(0);
    if (padding < -1 || padding >= a[0].sizes()[0])
        throw IndexError(message("embedding: padding_idx ", padding, " must be a row of weight ",
                                 a[0].sizes(), ", or -1 for none"));
    Dims sizes = a[1].sizes();
    sizes.push_back(a[0].sizes()[1]);
    checkSizes("embedding", sizes);
    out.add(sizes, a[0].dtype());
}

void embeddingKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::checkIndexRange("embedding", a[1], 0, a[0].sizes()[0]);
    const std::int64_t count = a[1].numel();
    const std::int64_t width = a[0].sizes()[1];
    const Tensor index = cpu::dense(a[1]);
    cpu::gatherInto(a[0], 0, makeView(index, {count}, {1}, index.storage_offset()),
                    makeView(out[0], {count, width}, {width, 1}, out[0].storage_offset()));
}

void vjpEmbedding(const VjpArgs& v, std::span<Tensor> grads) {
    const TensorMeta& weight = v.meta(0);
    const std::int64_t count = numelOf(v.meta(1).sizes);
    const Tensor index = reshape(v.input(1), {count});
    Tensor rows = reshape(v.grad(), {count, weight.sizes[1]});
    if (const std::int64_t padding = v.attrs.integer(0); padding >= 0)
        rows = masked_fill(rows, unsqueeze(eq(index, wrappedNumber(padding)), 1), 0);
    if (v.attrs.flag(1)) {
        const Tensor counts = index_add(zeros({weight.sizes[0]}, {.dtype = weight.dtype}), 0, index,
                                        ones({count}, {.dtype = weight.dtype}));
        rows = div(rows, unsqueeze(index_select(counts, 0, index), 1));
    }
    grads[0] = index_add(zeros(weight.sizes, {.dtype = weight.dtype}), 0, index, rows);
}

// embedding_renorm_: weight, index; max_norm, norm_type
void inferRenorm(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "embedding_renorm_";
    checkRank(kOp, "weight", a[0], 2, "[V, D]");
    checkFloating(kOp, "weight", a[0]);
    checkIndexDType(kOp, a[1]);
    if (!(a.attrs.real(0) >= 0) || !(a.attrs.real(1) > 0))
        throw Error(message(kOp, ": max_norm must not be negative and norm_type must be positive"));
    out.add(a[0].sizes(), a[0].dtype());
}

void renormKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::checkIndexRange("embedding_renorm_", a[1], 0, a[0].sizes()[0]);
    const double maxNorm = a.attrs.real(0);
    const double p = a.attrs.real(1);
    const std::int64_t width = out[0].sizes()[1];
    const std::int64_t rowStride = out[0].strides()[0];
    const std::int64_t step = out[0].strides()[1];
    visitFloating(out[0].dtype(), [&]<class T>() {
        std::vector<bool> done(static_cast<std::size_t>(out[0].sizes()[0]), false);
        for (const std::int64_t i : a[1].to_vector<std::int64_t>()) {
            if (done[static_cast<std::size_t>(i)]) continue;
            done[static_cast<std::size_t>(i)] = true;
            T* row = out[0].data<T>() + i * rowStride;
            double norm = 0;
            for (std::int64_t k = 0; k < width; ++k) {
                const double size = std::fabs(static_cast<double>(row[k * step]));
                norm = std::isinf(p) ? std::max(norm, size) : norm + std::pow(size, p);
            }
            if (!std::isinf(p)) norm = std::pow(norm, 1 / p);
            if (!(norm > maxNorm)) continue;
            // 1e-7 as in PyTorch.
            const T scale = static_cast<T>(maxNorm / (norm + 1e-7));
            for (std::int64_t k = 0; k < width; ++k) row[k * step] *= scale;
        }
    });
}

std::int64_t paddingRow(const Tensor& weight, const EmbeddingOptions& o) {
    if (!o.padding_idx) return -1;
    return weight.dim() == 2 ? wrapDim("embedding", *o.padding_idx,
                                       static_cast<int>(std::min<std::int64_t>(
                                           weight.size(0), std::numeric_limits<int>::max())))
                             : *o.padding_idx;
}

constexpr ArgDef kArgs[] = {{"weight"}, {"index"}};
constexpr AttrDef kAttrs[] = {{"padding_idx", AttrKind::Int, "-1"},
                              {"scale_grad_by_freq", AttrKind::Bool, "false"}};
constexpr AttrDef kRenormAttrs[] = {{"max_norm", AttrKind::Float},
                                    {"norm_type", AttrKind::Float, "2"}};

}  // namespace

constinit OpDef kEmbedding{.name = "embedding",
                           .family = Family::Nn,
                           .args = kArgs,
                           .attrs = kAttrs,
                           .infer = inferEmbedding,
                           .vjp = vjpEmbedding,
                           .saveInputs = 0b10,
                           .native = kEveryRealType & ~dtypeBit(DType::I32),  // for the index
                           .kernels = {embeddingKernel}};
constinit OpDef kEmbeddingRenorm{.name = "embedding_renorm_",
                                 .family = Family::Nn,
                                 .args = kArgs,
                                 .attrs = kRenormAttrs,
                                 .infer = inferRenorm,
                                 .inplace = true,
                                 .kernels = {renormKernel}};

Tensor embedding(const Tensor& weight, const Tensor& index, Site site) {
    return call1(kEmbedding, {&weight, &index}, Attrs(std::int64_t{-1}, false), site);
}
Tensor embedding(const Tensor& weight, const Tensor& index, const EmbeddingOptions& o, Site site) {
    if (o.max_norm) embedding_renorm_(weight, index, *o.max_norm, o.norm_type, site);
    return call1(kEmbedding, {&weight, &index}, Attrs(paddingRow(weight, o), o.scale_grad_by_freq),
                 site);
}
Tensor embedding_renorm_(const Tensor& weight, const Tensor& index, double max_norm,
                         double norm_type, Site site) {
    // Not part of the graph, as in PyTorch.
    const NoGradGuard guard;
    return call1(kEmbeddingRenorm, {&weight, &index}, Attrs(max_norm, norm_type), site);
}

}  // namespace tapescope::engine
