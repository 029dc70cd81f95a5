// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/view_info.h"

#include "engine/autograd/autograd_meta.h"
#include "engine/autograd/copy_slices.h"
#include "engine/errors.h"
#include "engine/memory/small_pool.h"
#include "engine/observe/context.h"
#include "engine/ops/dispatch.h"

#include <algorithm>
#include <new>
#include <vector>

namespace tapescope::engine {
namespace {

std::size_t blockBytes(std::size_t attrs) { return sizeof(ViewStep) + attrs * sizeof(AttrValue); }

/// From the base to the view.
std::vector<const ViewStep*> inOrder(const ViewStep& last) {
    std::vector<const ViewStep*> steps;
    for (const ViewStep* step = &last; step; step = step->before()) steps.push_back(step);
    std::reverse(steps.begin(), steps.end());
    return steps;
}

}  // namespace

Ref<ViewStep> ViewStep::create(Ref<ViewStep> before, const OpDef& op, const Attrs& attrs) {
    static_assert(sizeof(ViewStep) % alignof(AttrValue) == 0);
    const std::span<const AttrValue> values = attrs.values();
    char* block = static_cast<char*>(smallAllocate(blockBytes(values.size())));
    auto* step = new (block) ViewStep(std::move(before), op);
    auto* first = reinterpret_cast<AttrValue*>(block + sizeof(ViewStep));
    for (std::size_t i = 0; i < values.size(); ++i) new (first + i) AttrValue(values[i]);
    step->m_attrs = {first, values.size()};
    return Ref<ViewStep>::adopt(step);
}

void ViewStep::destroy(ViewStep* step) noexcept {
    // A loop: views of views of views may be as many as memory holds.
    while (step) {
        ViewStep* before = step->m_before.detach();
        const std::size_t bytes = blockBytes(step->m_attrs.size());
        step->~ViewStep();
        smallFree(step, bytes);
        step = before && before->release() ? before : nullptr;
    }
}

bool TensorImpl::viewIsStale() const noexcept {
    const AutogradMeta* meta = view->base.impl()->autograd;
    const Node* fn = meta ? meta->gradFn.get() : nullptr;
    return fn && fn != view->baseFn;  // a base that was cut off its graph leaves its views theirs
}

void noteView(const OpDef& op, const OpArgs& args, const Tensor& view) {
    TensorImpl& impl = *view.impl();
    const Tensor& from = args[0];
    if (impl.inference || from.impl()->inference) return;
    const ThreadState& state = threadState();
    const ViewKind inherited = from.impl()->viewKind;
    if (state.inference) {
        impl.viewKind = ViewKind::Inference;
    } else if (inherited == ViewKind::NoGrad || inherited == ViewKind::Inference) {
        impl.viewKind = inherited;
    } else if (!state.gradEnabled) {
        impl.viewKind = ViewKind::NoGrad;
    } else {
        impl.viewKind = ViewKind::Tracked;
        const ViewInfo* parent = from.impl()->view;
        const Tensor& base = parent ? parent->base : from;
        const AutogradMeta* meta = base.impl()->autograd;
        impl.view = new (smallAllocate(sizeof(ViewInfo)))
            ViewInfo{base, ViewStep::create(parent ? parent->steps : nullptr, op, args.attrs),
                     meta ? meta->gradFn.get() : nullptr, parent && parent->oneOfMany};
    }
}

void noteOneOfMany(std::span<const Tensor> views) {
    for (const Tensor& view : views)
        if (view.impl()->view) view.impl()->view->oneOfMany = true;
}

Tensor replayView(const Tensor& base, const ViewStep& last, Site site) {
    Tensor view = base;
    for (const ViewStep* step : inOrder(last)) {
        const Attrs attrs = step->attrs();
        view = call1(step->op(), {&view}, attrs, site);
    }
    return view;
}

void refreshViewHistory(TensorImpl& view) {
    ViewInfo& info = *view.view;
    Tensor t = info.base;
    for (const ViewStep* step : inOrder(*info.steps)) {
        const Attrs attrs = step->attrs();
        const Tensor* input = &t;
        const OpArgs args{{&input, 1}, attrs};
        Outputs out;
        out.count = 1;
        out[0] = step->op().view(args);
        recordNode(step->op(), args, out, {}, t.grad_fn()->forwardId(), t.grad_fn()->site());
        t = out[0];
    }
    const AutogradMeta& made = *t.impl()->autograd;
    AutogradMeta& meta = view.ensureAutograd();
    meta.replaceHistory(view, made.gradFn, made.outputNr);
    view.requiresGrad = true;
    info.baseFn = info.base.impl()->autograd->gradFn.get();
}

void checkViewWrite(const OpDef& op, const Tensor& view, bool grad) {
    const TensorImpl& impl = *view.impl();
    if (impl.viewKind == ViewKind::Tracked) {
        const Tensor& base = impl.view->base;
        if (base.requires_grad() && base.is_leaf()) {
            throw AutogradError(std::string(op.name) +
                                ": a view of a leaf tensor that requires a gradient is written in "
                                "place; do it under NoGradGuard, or on a copy");
        }
        if (grad && impl.view->oneOfMany) {
            throw AutogradError(std::string(op.name) +
                                ": a view that split, chunk or unbind returned together with "
                                "others is written in place while gradients are recorded; use "
                                "the out-of-place operator, or a view of narrow or select");
        }
    } else if (grad) {
        const bool inference = impl.viewKind == ViewKind::Inference;
        throw AutogradError(
            std::string(op.name) + ": a view made " +
            (inference ? "in inference mode" : "under NoGradGuard") +
            " is written in place while gradients are recorded, and whether the base is to take "
            "part is unclear; make the view and write it both inside or both outside");
    }
}

void rebaseHistory(const Tensor& view, Ref<Node> node) {
    TensorImpl& base = *view.impl()->view->base.impl();
    Edge to = gradientEdge(view.impl()->view->base);
    Ref<Node> slices = CopySlices::create(std::move(node), std::move(to), view.impl()->view->steps);
    base.ensureAutograd().replaceHistory(base, std::move(slices), 0);
    base.requiresGrad = true;
    refreshViewHistory(*view.impl());
}

}  // namespace tapescope::engine
