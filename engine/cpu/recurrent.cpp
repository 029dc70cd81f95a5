// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/recurrent.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/dense.h"
#include "engine/cpu/gemm_kernels.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/sequence_isa.h"
#include "engine/cpu/shape_kernels.h"

#include <algorithm>
#include <type_traits>

namespace tapescope::engine::cpu {

namespace {

/// Sizes of one layer's pass and the order of its times.
struct Steps {
    std::int64_t times;
    std::int64_t batch;
    std::int64_t hidden;
    bool reverse;
    Steps(const Tensor& output, bool backwards)
        : times(output.size(0)),
          batch(output.size(1)),
          hidden(output.size(2)),
          reverse(backwards) {}
    std::int64_t state() const { return batch * hidden; }
    /// The i-th time that is visited, and the last.
    std::int64_t at(std::int64_t i) const { return reverse ? times - 1 - i : i; }
};

/// The state before visit i: what visit i - 1 wrote, or the first state.
template <class T>
const T* before(const Steps& s, std::int64_t i, const T* first, const T* written) {
    return i == 0 ? first : written + s.at(i - 1) * s.state();
}

/// c [m, n] (+)= a [m, k] x b [k, n] with b's element (p, j) at p * rowStride + j * colStride.
template <class T>
void product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b,
             std::int64_t rowStride, std::int64_t colStride, T* c, bool accumulate) {
    const MatrixRef<T> left{a, k, 1};
    const MatrixRef<T> right{b, rowStride, colStride};
    if constexpr (std::is_same_v<T, float>) {
        gemmFloat(m, n, k, left, right, c, n, accumulate);
    } else {
        gemmLoops(m, n, k, left, right, c, n, accumulate);
    }
}
/// c [B, gates] += h [B, H] x weight [gates, H] transposed.
template <class T>
void addStateShare(const Steps& s, std::int64_t gates, const T* h, const T* weight, T* c) {
    product<T>(s.batch, gates, s.hidden, h, weight, 1, s.hidden, c, true);
}
/// dh [B, H] (+)= dgates [B, gates] x weight [gates, H].
template <class T>
void stateGradient(const Steps& s, std::int64_t gates, const T* dgates, const T* weight, T* dh,
                   bool accumulate) {
    product<T>(s.batch, s.hidden, gates, dgates, weight, s.hidden, 1, dh, accumulate);
}

/// fn(row) for every row of the batch.
template <class Fn>
void forRows(const Steps& s, const Fn& fn) {
    // An activation costs about ten simple operations.
    const std::int64_t grain = std::max<std::int64_t>(kGrain / (10 * s.hidden), 1);
    parallelFor(s.batch, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) fn(b);
    });
}

template <class T>
void addInto(std::int64_t n, const T* x, T* sum) {
    for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}
/// out = a x + what it holds, for a gradient that may be absent.
template <class T>
const T* slice(const Tensor& x, std::int64_t offset) {
    return x.defined() ? x.data<T>() + offset : nullptr;
}

bool nothing(const Tensor& output) { return output.size(1) == 0 || output.size(2) == 0; }

}  // namespace

void rnnLayerInto(const Tensor& gates, const Tensor& h0, const Tensor& weight, bool relu,
                  bool reverse, const Tensor& output) {
    copyTensor(output, gates);
    const Tensor first = dense(h0);
    const Tensor w = dense(weight);
    if (nothing(output)) return;
    const Steps s(output, reverse);
    visitFloating(output.dtype(), [&]<class T>() {
        T* const out = output.data<T>();
        for (std::int64_t i = 0; i < s.times; ++i) {
            T* const h = out + s.at(i) * s.state();
            addStateShare<T>(s, s.hidden, before<T>(s, i, first.data<T>(), out), w.data<T>(), h);
            forRows(s, [&](std::int64_t b) {
                sequenceLoops<T>().rnnRow(s.hidden, relu, h + b * s.hidden);
            });
        }
    });
}

void rnnLayerBackwardInto(const Tensor& grad, const Tensor& output, const Tensor& weight, bool relu,
                          bool reverse, const Tensor& dgates, const Tensor& dh0) {
    const Tensor g = dense(grad);
    const Tensor y = dense(output);
    const Tensor w = dense(weight);
    fillZero(dh0);
    if (nothing(output)) return;
    const Steps s(output, reverse);
    visitFloating(output.dtype(), [&]<class T>() {
        T* const dh = dh0.data<T>();
        for (std::int64_t i = s.times - 1; i >= 0; --i) {
            const std::int64_t at = s.at(i) * s.state();
            addInto(s.state(), g.data<T>() + at, dh);
            T* const dx = dgates.data<T>() + at;
            sequenceLoops<T>().rnnBackwardRow(s.state(), relu, y.data<T>() + at, dh, dx);
            stateGradient<T>(s, s.hidden, dx, w.data<T>(), dh, false);
        }
    });
}

void lstmLayerInto(const Tensor& gates, const Tensor& h0, const Tensor& c0, const Tensor& weight,
                   bool reverse, const Tensor& output, const Tensor& cells, const Tensor& kept) {
    copyTensor(kept, gates);
    const Tensor firstH = dense(h0);
    const Tensor firstC = dense(c0);
    const Tensor w = dense(weight);
    if (nothing(output)) return;
    const Steps s(output, reverse);
    visitFloating(output.dtype(), [&]<class T>() {
        T* const out = output.data<T>();
        T* const states = cells.data<T>();
        for (std::int64_t i = 0; i < s.times; ++i) {
            const std::int64_t at = s.at(i) * s.state();
            T* const gate = kept.data<T>() + 4 * at;
            const T* const previous = before<T>(s, i, firstC.data<T>(), states);
            addStateShare<T>(s, 4 * s.hidden, before<T>(s, i, firstH.data<T>(), out), w.data<T>(),
                             gate);
            forRows(s, [&](std::int64_t b) {
                const std::int64_t row = b * s.hidden;
                sequenceLoops<T>().lstmRow(s.hidden, gate + 4 * row, previous + row,
                                           states + at + row, out + at + row);
            });
        }
    });
}

void lstmLayerBackwardInto(const Tensor& gradOutput, const Tensor& gradCells, const Tensor& kept,
                           const Tensor& cells, const Tensor& c0, const Tensor& weight,
                           bool reverse, const Tensor& dgates, const Tensor& dh0,
                           const Tensor& dc0) {
    const Tensor gh = dense(gradOutput);
    const Tensor gc = dense(gradCells);
    const Tensor gate = dense(kept);
    const Tensor states = dense(cells);
    const Tensor firstC = dense(c0);
    const Tensor w = dense(weight);
    fillZero(dh0);
    fillZero(dc0);
    if (nothing(cells)) return;
    const Steps s(cells, reverse);
    visitFloating(cells.dtype(), [&]<class T>() {
        T* const dh = dh0.data<T>();
        T* const dc = dc0.data<T>();
        for (std::int64_t i = s.times - 1; i >= 0; --i) {
            const std::int64_t at = s.at(i) * s.state();
            if (const T* g = slice<T>(gh, at)) addInto(s.state(), g, dh);
            if (const T* g = slice<T>(gc, at)) addInto(s.state(), g, dc);
            T* const dx = dgates.data<T>() + 4 * at;
            const T* const previous = before<T>(s, i, firstC.data<T>(), states.data<T>());
            forRows(s, [&](std::int64_t b) {
                const std::int64_t row = b * s.hidden;
                sequenceLoops<T>().lstmBackwardRow(s.hidden, gate.data<T>() + 4 * (at + row),
                                                   previous + row, states.data<T>() + at + row,
                                                   dh + row, dc + row, dx + 4 * row);
            });
            stateGradient<T>(s, 4 * s.hidden, dx, w.data<T>(), dh, false);
        }
    });
}

void gruLayerInto(const Tensor& gates, const Tensor& h0, const Tensor& weight, const Tensor& bias,
                  bool reverse, const Tensor& output, const Tensor& kept) {
    const Tensor x = dense(gates);
    const Tensor first = dense(h0);
    const Tensor w = dense(weight);
    if (nothing(output)) return;
    const Steps s(output, reverse);
    const Tensor share =
        Tensor::empty({s.batch, 3 * s.hidden}, output.dtype(), MemoryRole::Temporary);
    visitFloating(output.dtype(), [&]<class T>() {
        T* const out = output.data<T>();
        T* const hidden = share.data<T>();
        for (std::int64_t i = 0; i < s.times; ++i) {
            const std::int64_t at = s.at(i) * s.state();
            const T* const previous = before<T>(s, i, first.data<T>(), out);
            if (bias.defined())
                copyTensor(share, bias);
            else
                fillZero(share);
            addStateShare<T>(s, 3 * s.hidden, previous, w.data<T>(), hidden);
            forRows(s, [&](std::int64_t b) {
                const std::int64_t row = b * s.hidden;
                sequenceLoops<T>().gruRow(s.hidden, x.data<T>() + 3 * (at + row), hidden + 3 * row,
                                          previous + row, kept.data<T>() + 4 * (at + row),
                                          out + at + row);
            });
        }
    });
}

void gruLayerBackwardInto(const Tensor& grad, const Tensor& kept, const Tensor& output,
                          const Tensor& h0, const Tensor& weight, bool reverse,
                          const Tensor& dgates, const Tensor& dhidden, const Tensor& dh0) {
    const Tensor g = dense(grad);
    const Tensor gate = dense(kept);
    const Tensor y = dense(output);
    const Tensor first = dense(h0);
    const Tensor w = dense(weight);
    fillZero(dh0);
    if (nothing(output)) return;
    const Steps s(output, reverse);
    visitFloating(output.dtype(), [&]<class T>() {
        T* const dh = dh0.data<T>();
        for (std::int64_t i = s.times - 1; i >= 0; --i) {
            const std::int64_t at = s.at(i) * s.state();
            addInto(s.state(), g.data<T>() + at, dh);
            const T* const previous = before<T>(s, i, first.data<T>(), y.data<T>());
            T* const dx = dgates.data<T>() + 3 * at;
            T* const dshare = dhidden.data<T>() + 3 * at;
            forRows(s, [&](std::int64_t b) {
                const std::int64_t row = b * s.hidden;
                sequenceLoops<T>().gruBackwardRow(s.hidden, gate.data<T>() + 4 * (at + row),
                                                  previous + row, dh + row, dx + 3 * row,
                                                  dshare + 3 * row);
            });
            stateGradient<T>(s, 3 * s.hidden, dshare, w.data<T>(), dh, true);
        }
    });
}

}  // namespace tapescope::engine::cpu
