// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/gemm.h"
#include "engine/cpu/shape_kernels.h"
#include "engine/cpu/strided.h"
#include "engine/tensor/tensor_impl.h"

#include <type_traits>

namespace tapescope::engine::cpu {

namespace {

/// Integers wrap around as in PyTorch, without undefined behaviour.
template <class T>
T times(T x, T y) {
    if constexpr (std::is_same_v<T, bool>) {
        return x && y;
    } else if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(x) * static_cast<U>(y));
    } else {
        return x * y;
    }
}
template <class T>
T plus(T x, T y) {
    if constexpr (std::is_same_v<T, bool>) {
        return x || y;
    } else if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
    } else {
        return x + y;
    }
}

/// out = beta * input + alpha * out.
void combineInto(const Tensor& input, double beta, double alpha, const Tensor& out) {
    const auto plan =
        planStrided<2>(out.sizes(), {out.strides(), broadcastStrides(input, out.sizes())});
    visitDType(out.dtype(), [&]<class T>() {
        T* const to = out.data<T>();
        const T* const from = input.data<T>();
        const T b = static_cast<T>(beta);
        const T a = static_cast<T>(alpha);
        parallelRows(plan, kGrain, [&](const std::array<std::int64_t, 2>& at, std::int64_t n) {
            T* y = to + at[0];
            const T* x = from + at[1];
            for (std::int64_t i = 0; i < n; ++i) {
                T& sum = y[i * plan.innerStride(0)];
                const T product = times(a, sum);
                sum = beta == 0 ? product : plus(times(b, x[i * plan.innerStride(1)]), product);
            }
        });
    });
}

/// product(accumulate) writes or adds a product into out.
template <class Fn>
void addInto(const Tensor& input, double beta, double alpha, const Tensor& out, const Fn& product) {
    if (out.numel() == 0) return;
    if (alpha == 1 && beta == 1) {
        copyTensor(out, input);
        product(true);
        return;
    }
    product(false);
    if (alpha != 1 || beta != 0) combineInto(input, beta, alpha, out);
}

Tensor matrixAt(const Tensor& batch, std::int64_t i) {
    return makeView(batch, {batch.sizes()[1], batch.sizes()[2]},
                    {batch.strides()[1], batch.strides()[2]},
                    batch.storage_offset() + i * batch.strides()[0]);
}

}  // namespace

void addProductInto(const Tensor& input, const Tensor& a, const Tensor& b, double beta,
                    double alpha, const Tensor& out) {
    addInto(input, beta, alpha, out, [&](bool accumulate) { matmulInto(a, b, out, accumulate); });
}

void addBatchProductInto(const Tensor& input, const Tensor& a, const Tensor& b, double beta,
                         double alpha, const Tensor& out) {
    addInto(input, beta, alpha, out, [&](bool accumulate) {
        if (a.sizes()[0] == 0 && !accumulate) fillZero(out);
        for (std::int64_t i = 0; i < a.sizes()[0]; ++i)
            matmulInto(matrixAt(a, i), matrixAt(b, i), out, accumulate || i > 0);
    });
}

void outerInto(const Tensor& x, const Tensor& y, const Tensor& out) {
    const std::int64_t n = x.numel();
    const std::int64_t m = y.numel();
    if (n == 0 || m == 0) return;
    visitDType(out.dtype(), [&]<class T>() {
        const T* const left = x.data<T>();
        const T* const right = y.data<T>();
        T* const to = out.data<T>();
        const std::int64_t stepX = x.strides()[0];
        const std::int64_t stepY = y.strides()[0];
        parallelFor(n, kGrain / m + 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                for (std::int64_t j = 0; j < m; ++j)
                    to[i * m + j] = times(left[i * stepX], right[j * stepY]);
        });
    });
}

void addOuterInto(const Tensor& input, const Tensor& x, const Tensor& y, double beta, double alpha,
                  const Tensor& out) {
    if (out.numel() == 0) return;
    outerInto(x, y, out);
    if (alpha != 1 || beta != 0) combineInto(input, beta, alpha, out);
}

}  // namespace tapescope::engine::cpu
