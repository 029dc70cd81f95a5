// SPDX-License-Identifier: Apache-2.0
// Containers, registration, and a module's state as a whole.
#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "tests/engine/ops/message_of.h"

#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

using test::messageOf;

struct Net : Module {
    explicit Net(std::int64_t width = 3) : Module("Net") {
        stem = register_module<Linear>("stem", 2, width);
        norm = register_module<BatchNorm1d>("norm", width);
        scale = register_parameter("scale", ones({1}));
        steps = register_buffer("steps", zeros({1}, {.dtype = DType::I64}), false);
    }
    Tensor forward(const Tensor& x) override { return to(norm(stem(x)), scale.dtype()) * scale; }
    using Module::register_buffer;
    using Module::register_parameter;
    ModuleRef<Linear> stem;
    ModuleRef<BatchNorm1d> norm;
    Tensor scale;
    Tensor steps;
};

std::vector<std::string> keysOf(const std::vector<Module::NamedTensor>& list) {
    std::vector<std::string> keys;
    for (const auto& [name, tensor] : list) keys.push_back(name);
    return keys;
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

class State : public ::testing::Test {
    Context m_context;
    ContextScope m_scope{m_context};
};

TEST_F(State, HasParametersAndPersistentBuffersByName) {
    const Net net;
    EXPECT_EQ(keysOf(net.state_dict()),
              (std::vector<std::string>{"scale", "stem.weight", "stem.bias", "norm.weight",
                                        "norm.bias", "norm.running_mean", "norm.running_var"}));
    EXPECT_EQ(keysOf(net.stem->state_dict()), (std::vector<std::string>{"weight", "bias"}));
    for (const auto& [name, tensor] : net.state_dict()) EXPECT_FALSE(tensor.requires_grad());
}

TEST_F(State, LoadsIntoAnotherModelsTensors) {
    const Net from;
    Net into;
    const Tensor weight = into.stem->weight;  // an optimiser's handle sees the values too
    ASSERT_NE(weight.to_vector(), from.stem->weight.to_vector());
    const Module::LoadResult result = into.load_state_dict(from.state_dict());
    EXPECT_TRUE(result.missing.empty());
    EXPECT_EQ(weight.to_vector(), from.stem->weight.to_vector());
    EXPECT_TRUE(weight.requires_grad());
}

TEST_F(State, NamesEveryMisfitInOneErrorAndChangesNothing) {
    auto state = Net(4).state_dict();
    state.erase(state.begin());  // scale
    state.emplace_back("head.weight", zeros({2}));
    state.emplace_back("norm.num_batches_tracked", zeros({}, {.dtype = DType::I64}));
    Net net(3);
    const std::vector<double> before = net.stem->bias.to_vector();
    const std::string text = messageOf<Error>([&] { net.load_state_dict(state); });
    EXPECT_TRUE(contains(text, "missing: scale;")) << text;
    EXPECT_TRUE(contains(text, "unexpected: head.weight;")) << text;
    EXPECT_TRUE(contains(text, "stem.weight (f32[3,2] here, f32[4,2] in the state)")) << text;
    EXPECT_TRUE(contains(text, "norm.running_var")) << text;
    EXPECT_FALSE(contains(text, "num_batches_tracked")) << text;
    EXPECT_EQ(net.stem->bias.to_vector(), before);
    // Names may be forgiven, shapes never.
    EXPECT_FALSE(contains(messageOf<Error>([&] { net.load_state_dict(state, false); }), "missing"));
}

TEST_F(State, NotStrictLoadsWhatFits) {
    auto state = Net().state_dict();
    state.erase(state.begin());
    state.emplace_back("head.weight", zeros({2}));
    Net net;
    const Module::LoadResult result = net.load_state_dict(state, false);
    EXPECT_EQ(result.missing, std::vector<std::string>{"scale"});
    EXPECT_EQ(result.unexpected, std::vector<std::string>{"head.weight"});
    EXPECT_EQ(net.stem->weight.to_vector(), state[0].second.to_vector());
}

TEST_F(State, ToConvertsEveryHandleWithItsGradient) {
    Net net;
    const Tensor weight = net.stem->weight;
    sum(net(randn({4, 2}))).backward();
    net.to(DType::F64);
    EXPECT_EQ(weight.dtype(), DType::F64);
    EXPECT_EQ(weight.grad().dtype(), DType::F64);
    EXPECT_EQ(weight.storage()->role(), MemoryRole::Parameter);
    EXPECT_EQ(net.norm->running_mean.dtype(), DType::F64);
    EXPECT_EQ(net.steps.dtype(), DType::I64);
    EXPECT_TRUE(weight.requires_grad());
    EXPECT_TRUE(weight.is_leaf());
    net.zero_grad();
    sum(net(randn({4, 2}, {.dtype = DType::F64}))).backward();
    EXPECT_EQ(weight.grad().dtype(), DType::F64);
    EXPECT_THROW(net.to(DType::I64), DTypeError);
}

TEST_F(State, FrozenParametersGetNoGradient) {
    Net net;
    net.stem->requires_grad_(false);
    sum(net(randn({4, 2}))).backward();
    EXPECT_FALSE(net.stem->weight.grad().defined());
    EXPECT_TRUE(net.scale.grad().defined());
}

TEST_F(State, WalksTheTree) {
    Net net;
    std::vector<std::string> order;
    net.apply([&](Module& module) { order.push_back(module.type_name()); });
    EXPECT_EQ(order, (std::vector<std::string>{"Linear", "BatchNorm1d", "Net"}));
    const auto modules = net.named_modules();
    ASSERT_EQ(modules.size(), 3U);
    EXPECT_EQ(modules[0].second, &net);
    EXPECT_EQ(modules[2].first, "norm");
    EXPECT_EQ(net.named_children().size(), 2U);
}

TEST_F(State, SummaryCountsParameters) {
    const std::string text = Net().summary();
    EXPECT_TRUE(contains(text, "stem: Linear")) << text;
    EXPECT_TRUE(contains(text, "2→3")) << text;
    EXPECT_TRUE(contains(text, "16 parameters (16 trainable, 64 bytes), 7 values in buffers"))
        << text;
}

TEST_F(State, RegistrationRefusesWhatCannotBeAParameter) {
    Net net;
    EXPECT_TRUE(contains(messageOf<Error>([&] { net.register_parameter("scale", ones({1})); }),
                         "is taken"));
    EXPECT_TRUE(contains(messageOf<Error>([&] { net.register_parameter("a.b", ones({1})); }),
                         "without dots"));
    EXPECT_TRUE(contains(messageOf<Error>([&] { net.register_parameter("a", net.scale * 2); }),
                         "result of an operator"));
    EXPECT_TRUE(contains(
        messageOf<Error>([&] { net.register_parameter("a", zeros({1}, {.dtype = DType::I64})); }),
        "register it as a buffer"));
    auto parent = std::make_shared<Sequential>();
    parent->push_back(std::make_shared<Sequential>());
    EXPECT_TRUE(contains(messageOf<Error>([&] { parent->adopt("self", parent); }), "tree"));
}

TEST_F(State, ModuleDictFindsByNameAndSuggests) {
    ModuleDict heads({{"class", make<Linear>(4, 10)}, {"box", make<Linear>(4, 4)}});
    EXPECT_EQ(heads.keys(), (std::vector<std::string>{"class", "box"}));
    EXPECT_TRUE(heads.contains("box"));
    EXPECT_FALSE(heads.contains("mask"));
    EXPECT_EQ(heads["box"](randn({2, 4})).sizes(), (Dims{2, 4}));
    EXPECT_EQ(heads.named_parameters()[2].first, "box.weight");
    EXPECT_TRUE(contains(messageOf<Error>([&] { heads["clas"]; }), "did you mean class"));
    EXPECT_THROW(heads.insert("box", make<Linear>(1, 1)), Error);
    EXPECT_THROW(heads(randn({1})), Error);
}

TEST_F(State, ParameterListNamesByPosition) {
    ParameterList list({ones({2}), zeros({3})});
    list.append(ones({4}));
    EXPECT_EQ(list.size(), 3U);
    EXPECT_EQ(keysOf(list.named_parameters()), (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_TRUE(list[2].requires_grad());
    EXPECT_THROW(list[3], IndexError);
    EXPECT_THROW(list.append(Tensor()), Error);
}

}  // namespace
}  // namespace tapescope::engine::nn
