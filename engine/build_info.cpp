// SPDX-License-Identifier: Apache-2.0
#include "engine/build_info.h"

#include <dnnl.h>
#include <omp.h>
#include <zlib.h>

namespace tapescope::engine {

std::string onednnVersion() {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
}

std::string zlibVersion() { return ::zlibVersion(); }

int computeThreads() { return omp_get_max_threads(); }

}  // namespace tapescope::engine
