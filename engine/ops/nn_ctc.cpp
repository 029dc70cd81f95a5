// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification (Graves et al. 2006): the forward recursion over all
// alignments, in logarithms, of operators, so that gradients of every order follow.
#include "engine/cpu/index_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_reduction.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>

namespace tapescope::engine {

namespace {

constexpr std::string_view kOp = "ctc_loss";
// The logarithm of an impossible alignment: finite, because -inf has no gradients, and so far below
// all others that its share is 0.
constexpr double kImpossible = -1e30;

std::vector<std::int64_t> lengthsOf(std::string_view what, const Tensor& lengths,
                                    std::int64_t batch, std::int64_t most) {
    checkIndexDType(kOp, lengths, what);
    if (lengths.numel() != batch || lengths.dim() > 1)
        throw ShapeError(message(kOp, ": ", what, " ", lengths.sizes(), " must be [", batch,
                                 "], one a sequence"));
    const auto values = lengths.to_vector<std::int64_t>();
    for (const std::int64_t value : values)
        if (value < 0 || value > most)
            throw IndexError(
                message(kOp, ": ", what, " has ", value, ", it must be from 0 to ", most));
    return values;
}

/// The targets with blanks around every label: what an alignment goes through.
struct Paths {
    std::int64_t width = 1;             ///< 2 * longest target + 1
    std::vector<std::int64_t> labels;   ///< [N, width]
    std::vector<std::uint8_t> mayJump;  ///< [N, width]: from two places before
    Tensor labelTensor(std::int64_t batch) const {
        return Tensor::from<std::int64_t>(std::span<const std::int64_t>(labels), {batch, width});
    }
};

Paths pathsOf(const Tensor& targets, const std::vector<std::int64_t>& lengths, std::int64_t blank,
              std::int64_t classes) {
    const auto batch = static_cast<std::int64_t>(lengths.size());
    const auto values = targets.to_vector<std::int64_t>();
    std::int64_t longest = 0;
    for (const std::int64_t length : lengths) longest = std::max(longest, length);
    Paths paths;
    paths.width = 2 * longest + 1;
    paths.labels.assign(static_cast<std::size_t>(batch * paths.width), blank);
    paths.mayJump.assign(paths.labels.size(), 0);
    std::int64_t start = 0;
    for (std::int64_t n = 0; n < batch; ++n) {
        if (targets.dim() == 2) start = n * targets.size(1);
        const std::int64_t length = lengths[static_cast<std::size_t>(n)];
        std::int64_t* row = paths.labels.data() + n * paths.width;
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t label = values[static_cast<std::size_t>(start + i)];
            if (label < 0 || label >= classes)
                cpu::checkIndexRange(kOp, Tensor::from<std::int64_t>({label}, {1}), 2, classes);
            row[2 * i + 1] = label;
            if (i > 0 && label != row[2 * i - 1])
                paths.mayJump[static_cast<std::size_t>(n * paths.width + 2 * i + 1)] = 1;
        }
        start += length;
    }
    return paths;
}

Tensor boolTensor(const std::vector<std::uint8_t>& values, const Dims& sizes) {
    Tensor t = Tensor::empty(sizes, DType::Bool);
    for (std::size_t i = 0; i < values.size(); ++i) t.data<bool>()[i] = values[i] != 0;
    return t;
}

/// x [N, L] moved by `by` places to the right, impossible in front.
Tensor shifted(const Tensor& x, std::int64_t by, Site site) {
    if (by >= x.size(1)) return full(x.sizes(), kImpossible, {.dtype = x.dtype()});
    return pad(narrow(x, 1, 0, x.size(1) - by, site), {by, 0}, kImpossible, site);
}

/// -log of the probability of all alignments, [N].
Tensor negativeLogs(const Tensor& logProbs, const Paths& paths,
                    const std::vector<std::int64_t>& inputLengths,
                    const std::vector<std::int64_t>& targetLengths, Site site) {
    const std::int64_t steps = logProbs.size(0);
    const auto batch = static_cast<std::int64_t>(inputLengths.size());
    const Dims sizes{batch, paths.width};
    const Tensor labels =
        expand(unsqueeze(paths.labelTensor(batch), 0, site), {steps, batch, paths.width}, site);
    const Tensor emitted = gather(logProbs, 2, labels, site);
    std::vector<std::uint8_t> notFirst(paths.labels.size(), 1);
    std::vector<std::uint8_t> noJump(paths.labels.size());
    std::vector<std::uint8_t> notLast(paths.labels.size(), 1);
    for (std::int64_t n = 0; n < batch; ++n) {
        const std::int64_t length = targetLengths[static_cast<std::size_t>(n)];
        for (std::int64_t i = 0; i < paths.width; ++i) {
            const auto at = static_cast<std::size_t>(n * paths.width + i);
            if (i == 0 || (i == 1 && length > 0)) notFirst[at] = 0;
            if (i == 2 * length || (length > 0 && i == 2 * length - 1)) notLast[at] = 0;
            noJump[at] = paths.mayJump[at] ? 0 : 1;
        }
    }
    const Tensor blocked = boolTensor(noJump, sizes);
    // Before the first step an alignment stands on the first blank or label, for nothing.
    Tensor alpha = masked_fill(zeros(sizes, {.dtype = logProbs.dtype()}),
                               boolTensor(notFirst, sizes), kImpossible, site);
    for (std::int64_t t = 0; t < steps; ++t) {
        Tensor reached = alpha;
        if (t > 0) {
            const Tensor jumped = masked_fill(shifted(alpha, 2, site), blocked, kImpossible, site);
            const Tensor ways[] = {alpha, shifted(alpha, 1, site), jumped};
            reached = logsumexp(stack(ways, 0, site), {0}, false, site);
        }
        const Tensor next = add(reached, select(emitted, 0, t, site), site);
        std::vector<std::uint8_t> over(paths.labels.size());
        bool any = false;
        for (std::int64_t n = 0; n < batch; ++n) {
            if (t < inputLengths[static_cast<std::size_t>(n)]) continue;
            any = true;
            std::fill_n(over.begin() + n * paths.width, paths.width, std::uint8_t{1});
        }
        alpha = any ? where(boolTensor(over, sizes), alpha, next, site) : next;
    }
    const Tensor ends = masked_fill(alpha, boolTensor(notLast, sizes), kImpossible, site);
    return neg(logsumexp(ends, {1}, false, site), site);
}

Tensor composite(const OpArgs& a, Site site) {
    return ctc_loss(a[0], a[1], a[2], a[3], a.attrs.integer(0), reductionAttr(kOp, a.attrs, 1),
                    a.attrs.flag(2), site);
}

constexpr ArgDef kArgs[] = {{"log_probs"}, {"targets"}, {"input_lengths"}, {"target_lengths"}};
constexpr AttrDef kAttrs[] = {{"blank", AttrKind::Int, "0"},
                              {"reduction", AttrKind::Int, "1"},
                              {"zero_infinity", AttrKind::Bool, "false"}};

}  // namespace

constinit OpDef kCtcLoss{.name = kOp,
                         .family = Family::Nn,
                         .args = kArgs,
                         .attrs = kAttrs,
                         .composite = composeOne<composite>};

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank, Reduction reduction,
                bool zero_infinity, Site site) try {
    checkFloating(kOp, "log_probs", log_probs);
    checkIndexDType(kOp, targets, "targets");
    if (log_probs.dim() != 2 && log_probs.dim() != 3)
        throw ShapeError(message(kOp, ": log_probs ", log_probs.sizes(),
                                 " must have 2 or 3 dimensions [T, C] or [T, N, C]"));
    const bool batched = log_probs.dim() == 3;
    const Tensor x = batched ? log_probs : unsqueeze(log_probs, 1, site);
    const std::int64_t steps = x.size(0);
    const std::int64_t batch = x.size(1);
    const std::int64_t classes = x.size(2);
    if (steps == 0)
        throw ShapeError(message(kOp, ": log_probs ", log_probs.sizes(), " has no time steps"));
    if (blank < 0 || blank >= classes)
        throw IndexError(
            message(kOp, ": blank ", blank, " must be a class from 0 to ", classes - 1));
    if (targets.dim() != 1 && (targets.dim() != 2 || targets.size(0) != batch))
        throw ShapeError(message(kOp, ": targets ", targets.sizes(), " must be [", batch,
                                 ", S] or all one after another [S]"));
    const auto inputs = lengthsOf("input_lengths", input_lengths, batch, steps);
    const auto lengths = lengthsOf("target_lengths", target_lengths, batch,
                                   targets.dim() == 2 ? targets.size(1) : targets.size(0));
    if (targets.dim() == 1) {
        std::int64_t total = 0;
        for (const std::int64_t length : lengths) total += length;
        if (total > targets.size(0))
            throw ShapeError(message(kOp, ": target_lengths add up to ", total, " but targets has ",
                                     targets.size(0)));
    }
    Tensor losses =
        negativeLogs(x, pathsOf(targets, lengths, blank, classes), inputs, lengths, site);
    const Tensor impossible = gt(losses, wrappedNumber(-0.1 * kImpossible), site);
    losses = masked_fill(losses, impossible,
                         zero_infinity ? 0 : std::numeric_limits<double>::infinity(), site);
    if (reduction == Reduction::Mean) {
        std::vector<double> divisors;
        for (const std::int64_t length : lengths)
            divisors.push_back(static_cast<double>(std::max<std::int64_t>(length, 1)));
        losses = div(
            losses,
            to(Tensor::from<double>(std::span<const double>(divisors), {batch}), losses.dtype()),
            site);
    }
    if (!batched) losses = squeeze(losses, 0, site);
    return reduced(kOp, losses, reduction, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
