// SPDX-License-Identifier: Apache-2.0
#include "app/runner/packs.h"

#include "app/runner/training_run.h"
#include "plugins/api/pack.h"
#include "plugins/models/register.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <system_error>

namespace tapescope::app {
namespace {

namespace fs = std::filesystem;
using plugins::ModelRegistry;
using plugins::PackAbi;
using plugins::UsageError;

std::string lastLinkerError() {
    const char* text = ::dlerror();
    return text ? text : "unknown reason";
}

void checkAbi(const std::string& path, const PackAbi& pack) {
    const PackAbi own = plugins::packAbi();
    if (pack.version != own.version) {
        throw UsageError(path + ": is a model pack of version " + std::to_string(pack.version) +
                         ", this program takes version " + std::to_string(own.version) +
                         "; build it again with this program's headers");
    }
    if (pack.compiler != own.compiler) {
        throw UsageError(path + ": was built by a compiler with the C++ ABI " +
                         std::to_string(pack.compiler) + ", this program has " +
                         std::to_string(own.compiler) + "; build it with a matching compiler");
    }
    if (pack.layout != own.layout) {
        throw UsageError(path +
                         ": was built against the headers of another tapescope; build it "
                         "again with this program's");
    }
}

/// Adds the models of the library at path to registry, all or none.
void addPack(const std::string& path, ModelRegistry& registry) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error);
    if (error || !fs::is_regular_file(full, error))
        throw UsageError(path + ": there is no such file; name a model pack's .so");
    // Now, so that what is missing shows here and not in the middle of a run. Never unloaded:
    // models keep functions of it.
    void* library = ::dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const std::string reason = lastLinkerError();
        const bool symbol = reason.find("undefined symbol") != std::string::npos;
        throw UsageError(path +
                         (symbol ? ": needs something that this program lacks (" + reason +
                                       "); build it against this program's headers"
                                 : ": is no shared library that can be loaded (" + reason + ")"));
    }
    const auto* abi = static_cast<const PackAbi*>(::dlsym(library, "tapescope_pack_abi"));
    void* entry = ::dlsym(library, "tapescope_register_pack");
    if (!abi || !entry) {
        throw UsageError(path + ": has no " +
                         (abi ? "tapescope_register_pack" : "tapescope_pack_abi") +
                         ", so it is no model pack; put TAPESCOPE_MODEL_PACK(registry) { … } into "
                         "one of its sources");
    }
    checkAbi(path, *abi);
    ModelRegistry found;
    try {
        reinterpret_cast<void (*)(ModelRegistry&)>(entry)(found);
        for (const plugins::ModelEntry& model : found.entries()) {
            for (const plugins::ModelEntry& known : registry.entries()) {
                if (known.name == model.name)
                    throw engine::Error("the name " + model.name + " is taken; rename its model");
            }
        }
    } catch (const std::exception& reason) {
        throw UsageError(path + ": its models could not be registered: " + reason.what());
    }
    for (const plugins::ModelEntry& model : found.entries()) registry.add(model);
}

struct Available {
    ModelRegistry registry;
    std::vector<std::string> problems;

    Available() {
        plugins::registerModelPack(registry);
        for (const std::string& folder : packFolders()) {
            std::vector<std::string> files;
            std::error_code error;
            for (const auto& file : fs::directory_iterator(folder, error)) {
                if (file.path().extension() == ".so") files.push_back(file.path().string());
            }
            std::sort(files.begin(), files.end());
            for (const std::string& file : files) {
                try {
                    addPack(file, registry);
                } catch (const UsageError& problem) {
                    problems.emplace_back(problem.what());
                }
            }
        }
    }
};

Available& available() {
    static Available all;
    return all;
}

}  // namespace

void loadPack(const std::string& path) { addPack(path, available().registry); }

std::vector<std::string> packFolders() {
    std::vector<std::string> folders;
    if (const char* list = std::getenv("TAPESCOPE_PACK_PATH")) {
        std::string folder;
        for (const char* c = list;; ++c) {
            if (*c != ':' && *c != '\0') {
                folder += *c;
                continue;
            }
            if (!folder.empty()) folders.push_back(folder);
            folder.clear();
            if (*c == '\0') break;
        }
    }
    const char* data = std::getenv("XDG_DATA_HOME");
    const char* home = std::getenv("HOME");
    if (data && *data != '\0') {
        folders.push_back(std::string(data) + "/tapescope/packs");
    } else if (home && *home != '\0') {
        folders.push_back(std::string(home) + "/.local/share/tapescope/packs");
    }
    return folders;
}

const std::vector<std::string>& packProblems() { return available().problems; }

const ModelRegistry& builtinModels() { return available().registry; }

}  // namespace tapescope::app
