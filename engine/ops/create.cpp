// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/pointwise_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/creation.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/shape.h"
#include "engine/tensor/complex.h"

#include <cmath>
#include <limits>

namespace tapescope::engine {
namespace {

constexpr ArgDef kInput[] = {{"input"}};
constexpr AttrDef kSizeAttrs[] = {{"size", AttrKind::Dims}, {"dtype", AttrKind::DType, "float32"}};
constexpr AttrDef kFullAttrs[] = {{"fill_value", AttrKind::Float},
                                  {"size", AttrKind::Dims},
                                  {"dtype", AttrKind::DType, "float32"}};
constexpr AttrDef kArangeAttrs[] = {{"start", AttrKind::Float},
                                    {"end", AttrKind::Float},
                                    {"step", AttrKind::Float, "1"},
                                    {"dtype", AttrKind::DType, "int64"}};
constexpr AttrDef kEyeAttrs[] = {
    {"n", AttrKind::Int}, {"dtype", AttrKind::DType, "float32"}, {"m", AttrKind::Int, "-1"}};

DType dtypeAttr(const Attrs& attrs, int i, DType standard = DType::F32) {
    return attrs.has(i) ? attrs.dtype(i) : standard;
}

template <const OpDef& row>
void inferSized(const OpArgs& args, OutputMetas& out) {
    checkSizes(row.name, args.attrs.dims(0));
    out.add(args.attrs.dims(0), dtypeAttr(args.attrs, 1));
}
void inferFull(const OpArgs& args, OutputMetas& out) {
    checkSizes("full", args.attrs.dims(1));
    checkFits("full", args.attrs.real(0), dtypeAttr(args.attrs, 2));
    out.add(args.attrs.dims(1), dtypeAttr(args.attrs, 2));
}
void inferLike(const OpArgs& args, OutputMetas& out) { out.add(args[0].sizes(), args[0].dtype()); }
void inferEye(const OpArgs& args, OutputMetas& out) {
    const std::int64_t n = args.attrs.integer(0);
    const std::int64_t m = args.attrs.has(2) ? args.attrs.integer(2) : -1;
    const Dims sizes{n, m == -1 ? n : m};
    checkSizes("eye", sizes);
    out.add(sizes, dtypeAttr(args.attrs, 1));
}

void inferArange(const OpArgs& args, OutputMetas& out) {
    const double start = args.attrs.real(0);
    const double end = args.attrs.real(1);
    const double step = args.attrs.real(2);
    const DType dtype = dtypeAttr(args.attrs, 3, DType::I64);
    if (dtype == DType::Bool) throw DTypeError("arange: bool tensors cannot count; use int64");
    const double count = std::ceil((end - start) / step);
    if (step == 0 || !(count >= 0) ||
        count > static_cast<double>(std::numeric_limits<std::int64_t>::max() / 16))
        throw ShapeError("arange: from " + std::to_string(start) + " to " + std::to_string(end) +
                         " in steps of " + std::to_string(step) +
                         " is not a finite number of steps; check the sign of step");
    out.add({static_cast<std::int64_t>(count)}, dtype);
}

/// cpu::fill takes the value from attribute 0 if it is a number, else 0.
void fillOnes(const OpArgs& args, std::span<Tensor> outputs) {
    const Attrs one{1.0};
    cpu::fill({args.inputs, one}, outputs);
}

void arangeKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const double start = args.attrs.real(0);
    const double step = args.attrs.real(2);
    visitDType(outputs[0].dtype(), [&]<class T>() {
        T* y = outputs[0].data<T>();
        const std::int64_t n = outputs[0].numel();
        for (std::int64_t i = 0; i < n; ++i)
            y[i] = static_cast<T>(start + static_cast<double>(i) * step);
    });
}

void eyeKernel(const OpArgs&, std::span<Tensor> outputs) {
    const Attrs zero;
    cpu::fill({{}, zero}, outputs);
    const auto ones = [&]<class T>() {
        T* y = outputs[0].data<T>();
        const std::int64_t n = outputs[0].sizes()[0];
        const std::int64_t m = outputs[0].sizes()[1];
        for (std::int64_t i = 0; i < n && i < m; ++i) y[i * m + i] = static_cast<T>(1);
    };
    if (isComplex(outputs[0].dtype())) return ones.operator()<Complex64>();
    visitEveryDType(outputs[0].dtype(), ones);
}

constexpr OpDef creation(std::string_view name, std::span<const AttrDef> attrs, InferFn infer,
                         KernelFn kernel) {
    return {.name = name,
            .family = Family::Create,
            .attrs = attrs,
            .infer = infer,
            .kernels = {kernel}};
}
constexpr OpDef like(std::string_view name, KernelFn kernel) {
    return {.name = name,
            .family = Family::Create,
            .args = kInput,
            .infer = inferLike,
            .kernels = {kernel}};
}

extern OpDef kZeros, kOnes;
constinit OpDef kZeros =
    takingEveryType(creation("zeros", kSizeAttrs, inferSized<kZeros>, cpu::fill));
constinit OpDef kOnes = takingEveryType(creation("ones", kSizeAttrs, inferSized<kOnes>, fillOnes));
constinit OpDef kFull = takingEveryType(creation("full", kFullAttrs, inferFull, cpu::fill));
constinit OpDef kArange = creation("arange", kArangeAttrs, inferArange, arangeKernel);
constinit OpDef kEye = takingEveryType(creation("eye", kEyeAttrs, inferEye, eyeKernel));
constinit OpDef kZerosLike = takingEveryType(like("zeros_like", cpu::fill));
constinit OpDef kOnesLike = takingEveryType(like("ones_like", fillOnes));

constinit OpDef* const kRows[] = {&kZeros, &kOnes,      &kFull,    &kArange,
                                  &kEye,   &kZerosLike, &kOnesLike};

Tensor create(const OpDef& op, const Attrs& attrs, TensorOptions options, Site site) {
    Tensor t = call1(op, {}, attrs, site);
    if (options.requires_grad) t.set_requires_grad(true);
    return t;
}

}  // namespace

std::span<OpDef* const> createOps() { return kRows; }

Tensor zeros(const Dims& sizes, TensorOptions options, Site site) {
    return create(kZeros, Attrs{sizes, options.dtype}, options, site);
}
Tensor ones(const Dims& sizes, TensorOptions options, Site site) {
    return create(kOnes, Attrs{sizes, options.dtype}, options, site);
}
Tensor full(const Dims& sizes, double value, TensorOptions options, Site site) {
    return create(kFull, Attrs{value, sizes, options.dtype}, options, site);
}
Tensor arange(double start, double end, double step, TensorOptions options, Site site) {
    return create(kArange, Attrs{start, end, step, options.dtype}, options, site);
}
Tensor eye(std::int64_t n, TensorOptions options, Site site) {
    return create(kEye, Attrs{n, options.dtype}, options, site);
}
Tensor eye(std::int64_t n, std::int64_t m, TensorOptions options, Site site) {
    if (m < 0) throw ShapeError(message("eye: the number of columns ", m, " must not be negative"));
    return create(kEye, Attrs{n, options.dtype, m}, options, site);
}
Tensor zeros_like(const Tensor& x, Site site) { return call1(kZerosLike, {&x}, {}, site); }
Tensor ones_like(const Tensor& x, Site site) { return call1(kOnesLike, {&x}, {}, site); }

}  // namespace tapescope::engine
