// SPDX-License-Identifier: Apache-2.0
// Classification losses with margins, composed of operators.
#include "engine/cpu/index_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

Tensor atLeastZero(const Tensor& x, Site site) {
    return clamp(x, 0, std::numeric_limits<double>::infinity(), site);
}

/// input [N, C]; a single row [C] gets a batch of 1.
Tensor withBatch(std::string_view op, const Tensor& input, Site site) {
    checkFloating(op, "input", input);
    if (input.dim() != 1 && input.dim() != 2)
        throw ShapeError(
            message(op, ": input ", input.sizes(), " must have 1 or 2 dimensions [C] or [N, C]"));
    return input.dim() == 1 ? unsqueeze(input, 0, site) : input;
}

/// Which classes each row of targets [N, C] names: those before its first negative entry. Throws
/// IndexError for one beyond C.
struct NamedClasses {
    Tensor listed;  ///< bool [N, C]: the entry counts
    Tensor named;   ///< bool [N, C]: the class is a target
    Tensor index;   ///< int64 [N, C]: the entry, 0 where it does not count
};
NamedClasses namedClasses(std::string_view op, const Tensor& target) {
    const std::int64_t rows = target.size(0);
    const std::int64_t classes = target.size(1);
    const auto entries = target.to_vector<std::int64_t>();
    std::vector<std::int64_t> index(entries.size());
    NamedClasses result{
        Tensor::empty(target.sizes(), DType::Bool), Tensor::empty(target.sizes(), DType::Bool), {}};
    bool* listed = result.listed.data<bool>();
    bool* named = result.named.data<bool>();
    std::fill_n(listed, entries.size(), false);
    std::fill_n(named, entries.size(), false);
    for (std::int64_t n = 0; n < rows; ++n) {
        for (std::int64_t i = 0; i < classes; ++i) {
            const auto at = static_cast<std::size_t>(n * classes + i);
            const std::int64_t c = entries[at];
            if (c < 0) break;
            if (c >= classes)
                cpu::checkIndexRange(op, Tensor::from<std::int64_t>({c}, {1}), 1, classes);
            listed[at] = true;
            index[at] = c;
            named[n * classes + c] = true;
        }
    }
    result.index = Tensor::from<std::int64_t>(std::span<const std::int64_t>(index), target.sizes());
    return result;
}

Tensor multiMargin(const OpArgs& a, Site site) {
    return multi_margin_loss(a[0], a[1], a.attrs.integer(0), a.attrs.real(1),
                             a.has(2) ? a[2] : Tensor(),
                             reductionAttr("multi_margin_loss", a.attrs, 2), site);
}
Tensor multilabelMargin(const OpArgs& a, Site site) {
    return multilabel_margin_loss(a[0], a[1], reductionAttr("multilabel_margin_loss", a.attrs, 0),
                                  site);
}
Tensor multilabelSoftMargin(const OpArgs& a, Site site) {
    return multilabel_soft_margin_loss(a[0], a[1], a.has(2) ? a[2] : Tensor(),
                                       reductionAttr("multilabel_soft_margin_loss", a.attrs, 0),
                                       site);
}
Tensor softMargin(const OpArgs& a, Site site) {
    return soft_margin_loss(a[0], a[1], reductionAttr("soft_margin_loss", a.attrs, 0), site);
}

constexpr ArgDef kArgs[] = {{"input"}, {"target"}, {.name = "weight", .optional = true}};
constexpr AttrDef kReduction[] = {{"reduction", AttrKind::Int, "1"}};
constexpr AttrDef kMultiMarginAttrs[] = {
    {"p", AttrKind::Int, "1"}, {"margin", AttrKind::Float, "1"}, kReduction[0]};

}  // namespace

constinit OpDef kMultiMarginLoss{.name = "multi_margin_loss",
                                 .family = Family::Nn,
                                 .args = kArgs,
                                 .attrs = kMultiMarginAttrs,
                                 .composite = composeOne<multiMargin>};
constinit OpDef kMultilabelMarginLoss{.name = "multilabel_margin_loss",
                                      .family = Family::Nn,
                                      .args = std::span(kArgs).first(2),
                                      .attrs = kReduction,
                                      .composite = composeOne<multilabelMargin>};
constinit OpDef kMultilabelSoftMarginLoss{.name = "multilabel_soft_margin_loss",
                                          .family = Family::Nn,
                                          .args = kArgs,
                                          .attrs = kReduction,
                                          .composite = composeOne<multilabelSoftMargin>};
constinit OpDef kSoftMarginLoss{.name = "soft_margin_loss",
                                .family = Family::Nn,
                                .args = std::span(kArgs).first(2),
                                .attrs = kReduction,
                                .composite = composeOne<softMargin>};

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, std::int64_t p, double margin,
                         const Tensor& weight, Reduction reduction, Site site) try {
    constexpr std::string_view kOp = "multi_margin_loss";
    if (p != 1 && p != 2) throw Error(message(kOp, ": p ", p, " must be 1 or 2"));
    const Tensor x = withBatch(kOp, input, site);
    const std::int64_t rows = x.size(0);
    const std::int64_t classes = x.size(1);
    checkIndexDType(kOp, target, "target");
    const Dims expected = input.dim() == 1 ? Dims{} : Dims{rows};
    if (target.sizes() != expected)
        throw ShapeError(message(kOp, ": target ", target.sizes(), " must be ", expected,
                                 " for input ", input.sizes()));
    if (weight.defined() && weight.sizes() != Dims{classes})
        throw ShapeError(message(kOp, ": weight ", weight.sizes(), " must be [", classes,
                                 "], one number a class"));
    cpu::checkIndexRange(kOp, target, 1, classes);
    const Tensor y = reshape(target, {rows, 1}, site);
    Tensor terms = atLeastZero(add(sub(x, gather(x, 1, y, site), site), margin, site), site);
    if (p == 2) terms = square(terms, site);
    if (weight.defined())
        terms =
            mul(terms,
                reshape(index_select(weight, 0, reshape(y, {rows}, site), site), {rows, 1}, site),
                site);
    const Tensor own = eq(y, arange(0, static_cast<double>(classes)), site);
    terms = masked_fill(terms, own, 0, site);
    terms = div(sum(terms, {1}, false, site), static_cast<double>(classes), site);
    if (input.dim() == 1) terms = squeeze(terms, 0, site);
    return reduced(kOp, terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction,
                              Site site) try {
    constexpr std::string_view kOp = "multilabel_margin_loss";
    const Tensor x = withBatch(kOp, input, site);
    checkIndexDType(kOp, target, "target");
    if (target.sizes() != input.sizes())
        throw ShapeError(message(kOp, ": target ", target.sizes(), " must have the shape of input ",
                                 input.sizes()));
    const std::int64_t classes = x.size(1);
    const NamedClasses classesOf =
        namedClasses(kOp, input.dim() == 1 ? unsqueeze(target, 0, site) : target);
    // Every target against every class that is none: [N, targets, classes].
    const Tensor ofTargets = unsqueeze(gather(x, 1, classesOf.index, site), 2, site);
    const Tensor margins =
        atLeastZero(add(sub(unsqueeze(x, 1, site), ofTargets, site), 1, site), site);
    const Tensor counts = logical_and(unsqueeze(classesOf.listed, 2, site),
                                      logical_not(unsqueeze(classesOf.named, 1, site), site), site);
    Tensor terms =
        sum(masked_fill(margins, logical_not(counts, site), 0, site), {1, 2}, false, site);
    terms = div(terms, static_cast<double>(classes), site);
    if (input.dim() == 1) terms = squeeze(terms, 0, site);
    return reduced(kOp, terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   Reduction reduction, Site site) try {
    constexpr std::string_view kOp = "multilabel_soft_margin_loss";
    if (input.dim() < 1)
        throw ShapeError(message(kOp, ": input [] must have at least 1 dimension"));
    const Tensor terms =
        binary_cross_entropy_with_logits(input, target, weight, {}, Reduction::None, site);
    return reduced(kOp, mean(terms, {-1}, false, site), reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction,
                        Site site) try {
    constexpr std::string_view kOp = "soft_margin_loss";
    pairSizes(kOp, input.sizes(), target.sizes());
    checkRealLoss(kOp, input.dtype(), target.dtype());
    const Tensor agreement = mul(target, input, site);
    const Tensor terms = binary_cross_entropy_with_logits(agreement, ones_like(agreement, site),
                                                          Reduction::None, site);
    return reduced(kOp, terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
