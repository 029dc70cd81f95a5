// SPDX-License-Identifier: Apache-2.0
// Indexing as libtorch writes it:
//   using namespace tapescope::engine::indexing;
//   index(t, {Slice(1, None), idx, Ellipsis, None});      // t[1:, idx, ..., None]
//   index_put_(t, {0, Slice()}, 1.5);                      // t[0, :] = 1.5
#pragma once

#include "engine/tensor/tensor.h"

#include <concepts>
#include <initializer_list>
#include <limits>
#include <optional>
#include <variant>

namespace tapescope::engine {

namespace indexing {

struct NoneType {};
struct EllipsisType {};
inline constexpr NoneType None{};          ///< a new dimension of size 1; in a Slice: to the end
inline constexpr EllipsisType Ellipsis{};  ///< all dimensions that the other indices leave

/// A bound of a slice: a number, or None.
struct Bound {
    std::optional<std::int64_t> value;
    Bound(NoneType) {}  // NOLINT(google-explicit-constructor)
    template <std::integral Number>
    Bound(Number number)  // NOLINT(google-explicit-constructor)
        : value(static_cast<std::int64_t>(number)) {}
};
/// start:stop:step as in Python; step must be positive.
struct Slice {
    std::int64_t start = 0;
    std::int64_t stop = std::numeric_limits<std::int64_t>::max();
    std::int64_t step = 1;
    Slice() = default;
    explicit Slice(Bound start_, Bound stop_ = None, Bound step_ = None)
        : start(start_.value.value_or(0)),
          stop(stop_.value.value_or(std::numeric_limits<std::int64_t>::max())),
          step(step_.value.value_or(1)) {}
};

}  // namespace indexing

/// One index: None, Ellipsis, a number, true or false (a new dimension of size 1 or 0), a Slice, or
/// a tensor (int64 places or a bool mask).
struct TensorIndex {
    using Value = std::variant<indexing::NoneType, indexing::EllipsisType, std::int64_t, bool,
                               indexing::Slice, Tensor>;
    Value value;
    TensorIndex(indexing::NoneType none) : value(none) {}              // NOLINT
    TensorIndex(indexing::EllipsisType ellipsis) : value(ellipsis) {}  // NOLINT
    TensorIndex(bool flag) : value(flag) {}                            // NOLINT
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) TensorIndex(Number number)
        : value(static_cast<std::int64_t>(number)) {}     // NOLINT
    TensorIndex(indexing::Slice slice) : value(slice) {}  // NOLINT
    TensorIndex(const Tensor& tensor) : value(tensor) {}  // NOLINT
};

/// A view where only numbers, slices, None and Ellipsis are given; a copy with tensors. Throws
/// IndexError.
Tensor index(const Tensor& x, std::initializer_list<TensorIndex> indices, Site site = {});
/// x[indices] = value, which broadcasts. Returns x.
Tensor index_put_(const Tensor& x, std::initializer_list<TensorIndex> indices, const Tensor& value,
                  Site site = {});
Tensor index_put_(const Tensor& x, std::initializer_list<TensorIndex> indices, double value,
                  Site site = {});

}  // namespace tapescope::engine
