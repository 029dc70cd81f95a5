// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dense.h"
#include "engine/cpu/nn_isa.h"
#include "engine/cpu/pool_windows.h"

#include <vector>

namespace tapescope::engine::cpu {

namespace {

/// What the mean of a window divides by, as a product of the axes' counts.
class Divisors {
public:
    Divisors(const PoolShape& s, const AverageRule& rule) : m_shape(s), m_rule(rule) {
        for (std::int64_t ow = 0; ow < s.output[2]; ++ow) m_columns.push_back(count(2, ow));
    }
    /// One over the divisor of every column in an output row.
    template <class T>
    void scales(std::int64_t od, std::int64_t oh, std::vector<T>& out) const {
        const std::int64_t rows = count(0, od) * count(1, oh);
        out.resize(m_columns.size());
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] =
                T(1) / static_cast<T>(m_rule.divisor != 0 ? m_rule.divisor : rows * m_columns[i]);
    }

private:
    std::int64_t count(unsigned axis, std::int64_t at) const {
        const std::int64_t start = at * m_shape.stride[axis] - m_shape.padding[axis];
        const std::int64_t end = start + m_shape.kernel[axis];
        // Beyond the padding, where ceil_mode reaches, nothing counts.
        if (m_rule.countIncludePad)
            return std::min(end, m_shape.input[axis] + m_shape.padding[axis]) - start;
        return std::min(end, m_shape.input[axis]) - std::max<std::int64_t>(start, 0);
    }
    const PoolShape& m_shape;
    const AverageRule& m_rule;
    std::vector<std::int64_t> m_columns;
};

template <class T>
void avgPoolTyped(const PoolShape& s, const AverageRule& rule, const T* input, T* result) {
    const NnLoops<T>& loops = nnLoops<T>();
    const std::int64_t columns = s.output[2];
    const Divisors divisors(s, rule);
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        thread_local std::vector<T> scales;
        forEachOutputRow(s, [&](std::int64_t od, std::int64_t oh, std::int64_t row) {
            T* sums = result + out + row * columns;
            std::fill_n(sums, columns, T(0));
            forEachTap(s, od, oh, [&](std::int64_t ih, const TapRange& r) {
                loops.addTap(r.end - r.begin, input + in + ih * s.input[2] + r.column, s.stride[2],
                             sums + r.begin);
            });
            divisors.scales(od, oh, scales);
            for (std::int64_t ow = 0; ow < columns; ++ow)
                sums[ow] *= scales[static_cast<std::size_t>(ow)];
        });
    });
}

template <class T>
void avgPoolBackwardTyped(const PoolShape& s, const AverageRule& rule, const T* grad, T* result) {
    const Divisors divisors(s, rule);
    const std::int64_t columns = s.output[2];
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        thread_local std::vector<T> shares;
        std::fill_n(result + in, s.inPlane(), T(0));
        forEachOutputRow(s, [&](std::int64_t od, std::int64_t oh, std::int64_t row) {
            const T* g = grad + out + row * columns;
            divisors.scales(od, oh, shares);
            for (std::int64_t ow = 0; ow < columns; ++ow)
                shares[static_cast<std::size_t>(ow)] *= g[ow];
            forEachTap(s, od, oh, [&](std::int64_t ih, const TapRange& r) {
                T* to = result + in + ih * s.input[2] + r.column;
                for (std::int64_t ow = r.begin; ow < r.end; ++ow)
                    to[(ow - r.begin) * s.stride[2]] += shares[static_cast<std::size_t>(ow)];
            });
        });
    });
}

/// fn(depth window, row window, column window, output offset in the plane) for every output.
template <class Fn>
void forEachAdaptive(const PoolShape& s, const Fn& fn) {
    std::int64_t at = 0;
    for (std::int64_t od = 0; od < s.output[0]; ++od)
        for (std::int64_t oh = 0; oh < s.output[1]; ++oh)
            for (std::int64_t ow = 0; ow < s.output[2]; ++ow)
                fn(adaptiveWindow(s, 0, od), adaptiveWindow(s, 1, oh), adaptiveWindow(s, 2, ow),
                   at++);
}
std::int64_t lengthOf(const Window& w) { return w.end - w.begin; }

template <class T>
void adaptiveTyped(const PoolShape& s, const T* input, T* result) {
    const NnLoops<T>& loops = nnLoops<T>();
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        forEachAdaptive(s, [&](const Window& depths, const Window& rows, const Window& columns,
                               std::int64_t at) {
            const std::int64_t width = lengthOf(columns);
            double total = 0;
            for (std::int64_t id = depths.begin; id < depths.end; ++id)
                for (std::int64_t ih = rows.begin; ih < rows.end; ++ih)
                    total += loops.sum(
                        width, input + in + (id * s.input[1] + ih) * s.input[2] + columns.begin);
            result[out + at] = static_cast<T>(
                total / static_cast<double>(lengthOf(depths) * lengthOf(rows) * width));
        });
    });
}

template <class T>
void adaptiveBackwardTyped(const PoolShape& s, const T* grad, T* result) {
    forEachPlane(s, [&](std::int64_t in, std::int64_t out) {
        std::fill_n(result + in, s.inPlane(), T(0));
        forEachAdaptive(s, [&](const Window& depths, const Window& rows, const Window& columns,
                               std::int64_t at) {
            const T share = grad[out + at] /
                            static_cast<T>(lengthOf(depths) * lengthOf(rows) * lengthOf(columns));
            for (std::int64_t id = depths.begin; id < depths.end; ++id)
                for (std::int64_t ih = rows.begin; ih < rows.end; ++ih) {
                    T* row = result + in + (id * s.input[1] + ih) * s.input[2];
                    for (std::int64_t iw = columns.begin; iw < columns.end; ++iw) row[iw] += share;
                }
        });
    });
}

}  // namespace

void avgPool(const PoolShape& shape, const AverageRule& rule, const Tensor& input,
             const Tensor& out) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(),
                  [&]<class T>() { avgPoolTyped<T>(shape, rule, x.data<T>(), out.data<T>()); });
}
void avgPoolBackward(const PoolShape& shape, const AverageRule& rule, const Tensor& grad,
                     const Tensor& out) {
    const Tensor g = dense(grad);
    visitFloating(g.dtype(), [&]<class T>() {
        avgPoolBackwardTyped<T>(shape, rule, g.data<T>(), out.data<T>());
    });
}
void adaptiveAvgPool(const PoolShape& shape, const Tensor& input, const Tensor& out) {
    const Tensor x = dense(input);
    visitFloating(x.dtype(),
                  [&]<class T>() { adaptiveTyped<T>(shape, x.data<T>(), out.data<T>()); });
}
void adaptiveAvgPoolBackward(const PoolShape& shape, const Tensor& grad, const Tensor& out) {
    const Tensor g = dense(grad);
    visitFloating(g.dtype(),
                  [&]<class T>() { adaptiveBackwardTyped<T>(shape, g.data<T>(), out.data<T>()); });
}

}  // namespace tapescope::engine::cpu
