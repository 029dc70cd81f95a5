// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <span>
#include <vector>

namespace tapescope::engine::amp {

/// For the dispatcher, which asks before every call.
inline constinit thread_local bool autocastOn = false;

/// The inputs of a call as autocast wants them.
class CastInputs final {
public:
    CastInputs(const OpDef& op, std::span<const Tensor* const> inputs, Site site);
    /// False: they are so already.
    bool any() const { return !m_owned.empty(); }
    std::span<const Tensor* const> span() const { return m_pointers; }

private:
    void cast(std::size_t i, DType dtype, Site site);

    std::span<const Tensor* const> m_given;
    std::vector<Tensor> m_owned;
    std::vector<const Tensor*> m_pointers;
};

}  // namespace tapescope::engine::amp
