// SPDX-License-Identifier: Apache-2.0
// PyTorch's "dynamic graph" example: the graph is what ran, so plain C++ control flow is enough.
//
//     class DynamicNet(torch.nn.Module):
//         def forward(self, x):
//             h = self.input_linear(x).clamp(min=0)
//             for _ in range(random.randint(0, 3)):
//                 h = self.middle_linear(h).clamp(min=0)
//             if h.sum() > 10: h = h * 0.5
//             return self.output_linear(h)
#include "engine/autograd/autograd.h"
#include "engine/nn/nn.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/sgd.h"

#include <cstdio>

using namespace tapescope::engine;

struct DynamicNet : nn::Module {
    DynamicNet() : Module("DynamicNet") {
        input = register_module<nn::Linear>("input", 8, 16);
        middle = register_module<nn::Linear>("middle", 16, 16);
        output = register_module<nn::Linear>("output", 16, 1);
    }
    Tensor forward(const Tensor& x) override {
        Tensor h = relu(input(x));
        for (int i = 0; i < repeats; ++i) h = relu(middle(h));  // the same weights again and again
        if (sum(h).item() > 10) h = h * 0.5;                    // depends on the data
        return output(h);
    }
    nn::ModuleRef<nn::Linear> input, middle, output;
    int repeats = 0;
};

int main() {
    Context::current().generator().manual_seed(0);
    DynamicNet net;
    optim::SGD sgd(net.parameters(), {.lr = 0.05, .momentum = 0.9});
    const Tensor x = randn({64, 8});
    const Tensor y = sum(x, {1}, true) * 0.25;
    double first = 0;
    double last = 0;
    for (int step = 0; step < 300; ++step) {
        net.repeats = step % 4;
        sgd.zero_grad();
        const Tensor loss = mse_loss(net(x), y);
        loss.backward();
        sgd.step();
        if (step == 0) first = loss.item();
        last = loss.item();
    }
    std::printf("loss %.4f -> %.4f\n", first, last);
    return last < 0.2 * first ? 0 : 1;
}
