// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa/loops.h"
#include "engine/ops/op_def.h"

#include <span>

namespace tapescope::engine::cpu {

/// Accumulators of a reduction, one per output element: doubles for floating inputs, else int64.
/// Small ones live inline.
class Accumulators {
public:
    Accumulators(std::int64_t count, double floating, std::int64_t integral, bool isFloating);
    void* data() { return m_large.empty() ? static_cast<void*>(m_small.data()) : m_large.data(); }
    double* doubles() { return static_cast<double*>(data()); }
    std::int64_t* integers() { return static_cast<std::int64_t*>(data()); }

private:
    union Word {
        double real;
        std::int64_t integer;
    };
    std::array<Word, 32> m_small;
    std::vector<Word> m_large;
};

/// acc[o] = all elements of x that reduce to output o, in an order that depends on x's layout only.
/// mask[d]: dimension d is reduced. params: one per output, or null. Outputs count row-major over
/// the kept dimensions.
void reduceInto(ReduceOp op, const Tensor& x, const std::array<bool, kMaxRank>& mask, void* acc,
                const void* params);
/// The accumulators' start.
Accumulators startOf(ReduceOp op, std::int64_t count, bool isFloating);

// Kernels; attribute 0 = dims (empty: all), where an operator has any.
void sum(const OpArgs& args, std::span<Tensor> outputs);
void mean(const OpArgs& args, std::span<Tensor> outputs);
void prod(const OpArgs& args, std::span<Tensor> outputs);
void amax(const OpArgs& args, std::span<Tensor> outputs);
void amin(const OpArgs& args, std::span<Tensor> outputs);
void any(const OpArgs& args, std::span<Tensor> outputs);
void all(const OpArgs& args, std::span<Tensor> outputs);
void var(const OpArgs& args, std::span<Tensor> outputs);
void standardDeviation(const OpArgs& args, std::span<Tensor> outputs);
void logsumexp(const OpArgs& args, std::span<Tensor> outputs);
void norm(const OpArgs& args, std::span<Tensor> outputs);
// Attribute 0 = dim.
void argmax(const OpArgs& args, std::span<Tensor> outputs);
void argmin(const OpArgs& args, std::span<Tensor> outputs);
void cumsum(const OpArgs& args, std::span<Tensor> outputs);

/// The dimensions a reduction's `dims` names; all if empty. Throws IndexError naming op.
std::array<bool, kMaxRank> reducedDims(std::string_view op, const Dims& dims, int rank);

}  // namespace tapescope::engine::cpu
