// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/byte_source.h"
#include "engine/tensor/tensor.h"

#include <string>

namespace tapescope::engine::data {

/// An IDX file (MNIST's format: 0 0 type rank, big-endian sizes, big-endian values in row-major
/// order), converted to dtype. Types: 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64. Throws
/// DataError with file, byte offset, what was expected and the remedy: another format, unknown
/// type, cut or too long data, more than 2^30 elements. A header that promises more than the file
/// holds costs no memory.
Tensor read_idx(ByteSource source, DType dtype = DType::F32);
Tensor read_idx(const std::string& path, DType dtype = DType::F32);

}  // namespace tapescope::engine::data
