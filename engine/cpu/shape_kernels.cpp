// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/shape_kernels.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/parallel.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <cstring>

namespace tapescope::engine::cpu {

void fillZero(const Tensor& out) {
    auto* bytes = static_cast<char*>(out.data_ptr());
    parallelFor(static_cast<std::int64_t>(out.nbytes()), kGrain * 8,
                [&](std::int64_t begin, std::int64_t end) {
                    std::memset(bytes + begin, 0, static_cast<std::size_t>(end - begin));
                });
}

void flipInto(const Tensor& x, const Dims& dims, const Tensor& out) {
    if (x.numel() == 0) return;
    Dims strides = x.strides();
    std::int64_t offset = x.storage_offset();
    for (const std::int64_t dim : dims) {
        const int d = static_cast<int>(dim);
        if (x.dim() == 0) continue;
        offset += (x.sizes()[d] - 1) * strides[d];
        strides[d] = -strides[d];
    }
    // Only copied from, never handed out: tensors that users see have no negative strides.
    copyTensor(out, makeView(x, x.sizes(), strides, offset));
}

void padInto(const Tensor& x, const Dims& padding, double value, const Tensor& out) {
    copyTensor(out, Tensor::scalar(value, DType::F64));
    Dims sizes = x.sizes();
    std::int64_t from = x.storage_offset();
    std::int64_t to = out.storage_offset();
    for (int i = 0; i < padding.size() / 2; ++i) {
        const int d = sizes.size() - 1 - i;
        const std::int64_t before = padding[2 * i];
        const std::int64_t after = padding[2 * i + 1];
        const std::int64_t cutBefore = std::max<std::int64_t>(-before, 0);
        sizes[d] =
            std::max<std::int64_t>(sizes[d] - cutBefore - std::max<std::int64_t>(-after, 0), 0);
        from += cutBefore * x.strides()[d];
        to += std::max<std::int64_t>(before, 0) * out.strides()[d];
    }
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
    copyTensor(makeView(out, sizes, out.strides(), to), makeView(x, sizes, x.strides(), from));
}

}  // namespace tapescope::engine::cpu
