// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/functional.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <string>
#include <string_view>

namespace tapescope::engine::functional {
namespace {

/// The input as the function gets it: a leaf of its own, or (create_graph) linked to what it is.
Tensor prepared(const Tensor& input, bool createGraph) {
    if (!isFloating(input.dtype())) {
        throw AutogradError("a derivative with respect to a tensor of " +
                            std::string(dtypeName(input.dtype())) +
                            " was asked for; only floating-point tensors have one");
    }
    if (createGraph && input.requires_grad()) return view(input, input.sizes());
    return input.detach().set_requires_grad(true);
}

void checkSame(std::string_view name, const Tensor& v, const Tensor& like, std::string_view what) {
    if (v.sizes() == like.sizes()) return;
    throw ShapeError(std::string(name) + ": v " + toString(v.sizes()) +
                     " must have the shape of the " + std::string(what) + ", " +
                     toString(like.sizes()));
}

void checkScalar(std::string_view name, const Tensor& out) {
    if (out.numel() == 1) return;
    throw ShapeError(std::string(name) + ": the function returned a tensor of shape " +
                     toString(out.sizes()) + "; it must return one element");
}

/// Gradients of out (weighted by v) with respect to inputs; zeros where there is none.
std::vector<Tensor> gradients(std::string_view name, const Tensor& out,
                              std::span<const Tensor> inputs, const Tensor& v, bool createGraph,
                              bool strict) {
    std::vector<Tensor> found(inputs.size());
    if (out.requires_grad())
        found = grad(std::span(&out, 1), inputs, std::span(&v, 1), true, createGraph, true);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (found[i].defined()) continue;
        if (strict) {
            throw AutogradError(std::string(name) + ": the output does not depend on input " +
                                std::to_string(i) + "; leave out strict to get zeros for it");
        }
        found[i] = zeros_like(inputs[i]);
    }
    return found;
}

Dims joined(const Dims& a, const Dims& b) {
    Dims both = a;
    for (const std::int64_t size : b) both.push_back(size);
    return both;
}

/// Rows of the Jacobian of one output: [input], each out.sizes + input.sizes.
std::vector<Tensor> jacobianOf(std::string_view name, const Tensor& out,
                               std::span<const Tensor> inputs, Options options) {
    std::vector<std::vector<Tensor>> rows(inputs.size());
    for (std::int64_t i = 0; i < out.numel(); ++i) {
        Tensor unit = zeros({out.numel()}, {.dtype = out.dtype()});
        {
            const NoGradGuard guard;
            fill_(narrow(unit, 0, i, 1), 1);
        }
        unit = reshape(unit, out.sizes());
        std::vector<Tensor> row =
            gradients(name, out, inputs, unit, options.create_graph, options.strict);
        for (std::size_t k = 0; k < inputs.size(); ++k) rows[k].push_back(std::move(row[k]));
    }
    std::vector<Tensor> whole;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        const Dims sizes = joined(out.sizes(), inputs[k].sizes());
        whole.push_back(rows[k].empty() ? zeros(sizes, {.dtype = inputs[k].dtype()})
                                        : reshape(stack(rows[k]), sizes));
    }
    return whole;
}

std::vector<Tensor> prepareAll(std::span<const Tensor> inputs, bool createGraph) {
    std::vector<Tensor> own;
    for (const Tensor& input : inputs) own.push_back(prepared(input, createGraph));
    return own;
}

Tensor finish(const Tensor& t, const Options& options) {
    return options.create_graph ? t : t.detach();
}

}  // namespace

std::vector<std::vector<Tensor>> jacobian(const FnOfMany& fn, std::span<const Tensor> inputs,
                                          Options options, Site) {
    const EnableGradGuard guard;
    const std::vector<Tensor> own = prepareAll(inputs, options.create_graph);
    std::vector<std::vector<Tensor>> all;
    for (const Tensor& out : fn(own)) {
        all.push_back(jacobianOf("jacobian", out, own, options));
        for (Tensor& t : all.back()) t = finish(t, options);
    }
    return all;
}

Tensor jacobian(const Fn& fn, const Tensor& input, Options options, Site site) {
    return jacobian(
        [&fn](std::span<const Tensor> inputs) { return std::vector<Tensor>{fn(inputs[0])}; },
        std::span(&input, 1), options, site)[0][0];
}

std::vector<std::vector<Tensor>> hessian(const std::function<Tensor(std::span<const Tensor>)>& fn,
                                         std::span<const Tensor> inputs, Options options, Site) {
    const EnableGradGuard guard;
    const std::vector<Tensor> own = prepareAll(inputs, options.create_graph);
    const Tensor out = fn(own);
    checkScalar("hessian", out);
    const std::vector<Tensor> first = gradients(
        "hessian", out, own, ones(out.sizes(), {.dtype = out.dtype()}), true, options.strict);
    std::vector<std::vector<Tensor>> all;
    for (const Tensor& g : first) {
        all.push_back(jacobianOf("hessian", g, own, options));
        for (Tensor& t : all.back()) t = finish(t, options);
    }
    return all;
}

Tensor hessian(const Fn& fn, const Tensor& input, Options options, Site site) {
    return hessian([&fn](std::span<const Tensor> inputs) { return fn(inputs[0]); },
                   std::span(&input, 1), options, site)[0][0];
}

std::pair<Tensor, Tensor> vjp(const Fn& fn, const Tensor& input, const Tensor& v, Options options,
                              Site) {
    const EnableGradGuard guard;
    const Tensor x = prepared(input, options.create_graph);
    const Tensor out = fn(x);
    if (!v.defined()) checkScalar("vjp without v", out);
    const Tensor weight = v.defined() ? v : ones(out.sizes(), {.dtype = out.dtype()});
    checkSame("vjp", weight, out, "output");
    const Tensor g =
        gradients("vjp", out, std::span(&x, 1), weight, options.create_graph, options.strict)[0];
    return {finish(out, options), finish(g, options)};
}

std::pair<Tensor, Tensor> jvp(const Fn& fn, const Tensor& input, const Tensor& v, Options options,
                              Site) {
    const EnableGradGuard guard;
    const Tensor x = prepared(input, options.create_graph);
    checkSame("jvp", v, x, "input");
    const Tensor out = fn(x);
    // u -> u^T J is linear: its own vjp with v is J v.
    const Tensor u = zeros(out.sizes(), {.dtype = out.dtype(), .requires_grad = true});
    const Tensor g = gradients("jvp", out, std::span(&x, 1), u, true, options.strict)[0];
    const Tensor result = gradients("jvp", g, std::span(&u, 1), v, options.create_graph, false)[0];
    return {finish(out, options), finish(result, options)};
}

std::pair<Tensor, Tensor> vhp(const Fn& fn, const Tensor& input, const Tensor& v, Options options,
                              Site) {
    const EnableGradGuard guard;
    const Tensor x = prepared(input, options.create_graph);
    checkSame("vhp", v, x, "input");
    const Tensor out = fn(x);
    checkScalar("vhp", out);
    const Tensor first =
        gradients("vhp", out, std::span(&x, 1), ones(out.sizes(), {.dtype = out.dtype()}), true,
                  options.strict)[0];
    const Tensor g =
        gradients("vhp", first, std::span(&x, 1), v, options.create_graph, options.strict)[0];
    return {finish(out, options), finish(g, options)};
}

std::pair<Tensor, Tensor> hvp(const Fn& fn, const Tensor& input, const Tensor& v, Options options,
                              Site) {
    const EnableGradGuard guard;
    const Tensor x = prepared(input, options.create_graph);
    checkSame("hvp", v, x, "input");
    const Tensor out = fn(x);
    checkScalar("hvp", out);
    const Tensor first =
        gradients("hvp", out, std::span(&x, 1), ones(out.sizes(), {.dtype = out.dtype()}), true,
                  options.strict)[0];
    const Tensor u = zeros(x.sizes(), {.dtype = x.dtype(), .requires_grad = true});
    const Tensor second = gradients("hvp", first, std::span(&x, 1), u, true, options.strict)[0];
    const Tensor result =
        gradients("hvp", second, std::span(&u, 1), v, options.create_graph, false)[0];
    return {finish(out, options), finish(result, options)};
}

}  // namespace tapescope::engine::functional
