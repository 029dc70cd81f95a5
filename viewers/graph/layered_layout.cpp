// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tapescope::viewers {

namespace {

constexpr double kDummyWidth = 4;
constexpr double kDummyGap = 10;       // parallel edges stand closer than boxes
constexpr double kDummyWeight = 4;     // dummies pull harder: long edges become straight
constexpr double kLooseWeight = 0.05;  // nodes without neighbours on that side give way
constexpr int kPlacementSweeps = 6;

/// Neighbours of each item in one direction, in compressed rows.
struct Adjacency {
    std::vector<int> first;
    std::vector<int> items;

    Adjacency(int count, const std::vector<std::pair<int, int>>& segments, bool up)
        : first(count + 1, 0), items(segments.size()) {
        for (const auto& [a, b] : segments) ++first[(up ? b : a) + 1];
        for (int i = 0; i < count; ++i) first[i + 1] += first[i];
        std::vector<int> next = first;
        for (const auto& [a, b] : segments) items[next[up ? b : a]++] = up ? a : b;
    }
    int degree(int i) const { return first[i + 1] - first[i]; }
};

class Layout {
public:
    Layout(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges,
           const LayoutOptions& options)
        : m_nodes(nodes),
          m_edges(edges),
          m_options(options),
          m_real(static_cast<int>(nodes.size())) {}

    LayoutStats run() {
        LayoutStats stats;
        if (m_real == 0) return stats;
        stats.layers = m_layerCount = assignLayers(m_nodes, m_edges, m_options.maxSpan);
        makeSegments(stats);
        const int count = static_cast<int>(m_items.size());
        const Adjacency up(count, m_segments, true);
        const Adjacency down(count, m_segments, false);
        initialOrder(down);
        stats.crossings = orderLayers(up, down);
        placeX(up, down);
        writeResult();
        return stats;
    }

private:
    struct Item {  ///< a node, or a dummy where an edge crosses a layer
        double width = 0;
        double height = 0;
        double x = 0;  ///< centre
        int layer = 0;
        int pos = 0;
    };

    void makeSegments(LayoutStats& stats) {
        for (const LayoutNode& v : m_nodes) m_items.push_back({v.width, v.height, 0, v.layer, 0});
        m_chains.resize(m_edges.size());
        for (std::size_t i = 0; i < m_edges.size(); ++i) {
            LayoutEdge& e = m_edges[i];
            e.bends.clear();
            if (e.from == e.to) continue;
            if (e.tooLong) {
                ++stats.longEdges;
                continue;
            }
            const bool upward = m_nodes[e.from].layer > m_nodes[e.to].layer;
            int previous = upward ? e.to : e.from;
            const int end = upward ? e.from : e.to;
            for (int layer = m_items[previous].layer + 1; layer < m_items[end].layer; ++layer) {
                const int dummy = static_cast<int>(m_items.size());
                m_items.push_back({kDummyWidth, 1, 0, layer, 0});
                m_chains[i].push_back(dummy);
                m_segments.push_back({previous, dummy});
                previous = dummy;
            }
            if (m_items[previous].layer < m_items[end].layer) m_segments.push_back({previous, end});
        }
        stats.dummies = static_cast<int>(m_items.size()) - m_real;
    }

    /// Depth first from the top, so that connected things stay together; then as in the earlier
    /// layout, where there was one.
    void initialOrder(const Adjacency& down) {
        m_layers.resize(m_layerCount);
        const int count = static_cast<int>(m_items.size());
        std::vector<int> roots(count);
        std::iota(roots.begin(), roots.end(), 0);
        std::ranges::stable_sort(roots, {}, [&](int i) { return m_items[i].layer; });
        std::vector<char> seen(count, 0);
        std::vector<double> seed(count, std::numeric_limits<double>::quiet_NaN());
        for (int i = 0; i < m_real; ++i) seed[i] = m_nodes[i].seed;
        std::vector<int> stack;
        for (int root : roots) {
            if (seen[root]) continue;
            stack.push_back(root);
            while (!stack.empty()) {
                const int item = stack.back();
                stack.pop_back();
                if (seen[item]) continue;
                seen[item] = 1;
                m_layers[m_items[item].layer].push_back(item);
                for (int k = down.first[item + 1]; k-- > down.first[item];) {
                    const int to = down.items[k];
                    if (seen[to]) continue;
                    if (to >= m_real && std::isnan(seed[to])) seed[to] = seed[item];
                    stack.push_back(to);
                }
            }
        }
        for (std::vector<int>& layer : m_layers) {
            // New items keep their place behind the one before them.
            double last = std::numeric_limits<double>::lowest();
            for (int item : layer) {
                if (std::isnan(seed[item])) seed[item] = last;
                last = seed[item];
            }
            std::ranges::stable_sort(layer, {}, [&](int i) { return seed[i]; });
        }
        renumber();
    }

    void renumber() {
        for (const std::vector<int>& layer : m_layers) {
            for (int k = 0; k < static_cast<int>(layer.size()); ++k) m_items[layer[k]].pos = k;
        }
    }

    /// Inversions between neighbouring layers by a Fenwick tree: == counting every pair, in O(e log
    /// e).
    std::int64_t crossings(const Adjacency& down) {
        std::int64_t sum = 0;
        for (int l = 0; l + 1 < m_layerCount; ++l) {
            const int width = static_cast<int>(m_layers[l + 1].size());
            m_tree.assign(width + 1, 0);
            std::int64_t total = 0;
            for (int item : m_layers[l]) {
                m_positions.clear();
                for (int k = down.first[item]; k < down.first[item + 1]; ++k) {
                    m_positions.push_back(m_items[down.items[k]].pos);
                }
                std::ranges::sort(m_positions);
                for (int p : m_positions) {
                    std::int64_t notRight = 0;
                    for (int i = p + 1; i > 0; i -= i & -i) notRight += m_tree[i];
                    sum += total - notRight;
                }
                for (int p : m_positions) {
                    for (int i = p + 1; i <= width; i += i & -i) ++m_tree[i];
                    ++total;
                }
            }
        }
        return sum;
    }

    std::int64_t orderLayers(const Adjacency& up, const Adjacency& down) {
        std::int64_t best = crossings(down);
        std::vector<std::vector<int>> bestLayers = m_layers;
        std::vector<double> key(m_items.size());
        for (int sweep = 0; sweep < m_options.sweeps && best > 0; ++sweep) {
            const bool downward = sweep % 2 == 0;
            const Adjacency& from = downward ? up : down;
            for (int i = 1; i < m_layerCount; ++i) {
                std::vector<int>& layer = m_layers[downward ? i : m_layerCount - 1 - i];
                for (int item : layer) {
                    double sum = 0;
                    for (int k = from.first[item]; k < from.first[item + 1]; ++k) {
                        sum += m_items[from.items[k]].pos;
                    }
                    key[item] = from.degree(item) > 0 ? sum / from.degree(item) : m_items[item].pos;
                }
                std::ranges::stable_sort(layer, {}, [&](int item) { return key[item]; });
                for (int k = 0; k < static_cast<int>(layer.size()); ++k) m_items[layer[k]].pos = k;
            }
            const std::int64_t now = crossings(down);
            if (now < best) {
                best = now;
                bestLayers = m_layers;
            }
        }
        m_layers = std::move(bestLayers);
        renumber();
        return best;
    }

    double distance(int left, int right) const {
        const bool dummy = left >= m_real || right >= m_real;
        return (m_items[left].width + m_items[right].width) / 2 +
               (dummy ? kDummyGap : m_options.gapX);
    }

    /// Least squares to the mean of the neighbours in `a` (and `b`) under the minimum distance:
    /// pool adjacent violators.
    void placeLayer(const std::vector<int>& layer, const Adjacency& a, const Adjacency* b) {
        m_blocks.clear();
        double offset = 0;
        for (std::size_t i = 0; i < layer.size(); ++i) {
            const int item = layer[i];
            if (i > 0) offset += distance(layer[i - 1], item);
            double sum = 0;
            int count = 0;
            for (const Adjacency* side : {&a, b}) {
                if (side == nullptr) continue;
                for (int k = side->first[item]; k < side->first[item + 1]; ++k, ++count) {
                    sum += m_items[side->items[k]].x;
                }
            }
            const double want = count > 0 ? sum / count : m_items[item].x;
            const double weight = count == 0 ? kLooseWeight : item >= m_real ? kDummyWeight : 1;
            m_blocks.push_back({(want - offset) * weight, weight, 1});
            while (m_blocks.size() > 1 &&
                   m_blocks[m_blocks.size() - 2].mean() > m_blocks.back().mean()) {
                const Block merged = m_blocks.back();
                m_blocks.pop_back();
                m_blocks.back().sum += merged.sum;
                m_blocks.back().weight += merged.weight;
                m_blocks.back().count += merged.count;
            }
        }
        offset = 0;
        std::size_t i = 0;
        for (const Block& block : m_blocks) {
            for (int k = 0; k < block.count; ++k, ++i) {
                if (i > 0) offset += distance(layer[i - 1], layer[i]);
                m_items[layer[i]].x = block.mean() + offset;
            }
        }
    }

    void placeX(const Adjacency& up, const Adjacency& down) {
        for (const std::vector<int>& layer : m_layers) {
            double x = 0;
            for (std::size_t i = 0; i < layer.size(); ++i) {
                if (i > 0) x += distance(layer[i - 1], layer[i]);
                m_items[layer[i]].x = x;
            }
            for (int item : layer) m_items[item].x -= x / 2;
        }
        for (int sweep = 0; sweep < kPlacementSweeps; ++sweep) {
            const bool both = sweep >= 4;
            for (int i = 0; i < m_layerCount; ++i) {
                if (sweep % 2 == 0) {
                    placeLayer(m_layers[i], up, both ? &down : nullptr);
                } else {
                    placeLayer(m_layers[m_layerCount - 1 - i], down, both ? &up : nullptr);
                }
            }
        }
    }

    void writeResult() {
        std::vector<double> top(m_layerCount);
        std::vector<double> height(m_layerCount, 0);
        double y = 0;
        double left = std::numeric_limits<double>::max();
        std::vector<char> ports(m_layerCount, 0);  // they lie on a group's border: half a gap does
        for (const LayoutNode& v : m_nodes) {
            if (v.pin != LayerPin::Free) ports[v.layer] = 1;
        }
        for (int l = 0; l < m_layerCount; ++l) {
            for (int item : m_layers[l]) {
                height[l] = std::max(height[l], m_items[item].height);
                left = std::min(left, m_items[item].x - m_items[item].width / 2);
            }
            if (l > 0) y += ports[l] || ports[l - 1] ? m_options.gapY / 2 : m_options.gapY;
            top[l] = y;
            y += height[l];
        }
        for (int i = 0; i < m_real; ++i) {
            const int l = m_items[i].layer;
            m_nodes[i].x = m_items[i].x - m_items[i].width / 2 - left;
            m_nodes[i].y = top[l] + (height[l] - m_items[i].height) / 2;
            m_nodes[i].layerTop = top[l];
            m_nodes[i].layerBottom = top[l] + height[l];
        }
        for (std::size_t i = 0; i < m_edges.size(); ++i) {
            for (int dummy : m_chains[i]) {
                const int l = m_items[dummy].layer;
                m_edges[i].bends.push_back({m_items[dummy].x - left, top[l]});
                m_edges[i].bends.push_back({m_items[dummy].x - left, top[l] + height[l]});
            }
            if (m_nodes[m_edges[i].from].layer > m_nodes[m_edges[i].to].layer) {
                std::ranges::reverse(m_edges[i].bends);
            }
        }
    }

    struct Block {
        double sum;
        double weight;
        int count;
        double mean() const { return sum / weight; }
    };

    std::vector<LayoutNode>& m_nodes;
    std::vector<LayoutEdge>& m_edges;
    const LayoutOptions m_options;
    const int m_real;  ///< items below are nodes, the others dummies
    int m_layerCount = 0;
    std::vector<Item> m_items;
    std::vector<std::pair<int, int>> m_segments;  ///< between neighbouring layers, downward
    std::vector<std::vector<int>> m_chains;       ///< dummies of each edge, downward
    std::vector<std::vector<int>> m_layers;
    std::vector<int> m_tree;
    std::vector<int> m_positions;
    std::vector<Block> m_blocks;
};

}  // namespace

LayoutStats layoutLayered(std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges,
                          const LayoutOptions& options) {
    return Layout(nodes, edges, options).run();
}

}  // namespace tapescope::viewers
