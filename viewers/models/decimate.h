// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/scalar_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tapescope::viewers {

/// Turns points in order into at most four a column (first, min, max, last); `out(x, y)` gets them
/// in order. A gap is out(NaN, NaN).
template <class Out>
class ColumnReducer final {
public:
    ColumnReducer(double low, double high, int columns, Out& out)
        : m_low(low),
          m_scale(columns / std::max(high - low, std::numeric_limits<double>::min())),
          m_out(out) {}
    double column(double x) const { return std::floor((x - m_low) * m_scale); }
    void add(double x, double y) {
        const double at = column(x);
        if (m_n > 0 && at != m_column) flush();
        m_column = at;
        const Point point{x, y, m_order++};
        if (m_n++ == 0) {
            m_first = m_min = m_max = point;
        } else {
            if (y < m_min.y) m_min = point;
            if (y > m_max.y) m_max = point;
        }
        m_last = point;
    }
    void gap() {
        flush();
        m_out(NAN, NAN);
    }
    void flush() {
        if (m_n == 0) return;
        const Point& a = m_min.order < m_max.order ? m_min : m_max;
        const Point& b = m_min.order < m_max.order ? m_max : m_min;
        const Point* points[] = {&m_first, &a, &b, &m_last};
        const Point* before = nullptr;
        for (const Point* point : points) {
            if (before == nullptr || before->order != point->order) m_out(point->x, point->y);
            before = point;
        }
        m_n = 0;
    }

private:
    struct Point {
        double x = 0, y = 0;
        std::size_t order = 0;
    };
    double m_low, m_scale;
    Out& m_out;
    double m_column = 0;
    std::size_t m_n = 0, m_order = 0;
    Point m_first, m_min, m_max, m_last;
};

namespace detail {

template <class Reducer>
class BlockWalk final {
public:
    BlockWalk(const ScalarSeries& series, const ScalarBlock& block, const std::vector<double>& y,
              const MinMaxTree& tree, XAxis axis, Reducer& reducer)
        : m_series(series),
          m_block(block),
          m_y(y),
          m_tree(tree),
          m_axis(axis),
          m_reducer(reducer) {}

    double x(std::size_t i) const { return m_series.x(m_block, i, m_axis); }
    /// Points [begin, end) of the block.
    void walk(std::size_t begin, std::size_t end) {
        m_begin = begin;
        m_end = end;
        descend(m_tree.levels() - 1, 0);
    }

private:
    void descend(std::size_t level, std::size_t node) {
        const std::size_t width = MinMaxTree::width(level);
        const std::size_t from = node * width;
        const std::size_t to = std::min(m_y.size(), from + width);
        if (to <= m_begin || from >= m_end) return;
        // A node is drawn by its extremes if it lies in one column.
        const bool inside = from >= m_begin && to <= m_end;
        if (inside && m_reducer.column(x(to - 1)) == m_reducer.column(x(from))) {
            const MinMaxTree::Node extremes = m_tree.level(level)[node];
            if (extremes.min == MinMaxTree::kNone) return;
            const auto [a, b] = std::minmax(extremes.min, extremes.max);
            m_reducer.add(x(a), m_y[a]);
            if (b != a) m_reducer.add(x(b), m_y[b]);
            return;
        }
        if (level == 0) {
            for (std::size_t i = std::max(from, m_begin); i < std::min(to, m_end); ++i) {
                if (std::isfinite(m_y[i])) {
                    m_reducer.add(x(i), m_y[i]);
                } else {
                    m_reducer.gap();
                }
            }
            return;
        }
        const std::size_t children = m_tree.level(level - 1).size();
        for (std::size_t c = node * MinMaxTree::kFan;
             c < std::min(children, (node + 1) * MinMaxTree::kFan); ++c)
            descend(level - 1, c);
    }

    const ScalarSeries& m_series;
    const ScalarBlock& m_block;
    const std::vector<double>& m_y;
    const MinMaxTree& m_tree;
    XAxis m_axis;
    Reducer& m_reducer;
    std::size_t m_begin = 0, m_end = 0;
};

}  // namespace detail

/// The points to draw for x in [low, high] on `columns` pixel columns: at most four a column, plus
/// one neighbour on each side so that lines reach the edges. == scanning every point, in O(columns
/// · log n). `smoothed` null: the raw values.
template <class Out>
void decimate(const ScalarSeries& series, const SmoothedSeries* smoothed, XAxis axis, double low,
              double high, int columns, Out&& out) {
    ColumnReducer<std::remove_reference_t<Out>> reducer(low, high, std::max(1, columns), out);
    const ScalarBlock* left =
        nullptr;  // a block that ends before low: its last point is the left neighbour
    std::size_t leftIndex = 0;
    const auto yOf = [&](std::size_t b) -> const std::vector<double>& {
        return smoothed != nullptr ? smoothed->blocks()[b].value : series.blocks()[b]->value;
    };
    bool done = false;
    for (std::size_t b = 0; b < series.blocks().size(); ++b) {
        const ScalarBlock& block = *series.blocks()[b];
        const auto& y = yOf(b);
        const MinMaxTree& tree = smoothed != nullptr ? smoothed->blocks()[b].tree : block.tree;
        detail::BlockWalk walk(series, block, y, tree, axis, reducer);
        if (block.restarts) {
            reducer.gap();
            left = nullptr;
            done = false;
        }
        if (done) continue;
        if (walk.x(block.size() - 1) < low) {
            left = &block;
            leftIndex = b;
            continue;
        }
        if (left != nullptr) {
            const double last = yOf(leftIndex).back();
            if (std::isfinite(last)) reducer.add(series.x(*left, left->size() - 1, axis), last);
            left = nullptr;
        }
        const auto firstNotBelow = [&](double at) {
            std::size_t from = 0, to = block.size();
            while (from < to) {
                const std::size_t middle = (from + to) / 2;
                if (walk.x(middle) < at) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            return from;
        };
        std::size_t begin = firstNotBelow(low);
        std::size_t end = firstNotBelow(std::nextafter(high, INFINITY));
        if (begin > 0) --begin;
        if (end < block.size()) {
            ++end;
            done = true;  // the right neighbour is in; only a restart comes back into view
        }
        walk.walk(begin, end);
    }
    reducer.flush();
}

}  // namespace tapescope::viewers
