// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm_bf16.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/gemm.h"
#include "engine/cpu/gemm_kernels.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/onednn.h"
#include "engine/cpu/parallel.h"
#include "engine/ops/shape_rows.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <omp.h>

namespace tapescope::engine::cpu {

namespace {

using dnnl::memory;

/// With fewer rows than this a product is one pass over the second operand, which is not worth
/// converting.
constexpr std::int64_t kFewRows = 16;
constexpr std::int64_t kPlanKind = 1000;  // apart from the convolutions' keys

bool haveInstructions() {
#if TAPESCOPE_X86_ISAS
    return bestIsa() == Isa::Avx512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}
/// Sapphire Rapids without its matrix unit (as virtual machines hide it) gave 60 to 80 GFLOP/s in
/// bfloat16 where float32 gave 110 to 150 on one core, in PyTorch too. Others with the instructions
/// are faster in bfloat16.
bool fastInstructions() {
#if TAPESCOPE_X86_ISAS
    return __builtin_cpu_supports("amx-bf16") || !__builtin_cpu_supports("avx512fp16");
#else
    return false;
#endif
}

/// [batch, rows, cols]; batch 1 repeats.
struct Batched {
    Tensor tensor;  // keeps the data alive
    std::array<std::int64_t, 3> sizes{};
    std::array<std::int64_t, 3> strides{};

    memory::desc desc() const {
        return {{sizes[0], sizes[1], sizes[2]},
                memory::data_type::bf16,
                memory::dims{strides[0], strides[1], strides[2]}};
    }
};

/// x, of which the last two sizes are a matrix, with its batch as one dimension; a copy where its
/// strides do not allow it or oneDNN cannot read them.
Batched batchedOf(const Tensor& x) {
    const int rank = x.dim();
    Dims flat{1, x.sizes()[rank - 2], x.sizes()[rank - 1]};
    for (int i = 0; i < rank - 2; ++i) flat[0] *= x.sizes()[i];
    const auto strides = viewStrides(x.sizes(), x.strides(), flat);
    if (strides && blasReadable(flat[1], flat[2], (*strides)[1], (*strides)[2])) {
        Batched b{x, {flat[0], flat[1], flat[2]}, {}};
        for (unsigned i = 0; i < 3; ++i) b.strides[i] = (*strides)[static_cast<int>(i)];
        // oneDNN wants the strides of size-1 dimensions as if they were dense.
        if (flat[1] == 1) b.strides[1] = std::max(b.strides[1], flat[2]);
        if (flat[0] == 1) b.strides[0] = std::max(flat[1] * b.strides[1], flat[2] * b.strides[2]);
        return b;
    }
    const Tensor dense = converted(x, x.dtype());
    return {dense, {flat[0], flat[1], flat[2]}, {flat[1] * flat[2], flat[2], 1}};
}

std::unique_ptr<OneDnnPlan> makePlan(const Batched& a, const Batched& b, const Batched& out,
                                     bool bias) {
    const memory::desc biasDesc({1, 1, out.sizes[2]}, memory::data_type::bf16,
                                memory::format_tag::abc);
    const dnnl::matmul::desc op = bias
                                      ? dnnl::matmul::desc(a.desc(), b.desc(), biasDesc, out.desc())
                                      : dnnl::matmul::desc(a.desc(), b.desc(), out.desc());
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc desc(op, attr, oneDnnEngine());
    std::vector<OneDnnPlan::Operand> operands{{DNNL_ARG_SRC, a.desc(), a.desc(), false},
                                              {DNNL_ARG_WEIGHTS, b.desc(), b.desc(), false},
                                              {DNNL_ARG_DST, out.desc(), out.desc(), true}};
    if (bias) operands.push_back({DNNL_ARG_BIAS, biasDesc, biasDesc, false});
    return std::make_unique<OneDnnPlan>(dnnl::matmul(desc), desc.scratchpad_desc(), operands);
}

/// The matrices' product on oneDNN; false if it has no kernel.
bool multiply(const Batched& a, const Batched& b, const Tensor& bias, const Batched& out) {
    PlanKey key;
    std::size_t at = 0;
    key.values[at++] = kPlanKind + (bias.defined() ? 1 : 0);
    key.values[at++] = omp_get_max_threads();
    for (const Batched* m : {&a, &b}) {
        for (const std::int64_t v : m->sizes) key.values[at++] = v;
        for (const std::int64_t v : m->strides) key.values[at++] = v;
    }
    OneDnnPlan* const plan =
        PlanCache::ofThisThread().find(key, [&] { return makePlan(a, b, out, bias.defined()); });
    if (!plan) return false;
    void* const data[] = {a.tensor.data_ptr(), b.tensor.data_ptr(), out.tensor.data_ptr(),
                          bias.defined() ? bias.data_ptr() : nullptr};
    plan->run(std::span(data, bias.defined() ? 4U : 3U));
    return true;
}

void byFloat32(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
    const Tensor x = converted(a, DType::F32);
    const Tensor y = converted(b, DType::F32);
    const Tensor result = Tensor::empty(out.sizes(), DType::F32, MemoryRole::Temporary);
    if (bias.defined()) {
        // linearInto takes the weight as [out, in].
        const Tensor weight = makeView(y, {y.sizes()[1], y.sizes()[0]},
                                       {y.strides()[1], y.strides()[0]}, y.storage_offset());
        linearInto(x, weight, converted(bias, DType::F32), result);
    } else {
        matmulInto(x, y, result);
    }
    copyTensor(out, result);
}

}  // namespace

void matmulBFloat16(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
                    BFloat16Path path) {
    if (out.numel() == 0) return;
    const std::int64_t inner = a.sizes().back();
    const bool matrices = a.dim() >= 2 && b.dim() >= 2 && inner > 0 && haveInstructions();
    const bool primitive =
        matrices && path != BFloat16Path::Float32 &&
        (path == BFloat16Path::OneDnn || fastInstructions() ||
         (b.dim() == 2 && out.numel() / out.sizes().back() < kFewRows && b.numel() >= kGrain));
    if (!primitive) return byFloat32(a, b, bias, out);
    Batched left = batchedOf(a);
    const Batched right = batchedOf(b);
    Batched result = batchedOf(out);
    if (right.sizes[0] == 1 && left.sizes[0] > 1 &&
        left.strides[0] == left.sizes[1] * left.strides[1]) {
        // One b for a batch of a: more rows of one matrix.
        for (Batched* m : {&left, &result}) {
            m->sizes[1] *= m->sizes[0];
            m->sizes[0] = 1;
            m->strides[0] = m->sizes[1] * m->strides[1];
        }
    }
    const bool paired =
        left.sizes[0] == right.sizes[0] || right.sizes[0] == 1 || left.sizes[0] == 1;
    // Batches that repeat in part (several dimensions, some of size 1) are left to the loops.
    const bool whole = std::max(left.sizes[0], right.sizes[0]) == result.sizes[0];
    const Tensor offset =
        !bias.defined() || bias.is_contiguous() ? bias : converted(bias, DType::BF16);
    if (!paired || !whole || !multiply(left, right, offset, result)) byFloat32(a, b, bias, out);
}

}  // namespace tapescope::engine::cpu
