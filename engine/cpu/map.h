// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/strided.h"

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

namespace tapescope::engine::cpu {

/// out[i] = fn(inputs[i]...), the inputs broadcast to out; In and Out are the element types. In
/// parallel in pieces of grain elements; fn must not throw. out may be one of the inputs, but not
/// partly overlap one. For functions without a vector form; those are in isa/.
template <class Out, class... In, class Fn, class... Inputs>
void mapElements(std::int64_t grain, const Fn& fn, const Tensor& out, const Inputs&... inputs) {
    static_assert(sizeof...(In) == sizeof...(Inputs));
    constexpr std::size_t kOperands = sizeof...(In) + 1;
    const auto plan = planStrided<kOperands>(
        out.sizes(), {out.strides(), broadcastStrides(inputs, out.sizes())...});
    if (plan.numel == 0) return;
    Out* const y = out.template data<Out>();
    const std::tuple<const In*...> x{inputs.template data<In>()...};
    const auto row = [&]<std::size_t... K>(const std::array<std::int64_t, kOperands>& at,
                                           std::int64_t n, std::index_sequence<K...>) {
        Out* const to = y + at[0];
        const std::tuple<const In*...> from{(std::get<K>(x) + at[K + 1])...};
        if (plan.innerStride(0) == 1 && ((plan.innerStride(K + 1) == 1) && ...)) {
            for (std::int64_t i = 0; i < n; ++i) to[i] = fn(std::get<K>(from)[i]...);
            return;
        }
        const std::int64_t step = plan.innerStride(0);
        for (std::int64_t i = 0; i < n; ++i)
            to[i * step] = fn(std::get<K>(from)[i * plan.innerStride(K + 1)]...);
    };
    parallelRows(plan, grain, [&](const std::array<std::int64_t, kOperands>& at, std::int64_t n) {
        row(at, n, std::index_sequence_for<In...>{});
    });
}

}  // namespace tapescope::engine::cpu
