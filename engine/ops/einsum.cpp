// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/checks.h"
#include "engine/ops/einsum_path.h"
#include "engine/ops/linalg.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <numeric>
#include <vector>

namespace tapescope::engine {

namespace {

// Labels: 0-25 A-Z, 26-51 a-z (the order of an implicit output), then the dimensions of "...".
constexpr int kLetters = 52;
constexpr int kLabels = kLetters + kMaxRank;
using Labels = std::vector<int>;

int labelOf(char c) { return c >= 'a' ? 26 + (c - 'a') : c - 'A'; }
std::string nameOf(int label) {
    if (label >= kLetters) return "...";
    return {static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26)};
}

/// One side of a term: its letters in order, and where "..." stands among them (-1: nowhere).
struct Term {
    Labels letters;
    int ellipsis = -1;
};

Term parseTerm(std::string_view text, std::string_view equation) {
    Term term;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ') continue;
        if (c == '.') {
            if (text.substr(i, 3) != "..." || term.ellipsis >= 0)
                throw Error(message("einsum: \"", equation,
                                    "\" has a '.' that is not part of one \"...\" per operand"));
            term.ellipsis = static_cast<int>(term.letters.size());
            i += 2;
            continue;
        }
        if (std::isalpha(static_cast<unsigned char>(c)) == 0)
            throw Error(message("einsum: \"", equation, "\" has the character '", std::string(1, c),
                                "'; subscripts are letters, \"...\", \",\" and \"->\""));
        term.letters.push_back(labelOf(c));
    }
    return term;
}

struct Equation {
    std::vector<Term> inputs;
    Term output;
    bool explicitOutput = false;
};

Equation parse(std::string_view equation) {
    Equation parsed;
    std::string_view left = equation;
    if (const std::size_t arrow = equation.find("->"); arrow != std::string_view::npos) {
        parsed.explicitOutput = true;
        parsed.output = parseTerm(equation.substr(arrow + 2), equation);
        left = equation.substr(0, arrow);
    }
    for (std::size_t begin = 0;;) {
        const std::size_t comma = left.find(',', begin);
        parsed.inputs.push_back(parseTerm(left.substr(begin, comma - begin), equation));
        if (comma == std::string_view::npos) break;
        begin = comma + 1;
    }
    return parsed;
}

/// A tensor whose dimensions carry distinct labels.
struct Labelled {
    Tensor tensor;
    Labels labels;
    LabelSet set() const {
        LabelSet bits = 0;
        for (const int l : labels) bits |= LabelSet{1} << l;
        return bits;
    }
    int find(int label) const {
        const auto it = std::find(labels.begin(), labels.end(), label);
        return it == labels.end() ? -1 : static_cast<int>(it - labels.begin());
    }
};

bool has(LabelSet set, int label) { return (set >> label & 1U) != 0; }

/// The diagonal of dimensions d0 < d1 of one size, left at d0.
Tensor diagonalOf(const Tensor& x, int d0, int d1, Site site) {
    Dims order;
    for (int d = 0; d < x.dim(); ++d)
        if (d != d0 && d != d1) order.push_back(d);
    order.push_back(d0);
    order.push_back(d1);
    const Tensor moved = permute(x, order, site);
    const std::int64_t n = x.sizes()[d0];
    Dims flat = moved.sizes();
    flat.resize(flat.size() - 2);
    flat.push_back(n * n);
    Tensor line = slice(reshape(moved, flat, site), -1, 0, n * n, n + 1, site);
    Dims back;
    for (int d = 0; d + 1 < line.dim(); ++d) back.push_back(d);
    back.insert(d0, line.dim() - 1);
    return permute(line, back, site);
}

Labelled sumOver(const Labelled& x, LabelSet gone, Site site) {
    Dims dims;
    Labels kept;
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
        if (has(gone, x.labels[i]))
            dims.push_back(static_cast<std::int64_t>(i));
        else
            kept.push_back(x.labels[i]);
    }
    if (dims.empty()) return x;
    const bool sizeOne = std::all_of(dims.begin(), dims.end(), [&](std::int64_t d) {
        return x.tensor.sizes()[static_cast<int>(d)] == 1;
    });
    if (!sizeOne) return {sum(x.tensor, dims, false, site), kept};
    Dims sizes;
    for (const int l : kept) sizes.push_back(x.tensor.sizes()[x.find(l)]);
    return {reshape(x.tensor, sizes, site), kept};
}

std::int64_t sizeOf(const Labelled& x, int label) { return x.tensor.sizes()[x.find(label)]; }

Tensor ordered(const Labelled& x, const Labels& labels, Site site) {
    Dims order;
    bool same = labels.size() == x.labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        order.push_back(x.find(labels[i]));
        same = same && order[static_cast<int>(i)] == static_cast<std::int64_t>(i);
    }
    return same ? x.tensor : permute(x.tensor, order, site);
}

/// a and b multiplied, and summed over their labels that are not in `kept`.
Labelled contract(Labelled a, Labelled b, LabelSet kept, Site site) {
    a = sumOver(a, a.set() & ~(b.set() | kept), site);
    b = sumOver(b, b.set() & ~(a.set() | kept), site);
    const LabelSet common = a.set() & b.set();
    Labels batch;
    Labels inner;
    Labels onlyA;
    Labels onlyB;
    for (const int l : a.labels)
        (!has(common, l) ? onlyA : has(kept, l) ? batch : inner).push_back(l);
    for (const int l : b.labels)
        if (!has(common, l)) onlyB.push_back(l);
    const auto product = [](const Labelled& x, const Labels& labels) {
        std::int64_t n = 1;
        for (const int l : labels) n *= sizeOf(x, l);
        return n;
    };
    const std::int64_t nBatch = product(a, batch);
    const std::int64_t nInner = product(a, inner);
    const std::int64_t nA = product(a, onlyA);
    const std::int64_t nB = product(b, onlyB);
    const auto joined = [](std::initializer_list<const Labels*> parts) {
        Labels all;
        for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
        return all;
    };
    Labelled result{{}, joined({&batch, &onlyA, &onlyB})};
    Dims sizes;
    for (const int l : result.labels) sizes.push_back(a.find(l) >= 0 ? sizeOf(a, l) : sizeOf(b, l));
    const Tensor left = ordered(a, joined({&batch, &onlyA, &inner}), site);
    const Tensor right = ordered(b, joined({&batch, &inner, &onlyB}), site);
    Tensor value;
    if (inner.empty()) {
        value =
            mul(reshape(left, {nBatch, nA, 1}, site), reshape(right, {nBatch, 1, nB}, site), site);
    } else if (batch.empty()) {
        value = mm(reshape(left, {nA, nInner}, site), reshape(right, {nInner, nB}, site), site);
    } else {
        value = bmm(reshape(left, {nBatch, nA, nInner}, site),
                    reshape(right, {nBatch, nInner, nB}, site), site);
    }
    result.tensor = reshape(value, sizes, site);
    return result;
}

/// The operands with labels, diagonals taken; sizes: of every label that occurs.
std::vector<Labelled> label(const Equation& parsed, std::string_view equation,
                            std::span<const Tensor> operands, int& ellipsisRank,
                            std::array<std::int64_t, kLabels>& sizes, Site site) {
    if (parsed.inputs.size() != operands.size())
        throw Error(message("einsum: \"", equation, "\" names ",
                            static_cast<int>(parsed.inputs.size()), " operands, but ",
                            static_cast<int>(operands.size()), " were given"));
    ellipsisRank = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!operands[k].defined())
            throw Error(
                message("einsum: operand ", static_cast<int>(k), " is an undefined tensor"));
        const int letters = static_cast<int>(parsed.inputs[k].letters.size());
        const int rest = operands[k].dim() - letters;
        if (rest < 0 || (rest > 0 && parsed.inputs[k].ellipsis < 0))
            throw ShapeError(message("einsum: operand ", static_cast<int>(k), " ",
                                     operands[k].sizes(), " of \"", equation, "\" has ",
                                     operands[k].dim(), " dimensions, its subscript names ",
                                     letters));
        if (parsed.inputs[k].ellipsis >= 0) ellipsisRank = std::max(ellipsisRank, rest);
    }
    std::vector<Labelled> all;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const Term& term = parsed.inputs[k];
        Labelled x{operands[k], term.letters};
        if (term.ellipsis >= 0) {
            const int rest = operands[k].dim() - static_cast<int>(term.letters.size());
            Labels dots(static_cast<std::size_t>(rest));
            // "..." of unequal length lines up at the end, as in broadcasting.
            std::iota(dots.begin(), dots.end(), kLetters + ellipsisRank - rest);
            x.labels.insert(x.labels.begin() + term.ellipsis, dots.begin(), dots.end());
        }
        for (std::size_t i = 0; i < x.labels.size(); ++i) {
            const auto l = static_cast<std::size_t>(x.labels[i]);
            const std::int64_t size = x.tensor.sizes()[static_cast<int>(i)];
            const std::size_t before = static_cast<std::size_t>(x.find(x.labels[i]));
            const bool differs = before < i ? x.tensor.sizes()[static_cast<int>(before)] != size
                                            : sizes[l] > 1 && size != 1 && sizes[l] != size;
            if (differs || (before == i && sizes[l] == 0 && size > 1))
                throw ShapeError(message(
                    "einsum: subscript ", nameOf(x.labels[i]), " of \"", equation, "\" has size ",
                    before < i ? x.tensor.sizes()[static_cast<int>(before)] : sizes[l], " and ",
                    size, " in operand ", static_cast<int>(k), " ", operands[k].sizes()));
            if (sizes[l] == -1 || sizes[l] == 1) sizes[l] = size;
        }
        for (std::size_t i = 0; i < x.labels.size();) {
            const int first = x.find(x.labels[i]);
            if (static_cast<std::size_t>(first) == i) {
                ++i;
                continue;
            }
            x.tensor = diagonalOf(x.tensor, first, static_cast<int>(i), site);
            x.labels.erase(x.labels.begin() + static_cast<std::ptrdiff_t>(i));
        }
        all.push_back(std::move(x));
    }
    // A size of 1 that stretches is no dimension of its own.
    for (Labelled& x : all) {
        LabelSet stretched = 0;
        for (const int l : x.labels)
            if (sizeOf(x, l) == 1 && sizes[static_cast<std::size_t>(l)] != 1)
                stretched |= LabelSet{1} << l;
        x = sumOver(x, stretched, site);
    }
    return all;
}

Labels outputLabels(const Equation& parsed, std::string_view equation, int ellipsisRank,
                    const std::array<std::int64_t, kLabels>& sizes) {
    Labels dots(static_cast<std::size_t>(ellipsisRank));
    std::iota(dots.begin(), dots.end(), kLetters);
    if (parsed.explicitOutput) {
        Labels labels = parsed.output.letters;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i),
                          labels[i]) != labels.begin() + static_cast<std::ptrdiff_t>(i))
                throw Error(message("einsum: output subscript ", nameOf(labels[i]), " of \"",
                                    equation, "\" comes twice"));
            if (sizes[static_cast<std::size_t>(labels[i])] < 0)
                throw Error(message("einsum: output subscript ", nameOf(labels[i]), " of \"",
                                    equation, "\" is in no operand"));
        }
        if (parsed.output.ellipsis >= 0)
            labels.insert(labels.begin() + parsed.output.ellipsis, dots.begin(), dots.end());
        return labels;
    }
    // "..." first, then the letters that occur once, in alphabetical order.
    std::array<int, kLetters> count{};
    for (const Term& term : parsed.inputs)
        for (const int l : term.letters) ++count[static_cast<std::size_t>(l)];
    Labels labels = dots;
    for (int l = 0; l < kLetters; ++l)
        if (count[static_cast<std::size_t>(l)] == 1) labels.push_back(l);
    return labels;
}

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands, Site site) {
    if (operands.empty()) throw Error("einsum: at least one operand is needed");
    const Equation parsed = parse(equation);
    std::array<std::int64_t, kLabels> sizes;
    sizes.fill(-1);
    int ellipsisRank = 0;
    std::vector<Labelled> list = label(parsed, equation, operands, ellipsisRank, sizes, site);
    const Labels output = outputLabels(parsed, equation, ellipsisRank, sizes);
    LabelSet kept = 0;
    for (const int l : output) kept |= LabelSet{1} << l;
    std::vector<LabelSet> sets;
    for (const Labelled& x : list) sets.push_back(x.set());
    for (const auto& [i, j] : contractionPath(sets, kept, sizes)) {
        const Labelled a = list[i];
        const Labelled b = list[j];
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        LabelSet needed = kept;
        for (const Labelled& other : list) needed |= other.set();
        list.push_back(contract(a, b, needed, site));
    }
    const Labelled& last = list.front();
    return ordered(sumOver(last, last.set() & ~kept, site), output, site);
}

}  // namespace tapescope::engine
