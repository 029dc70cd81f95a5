// SPDX-License-Identifier: Apache-2.0
#include "engine/tensor/dims.h"

#include "engine/errors.h"

namespace tapescope::engine {

void throwRankTooLarge(std::size_t rank) {
    throw ShapeError("a tensor of rank " + std::to_string(rank) + " was asked for: at most " +
                     std::to_string(kMaxRank) + " dimensions are supported");
}

std::int64_t numelOf(const Dims& sizes) {
    std::int64_t n = 1;
    bool overflow = false;
    bool empty = false;
    for (std::int64_t s : sizes) {
        if (s < 0) throw ShapeError("the shape " + toString(sizes) + " has a negative size");
        empty |= s == 0;
        overflow |= __builtin_mul_overflow(n, s == 0 ? 1 : s, &n);
    }
    // 2^56 elements: still leaves room for byte counts and strides in int64.
    if (overflow || n > (std::int64_t{1} << 56)) {
        throw ShapeError("the shape " + toString(sizes) +
                         " has more elements than an address space holds");
    }
    return empty ? 0 : n;
}

Dims contiguousStrides(const Dims& sizes) {
    Dims strides = Dims::filled(sizes.size(), 1);
    std::int64_t run = 1;
    for (int i = sizes.size() - 1; i >= 0; --i) {
        strides[i] = run;
        run *= std::max<std::int64_t>(sizes[i], 1);
    }
    return strides;
}

std::string toString(const Dims& dims) {
    std::string text = "[";
    for (int i = 0; i < dims.size(); ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(dims[i]);
    }
    return text + "]";
}

bool broadcastShapes(const Dims& a, const Dims& b, Dims& out) {
    if (a == b) {
        out = a;
        return true;
    }
    const int rank = std::max(a.size(), b.size());
    Dims result = Dims::filled(rank, 1);
    for (int i = 0; i < rank; ++i) {
        const int ia = a.size() - 1 - i;
        const int ib = b.size() - 1 - i;
        const std::int64_t sa = ia >= 0 ? a[ia] : 1;
        const std::int64_t sb = ib >= 0 ? b[ib] : 1;
        if (sa != sb && sa != 1 && sb != 1) return false;
        result[rank - 1 - i] = sa == 1 ? sb : sa;
    }
    out = result;
    return true;
}

}  // namespace tapescope::engine
