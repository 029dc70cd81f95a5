// SPDX-License-Identifier: Apache-2.0
#include "engine/text.h"
#include "plugins/api/model.h"

namespace tapescope::plugins {

void ModelRegistry::add(ModelEntry entry) {
    for (const ModelEntry& known : m_entries) {
        if (known.name == entry.name) {
            throw engine::Error("a model named \"" + entry.name +
                                "\" is registered already; give it another name");
        }
    }
    m_entries.push_back(std::move(entry));
}

const ModelEntry& ModelRegistry::find(std::string_view name) const {
    std::vector<std::string> names;
    for (const ModelEntry& entry : m_entries) {
        if (entry.name == name) return entry;
        names.push_back(entry.name);
    }
    throw UsageError("there is no model \"" + std::string(name) + "\"" +
                     engine::didYouMean(name, names) + "; tapescope models lists them");
}

}  // namespace tapescope::plugins
