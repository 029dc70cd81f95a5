// SPDX-License-Identifier: Apache-2.0
// The residual block every guide shows.
//
//     class ResidualBlock(nn.Module):
//         def forward(self, x):
//             out = F.relu(self.bn1(self.conv1(x)))
//             out = self.bn2(self.conv2(out))
//             return F.relu(out + self.shortcut(x))
#include "engine/autograd/autograd.h"
#include "engine/nn/nn.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cstdio>

using namespace tapescope::engine;

struct ResidualBlock : nn::Module {
    ResidualBlock(std::int64_t in, std::int64_t out, std::int64_t stride = 1)
        : Module("ResidualBlock") {
        conv1 = register_module<nn::Conv2d>(
            "conv1", in, out, 3, nn::Conv2dOptions{.stride = stride, .padding = 1, .bias = false});
        bn1 = register_module<nn::BatchNorm2d>("bn1", out);
        conv2 = register_module<nn::Conv2d>("conv2", out, out, 3,
                                            nn::Conv2dOptions{.padding = 1, .bias = false});
        bn2 = register_module<nn::BatchNorm2d>("bn2", out);
        shortcut = register_module<nn::Sequential>("shortcut");
        if (stride != 1 || in != out) {
            shortcut->push_back(nn::make<nn::Conv2d>(
                in, out, 1, nn::Conv2dOptions{.stride = stride, .bias = false}));
            shortcut->push_back(nn::make<nn::BatchNorm2d>(out));
        }
    }
    Tensor forward(const Tensor& x) override {
        Tensor out = relu(bn1(conv1(x)));
        out = bn2(conv2(out));
        return relu(out + shortcut(x));
    }
    nn::ModuleRef<nn::Conv2d> conv1, conv2;
    nn::ModuleRef<nn::BatchNorm2d> bn1, bn2;
    nn::ModuleRef<nn::Sequential> shortcut;
};

int main() {
    Context::current().generator().manual_seed(0);
    nn::Sequential net(nn::make<ResidualBlock>(3, 16), nn::make<ResidualBlock>(16, 32, 2));
    const Tensor y = net(randn({2, 3, 16, 16}));
    mean(y).backward();
    std::printf("output %s\n", y.meta().toString().c_str());
    for (const auto& [name, parameter] : net.named_parameters()) {
        if (!parameter.grad().defined()) {
            std::printf("%s got no gradient\n", name.c_str());
            return 1;
        }
    }
    return y.sizes() == Dims{2, 32, 8, 8} && amin(y).item() >= 0 ? 0 : 1;
}
