// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/random_draws.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/random_draws.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pointwise_more_rows.h"
#include "engine/ops/row_makers.h"

#include <cmath>

namespace tapescope::engine {
namespace {

constexpr ArgDef kMeanStd[] = {{"mean"}, {"std"}};
constexpr AttrDef kRandintAttrs[] = {{"low", AttrKind::Int},
                                     {"high", AttrKind::Int},
                                     {"size", AttrKind::Dims},
                                     {"dtype", AttrKind::DType, "int64"}};
constexpr AttrDef kMultinomialAttrs[] = {{"num_samples", AttrKind::Int},
                                         {"replacement", AttrKind::Bool, "false"}};
constexpr AttrDef kFromTo[] = {{"from", AttrKind::Float, "0"}, {"to", AttrKind::Float, "1"}};
constexpr AttrDef kMeanStdAttrs[] = {{"mean", AttrKind::Float, "0"}, {"std", AttrKind::Float, "1"}};
constexpr AttrDef kLambd[] = {{"lambd", AttrKind::Float, "1"}};
constexpr AttrDef kP[] = {{"p", AttrKind::Float, "0.5"}};
constexpr AttrDef kFromToInt[] = {{"from", AttrKind::Int}, {"to", AttrKind::Int}};

void checkRange(std::string_view op, std::int64_t low, std::int64_t high) {
    if (low >= high) throw Error(message(op, ": the range [", low, ", ", high, ") has no numbers"));
}
void checkStd(std::string_view op, double std) {
    if (!(std >= 0))
        throw Error(message(op, ": std ", std::to_string(std), " must not be negative"));
}
void checkP(std::string_view op, double p) {
    if (!(p >= 0 && p <= 1))
        throw Error(
            message(op, ": the probability ", std::to_string(p), " must be between 0 and 1"));
}
/// check(value) for every element of x, in its order.
template <class Check>
void forValues(const Tensor& x, const Check& check) {
    const Tensor packed = cpu::dense(x);
    visitFloating(packed.dtype(), [&]<class T>() {
        const T* data = packed.data<T>();
        for (std::int64_t i = 0; i < packed.numel(); ++i) check(static_cast<double>(data[i]));
    });
}

void inferRandint(const OpArgs& args, OutputMetas& out) {
    checkRange("randint", args.attrs.integer(0), args.attrs.integer(1));
    checkSizes("randint", args.attrs.dims(2));
    out.add(args.attrs.dims(2), args.attrs.has(3) ? args.attrs.dtype(3) : DType::I64);
}
void randintKernel(const OpArgs& args, std::span<Tensor> outputs) {
    cpu::randint(args.attrs.integer(0), args.attrs.integer(1), outputs[0]);
}
void normalKernel(const OpArgs& args, std::span<Tensor> outputs) {
    forValues(args[1], [](double std) { checkStd("normal", std); });
    cpu::normalOf(args, outputs);
}
void poissonKernel(const OpArgs& args, std::span<Tensor> outputs) {
    forValues(args[0], [](double rate) {
        if (!(rate >= 0) || std::isinf(rate))
            throw Error(message("poisson: the rate ", std::to_string(rate),
                                " must be a finite number, at least 0"));
    });
    cpu::poisson(args, outputs);
}

void inferMultinomial(const OpArgs& args, OutputMetas& out) {
    const Tensor& weights = args[0];
    const std::int64_t samples = args.attrs.integer(0);
    if (weights.dim() != 1 && weights.dim() != 2)
        throw ShapeError(
            message("multinomial: weights ", weights.sizes(), " must have 1 or 2 dimensions"));
    const std::int64_t n = weights.size(-1);
    if (samples < 1)
        throw Error(message("multinomial: num_samples ", samples, " must be at least 1"));
    if (n == 0)
        throw ShapeError(
            message("multinomial: weights ", weights.sizes(), " have no categories to draw from"));
    if (!args.attrs.flag(1) && samples > n)
        throw Error(message("multinomial: ", samples, " draws without replacement need as many ",
                            "categories, but there are ", n, "; pass replacement = true"));
    Dims sizes = weights.sizes();
    sizes[weights.dim() - 1] = samples;
    checkSizes("multinomial", sizes);
    out.add(sizes, DType::I64);
}
void multinomialKernel(const OpArgs& args, std::span<Tensor> outputs) {
    const Tensor& weights = args[0];
    const std::int64_t n = weights.size(-1);
    const std::int64_t needed = args.attrs.flag(1) ? 1 : args.attrs.integer(0);
    std::int64_t at = 0;
    std::int64_t positive = 0;
    forValues(weights, [&](double w) {
        if (!(w >= 0) || std::isinf(w))
            throw Error(message("multinomial: the weight ", std::to_string(w),
                                " must be a finite number, at least 0"));
        positive += w > 0 ? 1 : 0;
        if (++at % n != 0) return;
        if (positive < needed)
            throw Error(message("multinomial: row ", at / n - 1, " has ", positive,
                                " positive weights, at least ", needed, " are needed"));
        positive = 0;
    });
    cpu::multinomial(weights, args.attrs.integer(0), args.attrs.flag(1), outputs[0]);
}

/// What was there before is lost, and so is its influence.
constexpr OpDef drawInPlace(std::string_view name, std::span<const AttrDef> attrs, InferFn infer,
                            KernelFn kernel) {
    return {.name = name,
            .family = Family::Random,
            .args = kInputArg,
            .attrs = attrs,
            .infer = infer,
            .vjp = zeroVjp,
            .inplace = true,
            .random = true,
            .kernels = {kernel}};
}
extern OpDef kUniformInplace, kNormalInplace, kExponentialInplace, kBernoulliInplace,
    kRandomInplace;
template <const OpDef& row>
void inferReal(const OpArgs& args, OutputMetas& out) {
    checkTakes(row.name, Takes::Reals, args[0].dtype());
    inferInplaceFor(row, args, out);
}
void inferUniform(const OpArgs& args, OutputMetas& out) {
    const double from = args.attrs.real(0);
    const double to = args.attrs.real(1);
    if (!(from <= to) || std::isinf(from) || std::isinf(to))
        throw Error(message("uniform_: from ", std::to_string(from), " to ", std::to_string(to),
                            " is no finite range"));
    inferReal<kUniformInplace>(args, out);
}
void inferNormal(const OpArgs& args, OutputMetas& out) {
    checkStd("normal_", args.attrs.real(1));
    inferReal<kNormalInplace>(args, out);
}
void inferExponential(const OpArgs& args, OutputMetas& out) {
    if (!(args.attrs.real(0) > 0))
        throw Error(message("exponential_: lambd ", std::to_string(args.attrs.real(0)),
                            " must be above 0"));
    inferReal<kExponentialInplace>(args, out);
}
void inferBernoulli(const OpArgs& args, OutputMetas& out) {
    checkP("bernoulli_", args.attrs.real(0));
    inferInplaceFor(kBernoulliInplace, args, out);
}
void inferRandom(const OpArgs& args, OutputMetas& out) {
    checkRange("random_", args.attrs.integer(0), args.attrs.integer(1));
    inferInplaceFor(kRandomInplace, args, out);
}
void randomKernel(const OpArgs& args, std::span<Tensor> outputs) {
    cpu::randint(args.attrs.integer(0), args.attrs.integer(1), outputs[0]);
}

constinit OpDef kUniformInplace = drawInPlace("uniform_", kFromTo, inferUniform, cpu::uniform);
constinit OpDef kNormalInplace = drawInPlace("normal_", kMeanStdAttrs, inferNormal, cpu::normal);
constinit OpDef kExponentialInplace =
    drawInPlace("exponential_", kLambd, inferExponential, cpu::exponential);
constinit OpDef kBernoulliInplace = drawInPlace("bernoulli_", kP, inferBernoulli, cpu::bernoulliOf);
constinit OpDef kRandomInplace = drawInPlace("random_", kFromToInt, inferRandom, randomKernel);

constinit OpDef kRandint{.name = "randint",
                         .family = Family::Random,
                         .attrs = kRandintAttrs,
                         .infer = inferRandint,
                         .random = true,
                         .kernels = {randintKernel}};
constinit OpDef kNormal{.name = "normal",
                        .family = Family::Random,
                        .args = kMeanStd,
                        .types = TypeRule::Promote,
                        .infer = inferBinaryOf<"normal", Takes::Reals>,
                        .random = true,
                        .kernels = {normalKernel}};
constinit OpDef kPoisson{.name = "poisson",
                         .family = Family::Random,
                         .args = kInputArg,
                         .types = TypeRule::Floating,
                         .infer = inferLikeFirst,
                         .random = true,
                         .kernels = {poissonKernel}};
constinit OpDef kMultinomial{.name = "multinomial",
                             .family = Family::Random,
                             .args = kInputArg,
                             .attrs = kMultinomialAttrs,
                             .types = TypeRule::Floating,
                             .infer = inferMultinomial,
                             .random = true,
                             .kernels = {multinomialKernel}};

/// Whole channels dropped: a mask of one element a channel, broadcast over the rest.
Tensor dropChannels(std::string_view op, const Tensor& x, int batched, double p, bool training,
                    Site site) {
    checkP(op, p);
    if (x.dim() != batched && x.dim() != batched - 1)
        throw ShapeError(message(op, ": input ", x.sizes(), " must have ", batched - 1, " or ",
                                 batched, " dimensions"));
    if (!training || p == 0) return x;
    Dims sizes = x.sizes();
    for (int d = sizes.size() - (batched - 2); d < sizes.size(); ++d) sizes[d] = 1;
    const double keep = 1 - p;
    const Tensor kept = bernoulli(full(sizes, keep, {.dtype = x.dtype()}, site), site);
    return mul(x, keep > 0 ? div(kept, keep, site) : kept, site);
}

constexpr double kSeluFloor = -1.7580993408473766;  // the limit of selu far below zero

Tensor alphaDrop(std::string_view op, const Tensor& x, const Dims& maskSizes, double p,
                 bool training, Site site) {
    checkP(op, p);
    checkFloating(op, "input", x);
    if (!training || p == 0) return x;
    const double keep = 1 - p;
    const Tensor kept = bernoulli(full(maskSizes, keep, {.dtype = x.dtype()}, site), site);
    if (keep == 0) return mul(x, kept, site);
    // x kept + floor dropped, scaled and moved back to mean 0 and variance 1.
    const double scale = 1 / std::sqrt(keep * (1 + p * kSeluFloor * kSeluFloor));
    const Tensor mixed =
        add(mul(x, kept, site), mul(sub(wrappedNumber(1.0), kept, site), kSeluFloor, site), site);
    return add(mul(mixed, scale, site), -scale * p * kSeluFloor, site);
}

Tensor withGrad(Tensor t, TensorOptions options) {
    if (options.requires_grad) t.set_requires_grad(true);
    return t;
}

}  // namespace

std::span<OpDef* const> randomDrawRows() {
    static constexpr OpDef* kRows[] = {&kRandint,
                                       &kNormal,
                                       &kPoisson,
                                       &kMultinomial,
                                       &kUniformInplace,
                                       &kNormalInplace,
                                       &kExponentialInplace,
                                       &kBernoulliInplace,
                                       &kRandomInplace};
    return kRows;
}

Tensor rand_like(const Tensor& x, Site site) { return rand(x.sizes(), {.dtype = x.dtype()}, site); }
Tensor randn_like(const Tensor& x, Site site) {
    return randn(x.sizes(), {.dtype = x.dtype()}, site);
}
Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, TensorOptions options,
               Site site) {
    return withGrad(call1(kRandint, {}, Attrs{low, high, sizes, options.dtype}, site), options);
}
Tensor randint(std::int64_t high, const Dims& sizes, TensorOptions options, Site site) {
    return randint(0, high, sizes, options, site);
}
Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, Site site) {
    return randint(low, high, x.sizes(), {.dtype = x.dtype()}, site);
}
Tensor normal(const Tensor& mean, const Tensor& std, Site site) {
    return call1(kNormal, {&mean, &std}, {}, site);
}
Tensor normal(const Tensor& mean, double std, Site site) {
    return normal(mean, wrappedNumber(std), site);
}
Tensor normal(double mean, const Tensor& std, Site site) {
    return normal(wrappedNumber(mean), std, site);
}
Tensor normal(double mean, double std, const Dims& sizes, TensorOptions options, Site site) {
    return withGrad(normal(full(sizes, mean, {.dtype = options.dtype}, site), std, site), options);
}
Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement, Site site) {
    return call1(kMultinomial, {&weights}, Attrs{num_samples, replacement}, site);
}
Tensor poisson(const Tensor& rate, Site site) { return call1(kPoisson, {&rate}, {}, site); }

Tensor uniform_(const Tensor& x, double from, double to, Site site) {
    return call1(kUniformInplace, {&x}, Attrs{from, to}, site);
}
Tensor normal_(const Tensor& x, double mean, double std, Site site) {
    return call1(kNormalInplace, {&x}, Attrs{mean, std}, site);
}
Tensor exponential_(const Tensor& x, double lambd, Site site) {
    return call1(kExponentialInplace, {&x}, Attrs{lambd}, site);
}
Tensor bernoulli_(const Tensor& x, double p, Site site) {
    return call1(kBernoulliInplace, {&x}, Attrs{p}, site);
}
Tensor random_(const Tensor& x, std::int64_t from, std::int64_t to, Site site) {
    return call1(kRandomInplace, {&x}, Attrs{from, to}, site);
}

Tensor alpha_dropout(const Tensor& x, double p, bool training, Site site) {
    return alphaDrop("alpha_dropout", x, x.sizes(), p, training, site);
}
Tensor feature_alpha_dropout(const Tensor& x, double p, bool training, Site site) {
    if (x.dim() < 2)
        throw ShapeError(message("feature_alpha_dropout: input ", x.sizes(),
                                 " must have at least 2 dimensions [N, C, ...]"));
    Dims sizes = Dims::filled(x.dim(), 1);
    sizes[0] = x.size(0);
    sizes[1] = x.size(1);
    return alphaDrop("feature_alpha_dropout", x, sizes, p, training, site);
}
Tensor dropout1d(const Tensor& x, double p, bool training, Site site) {
    return dropChannels("dropout1d", x, 3, p, training, site);
}
Tensor dropout2d(const Tensor& x, double p, bool training, Site site) {
    return dropChannels("dropout2d", x, 4, p, training, site);
}
Tensor dropout3d(const Tensor& x, double p, bool training, Site site) {
    return dropChannels("dropout3d", x, 5, p, training, site);
}

}  // namespace tapescope::engine
