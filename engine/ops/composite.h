// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <optional>

namespace tapescope::engine {

/// What a composite row with one result does; site is the caller's, for the operators it calls.
using ComposeFn = Tensor (*)(const OpArgs&, Site);

template <ComposeFn fn>
void composeOne(const OpArgs& args, Site site, Outputs& out) {
    out[0] = fn(args, site);
    out.count = 1;
}

constexpr OpDef compositeRow(std::string_view name, Family family, std::span<const ArgDef> args,
                             std::span<const AttrDef> attrs, CompositeFn fn,
                             TypeRule types = TypeRule::AsIs, bool grad = true) {
    return {.name = name,
            .family = family,
            .args = args,
            .attrs = attrs,
            .types = types,
            .composite = fn,
            .compositeGrad = grad};
}

/// An attribute that may be absent (default "none").
inline std::optional<std::int64_t> optionalInt(const Attrs& attrs, int i) {
    if (!attrs.has(i)) return {};
    return attrs.integer(i);
}
inline AttrValue attrOf(std::optional<std::int64_t> value) {
    if (value) return *value;
    return std::monostate{};
}

}  // namespace tapescope::engine
