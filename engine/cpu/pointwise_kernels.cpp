// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pointwise_kernels.h"

#include "engine/cpu/complex_kernels.h"
#include "engine/cpu/copy.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/strided.h"
#include "engine/errors.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tapescope::engine::cpu {
namespace {

template <class Enum>
constexpr std::size_t at(Enum value) {
    return static_cast<std::size_t>(value);
}

constexpr std::int64_t kSmallLoop = 1024;

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

/// True where a small dense input lies along a small dense output, element by element: then a
/// kernel is one loop, without a plan.
bool alike(const TensorImpl& out, const TensorImpl& input) {
    return out.contiguous && input.contiguous && out.numel == input.numel &&
           out.numel <= kSmallLoop && (out.storage != input.storage || out.offset == input.offset);
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

/// An operand read, or written, in another type than its own: a block at a time by way of a buffer
/// in the first-level cache.
class Converting {
public:
    static constexpr std::int64_t kBlock = 512;

    Converting(const Tensor& t, DType as)
        : m_operand(t),
          m_read(t.dtype() == as ? nullptr : convertLoop(as, t.dtype())),
          m_write(t.dtype() == as ? nullptr : convertLoop(t.dtype(), as)) {}

    using Buffer = std::array<std::uint64_t, kBlock>;
    /// n elements from `offset` on, `stride` apart; stride becomes that of the result.
    const void* read(std::int64_t n, std::int64_t offset, std::int64_t& stride,
                     Buffer& buffer) const {
        const void* from = m_operand.plus(offset);
        if (!m_read) return from;
        m_read(stride == 0 ? 1 : n, buffer.data(), 1, from, stride, {});
        if (stride != 0) stride = 1;
        return buffer.data();
    }
    /// Where to write n elements for finish(), `stride` apart.
    void* begin(std::int64_t offset, std::int64_t& stride, Buffer& buffer) const {
        if (!m_write) return m_operand.plus(offset);
        stride = 1;
        return buffer.data();
    }
    void finish(std::int64_t n, std::int64_t offset, std::int64_t stride,
                const Buffer& buffer) const {
        if (m_write) m_write(n, m_operand.plus(offset), stride, buffer.data(), 1, {});
    }

private:
    Operand m_operand;
    UnaryLoop m_read;
    UnaryLoop m_write;
};

/// call(n, out, stride, inputs, strides) over all elements, inputs read as `type` and out written
/// as outType. The elements' own types are told apart here alone: no loop knows the 16-bit floats
/// or the small integers.
template <std::size_t N, class Call>
void applyAs(DType outType, DType type, const Tensor& out,
             const std::array<const Tensor*, N>& inputs, std::int64_t grain, const Call& call) {
    bool plain = out.dtype() == outType;
    for (const Tensor* t : inputs) plain = plain && t->dtype() == type;
    if (plain) {
        const Operand y(out);
        std::array<Operand, N> x = [&]<std::size_t... k>(std::index_sequence<k...>) {
            return std::array<Operand, N>{Operand(*inputs[k])...};
        }
        (std::make_index_sequence<N>{});
        walk<N>(out, inputs, grain, [&](std::int64_t n, const auto& starts, const auto& strides) {
            std::array<const void*, N> from;
            std::array<std::int64_t, N> steps;
            for (std::size_t k = 0; k < N; ++k) {
                from[k] = x[k].plus(starts[k + 1]);
                steps[k] = strides[k + 1];
            }
            call(n, y.plus(starts[0]), strides[0], from, steps);
        });
        return;
    }
    const Converting y(out, outType);
    const std::array<Converting, N> x = [&]<std::size_t... k>(std::index_sequence<k...>) {
        return std::array<Converting, N>{Converting(*inputs[k], type)...};
    }
    (std::make_index_sequence<N>{});
    walk<N>(out, inputs, grain, [&](std::int64_t n, const auto& starts, const auto& strides) {
        std::array<Converting::Buffer, N + 1> buffers;
        for (std::int64_t at = 0; at < n; at += Converting::kBlock) {
            const std::int64_t count = std::min(Converting::kBlock, n - at);
            std::array<const void*, N> from;
            std::array<std::int64_t, N> steps;
            for (std::size_t k = 0; k < N; ++k) {
                steps[k] = strides[k + 1];
                from[k] = x[k].read(count, starts[k + 1] + at * steps[k], steps[k], buffers[k]);
            }
            const std::int64_t offset = starts[0] + at * strides[0];
            std::int64_t step = strides[0];
            void* const to = y.begin(offset, step, buffers[N]);
            call(count, to, step, from, steps);
            y.finish(count, offset, strides[0], buffers[N]);
        }
    });
}

void apply(UnaryLoop loop, DType outType, DType type, const Tensor& out, const Tensor& x,
           const LoopParams& params, std::int64_t grain) {
    applyAs<1>(outType, type, out, {&x}, grain,
               [&](std::int64_t n, void* y, std::int64_t stride, const auto& in,
                   const auto& steps) { loop(n, y, stride, in[0], steps[0], params); });
}

void apply(BinaryLoop loop, DType outType, DType type, const Tensor& out, const Tensor& first,
           const Tensor& second, const LoopParams& params, std::int64_t grain) {
    applyAs<2>(
        outType, type, out, {&first, &second}, grain,
        [&](std::int64_t n, void* y, std::int64_t stride, const auto& in, const auto& steps) {
            loop(n, y, stride, in[0], steps[0], in[1], steps[1], params);
        });
}

/// out = condition ? first : second, all values of out's type: elements are moved as they are.
void select(const Tensor& out, const Tensor& condition, const Tensor& first, const Tensor& second) {
    // Complex numbers are moved as 8 bytes.
    const DType type = isComplex(out.dtype()) ? DType::I64 : out.dtype();
    const TernaryLoop loop = loops().binary.ternary[at(TernaryOp::Where)][at(type)];
    const Operand y(out);
    const Operand c(condition);
    const Operand a(first);
    const Operand b(second);
    walk<3>(out, {&condition, &first, &second}, kGrain,
            [&](std::int64_t n, const auto& starts, const auto& strides) {
                loop(n, y.plus(starts[0]), strides[0], c.plus(starts[1]), strides[1],
                     a.plus(starts[2]), strides[2], b.plus(starts[3]), strides[3]);
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
    if (isIntegral(exponent.dtype()) && exponent.dim() == 0 &&
        (exponent.impl()->wrappedNumber || exponent.dtype() != DType::I64) && exponent.item() < 0)
        throw Error(
            "pow: integers to negative integer powers are not allowed; convert the base with to(x, "
            "DType::F32)");
}

}  // namespace

void runUnary(UnaryOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType type = computeType(args[0].dtype());
    if (isComplex(type)) return complexUnary(op, args[0], outputs[0]);
    const UnaryLoop loop = require(loops().unary.loops[at(op)][at(type)], type);
    const TensorImpl& out = *outputs[0].impl();
    const TensorImpl& x = *args[0].impl();
    if (x.dtype == type && alike(out, x))
        return loop(out.numel, out.data(), 1, x.data(), 1, paramsOf(args.attrs));
    apply(loop, type, type, outputs[0], args[0], paramsOf(args.attrs), grainOf(op, type));
}

void runTest(TestOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType type = computeType(args[0].dtype());
    if (isComplex(type)) return complexTest(op, args[0], outputs[0]);
    apply(loops().unary.tests[at(op)][at(type)], DType::Bool, type, outputs[0], args[0], {},
          kGrain);
}

void runBinary(BinaryOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType type = computeType(args[0].dtype());
    if (isComplex(type))
        return complexBinary(op, args[0], withoutOverlap(outputs[0], args[1]), outputs[0]);
    const BinaryLoop loop = require(loops().binary.loops[at(op)][at(type)], type);
    if (op == BinaryOp::Pow) checkIntegerPower(args[1]);
    const TensorImpl& out = *outputs[0].impl();
    const TensorImpl& a = *args[0].impl();
    const TensorImpl& b = *args[1].impl();
    if (a.dtype == type && alike(out, a) && alike(out, b))
        return loop(out.numel, out.data(), 1, a.data(), 1, b.data(), 1, paramsOf(args.attrs));
    const std::int64_t grain = op == BinaryOp::Pow ? kGrain / 4 : kGrain;
    apply(loop, type, type, outputs[0], args[0], withoutOverlap(outputs[0], args[1]),
          paramsOf(args.attrs), grain);
}

void runCompare(CompareOp op, const OpArgs& args, std::span<Tensor> outputs) {
    const DType type = computeType(args[0].dtype());
    if (isComplex(type)) return complexCompare(op, args[0], args[1], outputs[0]);
    apply(loops().binary.compares[at(op)][at(type)], DType::Bool, type, outputs[0], args[0],
          args[1], {}, kGrain);
}

void runTernary(TernaryOp op, const OpArgs& args, std::span<Tensor> outputs) {
    if (op == TernaryOp::Where) return select(outputs[0], args[0], args[1], args[2]);
    const DType type = computeType(outputs[0].dtype());
    const TernaryLoop loop = require(loops().binary.ternary[at(op)][at(type)], type);
    applyAs<3>(
        type, type, outputs[0], {&args[0], &args[1], &args[2]}, kGrain,
        [&](std::int64_t n, void* y, std::int64_t stride, const auto& in, const auto& steps) {
            loop(n, y, stride, in[0], steps[0], in[1], steps[1], in[2], steps[2]);
        });
}

void maskedFill(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor value = Tensor::scalar(args.attrs.real(0), outputs[0].dtype());
    select(outputs[0], args[1], value, args[0]);
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
    apply(convertLoop(out.dtype(), out.dtype()), out.dtype(), out.dtype(), out, scalar, {}, kGrain);
}

bool takes(UnaryOp op, DType dtype) {
    if (isComplex(dtype)) return takesComplex(op);
    return loops().unary.loops[at(op)][at(computeType(dtype))] != nullptr;
}
bool takes(BinaryOp op, DType dtype) {
    if (isComplex(dtype)) return takesComplex(op);
    return loops().binary.loops[at(op)][at(computeType(dtype))] != nullptr;
}

}  // namespace tapescope::engine::cpu
