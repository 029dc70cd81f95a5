// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/gemm_kernels.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/cpu/strided.h"
#include "engine/ops/shape_rows.h"

#include <algorithm>
#include <type_traits>

namespace tapescope::engine::cpu {

namespace {

/// A stack of matrices: the last two entries are rows and columns, those before them the batch.
struct Stack {
    Tensor tensor;  // keeps the data alive
    Dims sizes;
    Dims strides;
    std::int64_t rows() const { return sizes[sizes.size() - 2]; }
    std::int64_t cols() const { return sizes.back(); }
    std::int64_t rowStride() const { return strides[strides.size() - 2]; }
    std::int64_t colStride() const { return strides.back(); }
};

Tensor packed(const Tensor& x) {
    Tensor copy = Tensor::empty(x.sizes(), x.dtype(), MemoryRole::Temporary);
    copyTensor(copy, x);
    return copy;
}

/// x as a stack of matrices; a 1-d x becomes one row, or one column.
Stack stackOf(const Tensor& x, bool vectorIsColumn) {
    const auto asStack = [vectorIsColumn](const Tensor& t) {
        Stack s{t, t.sizes(), t.strides()};
        if (t.dim() == 1) {
            const int at = vectorIsColumn ? 1 : 0;
            s.sizes.insert(at, 1);
            s.strides.insert(at, 1);
        }
        return s;
    };
    const Stack s = asStack(x);
    if (x.dtype() != DType::F32 || blasReadable(s.rows(), s.cols(), s.rowStride(), s.colStride()))
        return s;
    return asStack(packed(x));
}

/// Batches of a that multiply one b become more rows of one matrix, where a's strides allow it.
void foldBatch(Stack& a) {
    if (a.sizes.size() <= 2) return;
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < a.sizes.size(); ++i) rows *= a.sizes[i];
    const Dims folded{rows, a.cols()};
    if (const auto strides = viewStrides(a.sizes, a.strides, folded);
        strides && blasReadable(rows, a.cols(), (*strides)[0], (*strides)[1])) {
        a.sizes = folded;
        a.strides = *strides;
    }
}

template <class T>
void gemmOne(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<T> a, MatrixRef<T> b, T* c,
             bool accumulate) {
    if constexpr (std::is_same_v<T, float>) {
        gemmFloat(m, n, k, a, b, c, n, accumulate);
    } else {
        gemmLoops(m, n, k, a, b, c, n, accumulate);
    }
}

/// The batch strides of s seen with the batch sizes `batch`: 0 where it repeats.
Dims batchStrides(const Stack& s, const Dims& batch) {
    Dims strides = Dims::filled(batch.size(), 0);
    const int own = s.sizes.size() - 2;
    for (int i = 0; i < own; ++i)
        if (s.sizes[i] != 1) strides[batch.size() - own + i] = s.strides[i];
    return strides;
}

template <class T>
void multiply(const Stack& a, const Stack& b, T* out, bool accumulate) {
    const std::int64_t m = a.rows();
    const std::int64_t n = b.cols();
    const std::int64_t k = a.cols();
    Dims batchA = a.sizes;
    Dims batchB = b.sizes;
    batchA.resize(batchA.size() - 2);
    batchB.resize(batchB.size() - 2);
    Dims batch;
    broadcastShapes(batchA, batchB, batch);
    const Dims stridesA = batchStrides(a, batch);
    const Dims stridesB = batchStrides(b, batch);
    const std::int64_t count = numelOf(batch);
    const T* const dataA = a.tensor.data<T>();
    const T* const dataB = b.tensor.data<T>();
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    // Large matrices are split inside, small ones go to the threads whole.
    constexpr double kPieceFlops = 4e6;
    const std::int64_t grain =
        flops >= kPieceFlops ? count
                             : static_cast<std::int64_t>(kPieceFlops / std::max(flops, 1.0)) + 1;
    parallelFor(count, std::max<std::int64_t>(grain, 1), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            std::int64_t offsetA = 0;
            std::int64_t offsetB = 0;
            std::int64_t rest = i;
            for (int d = batch.size() - 1; d >= 0; --d) {
                offsetA += rest % batch[d] * stridesA[d];
                offsetB += rest % batch[d] * stridesB[d];
                rest /= batch[d];
            }
            gemmOne<T>(m, n, k, {dataA + offsetA, a.rowStride(), a.colStride()},
                       {dataB + offsetB, b.rowStride(), b.colStride()}, out + i * m * n,
                       accumulate);
        }
    });
}

/// fn.operator()<T>() for the element types that can be multiplied; the shape rule has refused
/// bool.
template <class Fn>
void visitNumber(DType dtype, const Fn& fn) {
    visitDType(dtype, [&]<class T>() {
        if constexpr (!std::is_same_v<T, bool>) fn.template operator()<T>();
    });
}

/// Whether the kernels read x as it is: what stacks cost is much for a small product.
bool isPlainMatrix(const Tensor& x) {
    return x.dim() == 2 &&
           (x.dtype() != DType::F32 ||
            blasReadable(x.sizes()[0], x.sizes()[1], x.strides()[0], x.strides()[1]));
}

template <class T>
MatrixRef<T> matrixOf(const Tensor& x) {
    return {x.data<T>(), x.strides()[0], x.strides()[1]};
}

}  // namespace

void matmulInto(const Tensor& a, const Tensor& b, const Tensor& out, bool accumulate) {
    if (out.numel() == 0) return;
    if (isPlainMatrix(a) && isPlainMatrix(b) && a.sizes()[1] > 0) {
        visitNumber(a.dtype(), [&]<class T>() {
            gemmOne<T>(a.sizes()[0], b.sizes()[1], a.sizes()[1], matrixOf<T>(a), matrixOf<T>(b),
                       out.data<T>(), accumulate);
        });
        return;
    }
    Stack left = stackOf(a, false);
    const Stack right = stackOf(b, true);
    if (left.cols() == 0) {
        if (!accumulate) fillZero(out);
        return;
    }
    if (right.sizes.size() == 2) foldBatch(left);
    visitNumber(a.dtype(), [&]<class T>() { multiply<T>(left, right, out.data<T>(), accumulate); });
}

void linearInto(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
    if (out.numel() == 0) return;
    Stack left = stackOf(input, false);
    Stack right = stackOf(weight, false);
    std::swap(right.sizes[0], right.sizes[1]);
    std::swap(right.strides[0], right.strides[1]);
    // The bias lies in the output before the products are added to it: no pass of its own over the
    // result.
    if (bias.defined()) copyTensor(out, bias);
    if (left.cols() == 0) {
        if (!bias.defined()) fillZero(out);
        return;
    }
    foldBatch(left);
    visitNumber(input.dtype(),
                [&]<class T>() { multiply<T>(left, right, out.data<T>(), bias.defined()); });
}

}  // namespace tapescope::engine::cpu
