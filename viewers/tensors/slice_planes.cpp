// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/slice_planes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tapescope::viewers {

namespace {

/// Smallest divisor of n that is at least its square root: the squarest way to fold a row without
/// holes.
int foldWidth(qint64 n) {
    for (auto w = static_cast<qint64>(std::ceil(std::sqrt(static_cast<double>(n)))); w < n; ++w) {
        if (n % w == 0) return static_cast<int>(w);
    }
    return static_cast<int>(n);
}

}  // namespace

SlicePlanes::SlicePlanes(const SliceSpec& slice, int tileAxis)
    : m_slice(slice), m_tileAxis(tileAxis) {
    const qint64 plane = slice.rows() * slice.columns();
    if (plane == 0) {
        m_tileAxis = -1;
        return;
    }
    m_stride = std::max(
        1, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(plane) / kMaxElements))));
    if (slice.columnAxis() < 0) {
        m_stride = std::max(1, static_cast<int>((plane + kMaxElements - 1) / kMaxElements));
    }
    if (m_stride > 1) m_slice = slice.strided(m_stride);
    m_rows = static_cast<int>(m_slice.rows());
    m_columns = static_cast<int>(m_slice.columns());
    m_planes = 1;
    if (m_tileAxis >= 0) {
        const qint64 room = kMaxElements / (qint64{m_rows} * m_columns);
        m_planes =
            static_cast<int>(std::clamp<qint64>(std::min(planesOfAxis(), room), 1, kMaxPlanes));
    }
    if (slice.columnAxis() < 0 && m_tileAxis < 0) {
        m_wrap = foldWidth(m_rows);
        m_columns = m_wrap;
        m_rows = m_rows / m_wrap;
    }
}

int SlicePlanes::defaultTileAxis(const SliceSpec& slice) {
    if (slice.columnAxis() < 0) return -1;
    // The innermost axis that is not shown and has more than one index.
    for (int i = slice.rank() - 1; i >= 0; --i) {
        if (!slice.axis(i).range && slice.shape()[static_cast<std::size_t>(i)] > 1) return i;
    }
    return -1;
}

qint64 SlicePlanes::planesOfAxis() const {
    return m_tileAxis < 0 ? 1 : m_slice.shape()[static_cast<std::size_t>(m_tileAxis)];
}

QString SlicePlanes::requestText() const {
    return m_tileAxis < 0 ? m_slice.text() : m_slice.stackText(m_tileAxis, m_planes);
}

std::vector<double> SlicePlanes::arrange(const TensorSlice& answer) const {
    if (static_cast<qint64>(answer.values.size()) != elements()) return {};
    if (m_wrap > 0) return answer.values;
    // Size of the plane, row and column axes, and their places in the answer, which has the
    // tensor's order.
    struct Axis {
        int axis;
        int size;
        qint64 stride = 0;
    };
    std::array<Axis, 3> axes{
        {{m_tileAxis, m_planes}, {m_slice.rowAxis(), m_rows}, {m_slice.columnAxis(), m_columns}}};
    std::array<Axis*, 3> order{&axes[0], &axes[1], &axes[2]};
    std::ranges::sort(order, {}, [](const Axis* a) { return a->axis; });
    qint64 stride = 1;
    for (std::size_t i = 3; i-- > 0;) {
        order[i]->stride = stride;
        stride *= order[i]->size;
    }
    std::vector<double> result;
    result.reserve(answer.values.size());
    for (int p = 0; p < m_planes; ++p) {
        for (int r = 0; r < m_rows; ++r) {
            for (int c = 0; c < m_columns; ++c) {
                result.push_back(answer.values[static_cast<std::size_t>(
                    p * axes[0].stride + r * axes[1].stride + c * axes[2].stride)]);
            }
        }
    }
    return result;
}

QString SlicePlanes::cellText(int plane, int row, int column) const {
    if (m_wrap > 0) return m_slice.cellText(qint64{row} * m_wrap + column, 0);
    if (m_tileAxis < 0) return m_slice.cellText(row, column);
    SliceSpec at = m_slice;
    at.setIndex(m_tileAxis, plane);
    return at.cellText(row, column);
}

}  // namespace tapescope::viewers
