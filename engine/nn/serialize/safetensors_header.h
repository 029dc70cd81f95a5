// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/dims.h"
#include "engine/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::engine::nn {

/// Where one tensor of a safetensors file lies.
struct SafetensorsEntry {
    std::string name;
    DType dtype = DType::F32;
    Dims sizes;
    std::uint64_t begin = 0;  ///< in bytes behind the header
    std::uint64_t end = 0;
};

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;  ///< by place
    std::map<std::string, std::string> metadata;
};

/// What the format calls a dtype, "F32"; "" for one it has no name for.
std::string_view safetensorsName(DType dtype);

/// The header's JSON, checked whole: a file from elsewhere may say anything. dataBytes: what lies
/// behind the header. Throws DataError "FILE: … " naming tensor and remedy: other syntax than the
/// format's, a dtype the engine lacks, sizes that overflow or do not fit the offsets, offsets that
/// overlap, leave holes or lie outside.
SafetensorsHeader parseSafetensorsHeader(const std::string& file, std::string_view json,
                                         std::uint64_t dataBytes);
std::string writeSafetensorsHeader(const SafetensorsHeader& header);

}  // namespace tapescope::engine::nn
