// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/copy.h"
#include "engine/tensor/tensor.h"

namespace tapescope::engine::cpu {

/// x itself if its elements lie one after another, else a packed copy. Undefined stays undefined.
inline Tensor dense(const Tensor& x) {
    if (!x.defined() || x.is_contiguous()) return x;
    Tensor copy = Tensor::empty(x.sizes(), x.dtype(), MemoryRole::Temporary);
    copyTensor(copy, x);
    return copy;
}

/// Data of x, null for an undefined tensor.
template <class T>
const T* dataOrNull(const Tensor& x) {
    return x.defined() ? x.data<T>() : nullptr;
}

}  // namespace tapescope::engine::cpu
