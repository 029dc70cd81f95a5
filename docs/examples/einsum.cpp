// SPDX-License-Identifier: Apache-2.0
// einsum in the guide's forms: matrix product, transpose, trace, batched product, attention scores.
//
//     torch.einsum("ij,jk->ik", a, b)
#include "engine/autograd/autograd.h"
#include "engine/observe/context.h"
#include "engine/ops/linalg.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <cstdio>

using namespace tapescope::engine;

namespace {
int failures = 0;

void expectClose(const char* what, const Tensor& actual, const Tensor& expected) {
    const bool same = actual.sizes() == expected.sizes();
    const double difference = same ? amax(abs(actual - expected)).item() : 0;
    std::printf("%-24s %-14s largest difference %.1g\n", what, actual.meta().toString().c_str(),
                difference);
    if (!same || difference > 1e-5) ++failures;
}
}  // namespace

int main() {
    Context::current().generator().manual_seed(0);
    const Tensor a = randn({3, 4}).set_requires_grad(true);
    const Tensor b = randn({4, 5});
    expectClose("ij,jk->ik", einsum("ij,jk->ik", {a, b}), matmul(a, b));
    expectClose("ij->ji", einsum("ij->ji", {a}), transpose(a, 0, 1));
    const Tensor square = randn({4, 4});
    expectClose("ii", einsum("ii", {square}), sum(square * eye(4)));
    const Tensor x = randn({2, 3, 4});
    const Tensor y = randn({2, 4, 5});
    expectClose("bij,bjk->bik", einsum("bij,bjk->bik", {x, y}), bmm(x, y));
    const Tensor q = randn({2, 6, 3, 8});
    expectClose("...qd,...kd->...qk", einsum("...qd,...kd->...qk", {q, q}),
                matmul(q, transpose(q, -2, -1)));
    // Gradients flow: d/da of the sum of a·b is the row sums of b.
    sum(einsum("ij,jk->ik", {a, b})).backward();
    expectClose("gradient", a.grad(), expand(reshape(sum(b, {1}), {1, 4}), {3, 4}));
    return failures;
}
