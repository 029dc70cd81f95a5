// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/dataset.h"

#include <string>

namespace tapescope::plugins {

/// The built-in 1,797 digits: input f32[N, 1, 8, 8] in [0, 1], target i64[N].
engine::data::TensorDataset loadDigits();

/// MNIST from dir: input f32[N, 1, 28, 28] in [0, 1], target i64[N]. Takes
/// mnist10k-images.idx3-ubyte and -labels.idx1-ubyte, or the original names
/// (train-images-idx3-ubyte, train-labels-idx1-ubyte), each with or without .gz. Throws
/// engine::DataError: no such files, or not images with labels.
engine::data::TensorDataset loadMnist(const std::string& dir);

/// Which files loadMnist looks for, for people.
std::string mnistHelp();

}  // namespace tapescope::plugins
