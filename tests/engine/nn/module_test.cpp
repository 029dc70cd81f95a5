// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/module.h"

#include "engine/errors.h"
#include "engine/nn/nn.h"
#include "engine/ops/op_def.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <gtest/gtest.h>

namespace tapescope::engine::nn {
namespace {

struct Block : Module {
    Block() : Module("Block") {
        fc = register_module<Linear>("fc", 3, 3);
        norm = register_module<BatchNorm1d>("norm", 3);
    }
    Tensor forward(const Tensor& x) override { return relu(norm(fc(x))); }
    ModuleRef<Linear> fc;
    ModuleRef<BatchNorm1d> norm;
};

struct Net : Module {
    Net() : Module("Net") {
        scale = register_parameter("scale", ones({1}));
        layers = register_module<Sequential>("layers", make<Block>(), make<Block>());
        head = register_module<Linear>("head", 3, 2, false);
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = layers(x);
        headLine = __LINE__ + 1;
        y = head(y);
        return y * scale;
    }
    Tensor scale;
    ModuleRef<Sequential> layers;
    ModuleRef<Linear> head;
    int headLine = 0;
};

std::vector<std::string> namesOf(const std::vector<Module::NamedTensor>& list) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : list) names.push_back(name);
    return names;
}

TEST(Module, NamesParametersByPathInRegistrationOrder) {
    const Net net;
    EXPECT_EQ(namesOf(net.named_parameters()),
              (std::vector<std::string>{
                  "scale", "layers.0.fc.weight", "layers.0.fc.bias", "layers.0.norm.weight",
                  "layers.0.norm.bias", "layers.1.fc.weight", "layers.1.fc.bias",
                  "layers.1.norm.weight", "layers.1.norm.bias", "head.weight"}));
    EXPECT_EQ(namesOf(net.named_parameters(false)), std::vector<std::string>{"scale"});
    EXPECT_EQ(
        namesOf(net.named_buffers()),
        (std::vector<std::string>{"layers.0.norm.running_mean", "layers.0.norm.running_var",
                                  "layers.1.norm.running_mean", "layers.1.norm.running_var"}));
    EXPECT_EQ(net.parameters().size(), 10U);
}

TEST(Module, MarksParametersAndBuffers) {
    const Net net;
    for (const auto& [name, tensor] : net.named_parameters()) {
        EXPECT_TRUE(tensor.requires_grad()) << name;
        EXPECT_EQ(tensor.storage()->role(), MemoryRole::Parameter) << name;
    }
    for (const auto& [name, tensor] : net.named_buffers()) {
        EXPECT_FALSE(tensor.requires_grad()) << name;
        EXPECT_EQ(tensor.storage()->role(), MemoryRole::Buffer) << name;
    }
}

TEST(Module, FindsModulesByPath) {
    const Net net;
    EXPECT_EQ(net.find(""), &net);
    ASSERT_NE(net.find("layers.1.fc"), nullptr);
    EXPECT_EQ(net.find("layers.1.fc")->path(), "layers.1.fc");
    EXPECT_EQ(net.find("layers.1.fc")->name(), "fc");
    EXPECT_EQ(net.find("layers.2"), nullptr);
    EXPECT_EQ(net.find("layers.1.fc.weight"), nullptr);
    EXPECT_EQ(net.find("lay"), nullptr);
}

TEST(Module, TrainAndEvalReachEveryChild) {
    Net net;
    net.eval();
    EXPECT_FALSE(net.find("layers.1.norm")->is_training());
    net.train();
    EXPECT_TRUE(net.find("layers.1.norm")->is_training());
}

TEST(Module, ZeroGradDropsEveryGradient) {
    Net net;
    net(randn({4, 3})).backward(ones({4, 2}));
    for (const auto& [name, tensor] : net.named_parameters())
        EXPECT_TRUE(tensor.grad().defined()) << name;
    net.zero_grad();
    for (const auto& [name, tensor] : net.named_parameters())
        EXPECT_FALSE(tensor.grad().defined()) << name;
}

TEST(Module, ListsATensorSharedByTwoModulesOnce) {
    struct Tied : Module {
        Tied() : Module("Tied") {
            const Tensor shared = zeros({2});
            register_parameter("a", shared);
            register_parameter("b", shared);
        }
        Tensor forward(const Tensor& x) override { return x; }
    };
    EXPECT_EQ(namesOf(Tied().named_parameters()), std::vector<std::string>{"a"});
}

TEST(Module, RefusesNamesThatAreTakenEmptyOrDotted) {
    struct Open : Module {
        Open() : Module("Open") {}
        Tensor forward(const Tensor& x) override { return x; }
        using Module::register_buffer;
        using Module::register_parameter;
    };
    Open open;
    open.register_parameter("w", zeros({1}));
    EXPECT_THROW(open.register_parameter("w", zeros({1})), Error);
    EXPECT_THROW(open.register_buffer("w", zeros({1})), Error);
    EXPECT_THROW(open.register_module<Open>("w"), Error);
    EXPECT_THROW(open.register_module<Open>(""), Error);
    EXPECT_THROW(open.register_module<Open>("a.b"), Error);
    EXPECT_THROW(open.adopt("none", nullptr), Error);
    EXPECT_FALSE(open.register_parameter("bias", Tensor()).defined());
    EXPECT_EQ(open.named_parameters().size(), 1U);
}

struct Walk final : Observer {
    void onModuleEnter(const ModuleFrame& frame) override {
        events.push_back("+" + frame.path + ":" + frame.typeName);
    }
    void onModuleExit(const ModuleFrame& frame) override { events.push_back("-" + frame.path); }
    void onOpEnd(const OpCall& call) override {
        const std::string path = call.module ? call.module->path : "?";
        events.push_back(path + "|" + std::string(call.op->name));
        lines.push_back(call.site.line);
    }
    std::vector<std::string> events;
    std::vector<std::uint32_t> lines;
};

TEST(Module, TellsObserversEnterAndExitAroundItsOperators) {
    Context context;
    const ContextScope scope(context);
    Net net;
    net.eval();
    const Tensor x = ones({2, 3});
    Walk walk;
    context.addObserver(walk);
    net(x);
    context.removeObserver(walk);
    EXPECT_EQ(walk.events, (std::vector<std::string>{"+:Net",
                                                     "+layers:Sequential",
                                                     "+layers.0:Block",
                                                     "+layers.0.fc:Linear",
                                                     "layers.0.fc|linear",
                                                     "-layers.0.fc",
                                                     "+layers.0.norm:BatchNorm1d",
                                                     "layers.0.norm|batch_norm",
                                                     "-layers.0.norm",
                                                     "layers.0|relu",
                                                     "-layers.0",
                                                     "+layers.1:Block",
                                                     "+layers.1.fc:Linear",
                                                     "layers.1.fc|linear",
                                                     "-layers.1.fc",
                                                     "+layers.1.norm:BatchNorm1d",
                                                     "layers.1.norm|batch_norm",
                                                     "-layers.1.norm",
                                                     "layers.1|relu",
                                                     "-layers.1",
                                                     "-layers",
                                                     "+head:Linear",
                                                     "head|linear",
                                                     "-head",
                                                     "|mul",
                                                     "-"}));
    // A library layer's operator stands at the user's line that called the layer.
    ASSERT_EQ(walk.lines.size(), 8U);
    EXPECT_EQ(walk.lines[6], static_cast<std::uint32_t>(net.headLine));
    EXPECT_EQ(threadState().module, nullptr);
}

TEST(Module, PairsEnterWithExitWhenForwardThrows) {
    Context context;
    const ContextScope scope(context);
    Net net;
    const Tensor x = ones({2, 4});
    Walk walk;
    context.addObserver(walk);
    EXPECT_THROW(net(x), ShapeError);
    context.removeObserver(walk);
    const std::vector<std::string> want{
        "+:Net",        "+layers:Sequential", "+layers.0:Block", "+layers.0.fc:Linear",
        "-layers.0.fc", "-layers.0",          "-layers",         "-"};
    EXPECT_EQ(walk.events, want);
    EXPECT_EQ(threadState().module, nullptr);
}

TEST(Module, ShapeErrorsNameOperatorModuleAndSite) {
    Net net;
    try {
        net(ones({2, 4}));
        FAIL() << "a wrong shape was taken";
    } catch (const ShapeError& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("linear"), std::string::npos) << text;
        EXPECT_NE(text.find("in module layers.0.fc"), std::string::npos) << text;
        EXPECT_NE(text.find("module_test.cpp:"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace tapescope::engine::nn
