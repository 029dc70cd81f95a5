// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"

namespace tapescope::engine {

std::string placeSuffix(std::string_view modulePath, const Site& site) {
    std::string text;
    if (!modulePath.empty()) text += "in module " + std::string(modulePath);
    if (site.known()) {
        if (!text.empty()) text += ", ";
        text += "at " + std::string(site.file) + ":" + std::to_string(site.line);
    }
    return text.empty() ? text : " (" + text + ")";
}

}  // namespace tapescope::engine
