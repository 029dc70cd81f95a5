// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"
#include "engine/tensor/ref.h"

#include <span>

namespace tapescope::engine {

class Node;

/// One view operator on the way from a base to a view. Shared by the views behind it; knows no
/// tensor, so that a graph may keep it.
class ViewStep final : public RefCounted {
public:
    static Ref<ViewStep> create(Ref<ViewStep> before, const OpDef& op, const Attrs& attrs);
    static void destroy(ViewStep* step) noexcept;

    const OpDef& op() const { return m_op; }
    Attrs attrs() const { return Attrs(std::span<const AttrValue>(m_attrs)); }
    const ViewStep* before() const { return m_before.get(); }

private:
    ViewStep(Ref<ViewStep> before, const OpDef& op) : m_before(std::move(before)), m_op(op) {}
    ~ViewStep() = default;

    Ref<ViewStep> m_before;
    const OpDef& m_op;
    std::span<AttrValue> m_attrs;  // behind the step in its block
};

/// What a tracked view knows of its base (never a view itself).
struct ViewInfo {
    Tensor base;
    Ref<ViewStep> steps;
    /// The base's gradient function that the view's own history goes back to. The history keeps it
    /// alive, so that the address says whether the base got another one.
    const Node* baseFn = nullptr;
    /// One of several that a call returned together (split, unbind), or a view of one.
    bool oneOfMany = false;
};

/// The row's view of input, marked so that writes through it reach the base's graph.
void noteView(const OpDef& op, const OpArgs& args, const Tensor& view);
/// The views are what one call returned together: writes through them are not recorded.
void noteOneOfMany(std::span<const Tensor> views);
/// The same view of another tensor that looks like the base; recorded where grad mode is on.
Tensor replayView(const Tensor& base, const ViewStep& last, Site site);
/// Gives a stale view the history it has through its base. Nobody hears of it: no data moves.
void refreshViewHistory(TensorImpl& view);
/// Throws AutogradError where PyTorch refuses to write through this view while grad mode is on.
/// grad: the write is to be recorded.
void checkViewWrite(const OpDef& op, const Tensor& view, bool grad);
/// After an in-place operator with this node wrote a tracked view: the base goes back through it.
void rebaseHistory(const Tensor& view, Ref<Node> node);

}  // namespace tapescope::engine
