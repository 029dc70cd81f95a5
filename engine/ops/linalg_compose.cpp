// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"
#include "engine/ops/linalg.h"
#include "engine/ops/linalg_lapack.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <limits>
#include <vector>

namespace tapescope::engine {

namespace {

/// sizes[from, to) multiplied.
std::int64_t productOf(const Dims& sizes, int from, int to) {
    std::int64_t n = 1;
    for (int d = from; d < to; ++d) n *= sizes[d];
    return n;
}

}  // namespace

Tensor inner(const Tensor& input, const Tensor& other, Site site) {
    if (input.dim() == 0 || other.dim() == 0) return mul(input, other, site);
    if (input.size(-1) != other.size(-1))
        throw ShapeError(
            message("inner: the last sizes differ: ", input.sizes(), " and ", other.sizes()));
    return tensordot(input, other, Dims{-1}, Dims{-1}, site);
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims, Site site) {
    if (dims < 0 || dims > a.dim() || dims > b.dim())
        throw ShapeError(message("tensordot: dims ", dims, " must lie between 0 and the ranks of ",
                                 a.sizes(), " and ", b.sizes()));
    Dims dimsA;
    Dims dimsB;
    for (int i = 0; i < static_cast<int>(dims); ++i) {
        dimsA.push_back(a.dim() - dims + i);
        dimsB.push_back(i);
    }
    return tensordot(a, b, dimsA, dimsB, site);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& dims_a, const Dims& dims_b,
                 Site site) {
    if (dims_a.size() != dims_b.size())
        throw ShapeError(message("tensordot: dims ", dims_a, " and ", dims_b,
                                 " must name as many dimensions each"));
    const Dims innerA = wrapDims("tensordot", dims_a, a.dim());
    const Dims innerB = wrapDims("tensordot", dims_b, b.dim());
    Tensor left = a;
    Tensor right = b;
    for (int i = 0; i < innerA.size(); ++i) {
        const int da = static_cast<int>(innerA[i]);
        const int db = static_cast<int>(innerB[i]);
        if (left.size(da) == right.size(db)) continue;
        if (left.size(da) == 1) {
            right = sum(right, {db}, true);
        } else if (right.size(db) == 1) {
            left = sum(left, {da}, true);
        } else {
            throw ShapeError(message("tensordot: dimension ", da, " of ", a.sizes(),
                                     " and dimension ", db, " of ", b.sizes(), " differ in size"));
        }
    }
    const auto split = [](const Tensor& x, const Dims& dims, bool innerFirst, Dims& free) {
        Dims outer;
        for (int d = 0; d < x.dim(); ++d) {
            if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
            outer.push_back(d);
            free.push_back(x.sizes()[d]);
        }
        Dims order = innerFirst ? dims : outer;
        for (const std::int64_t d : innerFirst ? outer : dims) order.push_back(d);
        std::int64_t n = 1;
        for (const std::int64_t d : dims) n *= x.sizes()[static_cast<int>(d)];
        const std::int64_t rest = productOf(free, 0, free.size());
        const Tensor moved = x.dim() > 0 ? permute(x, order) : x;
        // Sizes in order, as the free ones of b are counted from its own start.
        return reshape(moved, innerFirst ? Dims{n, rest} : Dims{rest, n});
    };
    Dims sizes;
    Dims freeB;
    const Tensor rows = split(left, innerA, false, sizes);
    const Tensor cols = split(right, innerB, true, freeB);
    for (const std::int64_t size : freeB) sizes.push_back(size);
    return reshape(mm(rows, cols, site), sizes);
}

Tensor kron(const Tensor& input, const Tensor& other, Site site) {
    const int rank = std::max(input.dim(), other.dim());
    if (rank > kMaxRank / 2)
        throw ShapeError(message("kron: ", input.sizes(), " and ", other.sizes(),
                                 " have more than ", kMaxRank / 2, " dimensions"));
    Dims left;
    Dims right;
    Dims sizes;
    for (int d = 0; d < rank; ++d) {
        const int da = d - (rank - input.dim());
        const int db = d - (rank - other.dim());
        const std::int64_t na = da < 0 ? 1 : input.sizes()[da];
        const std::int64_t nb = db < 0 ? 1 : other.sizes()[db];
        left.push_back(na);
        left.push_back(1);
        right.push_back(1);
        right.push_back(nb);
        sizes.push_back(checkedMul("kron", na, nb));
    }
    return reshape(mul(reshape(input, left), reshape(other, right), site), sizes);
}

Tensor linalg_cross(const Tensor& input, const Tensor& other, std::int64_t dim, Site site) {
    if (input.dim() != other.dim())
        throw ShapeError(message("linalg_cross: ", input.sizes(), " and ", other.sizes(),
                                 " must have as many dimensions"));
    const int d = wrapDim("linalg_cross", dim, input.dim());
    if (input.dim() == 0 || input.size(d) != 3 || other.size(d) != 3)
        throw ShapeError(message("linalg_cross: dimension ", d, " of ", input.sizes(), " and ",
                                 other.sizes(), " must have size 3"));
    const auto part = [&](const Tensor& x, std::int64_t i) { return select(x, d, i % 3); };
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < 3; ++i)
        parts.push_back(sub(mul(part(input, i + 1), part(other, i + 2), site),
                            mul(part(input, i + 2), part(other, i + 1), site), site));
    return stack(parts, d);
}

Tensor cross(const Tensor& input, const Tensor& other, std::optional<std::int64_t> dim, Site site) {
    if (dim) return linalg_cross(input, other, *dim, site);
    for (int d = 0; d < input.dim(); ++d)
        if (input.sizes()[d] == 3) return linalg_cross(input, other, d, site);
    throw ShapeError(message("cross: no dimension of ", input.sizes(), " has size 3"));
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, std::int64_t dim, Site site) {
    return sum(mul(x, y, site), {dim}, false, site);
}

Tensor linalg_multi_dot(std::span<const Tensor> tensors, Site site) {
    const std::size_t n = tensors.size();
    if (n < 2) throw Error("linalg_multi_dot: at least 2 tensors are needed");
    std::vector<Tensor> list(tensors.begin(), tensors.end());
    const bool firstVector = list.front().dim() == 1;
    const bool lastVector = list.back().dim() == 1;
    if (firstVector) list.front() = unsqueeze(list.front(), 0);
    if (lastVector) list.back() = unsqueeze(list.back(), 1);
    for (std::size_t i = 0; i < n; ++i) {
        checkRank("linalg_multi_dot", "tensor " + std::to_string(i), list[i], 2);
        if (i > 0 && list[i - 1].size(1) != list[i].size(0))
            throw ShapeError(message("linalg_multi_dot: tensors ", static_cast<int>(i) - 1, " ",
                                     list[i - 1].sizes(), " and ", static_cast<int>(i), " ",
                                     list[i].sizes(), " cannot be multiplied"));
    }
    // cost[i][j]: fewest multiplications for the product of tensors i to j. Source: Cormen et al.,
    // matrix-chain order.
    std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
    std::vector<std::vector<std::size_t>> cut(n, std::vector<std::size_t>(n, 0));
    const auto size = [&](std::size_t i) {
        return static_cast<double>(i < n ? list[i].size(0) : list.back().size(1));
    };
    for (std::size_t length = 1; length < n; ++length) {
        for (std::size_t i = 0; i + length < n; ++i) {
            const std::size_t j = i + length;
            cost[i][j] = std::numeric_limits<double>::infinity();
            for (std::size_t k = i; k < j; ++k) {
                const double c = cost[i][k] + cost[k + 1][j] + size(i) * size(k + 1) * size(j + 1);
                if (c < cost[i][j]) {
                    cost[i][j] = c;
                    cut[i][j] = k;
                }
            }
        }
    }
    const auto product = [&](const auto& self, std::size_t i, std::size_t j) -> Tensor {
        if (i == j) return list[i];
        return mm(self(self, i, cut[i][j]), self(self, cut[i][j] + 1, j), site);
    };
    Tensor result = product(product, 0, n - 1);
    if (lastVector) result = squeeze(result, 1);
    return firstVector ? squeeze(result, 0) : result;
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias, Site site) {
    checkRank("bilinear", "weight", weight, 3, "[out, in1, in2]");
    if (input1.dim() == 0 || input1.dim() != input2.dim())
        throw ShapeError(message("bilinear: inputs ", input1.sizes(), " and ", input2.sizes(),
                                 " must have the same number of dimensions, at least 1"));
    Dims lead1 = input1.sizes();
    Dims lead2 = input2.sizes();
    lead1.resize(lead1.size() - 1);
    lead2.resize(lead2.size() - 1);
    if (!(lead1 == lead2) || input1.size(-1) != weight.size(1) || input2.size(-1) != weight.size(2))
        throw ShapeError(message("bilinear: inputs ", input1.sizes(), " and ", input2.sizes(),
                                 " do not fit weight ", weight.sizes(), " [out, in1, in2]"));
    const Tensor operands[] = {input1, weight, input2};
    const Tensor y = einsum("...i,oij,...j->...o", operands, site);
    return bias.defined() ? add(y, bias, site) : y;
}

Tensor matrix_power(const Tensor& input, std::int64_t n, Site site) {
    if (input.dim() < 2 || input.size(-1) != input.size(-2))
        throw ShapeError(
            message("matrix_power: ", input.sizes(), " must be square matrices [..., n, n]"));
    if (n < 0) {
        if (n == std::numeric_limits<std::int64_t>::min())
            throw Error("matrix_power: the exponent is out of range");
        return matrix_power(linalg_inv(input, site), -n, site);
    }
    if (n == 0)
        return clone(expand(eye(input.size(-1), {.dtype = input.dtype()}, site), input.sizes()));
    Tensor result;
    Tensor square = input;
    for (std::int64_t rest = n;; square = matmul(square, square, site)) {
        if (rest % 2 == 1) result = result.defined() ? matmul(result, square, site) : square;
        rest /= 2;
        if (rest == 0) break;
    }
    return n == 1 ? clone(result, site) : result;
}

}  // namespace tapescope::engine
