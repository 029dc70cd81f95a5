// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/dataset.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tapescope::plugins {

/// Digits for networks that want a larger picture: MNIST with a border, 32×32, from --data, else
/// the built-in 8×8 ones.
engine::data::TensorDataset loadDigitImages(const std::optional<std::string>& dataDir);

/// Every pixel k times in both directions (nearest-neighbour upsampling). x: [N, C, H, W].
engine::Tensor enlarge(const engine::Tensor& x, std::int64_t k, engine::Site site = {});

/// How many times as large pictures of `pixels` must become for `wanted`. Throws engine::Error
/// unless it is a multiple.
std::int64_t enlargement(std::int64_t pixels, std::int64_t wanted);

}  // namespace tapescope::plugins
