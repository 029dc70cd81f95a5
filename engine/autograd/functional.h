// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

/// torch.autograd.functional. Inputs are taken as they are, cut off from any graph they have (with
/// create_graph: not). strict: an output that does not depend on an input is an AutogradError, else
/// its derivative is 0.
namespace tapescope::engine::functional {

using Fn = std::function<Tensor(const Tensor&)>;
using FnOfMany = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

struct Options {
    bool create_graph = false;
    bool strict = false;
};

/// d output / d input, of shape output.sizes + input.sizes. One backward pass an output element.
Tensor jacobian(const Fn& fn, const Tensor& input, Options options = {}, Site site = {});
/// [output][input]
std::vector<std::vector<Tensor>> jacobian(const FnOfMany& fn, std::span<const Tensor> inputs,
                                          Options options = {}, Site site = {});
/// Second derivatives of a function with one output element: input.sizes + input.sizes.
Tensor hessian(const Fn& fn, const Tensor& input, Options options = {}, Site site = {});
/// [input][input]
std::vector<std::vector<Tensor>> hessian(const std::function<Tensor(std::span<const Tensor>)>& fn,
                                         std::span<const Tensor> inputs, Options options = {},
                                         Site site = {});

/// {fn(input), v^T J}. v looks like the output; undefined for one element: 1.
std::pair<Tensor, Tensor> vjp(const Fn& fn, const Tensor& input, const Tensor& v = {},
                              Options options = {}, Site site = {});
/// {fn(input), J v}, by differentiating vjp. v looks like the input.
std::pair<Tensor, Tensor> jvp(const Fn& fn, const Tensor& input, const Tensor& v,
                              Options options = {}, Site site = {});
/// {fn(input), v^T H} and {fn(input), H v} of a function with one output element.
std::pair<Tensor, Tensor> vhp(const Fn& fn, const Tensor& input, const Tensor& v,
                              Options options = {}, Site site = {});
std::pair<Tensor, Tensor> hvp(const Fn& fn, const Tensor& input, const Tensor& v,
                              Options options = {}, Site site = {});

}  // namespace tapescope::engine::functional
