// SPDX-License-Identifier: Apache-2.0
#include "storage/build_info.h"

#include <sqlite3.h>
#include <zstd.h>

namespace tapescope::storage {

std::string sqliteVersion() { return sqlite3_libversion(); }
std::string zstdVersion() { return ZSTD_versionString(); }

}  // namespace tapescope::storage
