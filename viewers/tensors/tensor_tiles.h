// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_delegate.h"

#include <QImage>

#include <vector>

namespace tapescope::viewers {

/// Planes of equal size, as pictures in several sizes. A smaller picture keeps of each 2x2 block
/// the value of largest magnitude (NaN before Inf before numbers), so that single outliers stay
/// visible. O(values) once; a level's pictures are made when first used.
class TensorTiles final {
public:
    TensorTiles() = default;
    /// values: tiles x rows x columns, row-major.
    TensorTiles(std::vector<double> values, int tiles, int rows, int columns);

    bool empty() const { return m_levels.empty(); }
    int tiles() const { return m_tiles; }
    int rows() const { return m_levels.empty() ? 0 : m_levels.front().rows; }
    int columns() const { return m_levels.empty() ? 0 : m_levels.front().columns; }
    int levels() const { return static_cast<int>(m_levels.size()); }
    double value(int tile, int row, int column, int level = 0) const;
    /// Range of the finite values; 0 … 1 if there is none.
    const ValueColours& colours() const { return m_colours; }
    int nanCount() const { return m_nan; }
    int infCount() const { return m_inf; }

    /// Level to draw when a value is `pixels` wide.
    int levelFor(double pixels) const;
    /// Side of a level's pixel in values.
    static int span(int level) { return 1 << level; }
    const QImage& image(int tile, int level) const;
    /// The theme changed.
    void dropImages();

private:
    struct Level {
        int rows = 0;
        int columns = 0;
        std::vector<float> values;
        mutable std::vector<QImage> images;
    };
    void addLevel();

    int m_tiles = 0;
    std::vector<double> m_exact;
    std::vector<Level> m_levels;
    ValueColours m_colours;
    int m_nan = 0;
    int m_inf = 0;
};

}  // namespace tapescope::viewers
