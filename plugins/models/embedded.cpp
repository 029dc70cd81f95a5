// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/embedded.h"

namespace tapescope::plugins {

EmbeddedFile embeddedFile(std::string_view path) {
    for (const EmbeddedFile& file : embeddedFiles()) {
        if (file.path == path) return file;
    }
    throw engine::Error("the file " + std::string(path) +
                        " is not built in: add it to plugins/models/CMakeLists.txt");
}

}  // namespace tapescope::plugins
