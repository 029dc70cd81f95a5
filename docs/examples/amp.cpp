// SPDX-License-Identifier: Apache-2.0
// Mixed precision: matrix products in bfloat16, sensitive operators in float32, the loss scaled.
//
//     scaler = torch.amp.GradScaler()
//     for x, y in loader:
//         optimizer.zero_grad()
//         with torch.autocast("cpu", dtype=torch.bfloat16):
//             loss = F.cross_entropy(model(x), y)
//         scaler.scale(loss).backward()
//         scaler.unscale_(optimizer)
//         torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
//         scaler.step(optimizer)
//         scaler.update()
#include "engine/amp/autocast.h"
#include "engine/amp/grad_scaler.h"
#include "engine/autograd/autograd.h"
#include "engine/nn/nn.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"
#include "engine/optim/clip.h"

#include <cstdio>

using namespace tapescope::engine;

int main() {
    Context::current().generator().manual_seed(0);
    nn::Sequential model(nn::make<nn::Linear>(16, 64), nn::make<nn::ReLU>(),
                         nn::make<nn::Linear>(64, 4));
    const Tensor x = randn({256, 16});
    const Tensor y = argmax(narrow(x, 1, 0, 4), 1);
    optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
    amp::GradScaler scaler;
    DType inside = DType::F32;
    double loss = 0;
    for (int step = 0; step < 60; ++step) {
        optimizer.zero_grad();
        Tensor value;
        {
            const amp::AutocastGuard autocast(DType::BF16);
            const Tensor logits = model(x);
            inside = logits.dtype();
            value = cross_entropy(logits, y);
        }
        scaler.scale(value).backward();
        scaler.unscale_(optimizer);
        optim::clip_grad_norm_(model.parameters(), 1.0);
        scaler.step(optimizer);
        scaler.update();
        loss = value.item();
    }
    std::printf("logits %s, loss %.4f, scale %g\n", std::string(dtypeName(inside)).c_str(), loss,
                scaler.get_scale());
    return inside == DType::BF16 && loss < 0.2 && scaler.get_scale() == 65536 ? 0 : 1;
}
