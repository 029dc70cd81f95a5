// SPDX-License-Identifier: Apache-2.0
// Four small batches with one optimiser step give the gradient of one large batch.
//
//     for i, (x, y) in enumerate(loader):
//         loss = F.cross_entropy(model(x), y) / accumulation_steps
//         loss.backward()
//         if (i + 1) % accumulation_steps == 0:
//             optimizer.step()
//             optimizer.zero_grad()
#include "engine/autograd/autograd.h"
#include "engine/nn/nn.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/sgd.h"

#include <cstdio>

using namespace tapescope::engine;

int main() {
    Context::current().generator().manual_seed(0);
    constexpr int kSteps = 4;
    nn::Sequential model(nn::make<nn::Linear>(10, 32), nn::make<nn::Tanh>(),
                         nn::make<nn::Linear>(32, 3));
    const Tensor x = randn({64, 10});
    const Tensor y = argmax(narrow(x, 1, 0, 3), 1);
    optim::SGD optimizer(model.parameters(), {.lr = 0.1});

    cross_entropy(model(x), y).backward();
    const Tensor whole = clone(model.parameters()[0].grad());

    optimizer.zero_grad();
    for (int i = 0; i < kSteps; ++i) {
        const Tensor inputs = narrow(x, 0, i * 16, 16);
        const Tensor targets = narrow(y, 0, i * 16, 16);
        const Tensor loss = cross_entropy(model(inputs), targets) / kSteps;
        loss.backward();
        if ((i + 1) % kSteps == 0) {
            const double difference = amax(abs(model.parameters()[0].grad() - whole)).item();
            std::printf("largest difference from the whole batch's gradient: %.2g\n", difference);
            if (difference > 1e-6) return 1;
            optimizer.step();
            optimizer.zero_grad();
        }
    }
    return model.parameters()[0].grad().defined() ? 1 : 0;
}
