// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tapescope::viewers {

/// Where the extremes of each group of values are: level 0 over 16 values, each higher level over 4
/// nodes, up to one node. Non-finite values never are extremes. Growing redoes only the last nodes.
class MinMaxTree final {
public:
    static constexpr std::size_t kLeaf = 16;
    static constexpr std::size_t kFan = 4;
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Node {
        std::uint32_t min = kNone;  ///< index of the smallest finite value; kNone: there is none
        std::uint32_t max = kNone;
    };

    /// `values` holds what was there at the last call, possibly followed by more.
    void update(std::span<const double> values);

    std::size_t levels() const { return m_levels.size(); }
    const std::vector<Node>& level(std::size_t i) const { return m_levels[i]; }
    /// Values under one node of a level.
    static constexpr std::size_t width(std::size_t level) { return kLeaf << (2 * level); }
    Node top() const { return m_levels.empty() ? Node{} : m_levels.back().front(); }

private:
    std::vector<std::vector<Node>> m_levels;
    std::size_t m_size = 0;
};

}  // namespace tapescope::viewers
