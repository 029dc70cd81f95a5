// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/parallel.h"
#include "engine/cpu/strided.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <vector>

// Batches of matrices between tensors (any strides) and LAPACK (column-major, packed).
namespace tapescope::engine::cpu {

/// The sizes in front of the last `rank` ones.
inline Dims batchOf(const Tensor& x, int rank = 2) {
    Dims batch = x.sizes();
    batch.resize(batch.size() - rank);
    return batch;
}

/// x [batch..., rows, cols] (or, with vectors, [batch..., rows] as one column each), seen with the
/// batch sizes to which it broadcasts.
template <class T>
class MatrixBatch {
public:
    MatrixBatch(const Tensor& x, const Dims& batch, bool vectors = false)
        : m_tensor(x), m_data(x.data<T>()), m_batch(batch) {
        const int own = x.dim() - (vectors ? 1 : 2);
        m_rows = x.sizes()[own];
        m_rowStride = x.strides()[own];
        m_cols = vectors ? 1 : x.sizes()[own + 1];
        m_colStride = vectors ? 1 : x.strides()[own + 1];
        m_strides = Dims::filled(batch.size(), 0);
        for (int d = 0; d < own; ++d)
            if (x.sizes()[d] != 1) m_strides[batch.size() - own + d] = x.strides()[d];
    }
    int rows() const { return static_cast<int>(m_rows); }
    int cols() const { return static_cast<int>(m_cols); }
    std::int64_t rowStride() const { return m_rowStride; }
    std::int64_t colStride() const { return m_colStride; }

    /// Matrix i into columns that are `leading` (0: rows()) apart.
    void load(std::int64_t i, T* to, std::int64_t leading = 0) const {
        const T* from = at(i);
        if (leading == 0) leading = m_rows;
        for (std::int64_t c = 0; c < m_cols; ++c)
            for (std::int64_t r = 0; r < m_rows; ++r)
                to[c * leading + r] = from[r * m_rowStride + c * m_colStride];
    }
    void store(std::int64_t i, const T* from, std::int64_t leading = 0) const {
        T* to = at(i);
        if (leading == 0) leading = m_rows;
        for (std::int64_t r = 0; r < m_rows; ++r)
            for (std::int64_t c = 0; c < m_cols; ++c)
                to[r * m_rowStride + c * m_colStride] = from[c * leading + r];
    }
    T* at(std::int64_t i) const {
        std::int64_t offset = 0;
        for (int d = m_batch.size() - 1; d >= 0; --d) {
            offset += i % m_batch[d] * m_strides[d];
            i /= m_batch[d];
        }
        return m_data + offset;
    }

private:
    Tensor m_tensor;  // keeps the data alive
    T* m_data;
    Dims m_batch;
    Dims m_strides;
    std::int64_t m_rows = 0;
    std::int64_t m_cols = 0;
    std::int64_t m_rowStride = 0;
    std::int64_t m_colStride = 0;
};

/// A number per matrix of a batch: what LAPACK said of it.
using Infos = std::vector<int>;

/// infos[i] = fn(i) for every matrix of the batch, in parallel where the work (about `flops` each)
/// pays. fn must not throw.
template <class Fn>
Infos forEachMatrix(std::int64_t count, double flops, const Fn& fn) {
    Infos infos(static_cast<std::size_t>(count), 0);
    const double perPiece = 4.0 * static_cast<double>(kGrain) / std::max(flops, 1.0);
    const auto grain = static_cast<std::int64_t>(std::clamp(perPiece, 1.0, 1e9));
    parallelFor(count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) infos[static_cast<std::size_t>(i)] = fn(i);
    });
    return infos;
}
inline double cube(double n) { return n * n * n; }

}  // namespace tapescope::engine::cpu
