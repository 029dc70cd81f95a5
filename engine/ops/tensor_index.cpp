// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/tensor_index.h"

#include "engine/errors.h"
#include "engine/ops/checks.h"
#include "engine/ops/indexing.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <vector>

namespace tapescope::engine {
namespace {

using indexing::EllipsisType;
using indexing::NoneType;
using indexing::Slice;

/// How many dimensions of the tensor an index uses up.
int consumed(const TensorIndex& index) {
    if (const auto* t = std::get_if<Tensor>(&index.value)) {
        if (!t->defined()) return 1;
        return t->dtype() == DType::Bool ? t->dim() : 1;
    }
    return std::holds_alternative<std::int64_t>(index.value) ||
                   std::holds_alternative<Slice>(index.value)
               ? 1
               : 0;
}

/// What is left for the advanced indices: a view, and the tensors by dimension of it.
struct Sliced {
    Tensor view;
    std::vector<Tensor> tensors;
    bool advanced = false;
};

/// Applies everything but the tensors, as views.
Sliced slicePart(const Tensor& x, std::initializer_list<TensorIndex> indices, Site site) {
    int used = 0;
    int ellipses = 0;
    for (const TensorIndex& index : indices) {
        used += consumed(index);
        if (std::holds_alternative<EllipsisType>(index.value)) ++ellipses;
    }
    if (used > x.dim())
        throw IndexError(message("index: ", used, " indices are too many for ", x.sizes()) +
                         placeSuffix("", site));
    if (ellipses > 1)
        throw IndexError("index: only one Ellipsis may be given" + placeSuffix("", site));
    Sliced result{x, {}, false};
    Tensor& v = result.view;
    int dim = 0;  // place of the next index
    // A mask takes several dimensions of the view, but one of the tensors' places.
    int masked = 0;
    const auto place = [&](const Tensor& t) {
        result.advanced = true;
        result.tensors.resize(static_cast<std::size_t>(dim++));
        result.tensors.push_back(t);
    };
    for (const TensorIndex& index : indices) {
        if (std::holds_alternative<NoneType>(index.value)) {
            v = unsqueeze(v, dim + masked, site);
            ++dim;
        } else if (std::holds_alternative<EllipsisType>(index.value)) {
            dim += x.dim() - used;
        } else if (const auto* number = std::get_if<std::int64_t>(&index.value)) {
            v = select(v, dim + masked, *number, site);
        } else if (const auto* flag = std::get_if<bool>(&index.value)) {
            v = unsqueeze(v, dim + masked, site);
            place(zeros({*flag ? 1 : 0}, {.dtype = DType::I64}, site));
        } else if (const auto* slice = std::get_if<Slice>(&index.value)) {
            const bool whole = slice->start == 0 && slice->step == 1 &&
                               slice->stop == std::numeric_limits<std::int64_t>::max();
            if (!whole)
                v = engine::slice(v, dim + masked, slice->start, slice->stop, slice->step, site);
            ++dim;
        } else {
            const Tensor& t = std::get<Tensor>(index.value);
            place(t);
            masked += consumed(index) - 1;
        }
    }
    return result;
}

/// value without leading dimensions of size 1, which an assignment ignores.
Tensor fitted(const Tensor& value, Site site) {
    Dims sizes = value.sizes();
    while (!sizes.empty() && sizes[0] == 1) sizes.erase(0);
    return sizes == value.sizes() ? value : reshape(value, sizes, site);
}

}  // namespace

Tensor index(const Tensor& x, std::initializer_list<TensorIndex> indices, Site site) {
    const Sliced sliced = slicePart(x, indices, site);
    return sliced.advanced ? index(sliced.view, sliced.tensors, site) : sliced.view;
}
Tensor index_put_(const Tensor& x, std::initializer_list<TensorIndex> indices, const Tensor& value,
                  Site site) {
    const Sliced sliced = slicePart(x, indices, site);
    if (!sliced.advanced)
        copy_(sliced.view, fitted(value, site), site);
    else
        index_put_(sliced.view, sliced.tensors, to(fitted(value, site), x.dtype(), site), false,
                   site);
    return x;
}
Tensor index_put_(const Tensor& x, std::initializer_list<TensorIndex> indices, double value,
                  Site site) {
    return index_put_(x, indices, full({}, value, {.dtype = x.dtype()}, site), site);
}

}  // namespace tapescope::engine
