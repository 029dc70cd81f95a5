// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"
#include "viewers/models/min_max_tree.h"
#include "viewers/models/tape_snapshot.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tapescope::viewers {

enum class XAxis : std::uint8_t {
    Step,
    Relative,  ///< seconds since the series' first point
    Wall       ///< Unix seconds
};

/// A stretch of a series in which steps and wall times never fall. Columns of equal length, at most
/// kCapacity.
struct ScalarBlock {
    static constexpr std::size_t kCapacity = 4096;
    std::size_t firstSeq = 0;
    std::vector<double> step;
    std::vector<double> wall;
    std::vector<double> value;
    std::vector<std::uint32_t> nonFinite;  ///< indices of NaN and Inf
    MinMaxTree tree;                       ///< of value
    bool restarts =
        false;  ///< steps or times fell before this block: no line from the block before

    std::size_t size() const { return value.size(); }
};
using ScalarBlockPtr = std::shared_ptr<const ScalarBlock>;

/// All points of one tag, never sampled. Immutable: appending makes a new series that shares all
/// full blocks.
class ScalarSeries final {
public:
    /// `before` may be null.
    static ScalarSeriesPtr append(const ScalarSeries* before,
                                  std::span<const storage::ScalarPoint> points);

    std::size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    const std::vector<ScalarBlockPtr>& blocks() const { return m_blocks; }
    storage::ScalarPoint point(std::size_t seq) const;
    storage::ScalarPoint last() const { return point(m_size - 1); }
    double firstWall() const { return m_blocks.front()->wall.front(); }
    std::size_t nonFiniteCount() const { return m_nonFinite; }

    double x(const ScalarBlock& block, std::size_t i, XAxis axis) const {
        switch (axis) {
            case XAxis::Step:
                return block.step[i];
            case XAxis::Relative:
                return block.wall[i] - firstWall();
            case XAxis::Wall:
                break;
        }
        return block.wall[i];
    }
    struct Extent {
        double low = 0;
        double high = 0;
    };
    /// None for an empty series.
    std::optional<Extent> xExtent(XAxis axis) const;
    /// Over the finite values with x in [low, high]; none if there is none. O(blocks + 16 log n).
    std::optional<Extent> valueExtent(XAxis axis, double low, double high) const;
    /// Sequence number of the point nearest to x; the newest one on equal distance. None for an
    /// empty series.
    std::optional<std::size_t> nearest(XAxis axis, double x) const;
    /// The block a point is in, and its index there.
    std::pair<const ScalarBlock*, std::size_t> locate(std::size_t seq) const;

private:
    std::vector<ScalarBlockPtr> m_blocks;
    std::size_t m_size = 0;
    std::size_t m_nonFinite = 0;
};

/// Exponential moving average of a series, debiased as TensorBoard's: s = s·w + y·(1−w), shown s /
/// (1 − wⁿ). Non-finite values are passed through and leave the average alone. Belongs to one view;
/// follows a growing series at the cost of the new points.
class SmoothedSeries final {
public:
    /// weight in [0, 1). Another weight or a series that is not a continuation starts over.
    void follow(const ScalarSeries& series, double weight);

    struct Block {
        std::vector<double> value;
        MinMaxTree tree;
    };
    const std::vector<Block>& blocks() const { return m_blocks; }  ///< as the series' blocks
    double at(const ScalarSeries& series, std::size_t seq) const;

private:
    std::vector<Block> m_blocks;
    std::vector<const ScalarBlock*> m_seen;  ///< identity of the blocks, to notice another series
    double m_weight = -1;
    double m_sum = 0;
    double m_bias = 1;
    std::size_t m_size = 0;
};

}  // namespace tapescope::viewers
