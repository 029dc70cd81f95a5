// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/errors.h"
#include "engine/ops/op_def.h"

#include <initializer_list>

namespace tapescope::engine {

/// The one road every operator call takes: check and promote → shape rule → observers → kernel →
/// autograd node → observers. Throws what the shape rule throws, with operator, module path and
/// site added.
Outputs call(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs, Site site);

inline Outputs call(const OpDef& op, std::initializer_list<const Tensor*> inputs,
                    const Attrs& attrs, Site site) {
    return call(op, std::span(inputs.begin(), inputs.size()), attrs, site);
}
inline Tensor call1(const OpDef& op, std::initializer_list<const Tensor*> inputs,
                    const Attrs& attrs, Site site) {
    return std::move(call(op, inputs, attrs, site)[0]);
}

/// By name, as importers, bindings and tests call; attributes with defaults may be left out. Throws
/// Error with the nearest names.
Outputs call(std::string_view name, std::span<const Tensor* const> inputs, const Attrs& attrs,
             Site site = {});

/// The arguments of a call by name: given, and the row's defaults for the rest. Throws Error where
/// one is missing, too many or of another kind.
Attrs completeAttrs(const OpDef& op, const Attrs& given);

/// Rethrows the exception being handled with module path and site added, unless it has them: for
/// functions that check something before they call operators.
[[noreturn]] void rethrowPlaced(Site site);

/// Stands for an absent optional input.
const Tensor& undefinedTensor();

}  // namespace tapescope::engine
