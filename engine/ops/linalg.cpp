// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm.h"
#include "engine/cpu/gemm_bf16.h"
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/linalg_rows.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

namespace tapescope::engine {

namespace {

void checkMultipliable(std::string_view op, std::string_view whatA, const Tensor& a,
                       std::string_view whatB, const Tensor& b) {
    checkSameDType(op, whatA, a, whatB, b);
    if (a.dtype() == DType::Bool)
        throw DTypeError(message(op, ": bool tensors cannot be multiplied; convert with to()"));
}

void checkInner(std::string_view op, const Tensor& a, const Tensor& b) {
    const std::int64_t inner = a.sizes().back();
    const std::int64_t other = b.dim() == 1 ? b.sizes()[0] : b.sizes()[b.dim() - 2];
    if (inner != other)
        throw ShapeError(message(op, ": inner sizes differ: ", a.sizes(), " x ", b.sizes()));
}

/// Multiplications and additions of out's elements over `inner`, and one pass over every operand.
Cost productCost(const OpArgs& a, std::span<const Tensor> outputs, std::int64_t inner) {
    Cost cost;
    for (const Tensor* t : a.inputs)
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    cost.bytesWritten = static_cast<std::int64_t>(outputs[0].nbytes());
    cost.flops = 2.0 * static_cast<double>(outputs[0].numel()) * static_cast<double>(inner);
    return cost;
}
Cost costMatmul(const OpArgs& a, std::span<const Tensor> outputs) {
    return productCost(a, outputs, a[0].sizes().back());
}

void inferMatmul(const OpArgs& a, OutputMetas& out) {
    const Dims& left = a[0].sizes();
    const Dims& right = a[1].sizes();
    if (left.empty() || right.empty())
        throw ShapeError(
            message("matmul: both tensors must have at least 1 dimension: ", left, " x ", right));
    checkMultipliable("matmul", "input", a[0], "other", a[1]);
    checkInner("matmul", a[0], a[1]);
    Dims batchLeft = left;
    Dims batchRight = right;
    batchLeft.resize(std::max(left.size() - 2, 0));
    batchRight.resize(std::max(right.size() - 2, 0));
    Dims sizes;
    if (!broadcastShapes(batchLeft, batchRight, sizes))
        throw ShapeError(message("matmul: batch sizes do not broadcast: ", left, " x ", right));
    if (left.size() > 1) sizes.push_back(left[left.size() - 2]);
    if (right.size() > 1) sizes.push_back(right.back());
    out.add(sizes, a[0].dtype());
}

void inferMm(const OpArgs& a, OutputMetas& out) {
    checkRank("mm", "input", a[0], 2, "[n, k]");
    checkRank("mm", "mat2", a[1], 2, "[k, m]");
    checkMultipliable("mm", "input", a[0], "mat2", a[1]);
    checkInner("mm", a[0], a[1]);
    out.add({a[0].sizes()[0], a[1].sizes()[1]}, a[0].dtype());
}

void inferBmm(const OpArgs& a, OutputMetas& out) {
    checkRank("bmm", "input", a[0], 3, "[b, n, k]");
    checkRank("bmm", "mat2", a[1], 3, "[b, k, m]");
    checkMultipliable("bmm", "input", a[0], "mat2", a[1]);
    checkInner("bmm", a[0], a[1]);
    if (a[0].sizes()[0] != a[1].sizes()[0])
        throw ShapeError(message("bmm: batch sizes differ: ", a[0].sizes(), " x ", a[1].sizes()));
    out.add({a[0].sizes()[0], a[0].sizes()[1], a[1].sizes()[2]}, a[0].dtype());
}

void inferLinear(const OpArgs& a, OutputMetas& out) {
    const Dims& input = a[0].sizes();
    checkRank("linear", "weight", a[1], 2, "[out, in]");
    const Dims& weight = a[1].sizes();
    if (a[0].dtype() == DType::Bool)
        throw DTypeError("linear: bool tensors cannot be multiplied; convert with to()");
    if (input.empty()) throw ShapeError("linear: input must have at least 1 dimension [..., in]");
    if (input.back() != weight[1])
        throw ShapeError(message("linear: input ", input, " and weight ", weight,
                                 " do not match: the last size ", input.back(), " must equal ",
                                 weight[1]));
    checkSameDType("linear", "input", a[0], "weight", a[1]);
    if (a.has(2)) {
        if (a[2].sizes() != Dims{weight[0]})
            throw ShapeError(message("linear: bias ", a[2].sizes(), " and weight ", weight,
                                     " do not match: bias must be [", weight[0], "]"));
        checkSameDType("linear", "input", a[0], "bias", a[2]);
    }
    Dims sizes = input;
    sizes[sizes.size() - 1] = weight[0];
    out.add(sizes, a[0].dtype());
}

void matmulKernel(const OpArgs& a, std::span<Tensor> out) {
    if (a[0].dtype() == DType::BF16)
        return cpu::matmulBFloat16(a[0], a[1], undefinedTensor(), out[0]);
    cpu::matmulInto(a[0], a[1], out[0]);
}
void linearKernel(const OpArgs& a, std::span<Tensor> out) {
    const auto turned = [&] {
        const Tensor& weight = a[1];
        return makeView(weight, {weight.sizes()[1], weight.sizes()[0]},
                        {weight.strides()[1], weight.strides()[0]}, weight.storage_offset());
    };
    if (!isFloating(a[0].dtype())) {
        cpu::matmulInto(a[0], turned(), out[0]);
        if (!a.has(2)) return;
        const Tensor* both[] = {&out[0], &a[2]};
        return cpu::binary<cpu::BinaryOp::Add>({both, a.attrs}, out);
    }
    if (a[0].dtype() == DType::BF16) {
        return cpu::matmulBFloat16(a[0], turned(), a.has(2) ? a[2] : undefinedTensor(), out[0]);
    }
    cpu::linearInto(a[0], a[1], a.has(2) ? a[2] : undefinedTensor(), out[0]);
}

/// x [..., n] as [rows, n].
Tensor asRows(const Tensor& x) {
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < x.dim(); ++i) rows *= x.sizes()[i];
    return reshape(x, {rows, x.sizes().back()});
}

void vjpMatmul(const VjpArgs& v, std::span<Tensor> grads) {
    const Dims& sizesA = v.meta(0).sizes;
    const Dims& sizesB = v.meta(1).sizes;
    const Tensor& a = v.input(0);
    const Tensor& b = v.input(1);
    if (sizesA.size() == 1 && sizesB.size() == 1) {
        if (v.need(0)) grads[0] = mul(v.grad(), b);
        if (v.need(1)) grads[1] = mul(v.grad(), a);
        return;
    }
    // Vectors as matrices; then d(AB) = dA B + A dB.
    const Tensor left = sizesA.size() == 1 ? unsqueeze(a, 0) : a;
    const Tensor right = sizesB.size() == 1 ? unsqueeze(b, 1) : b;
    Tensor g = v.grad();
    if (sizesA.size() == 1) g = unsqueeze(g, g.dim() - 1);
    if (sizesB.size() == 1) g = unsqueeze(g, -1);
    if (v.need(0)) {
        const Tensor product = sum_to_size(matmul(g, transpose(right, -2, -1)), left.sizes());
        grads[0] = sizesA.size() == 1 ? squeeze(product, 0) : product;
    }
    if (v.need(1)) {
        // One b for a batch of a: the sum over the batch is one larger product.
        const bool fold = right.dim() == 2 && left.dim() > 2;
        const Tensor product = fold
                                   ? mm(transpose(asRows(left), 0, 1), asRows(g))
                                   : sum_to_size(matmul(transpose(left, -2, -1), g), right.sizes());
        grads[1] = sizesB.size() == 1 ? squeeze(product, 1) : product;
    }
}

void vjpMm(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = mm(v.grad(), transpose(v.input(1), 0, 1));
    if (v.need(1)) grads[1] = mm(transpose(v.input(0), 0, 1), v.grad());
}

void vjpBmm(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = bmm(v.grad(), transpose(v.input(1), 1, 2));
    if (v.need(1)) grads[1] = bmm(transpose(v.input(0), 1, 2), v.grad());
}

void vjpLinear(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = matmul(v.grad(), v.input(1));
    if (!v.need(1) && !(v.inputCount() > 2 && v.need(2))) return;
    const Tensor g = asRows(v.grad());
    if (v.need(1)) grads[1] = mm(transpose(g, 0, 1), asRows(v.input(0)));
    if (v.inputCount() > 2 && v.need(2)) grads[2] = sum(g, {0});
}

constexpr std::uint32_t kProductTypes = kComputeTypes | dtypeBit(DType::BF16);
constexpr ArgDef kMatmulArgs[] = {{"input"}, {"other"}};
constexpr ArgDef kMmArgs[] = {{"input"}, {"mat2"}};
constexpr ArgDef kLinearArgs[] = {{"input"}, {"weight"}, {.name = "bias", .optional = true}};

}  // namespace

constinit OpDef kMatmul{.name = "matmul",
                        .family = Family::Linalg,
                        .args = kMatmulArgs,
                        .attrs = {},
                        .infer = inferMatmul,
                        .vjp = vjpMatmul,
                        .saveInputs = 0b11,
                        .native = kProductTypes,
                        .cost = costMatmul,
                        .kernels = {matmulKernel}};
constinit OpDef kMm{.name = "mm",
                    .family = Family::Linalg,
                    .args = kMmArgs,
                    .attrs = {},
                    .infer = inferMm,
                    .vjp = vjpMm,
                    .saveInputs = 0b11,
                    .native = kProductTypes,
                    .cost = costMatmul,
                    .kernels = {matmulKernel}};
constinit OpDef kBmm{.name = "bmm",
                     .family = Family::Linalg,
                     .args = kMmArgs,
                     .attrs = {},
                     .infer = inferBmm,
                     .vjp = vjpBmm,
                     .saveInputs = 0b11,
                     .native = kProductTypes,
                     .cost = costMatmul,
                     .kernels = {matmulKernel}};
constinit OpDef kLinear{.name = "linear",
                        .family = Family::Linalg,
                        .args = kLinearArgs,
                        .attrs = {},
                        .infer = inferLinear,
                        .vjp = vjpLinear,
                        .saveInputs = 0b11,
                        .native = kProductTypes,
                        .cost = costMatmul,
                        .kernels = {linearKernel}};

Tensor matmul(const Tensor& a, const Tensor& b, Site site) {
    return call1(kMatmul, {&a, &b}, Attrs(), site);
}
Tensor mm(const Tensor& a, const Tensor& b, Site site) {
    return call1(kMm, {&a, &b}, Attrs(), site);
}
Tensor bmm(const Tensor& a, const Tensor& b, Site site) {
    return call1(kBmm, {&a, &b}, Attrs(), site);
}
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias, Site site) {
    return call1(kLinear, {&input, &weight, &bias}, Attrs(), site);
}

}  // namespace tapescope::engine
