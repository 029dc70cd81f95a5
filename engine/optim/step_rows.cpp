// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/step_rows.h"

#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/shape.h"

#include <array>

namespace tapescope::engine {

void inferOptimStep(const OpDef& op, const OpArgs& args, OutputMetas& out) {
    const Tensor& param = args[0];
    checkFloating(op.name, "param", param);
    for (std::size_t i = 0; i < args.inputs.size(); ++i) {
        if (!args.has(static_cast<int>(i))) continue;
        const Tensor& t = *args.inputs[i];
        if (t.sizes() != param.sizes() || t.dtype() != param.dtype()) {
            throw ShapeError(message(op.name, ": ", op.args[i].name, " is ", t.meta().toString(),
                                     ", but param is ", param.meta().toString(),
                                     "; they must agree"));
        }
        if (!t.is_contiguous()) {
            throw ShapeError(message(op.name, ": ", op.args[i].name,
                                     " is not contiguous; pass contiguous(", op.args[i].name, ")"));
        }
    }
    out.add(param.sizes(), param.dtype());
}

void noteStateWrites(const OpArgs& args) {
    const OpCall* call = threadState().op;
    for (int i = 2; i < static_cast<int>(args.inputs.size()); ++i) {
        if (!args.has(i)) continue;
        args[i].storage()->noteWrite(call ? call->op : nullptr, call ? call->site : Site::none());
    }
}

Cost optimStepCost(const OpArgs& args, double flopsPerElement) {
    const auto bytes = static_cast<std::int64_t>(args[0].nbytes());
    std::int64_t state = 0;
    for (int i = 2; i < static_cast<int>(args.inputs.size()); ++i) state += args.has(i) ? bytes : 0;
    return {.flops = static_cast<double>(args[0].numel()) * flopsPerElement,
            .bytesRead = 2 * bytes + state,
            .bytesWritten = bytes + state};
}

Tensor callStep(const OpDef& op, const Tensor& param, const Tensor& grad,
                std::initializer_list<const Tensor*> state, const Attrs& attrs, Site site) {
    const Tensor dense = contiguous(grad, site);
    std::array<const Tensor*, 6> inputs{&param, &dense};
    std::size_t count = 2;
    for (const Tensor* t : state) inputs.at(count++) = t;
    return std::move(call(op, std::span(inputs).first(count), attrs, site)[0]);
}

}  // namespace tapescope::engine
