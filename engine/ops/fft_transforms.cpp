// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft_kernels.h"
#include "engine/ops/complex.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/fft_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/row_makers.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tapescope::engine {
namespace {

constexpr AttrDef kC2CAttrs[] = {{"dim", AttrKind::Dims},
                                 {"normalization", AttrKind::Int, "0"},
                                 {"forward", AttrKind::Bool, "true"}};
constexpr AttrDef kR2CAttrs[] = {{"dim", AttrKind::Dims},
                                 {"normalization", AttrKind::Int, "0"},
                                 {"onesided", AttrKind::Bool, "true"}};
constexpr AttrDef kC2RAttrs[] = {{"dim", AttrKind::Dims},
                                 {"normalization", AttrKind::Int, "0"},
                                 {"last_dim_size", AttrKind::Int}};

/// The dimensions, from the front, after the checks that the three rows share.
Dims dimsOf(std::string_view op, const OpArgs& args, DType dtype) {
    const Tensor& x = args[0];
    if (x.dtype() != dtype)
        throw DTypeError(message(op, ": input is ", x.dtype(), ", it must be ", dtype,
                                 "; convert it with to()"));
    const std::int64_t scale = args.attrs.integer(1);
    if (scale < 0 || scale > 2)
        throw Error(message(op, ": normalization ", scale,
                            " must be 0 (none), 1 (by 1/sqrt(n)) or 2 (by 1/n)"));
    if (x.dim() == 0)
        throw ShapeError(message(op, ": a 0-dimensional tensor has no dimension to transform"));
    const Dims dims = wrapDims(op, args.attrs.dims(0), x.dim());
    if (dims.empty()) throw ShapeError(message(op, ": dim must name at least one dimension"));
    for (const std::int64_t d : dims) {
        if (x.sizes()[static_cast<int>(d)] < 1)
            throw ShapeError(message(op, ": dimension ", d, " of ", x.sizes(),
                                     " is empty, a transform needs at least 1 element"));
    }
    return dims;
}
Dims wrapped(const OpArgs& args) { return wrapDims("fft", args.attrs.dims(0), args[0].dim()); }

double factorOf(const Attrs& attrs, const Dims& sizes, const Dims& dims) {
    double n = 1;
    for (const std::int64_t d : dims) n *= static_cast<double>(sizes[static_cast<int>(d)]);
    switch (static_cast<FftScale>(attrs.integer(1))) {
        case FftScale::ByRootN:
            return 1 / std::sqrt(n);
        case FftScale::ByN:
            return 1 / n;
        case FftScale::None:
            break;
    }
    return 1;
}

void inferC2C(const OpArgs& args, OutputMetas& out) {
    dimsOf("_fft_c2c", args, DType::C64);
    inferLikeFirst(args, out);
}
void inferR2C(const OpArgs& args, OutputMetas& out) {
    const auto last = static_cast<int>(dimsOf("_fft_r2c", args, DType::F32).back());
    Dims sizes = args[0].sizes();
    if (args.attrs.flag(2)) sizes[last] = sizes[last] / 2 + 1;
    out.add(sizes, DType::C64);
}
void inferC2R(const OpArgs& args, OutputMetas& out) {
    const auto last = static_cast<int>(dimsOf("_fft_c2r", args, DType::C64).back());
    const std::int64_t n = args.attrs.integer(2);
    Dims sizes = args[0].sizes();
    if (n < 1 || n / 2 + 1 != sizes[last])
        throw ShapeError(message("_fft_c2r: last_dim_size ", n, " does not fit dimension ", last,
                                 " of ", sizes, ": it must be 2 * (size - 1) or one more"));
    sizes[last] = n;
    checkSizes("_fft_c2r", sizes);
    out.add(sizes, DType::F32);
}

void kernelC2C(const OpArgs& args, std::span<Tensor> out) {
    const Dims dims = wrapped(args);
    cpu::fftComplex(args[0], dims, args.attrs.flag(2), factorOf(args.attrs, args[0].sizes(), dims),
                    out[0]);
}
void kernelR2C(const OpArgs& args, std::span<Tensor> out) {
    const Dims dims = wrapped(args);
    cpu::fftFromReal(args[0], dims, factorOf(args.attrs, args[0].sizes(), dims), out[0]);
}
void kernelC2R(const OpArgs& args, std::span<Tensor> out) {
    const Dims dims = wrapped(args);
    cpu::fftToReal(args[0], dims, factorOf(args.attrs, out[0].sizes(), dims), out[0]);
}

FftScale scaleOf(const VjpArgs& v) { return static_cast<FftScale>(v.attrs.integer(1)); }

/// The adjoint of a sum of e^(-+...) is the sum of the conjugates: the transform the other way.
void vjpC2C(const VjpArgs& v, std::span<Tensor> out) {
    out[0] = fftC2C(v.grad(), v.attrs.dims(0), scaleOf(v), !v.attrs.flag(2));
}
/// The other half, which nobody saw, has no gradient.
void vjpR2C(const VjpArgs& v, std::span<Tensor> out) {
    const Dims& sizes = v.meta(0).sizes;
    const Dims dims = wrapDims("_fft_r2c", v.attrs.dims(0), sizes.size());
    const auto last = static_cast<int>(dims.back());
    Tensor whole = v.grad();
    const std::int64_t unseen = sizes[last] - whole.sizes()[last];
    if (unseen > 0) whole = padEnd(whole, last, unseen);
    out[0] = real(fftC2C(whole, dims, scaleOf(v), false));
}
/// What counts for a frequency and for its mirror image gets the gradient of both.
void vjpC2R(const VjpArgs& v, std::span<Tensor> out) {
    const Tensor& g = v.grad();
    const Dims dims = wrapDims("_fft_c2r", v.attrs.dims(0), g.dim());
    const auto last = static_cast<int>(dims.back());
    const Tensor half = fftR2C(g, dims, scaleOf(v), true);
    const std::int64_t size = half.sizes()[last];
    const std::int64_t doubled = g.sizes()[last] - size;
    std::vector<float> weights(static_cast<std::size_t>(size), 1.0F);
    std::fill_n(weights.begin() + 1, doubled, 2.0F);
    Dims along = Dims::filled(g.dim(), 1);
    along[last] = size;
    out[0] = doubled > 0 ? mul(half, Tensor::from<float>(weights, along)) : half;
}

Cost costOf(const OpArgs& args, std::span<const Tensor> outputs) {
    Cost cost;
    cost.bytesRead = static_cast<std::int64_t>(args[0].nbytes());
    cost.bytesWritten = static_cast<std::int64_t>(outputs[0].nbytes());
    const double elements = static_cast<double>(std::max(args[0].numel(), outputs[0].numel()));
    double n = 1;
    const Dims& sizes = (args[0].numel() > outputs[0].numel() ? args[0] : outputs[0]).sizes();
    for (const std::int64_t d : wrapped(args)) n *= static_cast<double>(sizes[static_cast<int>(d)]);
    // The usual count: 5 n log2 n for complex numbers, half of it where one side is real.
    const bool complex = isComplex(args[0].dtype()) && isComplex(outputs[0].dtype());
    cost.flops = (complex ? 5.0 : 2.5) * elements * std::log2(std::max(n, 1.0));
    return cost;
}

constexpr OpDef transformRow(std::string_view name, std::span<const AttrDef> attrs, InferFn infer,
                             VjpFn vjp, KernelFn kernel) {
    return {.name = name,
            .family = Family::Fft,
            .args = kInputArg,
            .attrs = attrs,
            .infer = infer,
            .vjp = vjp,
            .native = kComputeTypes | dtypeBit(DType::C64),
            .cost = costOf,
            .kernels = {kernel}};
}

}  // namespace

Tensor padEnd(const Tensor& x, int dim, std::int64_t count, Site site) {
    if (dim == x.dim() - 1) return pad(x, {0, count}, 0, site);
    // A dimension far from the last would need more numbers than an attribute holds.
    return transpose(pad(transpose(x, dim, -1, site), {0, count}, 0, site), dim, -1, site);
}

constinit OpDef kFftC2C = transformRow("_fft_c2c", kC2CAttrs, inferC2C, vjpC2C, kernelC2C);
constinit OpDef kFftR2C = transformRow("_fft_r2c", kR2CAttrs, inferR2C, vjpR2C, kernelR2C);
constinit OpDef kFftC2R = transformRow("_fft_c2r", kC2RAttrs, inferC2R, vjpC2R, kernelC2R);

Tensor fftC2C(const Tensor& x, const Dims& dims, FftScale scale, bool forward, Site site) {
    return call1(kFftC2C, {&x}, Attrs(dims, static_cast<std::int64_t>(scale), forward), site);
}
Tensor fftR2C(const Tensor& x, const Dims& dims, FftScale scale, bool onesided, Site site) {
    return call1(kFftR2C, {&x}, Attrs(dims, static_cast<std::int64_t>(scale), onesided), site);
}
Tensor fftC2R(const Tensor& x, const Dims& dims, FftScale scale, std::int64_t lastSize, Site site) {
    return call1(kFftC2R, {&x}, Attrs(dims, static_cast<std::int64_t>(scale), lastSize), site);
}

}  // namespace tapescope::engine
