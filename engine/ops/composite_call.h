// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/observer.h"
#include "engine/ops/op_def.h"

#include <span>
#include <string_view>

namespace tapescope::engine {

struct ThreadState;

/// A call made of other operator calls, told to observers as one that holds them. Nothing at all
/// where nobody watches.
class CompositeCall final {
public:
    CompositeCall(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
                  Site site);
    ~CompositeCall();
    CompositeCall(const CompositeCall&) = delete;
    CompositeCall& operator=(const CompositeCall&) = delete;

    /// 0 where nobody watches.
    std::uint64_t id() const { return m_event.id; }
    void end(std::span<const Tensor> outputs);
    void fail(std::string_view message);

private:
    ThreadState& m_state;
    const OpCall* m_outer;
    OpCall m_event;
};

}  // namespace tapescope::engine
