// SPDX-License-Identifier: Apache-2.0
// Attention and recurrent functions that call several operators, against PyTorch's values and
// central differences.
#include "engine/errors.h"
#include "engine/ops/attention.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/recurrent.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "function_cases.h"
#include "operator_check.h"

#include <gtest/gtest.h>
#include <span>

namespace tapescope::engine::test {
namespace {

RecurrentParams paramsOf(const OperatorCase& c) {
    RecurrentParams p;
    p.has_biases = c.attrs.flag(0);
    p.num_layers = c.attrs.integer(1);
    p.bidirectional = c.attrs.flag(2);
    p.batch_first = c.attrs.flag(3);
    return p;
}

MultiHeadAttentionParams attentionParams(const OperatorCase& c, const Inputs& in) {
    MultiHeadAttentionParams p;
    p.num_heads = c.attrs.integer(0);
    p.in_proj_weight = in[3];
    p.in_proj_bias = in[4];
    p.out_proj_weight = in[5];
    p.out_proj_bias = in[6];
    p.bias_k = in[7];
    p.bias_v = in[8];
    p.key_padding_mask = in[9];
    p.attn_mask = in[10];
    p.need_weights = c.attrs.flag(1);
    p.average_attn_weights = c.attrs.flag(2);
    p.add_zero_attn = c.attrs.flag(3);
    return p;
}

const FunctionTable& functions() {
    static const FunctionTable all{
        {"rnn_tanh_cell",
         [](const OperatorCase&, const Inputs& in) {
             return outputs(rnn_tanh_cell(in[0], in[1], in[2], in[3], in[4], in[5]));
         }},
        {"rnn_relu_cell",
         [](const OperatorCase&, const Inputs& in) {
             return outputs(rnn_relu_cell(in[0], in[1], in[2], in[3], in[4], in[5]));
         }},
        {"gru_cell",
         [](const OperatorCase&, const Inputs& in) {
             return outputs(gru_cell(in[0], in[1], in[2], in[3], in[4], in[5]));
         }},
        {"lstm_cell",
         [](const OperatorCase&, const Inputs& in) {
             return ofTuple(lstm_cell(in[0], {in[1], in[2]}, in[3], in[4], in[5], in[6]));
         }},
        {"rnn_tanh",
         [](const OperatorCase& c, const Inputs& in) {
             return ofTuple(rnn_tanh(in[0], in[1], std::span(in).subspan(2), paramsOf(c)));
         }},
        {"rnn_relu",
         [](const OperatorCase& c, const Inputs& in) {
             return ofTuple(rnn_relu(in[0], in[1], std::span(in).subspan(2), paramsOf(c)));
         }},
        {"gru",
         [](const OperatorCase& c, const Inputs& in) {
             return ofTuple(gru(in[0], in[1], std::span(in).subspan(2), paramsOf(c)));
         }},
        {"lstm",
         [](const OperatorCase& c, const Inputs& in) {
             return ofTuple(lstm(in[0], {in[1], in[2]}, std::span(in).subspan(3), paramsOf(c)));
         }},
        {"multi_head_attention_forward",
         [](const OperatorCase& c, const Inputs& in) {
             const auto result =
                 multi_head_attention_forward(in[0], in[1], in[2], attentionParams(c, in));
             return result.weights.defined() ? outputs(result.output, result.weights)
                                             : outputs(result.output);
         }},
    };
    return all;
}

std::vector<OperatorCase> cases() { return boundCases("functions_sequence.txt", functions()); }

TEST(SequenceFunctions, GiveTheValuesOfAnIndependentLibrary) {
    const auto list = cases();
    EXPECT_GE(list.size(), functions().size());
    for (const OperatorCase& c : list) checkValues(c);
}
TEST(SequenceFunctions, GiveTheGradientsOfAnIndependentLibrary) {
    for (const OperatorCase& c : cases()) checkRecordedGradients(c);
}
TEST(SequenceFunctions, GiveTheValuesAndGradientsInEveryDType) {
    for (const OperatorCase& c : boundCases("functions_sequence_dtypes.txt", functions())) {
        checkValues(c);
        checkRecordedGradients(c);
    }
}
TEST(SequenceFunctions, AgreeWithCentralDifferences) {
    for (const OperatorCase& c : cases()) checkFirstOrder(c);
}
TEST(SequenceFunctions, AgreeWithCentralDifferencesInSecondOrder) {
    for (const OperatorCase& c : cases())
        if (c.secondOrder) checkSecondOrder(c);
}

TEST(Attention, LongSequencesAgreeWithMatmulAndSoftmax) {
    // Several blocks of rows, of which the last is short, in several layouts.
    const Tensor packed = randn({2, 3, 150, 3 * 16});
    const auto part = [&](std::int64_t i) { return narrow(packed, -1, i * 16, 16); };
    const Tensor q = part(0);
    const Tensor k = part(1);
    const Tensor v = part(2);
    const Tensor expected = matmul(softmax(mul(matmul(q, transpose(k, -2, -1)), 0.25), -1), v);
    const Tensor difference = sub(scaled_dot_product_attention(q, k, v), expected);
    EXPECT_LT(amax(abs(difference)).item(), 1e-5);
}

TEST(Attention, DropoutKeepsTheMeanAndRejectsWhatDoesNotFit) {
    const Tensor q = zeros({1, 4, 2});
    const Tensor k = zeros({1, 64, 2});
    const Tensor v = ones({1, 64, 2});
    AttentionParams params;
    params.dropout_p = 0.5;
    const Tensor y = scaled_dot_product_attention(q, k, v, {}, params);
    EXPECT_NEAR(mean(y).item(), 1, 0.3);
    EXPECT_NE(amax(y).item(), amin(y).item());
    params.dropout_p = 2;
    EXPECT_THROW(scaled_dot_product_attention(q, k, v, {}, params), Error);
    EXPECT_THROW(scaled_dot_product_attention(q, zeros({1, 64, 3}), v), ShapeError);
    EXPECT_THROW(scaled_dot_product_attention(q, k, zeros({1, 63, 2})), ShapeError);
    EXPECT_THROW(scaled_dot_product_attention(q, k, v, zeros({4, 63})), ShapeError);
    EXPECT_THROW(scaled_dot_product_attention(q, k, v, zeros({4, 64}, {.dtype = DType::F64})),
                 DTypeError);
    AttentionParams causal;
    causal.is_causal = true;
    EXPECT_THROW(scaled_dot_product_attention(q, k, v, zeros({4, 64}), causal), Error);
}

TEST(Recurrent, RejectsParametersThatDoNotFit) {
    const Tensor x = zeros({3, 2, 4});
    const Tensor h = zeros({1, 2, 5});
    const std::vector<Tensor> weights{zeros({5, 4}), zeros({5, 5}), zeros({5}), zeros({5})};
    EXPECT_EQ(rnn_tanh(x, h, weights).first.sizes(), (Dims{3, 2, 5}));
    EXPECT_THROW(rnn_tanh(x, h, std::span(weights).first(2)), Error);
    EXPECT_THROW(rnn_tanh(x, zeros({2, 2, 5}), weights), ShapeError);
    EXPECT_THROW(rnn_tanh(x, zeros({1, 3, 5}), weights), ShapeError);
    EXPECT_THROW(rnn_tanh(zeros({0, 2, 4}), h, weights), ShapeError);
    EXPECT_THROW(lstm(x, {h, h}, weights), ShapeError);
    EXPECT_THROW(gru(x, to(h, DType::F64), weights), Error);
}

}  // namespace
}  // namespace tapescope::engine::test
