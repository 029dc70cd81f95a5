// SPDX-License-Identifier: Apache-2.0
// Initialisers that fill a weight by a rule; computed on the host in float64.
#include "engine/data/shuffle.h"
#include "engine/errors.h"
#include "engine/nn/init.h"
#include "engine/nn/number_text.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace tapescope::engine::nn::init {
namespace {

void requireRank(const char* name, const Tensor& x, int low, int high, const char* what) {
    if (x.dim() >= low && x.dim() <= high) return;
    throw ShapeError(std::string(name) + ": x is " + x.meta().toString() + ", but it takes " +
                     what);
}

Tensor fill(const Tensor& x, const std::vector<double>& values) {
    const NoGradGuard guard;
    return copy_(x, Tensor::from<double>(values, x.sizes()));
}

std::vector<double> gaussian(std::int64_t count) {
    const NoGradGuard guard;
    return randn({count}, {.dtype = DType::F64}).to_vector();
}

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The inverse of erf: a rational start (Giles 2012), then Newton steps to full precision.
double inverseErf(double y) {
    if (y <= -1 || y >= 1) return std::copysign(std::numeric_limits<double>::infinity(), y);
    const double w = -std::log((1 - y) * (1 + y));
    double x = 0;
    if (w < 5) {
        const double v = w - 2.5;
        x = y * (1.50140941 + v * (0.246640727 + v * (-0.00417768164 + v * -0.00125372503)));
    } else {
        const double v = std::sqrt(w) - 3;
        x = y * (2.83297682 + v * (1.00167406 + v * (0.00943887047 + v * -0.0076224613)));
    }
    for (int i = 0; i < 3; ++i) {
        const double slope = 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x);
        if (!(slope > 0)) break;
        x -= (std::erf(x) - y) / slope;
    }
    return x;
}

double normalCdf(double x) { return (1 + std::erf(x / std::numbers::sqrt2)) / 2; }

/// The columns of a rows×cols matrix (row-major, rows >= cols) at right angles and of length 1:
/// Gram and Schmidt's way, done twice so that rounding does no harm. Signs as a QR with a positive
/// diagonal of R.
void orthonormalise(std::vector<double>& m, std::int64_t rows, std::int64_t cols) {
    const auto at = [&](std::int64_t r, std::int64_t c) -> double& {
        return m[position(r * cols + c)];
    };
    for (std::int64_t c = 0; c < cols; ++c) {
        for (int pass = 0; pass < 2; ++pass) {
            for (std::int64_t before = 0; before < c; ++before) {
                double dot = 0;
                for (std::int64_t r = 0; r < rows; ++r) dot += at(r, before) * at(r, c);
                for (std::int64_t r = 0; r < rows; ++r) at(r, c) -= dot * at(r, before);
            }
        }
        double length = 0;
        for (std::int64_t r = 0; r < rows; ++r) length += at(r, c) * at(r, c);
        for (std::int64_t r = 0; r < rows; ++r) at(r, c) /= std::sqrt(length);
    }
}

}  // namespace

Tensor eye_(const Tensor& x) {
    requireRank("eye_", x, 2, 2, "a matrix");
    std::vector<double> values(position(x.numel()));
    for (std::int64_t i = 0; i < std::min(x.size(0), x.size(1)); ++i)
        values[position(i * x.size(1) + i)] = 1;
    return fill(x, values);
}

Tensor dirac_(const Tensor& x, std::int64_t groups) {
    requireRank("dirac_", x, 3, 5, "a convolution's weight of 3 to 5 dimensions");
    if (groups < 1 || x.size(0) % groups != 0) {
        throw ShapeError("dirac_: the " + std::to_string(x.size(0)) + " output channels of x " +
                         x.meta().toString() + " cannot be split into " + std::to_string(groups) +
                         " groups");
    }
    std::vector<double> values(position(x.numel()));
    const std::int64_t outputs = x.size(0) / groups;
    std::int64_t window = 1;
    std::int64_t centre = 0;
    for (int d = 2; d < x.dim(); ++d) {
        window *= x.size(d);
        centre = centre * x.size(d) + x.size(d) / 2;
    }
    for (std::int64_t g = 0; g < groups; ++g) {
        for (std::int64_t c = 0; window > 0 && c < std::min(outputs, x.size(1)); ++c)
            values[position(((g * outputs + c) * x.size(1) + c) * window + centre)] = 1;
    }
    return fill(x, values);
}

Tensor trunc_normal_(const Tensor& x, double mean, double std, double low, double high) {
    if (!(std > 0) || !(low < high)) {
        throw Error("trunc_normal_: std must be above 0 and low below high, but they are " +
                    numberText(std) + ", " + numberText(low) + " and " + numberText(high));
    }
    const NoGradGuard guard;
    const double from = normalCdf((low - mean) / std);
    const double to = normalCdf((high - mean) / std);
    std::vector<double> values = rand(x.sizes(), {.dtype = DType::F64}).to_vector();
    for (double& value : values) {
        const double draw = 2 * (from + (to - from) * value) - 1;
        value = std::clamp(inverseErf(draw) * std * std::numbers::sqrt2 + mean, low, high);
    }
    return fill(x, values);
}

Tensor orthogonal_(const Tensor& x, double gain) {
    requireRank("orthogonal_", x, 2, kMaxRank, "at least 2 dimensions");
    if (x.numel() == 0) return x;
    const std::int64_t rows = x.size(0);
    const std::int64_t cols = x.numel() / rows;
    const std::int64_t most = std::max(rows, cols);
    const std::int64_t least = std::min(rows, cols);
    std::vector<double> matrix = gaussian(x.numel());
    orthonormalise(matrix, most, least);
    std::vector<double> values(matrix.size());
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const std::int64_t from = rows < cols ? c * least + r : r * least + c;
            values[position(r * cols + c)] = gain * matrix[position(from)];
        }
    }
    return fill(x, values);
}

Tensor sparse_(const Tensor& x, double sparsity, double std) {
    requireRank("sparse_", x, 2, 2, "a matrix");
    if (!(sparsity >= 0 && sparsity <= 1))
        throw Error("sparse_: sparsity must lie in [0, 1], but is " + numberText(sparsity));
    std::vector<double> values = gaussian(x.numel());
    const auto zeros =
        static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(x.size(0))));
    for (double& value : values) value *= std;
    for (std::int64_t c = 0; c < x.size(1); ++c) {
        const std::vector<std::int64_t> order =
            data::shuffledIndices(x.size(0), Context::current().generator());
        for (std::int64_t i = 0; i < zeros; ++i)
            values[position(order[position(i)] * x.size(1) + c)] = 0;
    }
    return fill(x, values);
}

}  // namespace tapescope::engine::nn::init
