// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/composite_call.h"

#include "engine/observe/context.h"

namespace tapescope::engine {

CompositeCall::CompositeCall(const OpDef& op, std::span<const Tensor* const> inputs,
                             const Attrs& attrs, Site site)
    : m_state(threadState()), m_outer(m_state.op) {
    Context& context = *m_state.context;
    if (!context.watched()) return;
    const bool gradient = inGradient(m_state);
    m_event.op = &op;
    m_event.id = context.nextOpId();
    m_event.parentId = gradient ? m_state.backward->forwardId : m_outer ? m_outer->id : 0;
    m_event.inputs = inputs;
    m_event.attrs = &attrs;
    m_event.site = gradient ? m_state.backward->site : site;
    m_event.module = gradient ? m_state.backward->module : m_state.module;
    m_event.backward = m_state.backward;
    m_event.phase = m_state.phase;
    m_event.step = context.step();
    m_event.thread = m_state.thread;
    for (Observer* o : context.observers()) o->onOpBegin(m_event);
    m_event.startNs = nowNs();
    m_state.op = &m_event;
}

CompositeCall::~CompositeCall() { m_state.op = m_outer; }

void CompositeCall::end(std::span<const Tensor> outputs) {
    if (m_event.id == 0) return;
    m_event.endNs = nowNs();
    m_event.outputs = outputs;
    m_state.op = m_outer;
    for (Observer* o : m_state.context->observers()) o->onOpEnd(m_event);
}

void CompositeCall::fail(std::string_view message) {
    if (m_event.id == 0) return;
    m_state.op = m_outer;
    for (Observer* o : m_state.context->observers()) o->onOpError(m_event, message);
}

}  // namespace tapescope::engine
