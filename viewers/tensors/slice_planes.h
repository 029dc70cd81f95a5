// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/slice_spec.h"
#include "viewers/tensors/tensor_provider.h"

#include <vector>

namespace tapescope::viewers {

/// What to ask for to draw a slice as pictures, and how to read the answer: a plane for each index
/// of one axis, or one plane.
class SlicePlanes final {
public:
    static constexpr qint64 kMaxElements = 1'000'000;
    static constexpr int kMaxPlanes = 1024;

    SlicePlanes() = default;
    /// tileAxis: planes for each of its indices; -1: only the slice itself. Sizes are cut to
    /// kMaxElements: planes first, then every n-th row and column.
    SlicePlanes(const SliceSpec& slice, int tileAxis);
    /// The axis that makes a useful grid: of [N,C,H,W] the channels, or the batch if there is one
    /// channel; -1: none.
    static int defaultTileAxis(const SliceSpec& slice);

    QString requestText() const;
    int planes() const { return m_planes; }
    int rows() const { return m_rows; }
    int columns() const { return m_columns; }
    qint64 elements() const { return qint64{m_planes} * m_rows * m_columns; }
    int stride() const { return m_stride; }
    /// The answer's values as planes x rows x columns; empty if it has another size.
    std::vector<double> arrange(const TensorSlice& answer) const;
    /// "0, 3, 1, 7"
    QString cellText(int plane, int row, int column) const;
    /// Fewer planes than the axis has, or the stride; 0 and 1 if nothing is left out.
    qint64 planesOfAxis() const;

private:
    SliceSpec m_slice;  ///< strided
    int m_tileAxis = -1;
    int m_planes = 0;
    int m_rows = 0;
    int m_columns = 0;
    int m_stride = 1;
    int m_wrap = 0;  ///< a single axis folded into lines of this length
};

}  // namespace tapescope::viewers
