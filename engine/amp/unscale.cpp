// SPDX-License-Identifier: Apache-2.0
#include "engine/amp/unscale.h"

#include "engine/cpu/parallel.h"
#include "engine/cpu/strided.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"

#include <atomic>
#include <cmath>

namespace tapescope::engine {
namespace {

constexpr std::string_view kName = "amp_check_and_unscale_";

void inferUnscale(const OpArgs& args, OutputMetas& out) {
    checkFloating(kName, "grad", args[0]);
    if (args[1].dtype() != DType::F32 || args[1].dim() != 0)
        throw ShapeError(message(kName, ": found_inf must be f32[], not ",
                                 std::string_view(args[1].meta().toString())));
    out.add(args[0].sizes(), args[0].dtype());
}

void unscaleKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& grad = outputs[0];
    const double inverse = args.attrs.real(0);
    std::atomic<bool> found{false};
    const auto plan = cpu::planStrided<1>(grad.sizes(), {grad.strides()});
    const std::int64_t step = plan.innerStride(0);
    visitFloating(grad.dtype(), [&]<class T>() {
        T* const data = grad.data<T>();
        const T factor = static_cast<T>(inverse);
        cpu::parallelRows(plan, cpu::kGrain,
                          [&](const std::array<std::int64_t, 1>& at, std::int64_t n) {
                              // x * 0 is 0 for finite numbers only, and their sum of zeros says so
                              // at once.
                              T zeros = 0;
                              for (std::int64_t i = 0; i < n; ++i) {
                                  T& x = data[at[0] + i * step];
                                  zeros += x * T(0);
                                  x *= factor;
                              }
                              if (std::isnan(zeros)) found.store(true, std::memory_order_relaxed);
                          });
    });
    if (!found.load(std::memory_order_relaxed)) return;
    *args[1].data<float>() = 1.0F;
    const OpCall* call = threadState().op;
    args[1].storage()->noteWrite(call ? call->op : nullptr, call ? call->site : Site::none());
}

constexpr ArgDef kArgs[] = {{"grad"}, {"found_inf"}};
constexpr AttrDef kAttrs[] = {{"inv_scale", AttrKind::Float}};

constinit OpDef kUnscale{.name = kName,
                         .family = Family::Nn,
                         .args = kArgs,
                         .attrs = kAttrs,
                         .infer = inferUnscale,
                         .inplace = true,
                         .kernels = {unscaleKernel}};

}  // namespace

std::span<OpDef* const> ampOps() {
    static constexpr OpDef* kRows[] = {&kUnscale};
    return kRows;
}

namespace amp {

Tensor check_and_unscale_(const Tensor& grad, const Tensor& found_inf, double inv_scale,
                          Site site) {
    return call1(kUnscale, {&grad, &found_inf}, Attrs{inv_scale}, site);
}

}  // namespace amp
}  // namespace tapescope::engine
