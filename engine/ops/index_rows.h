// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

namespace tapescope::engine {

// index.cpp
extern OpDef kIndexSelect, kGather, kScatterAdd, kIndexAdd, kOneHot;
// scatter.cpp, scatter_inplace.cpp
extern OpDef kScatter, kScatterReduce, kIndexFill, kIndexCopy, kIndexReduce;
extern OpDef kScatterInplace, kScatterAddInplace, kScatterReduceInplace, kIndexAddInplace,
    kIndexFillInplace, kIndexCopyInplace;
// masked.cpp
extern OpDef kNonzero, kArgwhere, kMaskedSelect, kMaskedScatter, kMaskedScatterInplace;
extern OpDef kTake, kTakeAlongDim, kPut, kPutInplace;
// advanced_index.cpp
extern OpDef kIndex, kIndexPut, kIndexPutInplace;

/// The size of dim; a 0-d tensor has one element along its only dimension.
std::int64_t sizeAlong(const Tensor& x, int dim);
Tensor zerosOf(const TensorMeta& meta);
/// Checks the 1-d index that index_select and index_add take.
void checkFlatIndex(std::string_view op, const Tensor& index);
void checkAddable(std::string_view op, const Tensor& x, const Tensor& source);
/// The rank rule that gather and scatter_add share, and a 0-d tensor standing for one of size 1.
int checkSameRank(std::string_view op, std::int64_t dim, const Tensor& x, const Tensor& index);
/// Throws unless index is no larger than x in every dimension but `except` (-1: in every one).
void checkNotLarger(std::string_view op, const Tensor& index, std::string_view what,
                    const Tensor& x, int except);
/// Input, index and source (if there is one) of a scatter along attribute 0.
void checkScatter(std::string_view op, const OpArgs& a);
/// Input, 1-d index and source of index_add and its like along attribute 0.
void checkIndexedSource(std::string_view op, const OpArgs& a);
/// Throws where several elements of x share one place in memory.
void checkWritable(std::string_view op, const Tensor& x);

/// The gradient of a scatter's source of the given sizes; what lies beyond the index gets 0.
Tensor takenFrom(const Tensor& grad, std::int64_t dim, const Tensor& index, const Dims& sizes);

// Shared by an operator and its in-place form.
void vjpScatterAdd(const VjpArgs& v, std::span<Tensor> grads);
void vjpIndexAdd(const VjpArgs& v, std::span<Tensor> grads);
void vjpScatter(const VjpArgs& v, std::span<Tensor> grads);
void vjpScatterReduce(const VjpArgs& v, std::span<Tensor> grads);
void vjpIndexFill(const VjpArgs& v, std::span<Tensor> grads);
void vjpIndexCopy(const VjpArgs& v, std::span<Tensor> grads);

}  // namespace tapescope::engine
