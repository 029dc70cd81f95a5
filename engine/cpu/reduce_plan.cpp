// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/reduce_plan.h"

#include <algorithm>

namespace tapescope::engine::cpu {

ReducePlan::ReducePlan(const Tensor& x, const std::array<bool, kMaxRank>& mask) {
    std::array<int, kMaxRank> order{};
    int count = 0;
    for (int d = 0; d < x.dim(); ++d) {
        if (mask[static_cast<unsigned>(d)]) {
            order[static_cast<unsigned>(count++)] = d;
        } else {
            kept.push(x.sizes()[d], x.strides()[d]);
        }
    }
    std::stable_sort(order.begin(), order.begin() + count,
                     [&](int a, int b) { return x.strides()[a] > x.strides()[b]; });
    for (int i = 0; i < count; ++i) {
        const int d = order[static_cast<unsigned>(i)];
        reduced.push(x.sizes()[d], x.strides()[d]);
    }
}

}  // namespace tapescope::engine::cpu
