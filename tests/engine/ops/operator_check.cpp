// SPDX-License-Identifier: Apache-2.0
#include "operator_check.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/complex.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace tapescope::engine::test {
namespace {

const OpDef& rowOf(const OperatorCase& c) {
    const OpDef* row = OpTable::instance().find(c.op);
    if (!row) throw std::runtime_error(c.place + ": there is no operator " + c.op);
    return *row;
}

Outputs callCase(const OperatorCase& c, const std::vector<Tensor>& inputs) {
    if (c.seed) Context::current().generator().manual_seed(*c.seed);
    if (c.function) return c.function(c, inputs);
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : inputs) pointers.push_back(&t);
    return call(c.op, pointers, c.attrs);
}

std::vector<Tensor> makeInputs(const OperatorCase& c, Layout layout, std::optional<DType> as = {}) {
    std::vector<Tensor> inputs;
    for (const CaseValue& v : c.inputs) inputs.push_back(makeTensor(v, layout, as));
    return inputs;
}

/// All elements row-major; of a complex number its parts.
std::vector<double> valuesOf(const Tensor& t) {
    return isComplex(t.dtype()) ? realPairs(t).to_vector<double>() : t.to_vector<double>();
}

/// Of the fft rows: their complex results have no wider type, so that float64 is refused.
bool isTransform(const OperatorCase& c) { return !c.function && rowOf(c).family == Family::Fft; }

/// Two units in the last place of a 16-bit float: PyTorch rounds in other places now and then.
double toleranceOf(DType dtype) {
    if (isReducedFloating(dtype)) return 2 * finfo(dtype).eps;
    return realType(dtype) == DType::F32 ? 1e-6 : 1e-12;
}

/// Close relative to the value, and to 1e-7 (float32) or 1e-15 near zero; NaN equals NaN.
void expectClose(const Tensor& actual, const CaseValue& expected, const OperatorCase& c,
                 const std::string& what) {
    ASSERT_EQ(actual.sizes(), expected.sizes) << what;
    ASSERT_EQ(dtypeName(actual.dtype()), dtypeName(expected.dtype)) << what;
    if (c.sizesOnly) return;
    if (isIntegral(expected.dtype)) {
        const auto values = actual.to_vector<std::int64_t>();
        EXPECT_EQ(values, expected.integers) << what;
        return;
    }
    const double relative = c.tolerance.value_or(toleranceOf(expected.dtype));
    double absolute = expected.dtype == DType::F64 ? 1e-14 : std::max(2e-7, relative / 10);
    const bool narrow = std::any_of(c.inputs.begin(), c.inputs.end(),
                                    [](const CaseValue& v) { return isReducedFloating(v.dtype); });
    if (c.dtype && (narrow || isReducedFloating(expected.dtype))) {
        // What several roundings leave is relative to what was added up: the largest element, or
        // the operands, which are about 1.
        double largest = 1;
        for (const double v : expected.values)
            if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
        absolute = relative / 2 * largest;
    }
    if (isTransform(c)) {
        // Each output is a sum over all inputs, rounded as the largest is.
        double largest = 1;
        for (const double v : expected.values) largest = std::max(largest, std::fabs(v));
        absolute = std::max(absolute, 1e-6 * largest);
    }
    const auto values = valuesOf(actual);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double want = expected.values[i];
        if (values[i] == want || (std::isnan(values[i]) && std::isnan(want))) continue;
        EXPECT_LE(std::fabs(values[i] - want), absolute + relative * std::fabs(want))
            << what << ", element " << i << ": " << values[i] << " instead of " << want;
    }
}

/// c with the tolerance of gradients of that order, which chain several roundings.
OperatorCase loosened(const OperatorCase& c, DType gradient, int order) {
    OperatorCase loose = c;
    const auto has = [&](const auto& test) {
        return std::any_of(c.inputs.begin(), c.inputs.end(),
                           [&](const CaseValue& v) { return test(v.dtype); });
    };
    if (has(isReducedFloating)) {
        double own = toleranceOf(gradient);
        for (const CaseValue& v : c.inputs)
            if (c.dtype && isFloating(v.dtype)) own = std::max(own, toleranceOf(v.dtype));
        loose.tolerance = order * std::max(3 * own, c.tolerance.value_or(0));
    } else if (has([](DType dtype) { return realType(dtype) == DType::F32; })) {
        loose.tolerance = order * std::max(4e-6, 2 * c.tolerance.value_or(0));
    } else if (order > 1) {
        loose.tolerance = std::max(1e-11, 2 * c.tolerance.value_or(0));
    }
    return loose;
}

/// Runs fn on an operator's inputs with gradients; an in-place one gets a copy, as leaves cannot be
/// overwritten.
Outputs callDifferentiably(const OperatorCase& c, const std::vector<Tensor>& leaves) {
    std::vector<Tensor> inputs = leaves;
    if (!c.function && rowOf(c).inplace) inputs[0] = clone(leaves[0]);
    return callCase(c, inputs);
}

/// The same for central differences, which move single elements of the leaves.
Outputs callForDifferences(const OperatorCase& c, const std::vector<Tensor>& leaves) {
    if (!c.symmetric) return callDifferentiably(c, leaves);
    std::vector<Tensor> inputs = leaves;
    inputs[0] = mul(add(leaves[0], transpose(leaves[0], -2, -1)), 0.5);
    return callCase(c, inputs);
}

/// Smooth, without zeros or symmetry.
Tensor weightsLike(const Tensor& t, double salt) {
    const bool complex = isComplex(t.dtype());
    std::vector<double> w(static_cast<std::size_t>(t.numel()) * (complex ? 2 : 1));
    for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = std::cos(1.7 * static_cast<double>(i) + salt) + 0.25;
    Dims sizes = t.sizes();
    if (complex) sizes.push_back(2);
    const Tensor weights = Tensor::from<double>(w, sizes);
    if (complex) return clone(view_as_complex(to(weights, DType::F32)));
    return t.dtype() == DType::F32 ? to(weights, DType::F32) : weights;
}

/// Of the parts of complex numbers: dL of a real loss L with the gradient a and the change b.
double dot(const Tensor& a, const Tensor& b) {
    const auto x = valuesOf(a);
    const auto y = valuesOf(b);
    double total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
    return total;
}

/// Indices of the inputs that gradients are taken for.
std::vector<std::size_t> differentiable(const OperatorCase& c) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        if (c.inputs[i].absent || c.inputs[i].number || !isDifferentiable(c.inputs[i].dtype))
            continue;
        if (std::find(c.constant.begin(), c.constant.end(), i) == c.constant.end())
            indices.push_back(i);
    }
    return indices;
}

/// Calculated in float32 parts, whatever the dtype of the inputs.
bool isCoarse(const OperatorCase& c) { return hasComplex(c) || isTransform(c); }

/// In float64, but for complex numbers, which have no wider type.
std::vector<Tensor> leavesOf(const OperatorCase& c) {
    std::optional<DType> as;
    if (!isCoarse(c)) as = DType::F64;
    std::vector<Tensor> inputs = makeInputs(c, Layout::Contiguous, as);
    for (const std::size_t i : differentiable(c)) inputs[i].set_requires_grad(true);
    return inputs;
}

std::vector<Tensor> pick(const std::vector<Tensor>& all, const std::vector<std::size_t>& indices) {
    std::vector<Tensor> chosen;
    for (const std::size_t i : indices) chosen.push_back(all[i]);
    return chosen;
}

template <class T>
void expectDifferencesOf(T* data, const Tensor& x, const Tensor& gradient, double step,
                         double tolerance, const std::function<double()>& f,
                         const std::string& what) {
    const std::size_t count = valuesOf(x).size();
    const auto analytic = gradient.defined() ? valuesOf(gradient) : std::vector<double>(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
        const T saved = data[i];
        const T by = static_cast<T>(step * std::max(1.0, std::fabs(static_cast<double>(saved))));
        const T high = saved + by;
        const T low = saved - by;
        data[i] = high;
        const double above = f();
        data[i] = low;
        const double below = f();
        data[i] = saved;
        const double numeric =
            (above - below) / (static_cast<double>(high) - static_cast<double>(low));
        const double scale =
            std::max({1.0, std::fabs(numeric), std::fabs(above) + std::fabs(below)});
        EXPECT_LE(std::fabs(analytic[i] - numeric), tolerance * scale)
            << what << ", element " << i << ": " << analytic[i] << ", but the difference is "
            << numeric;
    }
}
/// Compares grad with the central difference of f in every element of x, which f reads. coarse: f
/// calculates in float32, so that steps are large and digits few.
void expectDifferences(Tensor& x, const Tensor& gradient, bool coarse,
                       const std::function<double()>& f, const std::string& what) {
    const double step = coarse ? 3e-3 : 1e-5;
    const double tolerance = coarse ? 1e-3 : 2e-7;
    if (x.dtype() == DType::F64)
        expectDifferencesOf(x.data<double>(), x, gradient, step, tolerance, f, what);
    else if (realType(x.dtype()) == DType::F32)
        expectDifferencesOf(static_cast<float*>(x.data_ptr()), x, gradient, step, tolerance, f,
                            what);
}

/// The floating outputs of a call with a gradient, and weights for them.
struct Weighted {
    std::vector<Tensor> outputs;
    std::vector<Tensor> weights;
};
Weighted weighted(const OperatorCase& c, const Outputs& outs, double salt) {
    Weighted w;
    for (int i = 0; i < std::min(outs.count, c.gradOutputs); ++i) {
        const Tensor& y = outs.tensors[static_cast<std::size_t>(i)];
        if (!isDifferentiable(y.dtype())) continue;
        w.outputs.push_back(y);
        w.weights.push_back(weightsLike(y, salt + static_cast<double>(w.weights.size())));
    }
    return w;
}

}  // namespace

bool canCheckGradients(const OperatorCase& c) {
    const auto floating = [](const CaseValue& v) { return isDifferentiable(v.dtype); };
    if (!c.gradcheck || std::none_of(c.outputs.begin(), c.outputs.end(), floating)) return false;
    const auto indices = differentiable(c);
    return std::any_of(indices.begin(), indices.end(),
                       [&](std::size_t i) { return !c.inputs[i].values.empty(); });
}

bool refusesType(const OperatorCase& c) {
    try {
        callCase(c, makeInputs(c, Layout::Contiguous));
    } catch (const DTypeError&) {
        return true;
    }
    return false;
}

void checkValues(const OperatorCase& c) {
    const bool inplace = !c.function && rowOf(c).inplace;
    for (const Layout layout : {Layout::Contiguous, Layout::Transposed, Layout::Gapped}) {
        if (layout != Layout::Contiguous && c.contiguousOnly) continue;
        const std::string what =
            c.op + " " + c.label + " (" + c.place + "), " + std::string(layoutName(layout));
        const std::vector<Tensor> inputs = makeInputs(c, layout);
        if (c.refusedValue) {
            EXPECT_THROW(callCase(c, inputs), Error) << what;
            continue;
        }
        if (c.refused) {
            EXPECT_THROW(callCase(c, inputs), DTypeError) << what;
            continue;
        }
        Outputs outs;
        ASSERT_NO_THROW(outs = callCase(c, inputs)) << what;
        ASSERT_EQ(static_cast<std::size_t>(outs.count), c.outputs.size()) << what;
        for (int k = 0; k < outs.count; ++k)
            expectClose(outs[k], c.outputs[static_cast<std::size_t>(k)], c, what);
        if (inplace) {
            EXPECT_TRUE(same(outs[0], inputs[0])) << what << ": returns another tensor";
        }
    }
}

void checkRecordedGradients(const OperatorCase& c) {
    if (c.givenGrads.empty()) return;
    for (const Layout layout : {Layout::Contiguous, Layout::Transposed}) {
        if (layout != Layout::Contiguous && c.contiguousOnly) continue;
        const std::string what =
            c.op + " " + c.label + " (" + c.place + "), " + std::string(layoutName(layout));
        std::vector<Tensor> leaves = makeInputs(c, layout);
        for (const auto& [index, value] : c.expectedGrads)
            leaves[static_cast<std::size_t>(index)].set_requires_grad(true);
        const Outputs outs = callDifferentiably(c, leaves);
        std::vector<Tensor> roots;
        std::vector<Tensor> given;
        for (const auto& [index, value] : c.givenGrads) {
            roots.push_back(outs.tensors[static_cast<std::size_t>(index)]);
            given.push_back(makeTensor(value, Layout::Contiguous));
        }
        ASSERT_NO_THROW(backward(roots, given)) << what;
        for (const auto& [index, value] : c.expectedGrads) {
            const std::string input = what + ", gradient of input " + std::to_string(index);
            const Tensor gradient = leaves[static_cast<std::size_t>(index)].grad();
            if (!gradient.defined()) {
                EXPECT_TRUE(std::all_of(value.values.begin(), value.values.end(),
                                        [](double v) { return v == 0; }))
                    << input << " is missing";
                continue;
            }
            expectClose(gradient, value, loosened(c, value.dtype, 1), input);
        }
    }
}

void checkRecordedSecondOrder(const OperatorCase& c) {
    if (c.expectedSecond.empty()) return;
    const std::string what = c.op + " " + c.label + " (" + c.place + "), second order";
    std::vector<Tensor> leaves = makeInputs(c, Layout::Contiguous);
    std::vector<Tensor> variables;
    for (const std::size_t i : differentiable(c)) {
        leaves[i].set_requires_grad(true);
        variables.push_back(leaves[i]);
    }
    const auto position = [&](int input) {
        const auto indices = differentiable(c);
        return static_cast<std::size_t>(
            std::find(indices.begin(), indices.end(), static_cast<std::size_t>(input)) -
            indices.begin());
    };
    const Outputs outs = callDifferentiably(c, leaves);
    std::vector<Tensor> roots;
    std::vector<Tensor> given;
    for (const auto& [index, value] : c.givenGrads) {
        roots.push_back(outs.tensors[static_cast<std::size_t>(index)]);
        given.push_back(makeTensor(value, Layout::Contiguous));
    }
    const std::vector<Tensor> first = grad(roots, variables, given, true, true, true);
    std::vector<Tensor> again;
    std::vector<Tensor> factors;
    for (const auto& [index, value] : c.givenSecond) {
        const Tensor& g = first[position(index)];
        if (!g.defined() || !g.requires_grad()) continue;
        again.push_back(g);
        factors.push_back(makeTensor(value, Layout::Contiguous));
    }
    const std::vector<Tensor> second = again.empty()
                                           ? std::vector<Tensor>(variables.size())
                                           : grad(again, variables, factors, false, false, true);
    for (const auto& [index, value] : c.expectedSecond) {
        const std::string input = what + ", input " + std::to_string(index);
        const Tensor& gradient = second[position(index)];
        if (!gradient.defined()) {
            EXPECT_TRUE(std::all_of(value.values.begin(), value.values.end(),
                                    [](double v) { return v == 0; }))
                << input << " is missing";
            continue;
        }
        expectClose(gradient, value, loosened(c, value.dtype, 2), input);
    }
}

void checkFirstOrder(const OperatorCase& c) {
    const std::string what = c.op + " " + c.label + " (" + c.place + ")";
    std::vector<Tensor> leaves = leavesOf(c);
    const auto indices = differentiable(c);
    const Outputs outs = callForDifferences(c, leaves);
    const Weighted w = weighted(c, outs, 0.3);
    const auto loss = [&] {
        const NoGradGuard guard;
        const Outputs again = callForDifferences(c, leaves);
        const Weighted now = weighted(c, again, 0.3);
        double total = 0;
        for (std::size_t k = 0; k < now.outputs.size(); ++k)
            total += dot(now.outputs[k], now.weights[k]);
        return total;
    };
    std::vector<Tensor> chosen = pick(leaves, indices);
    const std::vector<Tensor> gradients = grad(w.outputs, chosen, w.weights, false, false, true);
    for (std::size_t k = 0; k < chosen.size(); ++k)
        expectDifferences(chosen[k], gradients[k], isCoarse(c), loss,
                          what + ", gradient of input " + std::to_string(indices[k]));
}

void checkSecondOrder(const OperatorCase& c) {
    const std::string what = c.op + " " + c.label + " (" + c.place + "), second order";
    std::vector<Tensor> leaves = leavesOf(c);
    std::vector<Tensor> chosen = pick(leaves, differentiable(c));
    Weighted w = weighted(c, callForDifferences(c, leaves), 0.3);
    for (Tensor& weight : w.weights) weight.set_requires_grad(true);

    // The first-order gradients as functions of inputs and weights.
    const auto firstOrder = [&](bool createGraph) {
        const Weighted now = weighted(c, callForDifferences(c, leaves), 0.3);
        return grad(now.outputs, chosen, w.weights, createGraph, createGraph, true);
    };
    const std::vector<Tensor> gradients = firstOrder(true);
    std::vector<Tensor> roots;
    std::vector<Tensor> factors;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
        if (!gradients[k].defined() || !gradients[k].requires_grad()) continue;
        roots.push_back(gradients[k]);
        factors.push_back(weightsLike(gradients[k], 1.1 + static_cast<double>(k)));
    }
    std::vector<Tensor> variables = chosen;
    variables.insert(variables.end(), w.weights.begin(), w.weights.end());
    const std::vector<Tensor> second = roots.empty()
                                           ? std::vector<Tensor>(variables.size())
                                           : grad(roots, variables, factors, false, false, true);
    const auto combined = [&] {
        const std::vector<Tensor> now = firstOrder(false);
        double total = 0;
        for (std::size_t k = 0; k < now.size(); ++k) {
            if (now[k].defined())
                total += dot(now[k], weightsLike(now[k], 1.1 + static_cast<double>(k)));
        }
        return total;
    };
    for (std::size_t k = 0; k < variables.size(); ++k)
        expectDifferences(variables[k], second[k], isCoarse(c), combined,
                          what + ", variable " + std::to_string(k));
}

}  // namespace tapescope::engine::test
