// SPDX-License-Identifier: Apache-2.0
// Functions whose arguments are words, or the enumerations that stand for them, against PyTorch's
// values and central differences.
#include "engine/ops/creation.h"
#include "engine/ops/indexing.h"
#include "engine/ops/linalg_lapack.h"
#include "engine/ops/nn_conv.h"
#include "engine/ops/nn_embedding.h"
#include "engine/ops/nn_loss.h"
#include "engine/ops/nn_vision.h"
#include "engine/ops/pointwise_activations.h"
#include "engine/ops/pointwise_arithmetic.h"
#include "engine/ops/sorting.h"
#include "engine/ops/windows.h"
#include "function_cases.h"
#include "operator_check.h"

#include <gtest/gtest.h>

namespace tapescope::engine::test {
namespace {

template <class Value>
Value named(const std::string& word, const std::map<std::string, Value>& values) {
    const auto found = values.find(word);
    if (found == values.end()) throw std::runtime_error("there is no " + word);
    return found->second;
}
ConvPadding paddingOf(const OperatorCase& c) {
    return named<ConvPadding>(c.text, {{"same", ConvPadding::Same}, {"valid", ConvPadding::Valid}});
}
Reduction reductionOf(const OperatorCase& c) {
    return named<Reduction>(c.text, {{"none", Reduction::None},
                                     {"mean", Reduction::Mean},
                                     {"sum", Reduction::Sum},
                                     {"batchmean", Reduction::BatchMean}});
}
InterpolateOptions interpolationOf(const OperatorCase& c) {
    return {.size = c.attrs.dims(0),
            .mode = named<Interpolation>(c.text, {{"nearest", Interpolation::Nearest},
                                                  {"nearest-exact", Interpolation::NearestExact},
                                                  {"bilinear", Interpolation::Bilinear},
                                                  {"bicubic", Interpolation::Bicubic},
                                                  {"area", Interpolation::Area}})};
}
Tensor sampled(const OperatorCase& c, const Inputs& in) {
    const std::size_t space = c.text.find(' ');
    const auto mode = named<GridMode>(c.text.substr(0, space), {{"bilinear", GridMode::Bilinear},
                                                                {"nearest", GridMode::Nearest},
                                                                {"bicubic", GridMode::Bicubic}});
    const auto padding =
        named<GridPadding>(c.text.substr(space + 1), {{"zeros", GridPadding::Zeros},
                                                      {"border", GridPadding::Border},
                                                      {"reflection", GridPadding::Reflection}});
    return grid_sample(in[0], in[1], mode, padding, false);
}
EmbeddingBagOptions bagOf(const OperatorCase& c) {
    return {.mode = named<BagMode>(
                c.text, {{"sum", BagMode::Sum}, {"mean", BagMode::Mean}, {"max", BagMode::Max}})};
}

template <Tensor (*conv)(const Tensor&, const Tensor&, const Tensor&, ConvPadding,
                         const ConvParams&, Site)>
Outputs convolved(const OperatorCase& c, const Inputs& in) {
    return outputs(conv(in[0], in[1], in[2], paddingOf(c), {.dilation = c.attrs.dims(0)}, {}));
}
template <Tensor (*loss)(const Tensor&, const Tensor&, Reduction, Site)>
Outputs plainLoss(const OperatorCase& c, const Inputs& in) {
    return outputs(loss(in[0], in[1], reductionOf(c), {}));
}

const FunctionTable& functions() {
    static const FunctionTable all{
        {"pad", [](const OperatorCase& c,
                   const Inputs& in) { return outputs(pad(in[0], c.attrs.dims(0), c.text)); }},
        {"conv1d", convolved<conv1d>},
        {"conv2d", convolved<conv2d>},
        {"conv3d", convolved<conv3d>},
        {"div", [](const OperatorCase& c,
                   const Inputs& in) { return outputs(div(in[0], in[1], c.text)); }},
        {"gelu",
         [](const OperatorCase& c, const Inputs& in) { return outputs(gelu(in[0], c.text)); }},
        {"scatter_reduce",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(scatter_reduce(in[0], 0, in[1], in[2], c.text, c.attrs.flag(0)));
         }},
        {"index_reduce",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(index_reduce(in[0], 0, in[1], in[2], c.text));
         }},
        {"quantile",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(quantile(in[0], 0.35, 1, false, c.text));
         }},
        {"nanquantile",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(nanquantile(in[0], 0.35, 1, false, c.text));
         }},
        {"meshgrid",
         [](const OperatorCase& c, const Inputs& in) {
             const auto grids = meshgrid(in, c.text);
             return outputs(grids[0], grids[1]);
         }},
        {"linalg_matrix_norm",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(linalg_matrix_norm(in[0], c.text));
         }},
        {"linalg_cond", [](const OperatorCase& c,
                           const Inputs& in) { return outputs(linalg_cond(in[0], c.text)); }},
        {"mse_loss", plainLoss<mse_loss>},
        {"l1_loss", plainLoss<l1_loss>},
        {"smooth_l1_loss",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(smooth_l1_loss(in[0], in[1], reductionOf(c)));
         }},
        {"huber_loss",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(huber_loss(in[0], in[1], reductionOf(c)));
         }},
        {"cross_entropy",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(cross_entropy(in[0], in[1], {.reduction = reductionOf(c)}));
         }},
        {"kl_div", [](const OperatorCase& c,
                      const Inputs& in) { return outputs(kl_div(in[0], in[1], reductionOf(c))); }},
        {"embedding_bag",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(embedding_bag(in[0], in[1], bagOf(c)));
         }},
        {"interpolate",
         [](const OperatorCase& c, const Inputs& in) {
             return outputs(interpolate(in[0], interpolationOf(c)));
         }},
        {"grid_sample",
         [](const OperatorCase& c, const Inputs& in) { return outputs(sampled(c, in)); }},
    };
    return all;
}

std::vector<OperatorCase> cases() { return boundCases("functions_text.txt", functions()); }

TEST(TextFunctions, GiveTheValuesOfAnIndependentLibrary) {
    const auto list = cases();
    EXPECT_GE(list.size(), 3 * functions().size());
    for (const OperatorCase& c : list) checkValues(c);
}
TEST(TextFunctions, GiveTheGradientsOfAnIndependentLibrary) {
    for (const OperatorCase& c : cases()) checkRecordedGradients(c);
}
TEST(TextFunctions, GiveTheValuesAndGradientsInEveryDType) {
    for (const OperatorCase& c : boundCases("functions_text_dtypes.txt", functions())) {
        checkValues(c);
        checkRecordedGradients(c);
    }
}
TEST(TextFunctions, AgreeWithCentralDifferences) {
    for (const OperatorCase& c : cases())
        if (canCheckGradients(c)) checkFirstOrder(c);
}
TEST(TextFunctions, AgreeWithCentralDifferencesInSecondOrder) {
    for (const OperatorCase& c : cases())
        if (c.secondOrder && canCheckGradients(c)) checkSecondOrder(c);
}

}  // namespace
}  // namespace tapescope::engine::test
