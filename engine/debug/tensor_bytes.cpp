// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/tensor_bytes.h"

#include "engine/debug/element_runs.h"
#include "engine/errors.h"
#include "engine/tensor/complex.h"

#include <algorithm>
#include <cstring>

namespace tapescope::engine::debug {

std::size_t copyBytes(const Tensor& tensor, std::size_t offset, std::span<std::byte> out) {
    if (!tensor.defined()) throw Error("An undefined tensor has no bytes to read.");
    const std::size_t total = tensor.nbytes();
    if (offset >= total) return 0;
    const std::size_t count = std::min(out.size(), total - offset);
    const auto copy = [&]<class T>() {
        const auto first = static_cast<std::int64_t>(offset / sizeof(T));
        const auto end = static_cast<std::int64_t>((offset + count + sizeof(T) - 1) / sizeof(T));
        std::size_t skip = offset % sizeof(T);  // of the first element
        std::size_t written = 0;
        forEachRun<T>(tensor, first, end, [&](const T* from, std::int64_t n, std::int64_t stride) {
            if (stride == 1) {
                const std::size_t bytes =
                    std::min(static_cast<std::size_t>(n) * sizeof(T) - skip, count - written);
                std::memcpy(out.data() + written, reinterpret_cast<const std::byte*>(from) + skip,
                            bytes);
                written += bytes;
                skip = 0;
                return;
            }
            for (std::int64_t i = 0; i < n; ++i) {
                const std::size_t bytes = std::min(sizeof(T) - skip, count - written);
                std::memcpy(out.data() + written,
                            reinterpret_cast<const std::byte*>(from + i * stride) + skip, bytes);
                written += bytes;
                skip = 0;
            }
        });
    };
    if (isComplex(tensor.dtype()))
        copy.operator()<Complex64>();
    else
        visitEveryDType(tensor.dtype(), copy);
    return count;
}

}  // namespace tapescope::engine::debug
