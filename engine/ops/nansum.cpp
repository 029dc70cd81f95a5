// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/cpu/reduce_kernels.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_arithmetic.h"
#include "engine/ops/reduce_rows.h"
#include "engine/ops/shape.h"
#include "engine/ops/statistics_rows.h"

#include <algorithm>

namespace tapescope::engine {
namespace {

void inferNansum(const OpArgs& args, OutputMetas& out) {
    const DType dtype = args[0].dtype();
    out.add(reducedSizes("nansum", args[0].sizes(), dimsAttr(args.attrs), keepdimAttr(args.attrs)),
            isFloating(dtype) ? dtype : DType::I64);
}

void nansumKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& x = args[0];
    if (!isFloating(x.dtype())) return cpu::sum(args, outputs);
    const Tensor numbers = cpu::converted(x, x.dtype());
    visitFloating(x.dtype(), [&]<class T>() {
        T* data = numbers.data<T>();
        std::replace_if(
            data, data + numbers.numel(), [](T v) { return v != v; }, T(0));
    });
    const Tensor* input = &numbers;
    cpu::sum({{&input, 1}, args.attrs}, outputs);
}

/// A product, not a choice: where the gradient is infinite (nanmean of NaN alone) PyTorch gives
/// NaN.
void nansumVjp(const VjpArgs& a, std::span<Tensor> out) {
    const Tensor numbers = to(logical_not(isnan(a.input(0))), a.meta(0).dtype);
    out[0] = mul(expand(restoreDims(a, a.grad()), a.meta(0).sizes), numbers);
}

}  // namespace

constinit OpDef kNansum =
    reductionRow("nansum", TypeRule::AsIs, inferNansum, nansumVjp, true, false, nansumKernel);

}  // namespace tapescope::engine
