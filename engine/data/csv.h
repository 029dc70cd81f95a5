// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/byte_source.h"
#include "engine/tensor/tensor.h"

#include <string>
#include <vector>

namespace tapescope::engine::data {

struct CsvOptions {
    bool header = false;  ///< the first line names the columns
    char separator = ',';
    std::int64_t maxElements = std::int64_t{1} << 28U;  ///< 1 GiB of float32; more is an error
};

struct CsvTable {
    Tensor values;                     ///< float32 [rows, columns]
    std::vector<std::string> columns;  ///< names; empty without a header
};

/// A table of numbers. Lines may end in LF or CRLF, empty lines and a byte order mark are passed
/// over, cells may stand in double quotes; "nan" and "inf" are numbers. Throws DataError with file,
/// line, column and remedy: no line, a line with another number of cells than the first, a cell
/// that is no number, a line above 1 MiB, too many elements.
CsvTable read_csv(ByteSource source, const CsvOptions& options = {});
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace tapescope::engine::data
