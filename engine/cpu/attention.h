// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// softmax(q k^T * scale + mask) v, in blocks of query rows: at no time more than one block of
/// scores a thread. q [..., Hq, L, E], k [..., Hk, S, E], v [..., Hk, S, Ev] with Hq a multiple of
/// Hk and the same sizes in front; mask (bool: true = visible, or added; may be undefined)
/// broadcasts to [..., Hq, L, S].
struct AttentionInputs {
    const Tensor& q;
    const Tensor& k;
    const Tensor& v;
    const Tensor& mask;
    bool causal = false;
    double scale = 1;
};
/// out [..., Hq, L, Ev]; lse [..., Hq, L]: log of the sums of exponentials, for backward.
void attentionInto(const AttentionInputs& in, const Tensor& out, const Tensor& lse);
void attentionBackwardInto(const AttentionInputs& in, const Tensor& grad, const Tensor& out,
                           const Tensor& lse, const Tensor& dq, const Tensor& dk, const Tensor& dv);

}  // namespace tapescope::engine::cpu
