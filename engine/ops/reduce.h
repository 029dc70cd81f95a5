// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <utility>

namespace tapescope::engine {

// dims empty = all dimensions. Negative dims count from the end. Empty inputs follow PyTorch: sum
// 0, prod 1, mean NaN, amax/argmax an error.
Tensor sum(const Tensor& x, const Dims& dims = {}, bool keepdim = false, Site site = {});
Tensor mean(const Tensor& x, const Dims& dims = {}, bool keepdim = false, Site site = {});
Tensor prod(const Tensor& x, Site site = {});
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
Tensor amax(const Tensor& x, const Dims& dims = {}, bool keepdim = false, Site site = {});
Tensor amin(const Tensor& x, const Dims& dims = {}, bool keepdim = false, Site site = {});
/// NaN counts as the largest; the first of equals. Without dim: the index into x seen as flat.
Tensor argmax(const Tensor& x, Site site = {});
Tensor argmin(const Tensor& x, Site site = {});
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
Tensor any(const Tensor& x, Site site = {});
Tensor all(const Tensor& x, Site site = {});
Tensor any(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
Tensor all(const Tensor& x, std::int64_t dim, bool keepdim = false, Site site = {});
Tensor any(const Tensor& x, const Dims& dims, bool keepdim = false, Site site = {});
Tensor all(const Tensor& x, const Dims& dims, bool keepdim = false, Site site = {});
Tensor var(const Tensor& x, const Dims& dims = {}, std::int64_t correction = 1,
           bool keepdim = false, Site site = {});
Tensor std(const Tensor& x, const Dims& dims = {}, std::int64_t correction = 1,
           bool keepdim = false, Site site = {});
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim = false, Site site = {});
Tensor norm(const Tensor& x, Site site = {});  ///< Euclidean, of all elements
/// (sum |x|^p)^(1/p) over dims; p 0 counts what is not 0, +-infinity gives the largest and smallest
/// magnitude.
Tensor norm(const Tensor& x, double p, const Dims& dims = {}, bool keepdim = false, Site site = {});
Tensor vector_norm(const Tensor& x, double ord = 2, const Dims& dims = {}, bool keepdim = false,
                   Site site = {});
Tensor cumsum(const Tensor& x, std::int64_t dim, Site site = {});

}  // namespace tapescope::engine
