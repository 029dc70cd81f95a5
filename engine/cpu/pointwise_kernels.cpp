// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pointwise_kernels.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/strided.h"
#include "engine/errors.h"
#include "engine/tensor/tensor_impl.h"

#include <cmath>

namespace tapescope::engine::cpu {
namespace {

template <class Enum>
constexpr std::size_t at(Enum value) {
    return static_cast<std::size_t>(value);
}

/// One operand of a loop: where it starts and how far its elements lie apart.
struct Operand {
    char* data = nullptr;
    std::int64_t itemBytes = 0;

    explicit Operand(const Tensor& t)
        : data(static_cast<char*>(t.data_ptr())),
          itemBytes(static_cast<std::int64_t>(itemSize(t.dtype()))) {}
    void* plus(std::int64_t elements) const { return data + elements * itemBytes; }
};

/// 1 or 0 where t can be read along a contiguous output of n elements with that stride, else -1.
std::int64_t flatStride(const Tensor& t, std::int64_t n) {
    if (t.numel() == 1) return 0;
    return t.numel() == n && t.is_contiguous() ? 1 : -1;
}

/// What an in-place operator reads while it overwrites it: the same elements, or a copy of its own.
Tensor withoutOverlap(const Tensor& out, const Tensor& input) {
    if (input.impl() == out.impl() || input.storage() != out.storage()) return input;
    if (input.storage_offset() == out.storage_offset() && input.sizes() == out.sizes() &&
        input.strides() == out.strides())
        return input;
    Tensor copy = Tensor::empty(input.sizes(), input.dtype(), MemoryRole::Temporary);
    copyTensor(copy, input);
    return copy;
}

/// Calls row(n, offsets..., strides...) over all elements of out; inputs broadcast to it.
template <std::size_t N, class Row>
void walk(const Tensor& out, const std::array<const Tensor*, N>& inputs, std::int64_t grain,
          const Row& row) {
    const std::int64_t n = out.numel();
    if (n == 0) return;
    std::array<std::int64_t, N + 1> offsets{};
    std::array<std::int64_t, N + 1> strides{};
    bool flat = out.is_contiguous();
    strides[0] = 1;
    for (std::size_t k = 0; flat && k < N; ++k) {
        strides[k + 1] = flatStride(*inputs[k], n);
        flat = strides[k + 1] >= 0;
    }
    if (flat) {
        if (n <= grain) return row(n, offsets, strides);
        parallelFor(n, grain, [&](std::int64_t begin, std::int64_t end) {
            std::array<std::int64_t, N + 1> starts{};
            for (std::size_t k = 0; k <= N; ++k) starts[k] = begin * strides[k];
            row(end - begin, starts, strides);
        });
        return;
    }
    std::array<Dims, N + 1> all;
    all[0] = out.strides();
    for (std::size_t k = 0; k < N; ++k) all[k + 1] = broadcastStrides(*inputs[k], out.sizes());
    const auto plan = planStrided<N + 1>(out.sizes(), all);
    for (std::size_t k = 0; k <= N; ++k) strides[k] = plan.innerStride(k);
    parallelRows(plan, grain,
                 [&](const std::array<std::int64_t, N + 1>& starts, std::int64_t count) {
                     row(count, starts, strides);
                 });
}

LoopParams paramsOf(const Attrs& attrs) {
    LoopParams params;
    if (attrs.size() > 0 && std::holds_alternative<double>(attrs[0])) params.a = attrs.real(0);
    if (attrs.size() > 1 && std::holds_alternative<double>(attrs[1])) params.b = attrs.real(1);
    return params;
}

/// Library functions take a multiple of the time of an addition, so fewer of them are worth a
/// thread.
std::int64_t grainOf(UnaryOp op, DType dtype) {
    const bool library = op == UnaryOp::Sin || op == UnaryOp::Cos || dtype == DType::F64;
    return library ? kGrain / 4 : kGrain;
}

void apply(UnaryLoop loop, const Tensor& out, const Tensor& x, const LoopParams& params,
           std::int64_t grain) {
    const Operand y(out);
    const Operand a(x);
    walk<1>(out, {&x}, grain, [&](std::int64_t n, const auto& starts, const auto& strides) {
        loop(n, y.plus(starts[0]), strides[0], a.plus(starts[1]), strides[1], params);
    });
}

void apply(BinaryLoop loop, const Tensor& out, const Tensor& first, const Tensor& second,
           const LoopParams& params, std::int64_t grain) {
    const Operand y(out);
    const Operand a(first);
    const Operand b(second);
    walk<2>(out, {&first, &second}, grain,
            [&](std::int64_t n, const auto& starts, const auto& strides) {
                loop(n, y.plus(starts[0]), strides[0], a.plus(starts[1]), strides[1],
                     b.plus(starts[2]), strides[2], params);
            });
}

void apply(TernaryLoop loop, const Tensor& out, const Tensor& first, const Tensor& second,
           const Tensor& third) {
    const Operand y(out);
    const Operand a(first);
    const Operand b(second);
    const Operand c(third);
    walk<3>(out, {&first, &second, &third}, kGrain,
            [&](std::int64_t n, const auto& starts, const auto& strides) {
                loop(n, y.plus(starts[0]), strides[0], a.plus(starts[1]), strides[1],
                     b.plus(starts[2]), strides[2], c.plus(starts[3]), strides[3]);
            });
}

/// The loop for a type; the shape rule has let only taken types through.
template <class Loop>
Loop require(Loop loop, DType dtype) {
    if (!loop) throw DTypeError("there is no kernel for " + std::string(dtypeName(dtype)));
    return loop;
}

/// Integers have no fractions to give: PyTorch refuses a negative number as their exponent.
void checkIntegerPower(const Tensor& exponent) {
    if (exponent.dtype() == DType::I64 && exponent.impl()->wrappedNumber &&
        *exponent.data<std::int64_t>() < 0)
        throw Error(
            "pow: integers to negative integer powers are not allowed; convert the base with to(x, "
            "DType::F32)");
}

}  // namespace

void runUnary(UnaryOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType dtype = args[0].dtype();
    const UnaryLoop loop = require(loops().unary.loops[at(op)][at(dtype)], dtype);
    apply(loop, outputs[0], args[0], paramsOf(args.attrs), grainOf(op, dtype));
}

void runTest(TestOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const UnaryLoop loop = loops().unary.tests[at(op)][at(args[0].dtype())];
    apply(loop, outputs[0], args[0], {}, kGrain);
}

void runBinary(BinaryOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType dtype = args[0].dtype();
    const BinaryLoop loop = require(loops().binary.loops[at(op)][at(dtype)], dtype);
    if (op == BinaryOp::Pow) checkIntegerPower(args[1]);
    const std::int64_t grain = op == BinaryOp::Pow ? kGrain / 4 : kGrain;
    apply(loop, outputs[0], args[0], withoutOverlap(outputs[0], args[1]), paramsOf(args.attrs),
          grain);
}

void runCompare(CompareOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const BinaryLoop loop = loops().binary.compares[at(op)][at(args[0].dtype())];
    apply(loop, outputs[0], args[0], args[1], {}, kGrain);
}

void runTernary(TernaryOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType dtype = outputs[0].dtype();
    apply(require(loops().binary.ternary[at(op)][at(dtype)], dtype), outputs[0], args[0], args[1],
          args[2]);
}

void maskedFill(const OpArgs& args, std::span<Tensor> outputs) {
    const DType dtype = outputs[0].dtype();
    Tensor value = Tensor::scalar(args.attrs.real(0), dtype);
    apply(loops().binary.ternary[at(TernaryOp::Where)][at(dtype)], outputs[0], args[1], value,
          args[0]);
}

void convert(const OpArgs& args, std::span<Tensor> outputs) { copyTensor(outputs[0], args[0]); }

void copyInto(const OpArgs& args, std::span<Tensor> outputs) {
    copyTensor(outputs[0], withoutOverlap(outputs[0], args[1]));
}

void fill(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& out = outputs[0];
    const double value =
        args.attrs.has(0) && std::holds_alternative<double>(args.attrs[0]) ? args.attrs.real(0) : 0;
    const Tensor scalar = Tensor::scalar(value, out.dtype());
    apply(loops().unary.converts[at(out.dtype())][at(out.dtype())], out, scalar, {}, kGrain);
}

bool takes(UnaryOp op, DType dtype) { return loops().unary.loops[at(op)][at(dtype)] != nullptr; }
bool takes(BinaryOp op, DType dtype) { return loops().binary.loops[at(op)][at(dtype)] != nullptr; }

}  // namespace tapescope::engine::cpu
