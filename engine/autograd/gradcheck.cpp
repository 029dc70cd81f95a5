// SPDX-License-Identifier: Apache-2.0
#include "engine/autograd/gradcheck.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/shape.h"

#include <cmath>
#include <cstdio>
#include <string>

namespace tapescope::engine {
namespace {

using Fn = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// Copies that nothing else sees: the numeric side writes to them.
std::vector<Tensor> ownInputs(std::span<const Tensor> inputs) {
    std::vector<Tensor> own;
    bool any = false;
    for (const Tensor& input : inputs) {
        if (!input.defined()) {
            own.emplace_back();
            continue;
        }
        if (input.requires_grad() && input.dtype() != DType::F64) {
            throw DTypeError("gradcheck: an input is " + std::string(dtypeName(input.dtype())) +
                             ", too coarse for finite differences; convert it with to(x, "
                             "DType::F64)");
        }
        any = any || input.requires_grad();
        const bool needs = input.requires_grad();
        const NoGradGuard guard;
        own.push_back(clone(contiguous(input)).set_requires_grad(needs));
    }
    if (!any) {
        throw AutogradError(
            "gradcheck: none of the inputs requires a gradient; set_requires_grad(true) on those "
            "to "
            "check");
    }
    return own;
}

/// d outputs[j][out] / d input[in] for all out, by central differences; [j][out].
std::vector<std::vector<double>> numeric(const Fn& fn, std::span<const Tensor> inputs, double* at,
                                         double eps) {
    const double value = *at;
    *at = value + eps;
    const std::vector<Tensor> above = fn(inputs);
    std::vector<std::vector<double>> slopes;
    for (const Tensor& t : above) slopes.push_back(t.to_vector());
    *at = value - eps;
    const std::vector<Tensor> below = fn(inputs);
    *at = value;
    for (std::size_t j = 0; j < slopes.size(); ++j) {
        const std::vector<double> low = below[j].to_vector();
        for (std::size_t o = 0; o < low.size(); ++o)
            slopes[j][o] = (slopes[j][o] - low[o]) / (2 * eps);
    }
    return slopes;
}

/// The gradient of one output element with respect to one input; zeros where it has none.
std::vector<double> analytic(const Tensor& out, std::int64_t element, const Tensor& input) {
    if (!out.requires_grad()) return std::vector<double>(static_cast<std::size_t>(input.numel()));
    Tensor unit = zeros({out.numel()}, {.dtype = out.dtype()});
    unit.data<double>()[element] = 1;
    unit = reshape(unit, out.sizes());
    const Tensor g =
        grad(std::span(&out, 1), std::span(&input, 1), std::span(&unit, 1), true, false, true)[0];
    return g.defined() ? g.to_vector()
                       : std::vector<double>(static_cast<std::size_t>(input.numel()));
}

void check(const Fn& fn, std::span<const Tensor> inputs, const GradcheckOptions& options) {
    const std::vector<Tensor> own = ownInputs(inputs);
    const EnableGradGuard guard;
    const std::vector<Tensor> outputs = fn(own);
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (!own[i].defined() || !own[i].requires_grad()) continue;
        std::vector<std::vector<std::vector<double>>> expected;  // [in][output][out]
        for (std::int64_t e = 0; e < own[i].numel(); ++e)
            expected.push_back(numeric(fn, own, own[i].data<double>() + e, options.eps));
        for (std::size_t j = 0; j < outputs.size(); ++j) {
            if (outputs[j].dtype() != DType::F64) continue;
            for (std::int64_t o = 0; o < outputs[j].numel(); ++o) {
                const std::vector<double> got = analytic(outputs[j], o, own[i]);
                for (std::size_t e = 0; e < got.size(); ++e) {
                    const double due = expected[e][j][static_cast<std::size_t>(o)];
                    if (std::abs(got[e] - due) <= options.atol + options.rtol * std::abs(due))
                        continue;
                    throw AutogradError("gradcheck: output " + std::to_string(j) + " [" +
                                        std::to_string(o) + "] with respect to input " +
                                        std::to_string(i) + " [" + std::to_string(e) +
                                        "]: backward says " + number(got[e]) +
                                        ", finite differences " + number(due));
                }
            }
        }
    }
}

bool answer(const Fn& fn, std::span<const Tensor> inputs, const GradcheckOptions& options) {
    try {
        check(fn, inputs, options);
        return true;
    } catch (const AutogradError&) {
        if (options.raise_exception) throw;
        return false;
    }
}

}  // namespace

bool gradcheck(const Fn& fn, std::span<const Tensor> inputs, GradcheckOptions options, Site) {
    return answer(fn, inputs, options);
}

bool gradgradcheck(const Fn& fn, std::span<const Tensor> inputs, GradcheckOptions options, Site) {
    // Weights of the outputs join the inputs: the derivative with respect to them is checked too.
    std::vector<Tensor> all;
    for (const Tensor& input : inputs) all.push_back(input);
    const std::size_t count = all.size();
    {
        const NoGradGuard guard;
        double value = 0.3;
        for (const Tensor& out : fn(inputs)) {
            if (!isFloating(out.dtype())) continue;
            Tensor weight = Tensor::empty(out.sizes(), DType::F64);
            for (std::int64_t i = 0; i < weight.numel(); ++i) {
                value = 3.9 * value * (1 - value);  // the logistic map: any values, always the same
                weight.data<double>()[i] = value + 0.25;
            }
            all.push_back(weight.set_requires_grad(true));
        }
    }
    const Fn gradients = [&](std::span<const Tensor> given) {
        const EnableGradGuard guard;
        std::vector<Tensor> outputs;
        for (Tensor& out : fn(given.first(count))) {
            if (isFloating(out.dtype())) outputs.push_back(std::move(out));
        }
        std::vector<Tensor> wanted;
        for (const Tensor& input : given.first(count)) {
            if (input.defined() && input.requires_grad()) wanted.push_back(input);
        }
        std::vector<Tensor> made = grad(outputs, wanted, given.subspan(count), true, true, true);
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (!made[i].defined()) made[i] = zeros_like(wanted[i]);
        }
        return made;
    };
    return answer(gradients, all, options);
}

}  // namespace tapescope::engine
