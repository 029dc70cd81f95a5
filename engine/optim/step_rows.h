// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/parallel.h"
#include "engine/ops/op_def.h"
#include "engine/tensor/tensor.h"

#include <initializer_list>
#include <span>
#include <string_view>

namespace tapescope::engine {

// What the rows of the optimiser steps share: input 0 is the parameter, 1 the gradient, the rest
// state, which is written too.

// steps_adaptive.cpp
extern OpDef kRmspropStepOp, kAdagradStepOp, kAdadeltaStepOp, kAdamaxStepOp, kRpropStepOp;
// steps_momentum.cpp
extern OpDef kNadamStepOp, kRadamStepOp, kLionStepOp, kAsgdStepOp;

/// Every tensor is floating, contiguous, and of the parameter's sizes and dtype.
void inferOptimStep(const OpDef& op, const OpArgs& args, OutputMetas& out);
template <const OpDef& row>
void inferStep(const OpArgs& args, OutputMetas& out) {
    inferOptimStep(row, args, out);
}

/// The dispatcher notes the write to input 0 only: this does it for the state.
void noteStateWrites(const OpArgs& args);
/// Loop::run<T>(args) for the parameter's dtype.
template <class Loop>
void stepKernel(const OpArgs& args, std::span<Tensor>) {
    visitFloating(args[0].dtype(), [&]<class T>() { Loop::template run<T>(args); });
    noteStateWrites(args);
}

/// param, grad and the state are read once, param and the state written once.
Cost optimStepCost(const OpArgs& args, double flopsPerElement);
template <int flops>
Cost stepCost(const OpArgs& args, std::span<const Tensor>) {
    return optimStepCost(args, flops);
}

/// The row of a step: row is the very row that is defined.
template <const OpDef& row, class Loop, int flops>
constexpr OpDef stepRow(std::string_view name, std::span<const ArgDef> args,
                        std::span<const AttrDef> attrs) {
    return {.name = name,
            .family = Family::Nn,
            .args = args,
            .attrs = attrs,
            .infer = inferStep<row>,
            .inplace = true,
            .cost = stepCost<flops>,
            .kernels = {stepKernel<Loop>}};
}

/// The gradient made dense and the call.
Tensor callStep(const OpDef& op, const Tensor& param, const Tensor& grad,
                std::initializer_list<const Tensor*> state, const Attrs& attrs, Site site);

}  // namespace tapescope::engine
