// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/random_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kSizeAttrs[] = {{"size", AttrKind::Dims}, {"dtype", AttrKind::DType, "float32"}};
constexpr AttrDef kCount[] = {{"n", AttrKind::Int}};

template <const OpDef& row>
void inferSized(const OpArgs& args, OutputMetas& out) {
    const DType dtype = args.attrs.has(1) ? args.attrs.dtype(1) : DType::F32;
    checkSizes(row.name, args.attrs.dims(0));
    if (!isFloating(dtype))
        throw DTypeError(message(row.name, ": the dtype must be floating point, not ", dtype));
    out.add(args.attrs.dims(0), dtype);
}
void inferRandperm(const OpArgs& args, OutputMetas& out) {
    const std::int64_t n = args.attrs.integer(0);
    checkSizes("randperm", {n});
    if (n > cpu::kMaxRandperm)
        throw ShapeError(message("randperm: n = ", n, " is more than ", cpu::kMaxRandperm));
    out.add({n}, DType::I64);
}
void inferLike(const OpArgs& args, OutputMetas& out) { out.add(args[0].sizes(), args[0].dtype()); }

constexpr OpDef drawing(std::string_view name, std::span<const AttrDef> attrs, InferFn infer,
                        KernelFn kernel) {
    return {.name = name,
            .family = Family::Random,
            .attrs = attrs,
            .infer = infer,
            .random = true,
            .kernels = {kernel}};
}

extern OpDef kRand, kRandn;
constinit OpDef kRand =
    takingEveryRealType(drawing("rand", kSizeAttrs, inferSized<kRand>, cpu::rand));
constinit OpDef kRandn = drawing("randn", kSizeAttrs, inferSized<kRandn>, cpu::randn);
constinit OpDef kRandperm = drawing("randperm", kCount, inferRandperm, cpu::randperm);
constinit OpDef kBernoulli{.name = "bernoulli",
                           .family = Family::Random,
                           .args = kInput,
                           .types = TypeRule::Floating,
                           .infer = inferLike,
                           .random = true,
                           .kernels = {cpu::bernoulli}};

constinit OpDef* const kRows[] = {&kRand, &kRandn, &kRandperm, &kBernoulli};

Tensor draw(const OpDef& op, const Dims& sizes, TensorOptions options, Site site) {
    Tensor t = call1(op, {}, Attrs{sizes, options.dtype}, site);
    if (options.requires_grad) t.set_requires_grad(true);
    return t;
}

}  // namespace

std::span<OpDef* const> randomOps() { return kRows; }

Tensor rand(const Dims& sizes, TensorOptions options, Site site) {
    return draw(kRand, sizes, options, site);
}
Tensor randn(const Dims& sizes, TensorOptions options, Site site) {
    return draw(kRandn, sizes, options, site);
}
Tensor randperm(std::int64_t n, Site site) { return call1(kRandperm, {}, Attrs{n}, site); }
Tensor bernoulli(const Tensor& probability, Site site) {
    return call1(kBernoulli, {&probability}, {}, site);
}

}  // namespace tapescope::engine
