// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tapescope::viewers {

namespace {

/// NaN says more than Inf, Inf more than any number.
float stronger(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
    return std::abs(b) > std::abs(a) ? b : a;
}

}  // namespace

TensorTiles::TensorTiles(std::vector<double> values, int tiles, int rows, int columns)
    : m_tiles(tiles), m_exact(std::move(values)) {
    if (tiles <= 0 || rows <= 0 || columns <= 0) {
        m_tiles = 0;
        return;
    }
    m_exact.resize(static_cast<std::size_t>(tiles) * static_cast<std::size_t>(rows) *
                       static_cast<std::size_t>(columns),
                   std::numeric_limits<double>::quiet_NaN());
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    Level base;
    base.rows = rows;
    base.columns = columns;
    base.values.reserve(m_exact.size());
    for (const double v : m_exact) {
        base.values.push_back(static_cast<float>(v));
        if (std::isnan(v)) {
            ++m_nan;
        } else if (std::isinf(v)) {
            ++m_inf;
        } else {
            low = std::min(low, v);
            high = std::max(high, v);
        }
    }
    if (low <= high) m_colours = {low, high};
    m_levels.push_back(std::move(base));
    while (m_levels.back().rows > 1 || m_levels.back().columns > 1) addLevel();
}

void TensorTiles::addLevel() {
    const Level& from = m_levels.back();
    Level to;
    to.rows = (from.rows + 1) / 2;
    to.columns = (from.columns + 1) / 2;
    to.values.reserve(static_cast<std::size_t>(m_tiles) * static_cast<std::size_t>(to.rows) *
                      static_cast<std::size_t>(to.columns));
    for (int t = 0; t < m_tiles; ++t) {
        const float* tile =
            from.values.data() + static_cast<std::ptrdiff_t>(t) * from.rows * from.columns;
        for (int y = 0; y < to.rows; ++y) {
            const float* upper = tile + static_cast<std::ptrdiff_t>(2 * y) * from.columns;
            const float* lower = 2 * y + 1 < from.rows ? upper + from.columns : upper;
            for (int x = 0; x < to.columns; ++x) {
                const int right = std::min(2 * x + 1, from.columns - 1);
                to.values.push_back(stronger(stronger(upper[2 * x], upper[right]),
                                             stronger(lower[2 * x], lower[right])));
            }
        }
    }
    m_levels.push_back(std::move(to));
}

double TensorTiles::value(int tile, int row, int column, int level) const {
    const Level& l = m_levels[static_cast<std::size_t>(level)];
    const std::size_t i = (static_cast<std::size_t>(tile) * static_cast<std::size_t>(l.rows) +
                           static_cast<std::size_t>(row)) *
                              static_cast<std::size_t>(l.columns) +
                          static_cast<std::size_t>(column);
    return level == 0 ? m_exact[i] : static_cast<double>(l.values[i]);
}

int TensorTiles::levelFor(double pixels) const {
    int level = 0;
    while (pixels < 0.75 && level + 1 < levels()) {
        pixels *= 2;
        ++level;
    }
    return level;
}

const QImage& TensorTiles::image(int tile, int level) const {
    const Level& l = m_levels[static_cast<std::size_t>(level)];
    if (l.images.empty()) l.images.resize(static_cast<std::size_t>(m_tiles));
    QImage& image = l.images[static_cast<std::size_t>(tile)];
    if (!image.isNull()) return image;
    image = QImage(l.columns, l.rows, QImage::Format_RGB32);
    const float* from = l.values.data() + static_cast<std::ptrdiff_t>(tile) * l.rows * l.columns;
    for (int y = 0; y < l.rows; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < l.columns; ++x)
            line[x] = m_colours.colour(
                static_cast<double>(from[static_cast<std::ptrdiff_t>(y) * l.columns + x]));
    }
    return image;
}

void TensorTiles::dropImages() {
    for (Level& level : m_levels) level.images.clear();
}

}  // namespace tapescope::viewers
