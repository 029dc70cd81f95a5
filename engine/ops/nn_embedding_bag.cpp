// SPDX-License-Identifier: Apache-2.0
// Embeddings put together in bags, composed of operators.
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_embedding.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

constexpr std::string_view kOp = "embedding_bag";

/// Which entries of the flat index count, and in which bag.
struct Bags {
    std::int64_t count = 0;
    std::vector<std::int64_t> entries;
    std::vector<std::int64_t> bag;
    std::vector<std::int64_t> sizes;
};

std::vector<std::int64_t> beginnings(const Tensor& index, const EmbeddingBagOptions& o) {
    std::vector<std::int64_t> begins;
    if (index.dim() == 2) {
        if (o.offsets.defined())
            throw Error(message(kOp, ": offsets are for a 1-d index; index is ", index.sizes()));
        for (std::int64_t b = 0; b <= index.size(0); ++b) begins.push_back(b * index.size(1));
        return begins;
    }
    if (!o.offsets.defined() || o.offsets.dim() != 1)
        throw Error(message(kOp, ": a 1-d index needs 1-d offsets, where each bag begins"));
    checkIndexDType(kOp, o.offsets, "offsets");
    begins = o.offsets.to_vector<std::int64_t>();
    if (o.include_last_offset) {
        if (begins.empty())
            throw Error(message(kOp, ": offsets must not be empty with include_last_offset"));
    } else {
        begins.push_back(index.numel());
    }
    if (begins.front() != 0 && begins.size() > 1)
        throw IndexError(message(kOp, ": the first offset must be 0, not ", begins.front()));
    for (std::size_t b = 1; b < begins.size(); ++b)
        if (begins[b] < begins[b - 1] || begins[b] > index.numel())
            throw IndexError(message(kOp, ": offset ", begins[b], " is out of order or beyond the ",
                                     index.numel(), " entries of index"));
    return begins;
}

Bags bagsOf(const Tensor& index, const Tensor& weight, const EmbeddingBagOptions& o) {
    const std::vector<std::int64_t> begins = beginnings(index, o);
    std::int64_t padding = -1;
    if (o.padding_idx) {
        padding = *o.padding_idx < 0 ? *o.padding_idx + weight.size(0) : *o.padding_idx;
        if (padding < 0 || padding >= weight.size(0))
            throw IndexError(message(kOp, ": padding_idx ", *o.padding_idx,
                                     " must be a row of weight ", weight.sizes()));
    }
    const auto values = index.to_vector<std::int64_t>();
    Bags bags;
    bags.count = static_cast<std::int64_t>(begins.size()) - 1;
    for (std::int64_t b = 0; b < bags.count; ++b) {
        const auto at = static_cast<std::size_t>(b);
        std::int64_t size = 0;
        for (std::int64_t i = begins[at]; i < begins[at + 1]; ++i) {
            if (padding >= 0 && values[static_cast<std::size_t>(i)] == padding) continue;
            bags.entries.push_back(i);
            bags.bag.push_back(b);
            ++size;
        }
        bags.sizes.push_back(size);
    }
    return bags;
}

Tensor vectorOf(const std::vector<std::int64_t>& values) {
    return Tensor::from<std::int64_t>(std::span<const std::int64_t>(values),
                                      {static_cast<std::int64_t>(values.size())});
}

/// The largest of each bag, elementwise; the first of equals gets the gradient. rows: the entries'
/// embeddings, bag after bag.
Tensor largest(const Tensor& rows, const Bags& bags, Site site) {
    const std::int64_t width = rows.size(1);
    const std::int64_t longest =
        bags.sizes.empty() ? 0 : *std::max_element(bags.sizes.begin(), bags.sizes.end());
    if (longest == 0) return zeros({bags.count, width}, {.dtype = rows.dtype()});
    // Every bag as long as the longest, what is missing below everything else.
    std::vector<std::int64_t> places(static_cast<std::size_t>(bags.count * longest), 0);
    Tensor missing = Tensor::empty({bags.count, longest, 1}, DType::Bool);
    std::fill_n(missing.data<bool>(), missing.numel(), true);
    Tensor empty = Tensor::empty({bags.count, 1}, DType::Bool);
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < bags.count; ++b) {
        const std::int64_t size = bags.sizes[static_cast<std::size_t>(b)];
        empty.data<bool>()[b] = size == 0;
        for (std::int64_t i = 0; i < size; ++i) {
            places[static_cast<std::size_t>(b * longest + i)] = next++;
            missing.data<bool>()[b * longest + i] = false;
        }
    }
    const Tensor padded = masked_fill(
        reshape(index_select(rows, 0, vectorOf(places), site), {bags.count, longest, width}, site),
        missing, -std::numeric_limits<double>::infinity(), site);
    const Tensor first = argmax(padded.detach(), 1, true, site);
    return masked_fill(squeeze(gather(padded, 1, first, site), 1, site), empty, 0, site);
}

Tensor composite(const OpArgs& a, Site site) {
    const std::int64_t mode = a.attrs.integer(0);
    if (mode < 0 || mode > 2)
        throw Error(message(kOp, ": mode ", mode, " must be 0 (sum), 1 (mean) or 2 (max)"));
    EmbeddingBagOptions o{.mode = static_cast<BagMode>(mode),
                          .offsets = a.has(2) ? a[2] : Tensor(),
                          .per_sample_weights = a.has(3) ? a[3] : Tensor(),
                          .include_last_offset = a.attrs.flag(2),
                          .scale_grad_by_freq = a.attrs.flag(1)};
    if (const std::int64_t padding = a.attrs.integer(3); padding >= 0) o.padding_idx = padding;
    return embedding_bag(a[0], a[1], o, site);
}

constexpr ArgDef kArgs[] = {{"weight"},
                            {"index"},
                            {.name = "offsets", .optional = true},
                            {.name = "per_sample_weights", .optional = true}};
constexpr AttrDef kAttrs[] = {{"mode", AttrKind::Int, "1"},
                              {"scale_grad_by_freq", AttrKind::Bool, "false"},
                              {"include_last_offset", AttrKind::Bool, "false"},
                              {"padding_idx", AttrKind::Int, "-1"}};

}  // namespace

constinit OpDef kEmbeddingBag{.name = kOp,
                              .family = Family::Nn,
                              .args = kArgs,
                              .attrs = kAttrs,
                              .composite = composeOne<composite>};

Tensor embedding_bag(const Tensor& weight, const Tensor& index, const EmbeddingBagOptions& o,
                     Site site) try {
    checkRank(kOp, "weight", weight, 2, "[V, D]");
    checkFloating(kOp, "weight", weight);
    checkIndexDType(kOp, index);
    if (index.dim() != 1 && index.dim() != 2)
        throw ShapeError(message(kOp, ": index ", index.sizes(),
                                 " must have 1 dimension, with offsets, or 2 [B, L]"));
    const Tensor& each = o.per_sample_weights;
    if (each.defined()) {
        if (o.mode != BagMode::Sum)
            throw Error(message(kOp, ": per_sample_weights are for the mode sum"));
        if (each.sizes() != index.sizes())
            throw ShapeError(message(kOp, ": per_sample_weights ", each.sizes(),
                                     " must have the shape of index ", index.sizes()));
        checkSameDType(kOp, "weight", weight, "per_sample_weights", each);
    }
    const Bags bags = bagsOf(index, weight, o);
    const Tensor entries = vectorOf(bags.entries);
    const Tensor chosen = index_select(reshape(index, {index.numel()}, site), 0, entries, site);
    Tensor rows = embedding(weight, chosen,
                            {.max_norm = o.max_norm,
                             .norm_type = o.norm_type,
                             .scale_grad_by_freq = o.scale_grad_by_freq},
                            site);
    if (o.mode == BagMode::Max) return largest(rows, bags, site);
    if (each.defined())
        rows = mul(
            rows,
            unsqueeze(index_select(reshape(each, {each.numel()}, site), 0, entries, site), 1, site),
            site);
    const Tensor sums = index_add(zeros({bags.count, weight.size(1)}, {.dtype = weight.dtype()}), 0,
                                  vectorOf(bags.bag), rows, site);
    if (o.mode == BagMode::Sum) return sums;
    std::vector<std::int64_t> divisors = bags.sizes;
    for (std::int64_t& size : divisors) size = std::max<std::int64_t>(size, 1);
    return div(sums, unsqueeze(to(vectorOf(divisors), weight.dtype(), site), 1, site), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
