// SPDX-License-Identifier: Apache-2.0
// Distances and the losses of distances, composed of operators.
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <cmath>

namespace tapescope::engine {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor atLeastZero(const Tensor& x, Site site) { return clamp(x, 0, kInfinity, site); }

/// x over its norm along dim, or over eps where that is larger; finite gradients at 0.
Tensor unit(const Tensor& x, std::int64_t dim, double eps, Site site) {
    const Tensor squares = sum(square(x, site), {dim}, true, site);
    // Only the value is lifted to eps.
    const Tensor value = squares.detach();
    const Tensor lift = sub(clamp(value, eps * eps, kInfinity, site), value, site);
    return div(x, sqrt(add(squares, lift, site), site), site);
}

/// first where target is 1, second where it is -1, else 0.
Tensor bySign(const Tensor& target, const Tensor& first, const Tensor& second, Site site) {
    const Tensor positive = eq(target, wrappedNumber(1.0), site);
    const Tensor negative = eq(target, wrappedNumber(-1.0), site);
    const Tensor none = Tensor::scalar(0, first.dtype());
    return add(where(positive, first, none, site), where(negative, second, none, site), site);
}

Tensor cosineSimilarity(const OpArgs& a, Site site) {
    return cosine_similarity(a[0], a[1], a.attrs.integer(0), a.attrs.real(1), site);
}
Tensor pairwiseDistance(const OpArgs& a, Site site) {
    return pairwise_distance(a[0], a[1], a.attrs.real(0), a.attrs.real(1), a.attrs.flag(2), site);
}
Tensor hingeEmbedding(const OpArgs& a, Site site) {
    return hinge_embedding_loss(a[0], a[1], a.attrs.real(0),
                                reductionAttr("hinge_embedding_loss", a.attrs, 1), site);
}
Tensor marginRanking(const OpArgs& a, Site site) {
    return margin_ranking_loss(a[0], a[1], a[2], a.attrs.real(0),
                               reductionAttr("margin_ranking_loss", a.attrs, 1), site);
}
Tensor cosineEmbedding(const OpArgs& a, Site site) {
    return cosine_embedding_loss(a[0], a[1], a[2], a.attrs.real(0),
                                 reductionAttr("cosine_embedding_loss", a.attrs, 1), site);
}
Tensor tripletMargin(const OpArgs& a, Site site) {
    return triplet_margin_loss(a[0], a[1], a[2],
                               {.margin = a.attrs.real(0),
                                .p = a.attrs.real(1),
                                .eps = a.attrs.real(2),
                                .swap = a.attrs.flag(3),
                                .reduction = reductionAttr("triplet_margin_loss", a.attrs, 4)},
                               site);
}

constexpr ArgDef kTwo[] = {{"x1"}, {"x2"}};
constexpr ArgDef kPair[] = {{"input"}, {"target"}};
constexpr ArgDef kTwoAndTarget[] = {{"input1"}, {"input2"}, {"target"}};
constexpr ArgDef kTriplet[] = {{"anchor"}, {"positive"}, {"negative"}};
constexpr AttrDef kReduction{"reduction", AttrKind::Int, "1"};
constexpr AttrDef kCosineAttrs[] = {{"dim", AttrKind::Int, "1"}, {"eps", AttrKind::Float, "1e-08"}};
constexpr AttrDef kDistanceAttrs[] = {{"p", AttrKind::Float, "2"},
                                      {"eps", AttrKind::Float, "1e-06"},
                                      {"keepdim", AttrKind::Bool, "false"}};
constexpr AttrDef kMarginOne[] = {{"margin", AttrKind::Float, "1"}, kReduction};
constexpr AttrDef kMarginZero[] = {{"margin", AttrKind::Float, "0"}, kReduction};
constexpr AttrDef kTripletAttrs[] = {{"margin", AttrKind::Float, "1"},
                                     {"p", AttrKind::Float, "2"},
                                     {"eps", AttrKind::Float, "1e-06"},
                                     {"swap", AttrKind::Bool, "false"},
                                     kReduction};

constexpr OpDef row(std::string_view name, std::span<const ArgDef> args,
                    std::span<const AttrDef> attrs, CompositeFn composite) {
    return {
        .name = name, .family = Family::Nn, .args = args, .attrs = attrs, .composite = composite};
}

}  // namespace

constinit OpDef kCosineSimilarity =
    row("cosine_similarity", kTwo, kCosineAttrs, composeOne<cosineSimilarity>);
constinit OpDef kPairwiseDistance =
    row("pairwise_distance", kTwo, kDistanceAttrs, composeOne<pairwiseDistance>);
constinit OpDef kHingeEmbeddingLoss =
    row("hinge_embedding_loss", kPair, kMarginOne, composeOne<hingeEmbedding>);
constinit OpDef kMarginRankingLoss =
    row("margin_ranking_loss", kTwoAndTarget, kMarginZero, composeOne<marginRanking>);
constinit OpDef kCosineEmbeddingLoss =
    row("cosine_embedding_loss", kTwoAndTarget, kMarginZero, composeOne<cosineEmbedding>);
constinit OpDef kTripletMarginLoss =
    row("triplet_margin_loss", kTriplet, kTripletAttrs, composeOne<tripletMargin>);

Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim, double eps,
                         Site site) try {
    const Dims sizes = pairSizes("cosine_similarity", a.sizes(), b.sizes());
    checkRealLoss("cosine_similarity", a.dtype(), b.dtype());
    const int rank = sizes.size();
    // The dimension is that of the broadcast shape.
    const int along = wrapDim("cosine_similarity", dim, rank);
    if (rank == 0)
        return mul(unit(reshape(a, {1}), 0, eps, site), unit(reshape(b, {1}), 0, eps, site));
    const Tensor left = expand(a, sizes, site);
    const Tensor right = expand(b, sizes, site);
    return sum(mul(unit(left, along, eps, site), unit(right, along, eps, site), site), {along},
               false, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim,
                         Site site) try {
    pairSizes("pairwise_distance", a.sizes(), b.sizes());
    const Tensor d = add(sub(a, b, site), eps, site);
    if (d.dim() == 0)
        throw ShapeError("pairwise_distance: the inputs must have at least 1 dimension [..., D]");
    if (!(p >= 0)) throw Error("pairwise_distance: p " + std::to_string(p) + " must be at least 0");
    const Dims last{-1};
    if (p == 2) return sqrt(sum(square(d, site), last, keepdim, site), site);
    const Tensor size = abs(d, site);
    if (p == 1) return sum(size, last, keepdim, site);
    if (p == kInfinity) return amax(size, last, keepdim, site);
    if (p == 0)
        return sum(to(ne(d, wrappedNumber(0.0), site), d.dtype(), site), last, keepdim, site);
    return pow(sum(pow(size, p, site), last, keepdim, site), 1 / p, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            Reduction reduction, Site site) try {
    constexpr std::string_view kOp = "hinge_embedding_loss";
    pairSizes(kOp, input.sizes(), target.sizes());
    const Tensor none = Tensor::scalar(0, input.dtype());
    // As PyTorch adds them: a target that is neither 1 nor -1 counts twice.
    // An integer input keeps its type, and the margin loses its fraction.
    const bool whole = isIntegral(input.dtype());
    if (whole && !(std::fabs(margin) < 0x1p63))
        throw Error(message(kOp, ": margin ", std::to_string(margin), " does not fit ",
                            input.dtype(), " tensors"));
    const Tensor apart = atLeastZero(
        add(neg(input, site),
            whole ? wrappedNumber(static_cast<std::int64_t>(margin)) : wrappedNumber(margin), site),
        site);
    const Tensor terms = add(where(eq(target, wrappedNumber(1.0), site), none, apart, site),
                             where(eq(target, wrappedNumber(-1.0), site), none, input, site), site);
    return reduced(kOp, terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                           Reduction reduction, Site site) try {
    constexpr std::string_view kOp = "margin_ranking_loss";
    pairSizes(kOp, pairSizes(kOp, a.sizes(), b.sizes()), target.sizes());
    const Tensor behind = neg(mul(target, sub(a, b, site), site), site);
    return reduced(kOp, atLeastZero(add(behind, margin, site), site), reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                             Reduction reduction, Site site) try {
    constexpr std::string_view kOp = "cosine_embedding_loss";
    const bool single = target.dim() == 0 && a.dim() == 1 && b.dim() == 1;
    if (!single && (target.dim() != 1 || a.dim() != 2 || b.dim() != 2))
        throw ShapeError(message(kOp, ": inputs ", a.sizes(), " and ", b.sizes(), " and target ",
                                 target.sizes(), " must be [N, D] and [N], or [D] and []"));
    pairSizes(kOp, a.sizes(), b.sizes());
    const Dims last{-1};
    constexpr double kEps = 1e-12;
    const Tensor product = sum(mul(a, b, site), last, false, site);
    const Tensor sizes = mul(add(sum(square(a, site), last, false, site), kEps, site),
                             add(sum(square(b, site), last, false, site), kEps, site), site);
    const Tensor cosine = div(product, sqrt(sizes, site), site);
    const Tensor terms = bySign(target, add(neg(cosine, site), 1, site),
                                atLeastZero(sub(cosine, margin, site), site), site);
    return reduced(kOp, terms, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& o, Site site) try {
    constexpr std::string_view kOp = "triplet_margin_loss";
    pairSizes(kOp, pairSizes(kOp, anchor.sizes(), positive.sizes()), negative.sizes());
    if (!(o.margin > 0)) throw Error(message(kOp, ": margin must be greater than 0"));
    const Tensor near = pairwise_distance(anchor, positive, o.p, o.eps, false, site);
    Tensor far = pairwise_distance(anchor, negative, o.p, o.eps, false, site);
    if (o.swap)
        far = minimum(far, pairwise_distance(positive, negative, o.p, o.eps, false, site), site);
    const Tensor terms = atLeastZero(add(sub(near, far, site), o.margin, site), site);
    return reduced(kOp, terms, o.reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
