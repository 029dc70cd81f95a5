// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dense.h"
#include "engine/cpu/index_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

namespace tapescope::engine {

namespace {

void inferEmbedding(const OpArgs& a, OutputMetas& out) {
    checkRank("embedding", "weight", a[0], 2, "[V, D]");
    checkIndexDType("embedding", a[1]);
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
    grads[0] = index_add(zeros(weight.sizes, {.dtype = weight.dtype}), 0,
                         reshape(v.input(1), {count}), reshape(v.grad(), {count, weight.sizes[1]}));
}

constexpr ArgDef kArgs[] = {{"weight"}, {"index"}};

}  // namespace

constinit OpDef kEmbedding{.name = "embedding",
                           .family = Family::Nn,
                           .args = kArgs,
                           .attrs = {},
                           .infer = inferEmbedding,
                           .vjp = vjpEmbedding,
                           .saveInputs = 0b10,
                           .native = kEveryType & ~dtypeBit(DType::I32),  // for the index
                           .kernels = {embeddingKernel}};

Tensor embedding(const Tensor& weight, const Tensor& index, Site site) {
    return call1(kEmbedding, {&weight, &index}, Attrs(), site);
}

}  // namespace tapescope::engine
