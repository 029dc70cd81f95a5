// SPDX-License-Identifier: Apache-2.0
// What a call costs when there is next to nothing to compute. libtorch_overhead.cpp is the twin.
#include "bench/peer/peer_case.h"
#include "engine/autograd/autograd.h"
#include "engine/nn/nn.h"
#include "engine/observe/context.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/optim/adam.h"

#include <memory>

namespace tapescope::bench {
namespace {

using namespace engine;

Tensor chain(Tensor x, const Tensor& y) {
    for (int i = 0; i < 5; ++i) {
        x = add(x, y);
        x = mul(x, y);
        x = relu(x);
        x = sub(x, y);
    }
    return x;
}

struct TinyMlp {
    nn::Sequential net{nn::make<nn::Linear>(4, 8), nn::make<nn::ReLU>(), nn::make<nn::Linear>(8, 8),
                       nn::make<nn::ReLU>(), nn::make<nn::Linear>(8, 2)};
    Tensor x = randn({2, 4});
    Tensor target = randn({2, 2});
    optim::Adam adam{net.parameters(), {.lr = 1e-3}};

    void step() {
        adam.zero_grad();
        mse_loss(net(x), target).backward();
        adam.step();
    }
};

}  // namespace

std::vector<PeerCase> overheadCases() {
    return {
        {"add_4_nograd",
         [] {
             return [a = randn({4}), b = randn({4})] {
                 const NoGradGuard guard;
                 add(a, b);
             };
         },
         1},
        {"add_4_inplace",
         [] {
             return [a = randn({4}), b = randn({4})] {
                 const NoGradGuard guard;
                 add_(a, b);
             };
         },
         1},
        {"add_4_grad",
         [] {
             return [a = randn({4}).set_requires_grad(true),
                     b = randn({4}).set_requires_grad(true)] { add(a, b); };
         },
         1},
        {"mm_4x4_nograd",
         [] {
             return [m = randn({4, 4})] {
                 const NoGradGuard guard;
                 mm(m, m);
             };
         },
         1},
        {"view_4_nograd",
         [] {
             return [a = randn({4})] {
                 const NoGradGuard guard;
                 view(a, {2, 2});
             };
         },
         1},
        {"chain20_forward_backward",
         [] {
             return
                 [a = randn({4}).set_requires_grad(true), b = randn({4}).set_requires_grad(true)] {
                     a.set_grad({});
                     b.set_grad({});
                     sum(chain(a, b)).backward();
                 };
         },
         21},
        {"tiny_mlp_adam_step", [] { return [mlp = std::make_shared<TinyMlp>()] { mlp->step(); }; },
         1},
    };
}

}  // namespace tapescope::bench
