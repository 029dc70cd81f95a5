// SPDX-License-Identifier: Apache-2.0
// The rest of the softmax family, composed of operators.
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_functional.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

Tensor softminComposite(const OpArgs& a, Site site) {
    return softmin(a[0], a.attrs.integer(0), site);
}
constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kDim[] = {{"dim", AttrKind::Int}};

}  // namespace

constinit OpDef kSoftmin{.name = "softmin",
                         .family = Family::Nn,
                         .args = kInput,
                         .attrs = kDim,
                         .types = TypeRule::Floating,
                         .composite = composeOne<softminComposite>};

Tensor softmax(const Tensor& x, std::int64_t dim, DType dtype, Site site) {
    return softmax(to(x, dtype, site), dim, site);
}
Tensor log_softmax(const Tensor& x, std::int64_t dim, DType dtype, Site site) {
    return log_softmax(to(x, dtype, site), dim, site);
}
Tensor softmin(const Tensor& x, std::int64_t dim, Site site) {
    return softmax(neg(x, site), dim, site);
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, std::int64_t dim,
                      Site site) try {
    checkFloating("gumbel_softmax", "logits", logits);
    if (!(tau > 0))
        throw Error("gumbel_softmax: tau " + std::to_string(tau) + " must be greater than 0");
    const int along = wrapDim("gumbel_softmax", dim, logits.dim());
    // Gumbel noise is -log(-log(u)); u = 0 gives -infinity, a class that is never drawn.
    const Tensor uniform = rand(logits.sizes(), {.dtype = logits.dtype()}, site);
    const Tensor noise = neg(log(neg(log(uniform, site), site), site), site);
    const Tensor soft = softmax(div(add(logits, noise, site), tau, site), along, site);
    if (!hard) return soft;
    const Tensor value = soft.detach();
    const Tensor drawn = argmax(value, along, true, site);
    const Tensor oneHot = scatter_add(zeros_like(value, site), along, drawn,
                                      ones(drawn.sizes(), {.dtype = value.dtype()}), site);
    // One-hot in value, the soft choice in gradient.
    return add(sub(oneHot, value, site), soft, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
