// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/fft.h"

#include "engine/ops/complex.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/families.h"
#include "engine/ops/fft_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/rearrange.h"
#include "engine/ops/row_makers.h"
#include "engine/ops/shape.h"

#include <utility>

namespace tapescope::engine {
namespace {

enum class Norm : std::int64_t { Backward, Ortho, Forward };

constexpr AttrDef kOneAttrs[] = {
    {"n", AttrKind::Int, "none"}, {"dim", AttrKind::Int, "-1"}, {"norm", AttrKind::Int, "0"}};
constexpr AttrDef kManyAttrs[] = {
    {"s", AttrKind::Dims, "none"}, {"dim", AttrKind::Dims, "none"}, {"norm", AttrKind::Int, "0"}};
constexpr AttrDef kTwoAttrs[] = {{"s", AttrKind::Dims, "none"},
                                 {"dim", AttrKind::Dims, "[-2, -1]"},
                                 {"norm", AttrKind::Int, "0"}};
constexpr AttrDef kFreqAttrs[] = {
    {"n", AttrKind::Int}, {"d", AttrKind::Float, "1"}, {"dtype", AttrKind::DType, "float32"}};
constexpr AttrDef kShiftAttrs[] = {{"dim", AttrKind::Dims, "none"}};

/// What is transformed: float32 or complex64.
Tensor prepared(std::string_view op, const Tensor& x, Site site) {
    switch (x.dtype()) {
        case DType::F32:
        case DType::C64:
            return x;
        case DType::F64:
            throw DTypeError(message(op, ": float64 would give complex128, which there is not; ",
                                     "convert the input with to(x, DType::F32)"));
        case DType::F16:
        case DType::BF16:
            throw DTypeError(message(op, ": ", x.dtype(),
                                     " has no transform on the CPU; convert the input with to(x, "
                                     "DType::F32)"));
        default:
            return to(x, DType::F32, site);
    }
}
Tensor preparedReal(std::string_view op, const Tensor& x, Site site) {
    if (is_complex(x))
        throw DTypeError(message(op, ": the input must be real, not ", x.dtype(),
                                 "; take real(x), or the transform of complex numbers"));
    return prepared(op, x, site);
}

FftScale scaleOf(std::string_view op, const Attrs& attrs, bool forward) {
    const std::int64_t norm = attrs.has(2) ? attrs.integer(2) : 0;
    switch (static_cast<Norm>(norm)) {
        case Norm::Backward:
            return forward ? FftScale::None : FftScale::ByN;
        case Norm::Ortho:
            return FftScale::ByRootN;
        case Norm::Forward:
            return forward ? FftScale::ByN : FftScale::None;
    }
    throw Error(message(op, ": norm ", norm, " must be 0 (backward), 1 (ortho) or 2 (forward)"));
}

void checkLength(std::string_view op, std::int64_t n, const Tensor& x) {
    if (n < 1)
        throw ShapeError(message(op, ": the number of points ", n, " for an input ", x.sizes(),
                                 " must be at least 1"));
}

/// Cut, or padded with zeros at its end.
Tensor resized(const Tensor& x, int dim, std::int64_t n, Site site) {
    const std::int64_t size = x.sizes()[dim];
    if (n < size) return narrow(x, dim, 0, n, site);
    return n > size ? padEnd(x, dim, n - size, site) : x;
}

/// Of a real input all frequencies: cheaper than turning it into complex numbers first.
Tensor allOfReal(const Tensor& x, const Dims& dims, FftScale scale, bool forward, Site site) {
    const Tensor y = fftR2C(x, dims, scale, false, site);
    return forward ? y : conj(y, site);  // the inverse of real numbers mirrors the forward one
}

/// Dimensions and lengths of a transform. Wrapped, and as many as each other.
struct Extent {
    Dims dims;
    Dims sizes;
};

Extent oneDim(std::string_view op, const OpArgs& a, const Tensor& x) {
    if (x.dim() == 0)
        throw ShapeError(message(op, ": a 0-dimensional tensor has no dimension to transform"));
    const int dim = wrapDim(op, a.attrs.has(1) ? a.attrs.integer(1) : -1, x.dim());
    return {{dim}, {a.attrs.has(0) ? a.attrs.integer(0) : x.sizes()[dim]}};
}

Extent manyDims(std::string_view op, const OpArgs& a, const Tensor& x) {
    Extent extent;
    if (a.attrs.has(1)) {
        extent.dims = wrapDims(op, a.attrs.dims(1), x.dim());
    } else {
        const int count = a.attrs.has(0) ? a.attrs.dims(0).size() : x.dim();
        if (count > x.dim())
            throw ShapeError(message(op, ": s ", a.attrs.dims(0), " has more entries than ",
                                     x.sizes(), " has dimensions"));
        for (int d = x.dim() - count; d < x.dim(); ++d) extent.dims.push_back(d);
    }
    if (a.attrs.has(0) && a.attrs.dims(0).size() != extent.dims.size())
        throw ShapeError(message(op, ": s ", a.attrs.dims(0), " and dim ", a.attrs.dims(1),
                                 " must have as many entries as each other"));
    if (x.dim() == 0 && !extent.dims.empty())
        throw ShapeError(message(op, ": a 0-dimensional tensor has no dimension to transform"));
    for (int i = 0; i < extent.dims.size(); ++i) {
        const bool given = a.attrs.has(0) && a.attrs.dims(0)[i] != -1;
        extent.sizes.push_back(given ? a.attrs.dims(0)[i]
                                     : x.sizes()[static_cast<int>(extent.dims[i])]);
    }
    return extent;
}

Tensor resized(std::string_view op, Tensor x, const Extent& extent, Site site) {
    for (const std::int64_t n : extent.sizes) checkLength(op, n, x);
    for (int i = 0; i < extent.dims.size(); ++i)
        x = resized(x, static_cast<int>(extent.dims[i]), extent.sizes[i], site);
    return x;
}

using ExtentFn = Extent (*)(std::string_view, const OpArgs&, const Tensor&);

template <OpName name, ExtentFn extentOf, bool forward>
Tensor toComplex(const OpArgs& a, Site site) {
    const FftScale scale = scaleOf(name.view(), a.attrs, forward);
    Tensor x = prepared(name.view(), a[0], site);
    const Extent extent = extentOf(name.view(), a, x);
    if (extent.dims.empty()) return is_complex(x) ? clone(x, site) : to(x, DType::C64, site);
    x = resized(name.view(), x, extent, site);
    if (!is_complex(x)) return allOfReal(x, extent.dims, scale, forward, site);
    return fftC2C(x, extent.dims, scale, forward, site);
}

template <OpName name, ExtentFn extentOf, bool forward>
Tensor realToHalf(const OpArgs& a, Site site) {
    const FftScale scale = scaleOf(name.view(), a.attrs, forward);
    Tensor x = preparedReal(name.view(), a[0], site);
    const Extent extent = extentOf(name.view(), a, x);
    if (extent.dims.empty())
        throw ShapeError(message(name.view(), ": dim must name at least one dimension"));
    x = resized(name.view(), x, extent, site);
    const Tensor y = fftR2C(x, extent.dims, scale, true, site);
    return forward ? y : conj(y, site);
}

template <OpName name, ExtentFn extentOf, bool forward>
Tensor halfToReal(const OpArgs& a, Site site) {
    const FftScale scale = scaleOf(name.view(), a.attrs, forward);
    Tensor x = to(prepared(name.view(), a[0], site), DType::C64, site);
    Extent extent = extentOf(name.view(), a, x);
    const int count = extent.dims.size();
    if (count == 0)
        throw ShapeError(message(name.view(), ": dim must name at least one dimension"));
    std::int64_t& half = extent.sizes[count - 1];
    const bool given = a.attrs.has(0) && (extentOf == oneDim || a.attrs.dims(0)[count - 1] != -1);
    const std::int64_t n = given ? half : 2 * (x.sizes()[static_cast<int>(extent.dims.back())] - 1);
    checkLength(name.view(), n, x);
    half = n / 2 + 1;
    x = resized(name.view(), x, extent, site);
    return fftC2R(forward ? conj(x, site) : x, extent.dims, scale, n, site);
}

template <OpName name, bool half>
Tensor frequencies(const OpArgs& a, Site site) {
    const std::int64_t n = a.attrs.integer(0);
    const DType dtype = a.attrs.has(2) ? a.attrs.dtype(2) : DType::F32;
    if (n < 0) throw ShapeError(message(name.view(), ": n ", n, " must not be negative"));
    if (!isFloating(dtype))
        throw DTypeError(message(name.view(), ": ", dtype,
                                 " cannot hold frequencies; take a floating-point type"));
    const auto line = [&](std::int64_t from, std::int64_t to) {
        return arange(static_cast<double>(from), static_cast<double>(to), 1, {.dtype = dtype},
                      site);
    };
    Tensor counts;
    if (half) {
        counts = line(0, n / 2 + 1);
    } else {
        const Tensor parts[] = {line(0, n - n / 2), line(-(n / 2), 0)};
        counts = cat(parts, 0, site);
    }
    const double d = a.attrs.has(1) ? a.attrs.real(1) : 1.0;
    return mul(counts, 1.0 / (static_cast<double>(n) * d), site);
}

template <OpName name, bool inverse>
Tensor shifted(const OpArgs& a, Site site) {
    const Tensor& x = a[0];
    Dims dims;
    if (a.attrs.has(0)) {
        dims = wrapDims(name.view(), a.attrs.dims(0), x.dim());
    } else {
        for (int d = 0; d < x.dim(); ++d) dims.push_back(d);
    }
    if (dims.empty())
        throw ShapeError(
            message(name.view(), ": there is no dimension to shift, the input is ", x.sizes()));
    Dims shifts;
    for (const std::int64_t d : dims)
        shifts.push_back((x.sizes()[static_cast<int>(d)] + (inverse ? 1 : 0)) / 2);
    return roll(x, shifts, dims, site);
}

template <ComposeFn fn>
constexpr OpDef row(std::string_view name, std::span<const AttrDef> attrs) {
    return compositeRow(name, Family::Fft, kInputArg, attrs, composeOne<fn>);
}
template <ComposeFn fn>
constexpr OpDef freqRow(std::string_view name) {
    return compositeRow(name, Family::Fft, {}, kFreqAttrs, composeOne<fn>, TypeRule::AsIs, false);
}

constinit OpDef kFft = row<toComplex<"fft_fft", oneDim, true>>("fft_fft", kOneAttrs);
constinit OpDef kIfft = row<toComplex<"fft_ifft", oneDim, false>>("fft_ifft", kOneAttrs);
constinit OpDef kRfft = row<realToHalf<"fft_rfft", oneDim, true>>("fft_rfft", kOneAttrs);
constinit OpDef kIrfft = row<halfToReal<"fft_irfft", oneDim, false>>("fft_irfft", kOneAttrs);
constinit OpDef kHfft = row<halfToReal<"fft_hfft", oneDim, true>>("fft_hfft", kOneAttrs);
constinit OpDef kIhfft = row<realToHalf<"fft_ihfft", oneDim, false>>("fft_ihfft", kOneAttrs);
constinit OpDef kFftn = row<toComplex<"fft_fftn", manyDims, true>>("fft_fftn", kManyAttrs);
constinit OpDef kIfftn = row<toComplex<"fft_ifftn", manyDims, false>>("fft_ifftn", kManyAttrs);
constinit OpDef kRfftn = row<realToHalf<"fft_rfftn", manyDims, true>>("fft_rfftn", kManyAttrs);
constinit OpDef kIrfftn = row<halfToReal<"fft_irfftn", manyDims, false>>("fft_irfftn", kManyAttrs);
constinit OpDef kFft2 = row<toComplex<"fft_fft2", manyDims, true>>("fft_fft2", kTwoAttrs);
constinit OpDef kIfft2 = row<toComplex<"fft_ifft2", manyDims, false>>("fft_ifft2", kTwoAttrs);
constinit OpDef kRfft2 = row<realToHalf<"fft_rfft2", manyDims, true>>("fft_rfft2", kTwoAttrs);
constinit OpDef kIrfft2 = row<halfToReal<"fft_irfft2", manyDims, false>>("fft_irfft2", kTwoAttrs);
constinit OpDef kFftfreq = freqRow<frequencies<"fft_fftfreq", false>>("fft_fftfreq");
constinit OpDef kRfftfreq = freqRow<frequencies<"fft_rfftfreq", true>>("fft_rfftfreq");
constinit OpDef kFftshift = row<shifted<"fft_fftshift", false>>("fft_fftshift", kShiftAttrs);
constinit OpDef kIfftshift = row<shifted<"fft_ifftshift", true>>("fft_ifftshift", kShiftAttrs);

constinit OpDef* const kRows[] = {&kFftC2C,   &kFftR2C,   &kFftC2R,   &kFft,   &kIfft,   &kRfft,
                                  &kIrfft,    &kHfft,     &kIhfft,    &kFftn,  &kIfftn,  &kRfftn,
                                  &kIrfftn,   &kFft2,     &kIfft2,    &kRfft2, &kIrfft2, &kFftfreq,
                                  &kRfftfreq, &kFftshift, &kIfftshift};

std::int64_t normCode(std::string_view op, std::string_view norm, Site site) {
    constexpr std::string_view kNames[] = {"backward", "ortho", "forward"};
    for (std::int64_t i = 0; i < 3; ++i)
        if (norm == kNames[i]) return i;
    throw Error(
        message(op, ": norm \"", norm, "\" must be \"backward\", \"ortho\" or \"forward\"") +
        placeSuffix("", site));
}
AttrValue attrOf(const std::optional<Dims>& dims) {
    if (dims) return *dims;
    return std::monostate{};
}

Tensor one(const OpDef& op, const Tensor& x, std::optional<std::int64_t> n, std::int64_t dim,
           std::string_view norm, Site site) {
    return call1(op, {&x}, Attrs(engine::attrOf(n), dim, normCode(op.name, norm, site)), site);
}
Tensor many(const OpDef& op, const Tensor& x, const std::optional<Dims>& s,
            const std::optional<Dims>& dims, std::string_view norm, Site site) {
    return call1(op, {&x}, Attrs(attrOf(s), attrOf(dims), normCode(op.name, norm, site)), site);
}
Tensor freq(const OpDef& op, std::int64_t n, double d, TensorOptions options, Site site) {
    Tensor t = call1(op, {}, Attrs(n, d, options.dtype), site);
    if (options.requires_grad) t.set_requires_grad(true);
    return t;
}

using Length = std::optional<std::int64_t>;
using Sizes = std::optional<Dims>;
using Name = std::string_view;

}  // namespace

std::span<OpDef* const> fftOps() { return kRows; }

Tensor fft_fft(const Tensor& x, Length n, std::int64_t dim, Name norm, Site site) {
    return one(kFft, x, n, dim, norm, site);
}
Tensor fft_ifft(const Tensor& x, Length n, std::int64_t dim, Name norm, Site site) {
    return one(kIfft, x, n, dim, norm, site);
}
Tensor fft_rfft(const Tensor& x, Length n, std::int64_t dim, Name norm, Site site) {
    return one(kRfft, x, n, dim, norm, site);
}
Tensor fft_irfft(const Tensor& x, Length n, std::int64_t dim, Name norm, Site site) {
    return one(kIrfft, x, n, dim, norm, site);
}
Tensor fft_hfft(const Tensor& x, Length n, std::int64_t dim, Name norm, Site site) {
    return one(kHfft, x, n, dim, norm, site);
}
Tensor fft_ihfft(const Tensor& x, Length n, std::int64_t dim, Name norm, Site site) {
    return one(kIhfft, x, n, dim, norm, site);
}
Tensor fft_fftn(const Tensor& x, Sizes s, Sizes dims, Name norm, Site site) {
    return many(kFftn, x, s, dims, norm, site);
}
Tensor fft_ifftn(const Tensor& x, Sizes s, Sizes dims, Name norm, Site site) {
    return many(kIfftn, x, s, dims, norm, site);
}
Tensor fft_rfftn(const Tensor& x, Sizes s, Sizes dims, Name norm, Site site) {
    return many(kRfftn, x, s, dims, norm, site);
}
Tensor fft_irfftn(const Tensor& x, Sizes s, Sizes dims, Name norm, Site site) {
    return many(kIrfftn, x, s, dims, norm, site);
}
Tensor fft_fft2(const Tensor& x, Sizes s, const Dims& dims, Name norm, Site site) {
    return many(kFft2, x, s, dims, norm, site);
}
Tensor fft_ifft2(const Tensor& x, Sizes s, const Dims& dims, Name norm, Site site) {
    return many(kIfft2, x, s, dims, norm, site);
}
Tensor fft_rfft2(const Tensor& x, Sizes s, const Dims& dims, Name norm, Site site) {
    return many(kRfft2, x, s, dims, norm, site);
}
Tensor fft_irfft2(const Tensor& x, Sizes s, const Dims& dims, Name norm, Site site) {
    return many(kIrfft2, x, s, dims, norm, site);
}
Tensor fft_fftfreq(std::int64_t n, double d, TensorOptions options, Site site) {
    return freq(kFftfreq, n, d, options, site);
}
Tensor fft_rfftfreq(std::int64_t n, double d, TensorOptions options, Site site) {
    return freq(kRfftfreq, n, d, options, site);
}
Tensor fft_fftshift(const Tensor& x, Sizes dims, Site site) {
    return call1(kFftshift, {&x}, Attrs(attrOf(dims)), site);
}
Tensor fft_ifftshift(const Tensor& x, Sizes dims, Site site) {
    return call1(kIfftshift, {&x}, Attrs(attrOf(dims)), site);
}

}  // namespace tapescope::engine
