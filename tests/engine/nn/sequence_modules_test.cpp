// SPDX-License-Identifier: Apache-2.0
// Recurrent, attention and transformer modules against torch.nn's with the same parameters.
#include "engine/errors.h"
#include "engine/nn/attention.h"
#include "engine/nn/recurrent.h"
#include "engine/nn/transformer.h"
#include "engine/observe/context.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "tests/engine/ops/function_cases.h"
#include "tests/engine/ops/operator_check.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

using test::Inputs;
using test::OperatorCase;

/// Copies the case's parameters, which start at `from`, into the module's, in order; the names must
/// be torch's.
void load(Module& module, const OperatorCase& c, const Inputs& in, std::size_t from) {
    const NoGradGuard guard;
    std::string names;
    std::size_t at = from;
    for (const auto& [name, parameter] : module.named_parameters()) {
        names += (names.empty() ? "" : ";") + name;
        if (at < in.size()) copy_(parameter, in[at++]);
    }
    EXPECT_EQ(at, in.size()) << c.place;
    std::replace(names.begin(), names.end(), '_', ' ');
    EXPECT_EQ(names, c.text) << c.place;
    module.eval();
}

Outputs outputsOf(const std::pair<Tensor, Tensor>& result) { return test::ofTuple(result); }
Outputs outputsOf(const std::pair<Tensor, LSTM::State>& result) {
    return test::outputs(result.first, result.second.first, result.second.second);
}
Outputs outputsOf(const MultiHeadAttentionResult& result) {
    return test::outputs(result.output, result.weights);
}

RecurrentOptions layers(std::int64_t n, bool bothWays = false, bool batchFirst = false) {
    RecurrentOptions o;
    o.num_layers = n;
    o.bidirectional = bothWays;
    o.batch_first = batchFirst;
    return o;
}

TransformerOptions small(bool normFirst = false) {
    TransformerOptions o;
    o.dim_feedforward = 3;
    o.norm_first = normFirst;
    return o;
}

Outputs runRnn(const OperatorCase& c, const Inputs& in) {
    const bool relu = c.label == "relu_layers";
    RNN m(3, 2, layers(relu ? 2 : 1), relu ? RNN::Nonlinearity::Relu : RNN::Nonlinearity::Tanh);
    load(m, c, in, 1);
    return outputsOf(m.run(in[0]));
}
Outputs runGru(const OperatorCase& c, const Inputs& in) {
    GRU m(3, 2, layers(2, true, true));
    load(m, c, in, 1);
    return outputsOf(m.run(in[0]));
}
Outputs runLstm(const OperatorCase& c, const Inputs& in) {
    RecurrentOptions o = layers(c.label == "layers" ? 2 : 1);
    o.bias = c.label != "no_bias_one";
    LSTM m(3, 2, o);
    if (c.label == "state") {
        load(m, c, in, 3);
        return outputsOf(m.run(in[0], {in[1], in[2]}));
    }
    load(m, c, in, 1);
    return outputsOf(m.run(in[0]));
}
Outputs runAttention(const OperatorCase& c, const Inputs& in) {
    MultiheadAttentionOptions o;
    o.batch_first = c.label == "batch_first";
    if (c.label == "other_sizes") {
        o.kdim = 3;
        o.vdim = 2;
        o.add_bias_kv = true;
        o.bias = false;
        MultiheadAttention m(4, 2, o);
        load(m, c, in, 3);
        return outputsOf(m.run(in[0], in[1], in[2], {}));
    }
    MultiheadAttention m(4, 2, o);
    load(m, c, in, 1);
    return outputsOf(m.run(in[0], in[0], in[0], {}));
}
Outputs runEncoderLayer(const OperatorCase& c, const Inputs& in) {
    TransformerOptions o = small(c.label != "plain");
    if (c.label == "plain") {
        TransformerEncoderLayer m(4, 2, o);
        load(m, c, in, 1);
        return test::outputs(m.call(in[0]));
    }
    o.activation = TransformerActivation::Gelu;
    o.batch_first = true;
    TransformerEncoderLayer m(4, 2, o);
    load(m, c, in, 1);
    MultiheadAttention::Masks masks;
    masks.attn_mask = Transformer::generate_square_subsequent_mask(3);
    const Tensor byMask = m.run(in[0], masks);
    masks.is_causal = true;
    const Tensor byHint = m.run(in[0], masks);
    EXPECT_LT(sub(byMask, byHint).to_vector()[0], 1e-6);
    return test::outputs(byHint);
}

const test::FunctionTable& modules() {
    static const test::FunctionTable all{
        {"RNN", runRnn},
        {"GRU", runGru},
        {"LSTM", runLstm},
        {"RNNCell",
         [](const OperatorCase& c, const Inputs& in) {
             RNNCell m(3, 2);
             load(m, c, in, 2);
             return test::outputs(m.run(in[0], in[1]));
         }},
        {"GRUCell",
         [](const OperatorCase& c, const Inputs& in) {
             GRUCell m(3, 2);
             load(m, c, in, 1);
             return test::outputs(m.call(in[0]));
         }},
        {"LSTMCell",
         [](const OperatorCase& c, const Inputs& in) {
             LSTMCell m(3, 2);
             load(m, c, in, 3);
             return test::ofTuple(m.run(in[0], {in[1], in[2]}));
         }},
        {"MultiheadAttention", runAttention},
        {"TransformerEncoderLayer", runEncoderLayer},
        {"TransformerDecoderLayer",
         [](const OperatorCase& c, const Inputs& in) {
             TransformerDecoderLayer m(4, 2, small(c.label == "norm_first"));
             load(m, c, in, 2);
             return test::outputs(m.run(in[0], in[1]));
         }},
        {"TransformerEncoder",
         [](const OperatorCase& c, const Inputs& in) {
             TransformerEncoder m(2, 4, 2, small(), true);
             load(m, c, in, 1);
             return test::outputs(m.call(in[0]));
         }},
        {"Transformer",
         [](const OperatorCase& c, const Inputs& in) {
             Transformer m(4, 2, 1, 1, small());
             load(m, c, in, 2);
             return test::outputs(m.run(in[0], in[1]));
         }},
    };
    return all;
}

TEST(SequenceModules, GiveTorchsValuesWithTorchsParameters) {
    const auto list = test::boundCases("functions_modules.txt", modules());
    EXPECT_GE(list.size(), modules().size());
    for (const OperatorCase& c : list) test::checkValues(c);
}

TEST(SequenceModules, LearnThroughEveryParameter) {
    TransformerOptions options = small();
    options.dropout = 0;
    Transformer m(4, 2, 1, 1, options);
    const Tensor y = m.run(randn({3, 2, 4}), randn({2, 2, 4}));
    y.backward(randn({2, 2, 4}));
    for (const auto& [name, parameter] : m.named_parameters())
        EXPECT_TRUE(parameter.grad().defined()) << name;
    LSTM lstm(4, 3, layers(2, true));
    lstm.call(randn({5, 2, 4})).backward(randn({5, 2, 6}));
    for (const auto& [name, parameter] : lstm.named_parameters())
        EXPECT_TRUE(parameter.grad().defined()) << name;
}

TEST(SequenceModules, AStateIsNotLeftForTheNextCall) {
    LSTM m(2, 2);
    const Tensor x = randn({3, 1, 2});
    const std::vector<double> fromZero = m.call(x).to_vector();
    m.run(x, {ones({1, 1, 2}), ones({1, 1, 2})});
    EXPECT_THROW(m.run(randn({3, 1, 5}), {ones({1, 1, 2}), ones({1, 1, 2})}), ShapeError);
    EXPECT_EQ(m.call(x).to_vector(), fromZero);
}

TEST(SequenceModules, RejectSizesThatMakeNoSense) {
    EXPECT_THROW(LSTM(0, 3), Error);
    EXPECT_THROW(GRU(3, 3, layers(0)), Error);
    EXPECT_THROW(MultiheadAttention(5, 2), Error);
    TransformerDecoderLayer decoder(4, 2, small());
    EXPECT_THROW(decoder.call(zeros({1, 1, 4})), Error);
}

}  // namespace
}  // namespace tapescope::engine::nn
