// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/reduce.h"

#include "engine/cpu/reduce_kernels.h"
#include "engine/ops/families.h"
#include "engine/ops/reduce_rows.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
namespace {

constinit OpDef* const kRows[] = {&kSum,    &kMean,   &kProd,       &kAmax, &kAmin,  &kArgmax,
                                  &kArgmin, &kAny,    &kAll,        &kVar,  &kStd,   &kLogsumexp,
                                  &kNorm,   &kCumsum, &kVectorNorm, &kDist, &kRenorm};

}  // namespace

std::span<OpDef* const> reduceOps() { return kRows; }

Dims dimsAttr(const Attrs& attrs) { return attrs.has(0) ? attrs.dims(0) : Dims{}; }
bool keepdimAttr(const Attrs& attrs, int keepdimAt) {
    return attrs.has(keepdimAt) && attrs.flag(keepdimAt);
}

Dims reducedSizes(std::string_view op, const Dims& sizes, const Dims& dims, bool keepdim) {
    const auto mask = cpu::reducedDims(op, dims, sizes.size());
    Dims out;
    for (int d = 0; d < sizes.size(); ++d) {
        if (!mask[static_cast<unsigned>(d)]) {
            out.push_back(sizes[d]);
        } else if (keepdim) {
            out.push_back(1);
        }
    }
    return out;
}

Tensor restoreDims(const VjpArgs& a, const Tensor& reduced) {
    const Dims sizes = reducedSizes(a.op.name, a.meta(0).sizes, dimsAttr(a.attrs), true);
    return reduced.sizes() == sizes ? reduced : reshape(reduced, sizes);
}

std::int64_t reducedCount(const VjpArgs& a) {
    const Dims& sizes = a.meta(0).sizes;
    const auto mask = cpu::reducedDims(a.op.name, dimsAttr(a.attrs), sizes.size());
    std::int64_t count = 1;
    for (int d = 0; d < sizes.size(); ++d) {
        if (mask[static_cast<unsigned>(d)]) count *= sizes[d];
    }
    return count;
}

}  // namespace tapescope::engine
