// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/attention.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/gemm_kernels.h"
#include "engine/cpu/matrix_batch.h"
#include "engine/cpu/sequence_isa.h"
#include "engine/cpu/shape_kernels.h"

#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// Scores of one block, in elements: 1 MiB of floats, which a core's cache holds.
constexpr std::int64_t kBlockElements = 1 << 18;
constexpr std::int64_t kMaxBlockRows = 64;
constexpr std::int64_t kMinBlockRows = 8;
/// Multiplications and additions that pay for a thread.
constexpr double kPieceFlops = 4e6;

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, MatrixRef<T> a, MatrixRef<T> b, T* c,
          std::int64_t ldc, bool accumulate) {
    if (k == 0) {
        if (!accumulate)
            for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
        return;
    }
    if constexpr (std::is_same_v<T, float>) {
        gemmFloat(m, n, k, a, b, c, ldc, accumulate);
    } else {
        gemmLoops(m, n, k, a, b, c, ldc, accumulate);
    }
}

template <class T>
MatrixRef<T> transposed(MatrixRef<T> x) {
    return {x.data, x.colStride, x.rowStride};
}

/// x itself if oneDNN can read its matrices, else packed.
Tensor readable(const Tensor& x) {
    return blasReadable(x.size(-2), x.size(-1), x.strides()[x.dim() - 2], x.strides().back())
               ? x
               : dense(x);
}

/// The tensors of one call with their matrices by head.
template <class T>
class Attention {
public:
    explicit Attention(const AttentionInputs& in)
        : m_q(readable(in.q), batchOf(in.q)),
          m_k(readable(in.k), batchOf(in.k)),
          m_v(readable(in.v), batchOf(in.v)),
          m_causal(in.causal),
          m_scale(static_cast<T>(in.scale)) {
        const Dims heads = batchOf(in.q);
        m_heads = numelOf(heads);
        m_keyHeads = numelOf(batchOf(in.k));
        m_group = m_keyHeads == 0 ? 1 : std::max<std::int64_t>(m_heads / m_keyHeads, 1);
        if (in.mask.defined()) {
            if (in.mask.dtype() == DType::Bool)
                m_visible.emplace(in.mask, heads, in.q.size(-2), keys());
            else
                m_added.emplace(in.mask, heads, in.q.size(-2), keys());
        }
    }

    std::int64_t heads() const { return m_heads; }
    std::int64_t keyHeads() const { return m_keyHeads; }
    std::int64_t group() const { return m_group; }
    std::int64_t rows() const { return m_q.rows(); }
    std::int64_t keys() const { return m_k.rows(); }
    std::int64_t width() const { return m_q.cols(); }
    std::int64_t valueWidth() const { return m_v.cols(); }
    T scale() const { return m_scale; }
    std::int64_t blockRows() const {
        const std::int64_t fit = kBlockElements / std::max<std::int64_t>(keys(), 1);
        return std::min(std::clamp(fit, kMinBlockRows, kMaxBlockRows),
                        std::max<std::int64_t>(rows(), 1));
    }
    double blockFlops() const {
        return 2.0 * static_cast<double>(blockRows()) * static_cast<double>(keys()) *
               static_cast<double>(width() + valueWidth());
    }

    MatrixRef<T> q(std::int64_t head, std::int64_t row) const {
        return {m_q.at(head) + row * m_q.rowStride(), m_q.rowStride(), m_q.colStride()};
    }
    MatrixRef<T> k(std::int64_t head) const {
        return {m_k.at(head / m_group), m_k.rowStride(), m_k.colStride()};
    }
    MatrixRef<T> v(std::int64_t head) const {
        return {m_v.at(head / m_group), m_v.rowStride(), m_v.colStride()};
    }
    /// Keys that some row of [begin, end) sees, and that row i sees.
    std::int64_t keysOf(std::int64_t end) const {
        return m_causal ? std::min(keys(), end) : keys();
    }

    /// scores [end - begin, keysOf(end)] = q k^T, not scaled.
    void scores(std::int64_t head, std::int64_t begin, std::int64_t end, T* to) const {
        const std::int64_t n = keysOf(end);
        gemm<T>(end - begin, n, width(), q(head, begin), transposed(k(head)), to, n, false);
    }
    /// What is added to the scores of row i, or null; buffer [keys()].
    const T* bias(std::int64_t head, std::int64_t i, std::int64_t n, T* buffer) const {
        if (m_added) {
            m_added->row(head, i, n, [&](std::int64_t j, T value) { buffer[j] = value; });
            return buffer;
        }
        if (m_visible) {
            m_visible->row(head, i, n, [&](std::int64_t j, bool seen) {
                buffer[j] = seen ? T(0) : -std::numeric_limits<T>::infinity();
            });
            return buffer;
        }
        return nullptr;
    }

private:
    /// A mask seen as [heads, rows, keys].
    template <class M>
    class Mask {
    public:
        Mask(const Tensor& mask, const Dims& heads, std::int64_t rows, std::int64_t keys)
            : m_tensor(mask), m_data(mask.data<M>()), m_heads(heads) {
            Dims sizes = heads;
            sizes.push_back(rows);
            sizes.push_back(keys);
            m_strides = broadcastStrides(mask, sizes);
        }
        template <class Fn>
        void row(std::int64_t head, std::int64_t i, std::int64_t n, const Fn& fn) const {
            std::int64_t offset = i * m_strides[m_heads.size()];
            for (int d = m_heads.size() - 1; d >= 0; --d) {
                offset += head % m_heads[d] * m_strides[d];
                head /= m_heads[d];
            }
            const std::int64_t step = m_strides[m_heads.size() + 1];
            for (std::int64_t j = 0; j < n; ++j) fn(j, m_data[offset + j * step]);
        }

    private:
        Tensor m_tensor;
        const M* m_data;
        Dims m_heads;
        Dims m_strides;
    };

    MatrixBatch<T> m_q;
    MatrixBatch<T> m_k;
    MatrixBatch<T> m_v;
    std::optional<Mask<bool>> m_visible;
    std::optional<Mask<T>> m_added;
    bool m_causal;
    T m_scale;
    std::int64_t m_heads = 0;
    std::int64_t m_keyHeads = 0;
    std::int64_t m_group = 1;
};

template <class T>
void forwardBlock(const Attention<T>& a, std::int64_t head, std::int64_t begin, std::int64_t end,
                  T* scores, T* bias, T* out, T* lse) {
    const auto& loops = sequenceLoops<T>();
    const std::int64_t n = a.keysOf(end);
    a.scores(head, begin, end, scores);
    for (std::int64_t i = begin; i < end; ++i) {
        T* const row = scores + (i - begin) * n;
        const std::int64_t seen = a.keysOf(i + 1);
        lse[head * a.rows() + i] =
            loops.scaledSoftmaxRow(seen, row, a.scale(), a.bias(head, i, seen, bias));
        std::fill(row + seen, row + n, T(0));
    }
    gemm<T>(end - begin, a.valueWidth(), n, {scores, n, 1}, a.v(head),
            out + (head * a.rows() + begin) * a.valueWidth(), a.valueWidth(), false);
}

/// Adds one block's share to dk and dv and writes its rows of dq.
template <class T>
void backwardBlock(const Attention<T>& a, std::int64_t head, std::int64_t begin, std::int64_t end,
                   const T* grad, const T* out, const T* lse, T* p, T* dp, T* bias, T* dq, T* dk,
                   T* dv) {
    const auto& loops = sequenceLoops<T>();
    const std::int64_t n = a.keysOf(end);
    const std::int64_t m = end - begin;
    const std::int64_t width = a.valueWidth();
    const T* const g = grad + (head * a.rows() + begin) * width;
    const T* const y = out + (head * a.rows() + begin) * width;
    a.scores(head, begin, end, p);
    for (std::int64_t i = 0; i < m; ++i) {
        T* const row = p + i * n;
        const std::int64_t seen = a.keysOf(begin + i + 1);
        loops.scaledExpRow(seen, row, a.scale(), a.bias(head, begin + i, seen, bias),
                           lse[head * a.rows() + begin + i]);
        std::fill(row + seen, row + n, T(0));
    }
    gemm<T>(n, width, m, transposed(MatrixRef<T>{p, n, 1}), {g, width, 1}, dv, width, true);
    gemm<T>(m, n, width, {g, width, 1}, transposed(a.v(head)), dp, n, false);
    for (std::int64_t i = 0; i < m; ++i) {
        const T delta = loops.dotRow(width, g + i * width, y + i * width);
        loops.attentionGradRow(n, p + i * n, dp + i * n, delta, a.scale());
    }
    gemm<T>(m, a.width(), n, {dp, n, 1}, a.k(head), dq + (head * a.rows() + begin) * a.width(),
            a.width(), false);
    gemm<T>(n, a.width(), m, transposed(MatrixRef<T>{dp, n, 1}), a.q(head, begin), dk, a.width(),
            true);
}

}  // namespace

void attentionInto(const AttentionInputs& in, const Tensor& out, const Tensor& lse) {
    visitFloating(in.q.dtype(), [&]<class T>() {
        if (lse.numel() == 0) return;
        const Attention<T> a(in);
        const std::int64_t block = a.blockRows();
        const std::int64_t blocks = (a.rows() - 1) / block + 1;
        const auto grain =
            static_cast<std::int64_t>(std::max(kPieceFlops / std::max(a.blockFlops(), 1.0), 1.0));
        T* const to = out.data<T>();
        T* const sums = lse.data<T>();
        parallelFor(a.heads() * blocks, grain, [&](std::int64_t first, std::int64_t last) {
            std::vector<T> buffer(static_cast<std::size_t>((block + 1) * a.keys()));
            T* const scores = buffer.data();
            for (std::int64_t piece = first; piece < last; ++piece) {
                const std::int64_t begin = piece % blocks * block;
                forwardBlock(a, piece / blocks, begin, std::min(begin + block, a.rows()), scores,
                             scores + block * a.keys(), to, sums);
            }
        });
    });
}

void attentionBackwardInto(const AttentionInputs& in, const Tensor& grad, const Tensor& out,
                           const Tensor& lse, const Tensor& dq, const Tensor& dk,
                           const Tensor& dv) {
    fillZero(dk);
    fillZero(dv);
    const Tensor g = dense(grad);
    const Tensor y = dense(out);
    const Tensor sums = dense(lse);
    visitFloating(in.q.dtype(), [&]<class T>() {
        if (lse.numel() == 0) return;
        if (in.k.numel() == 0 && in.k.size(-2) == 0) return fillZero(dq);
        const Attention<T> a(in);
        const std::int64_t block = a.blockRows();
        T* const toQ = dq.data<T>();
        T* const toK = dk.data<T>();
        T* const toV = dv.data<T>();
        const double flops = 2.5 * a.blockFlops() * static_cast<double>(a.rows()) /
                             static_cast<double>(block) * static_cast<double>(a.group());
        const auto grain =
            static_cast<std::int64_t>(std::max(kPieceFlops / std::max(flops, 1.0), 1.0));
        // A key head belongs to one thread: several query heads add to its gradient.
        parallelFor(a.keyHeads(), grain, [&](std::int64_t first, std::int64_t last) {
            std::vector<T> buffer(static_cast<std::size_t>((2 * block + 1) * a.keys()));
            T* const p = buffer.data();
            T* const dp = p + block * a.keys();
            T* const bias = dp + block * a.keys();
            for (std::int64_t key = first; key < last; ++key)
                for (std::int64_t head = key * a.group(); head < (key + 1) * a.group(); ++head)
                    for (std::int64_t begin = 0; begin < a.rows(); begin += block)
                        backwardBlock(a, head, begin, std::min(begin + block, a.rows()),
                                      g.data<T>(), y.data<T>(), sums.data<T>(), p, dp, bias, toQ,
                                      toK + key * a.keys() * a.width(),
                                      toV + key * a.keys() * a.valueWidth());
        });
    });
}

}  // namespace tapescope::engine::cpu
