// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"
#include "engine/observe/observer.h"
#include "engine/ops/op_def.h"
#include "storage/tape/writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tapescope::profiler {

/// An id on the tape, with a hash of what it stands for.
struct Identity {
    std::uint32_t id = 0;
    std::uint64_t hash = 0;
};
struct OpIdentity {
    const engine::OpDef* op = nullptr;
    storage::NameId name = 0;
    std::uint64_t hash = 0;
    std::size_t index = 0;  ///< 0, 1, 2 … in order of appearance
};
struct ModuleIdentity {
    storage::ModuleId id = 0;
    std::uint64_t hash = 0;
    storage::NameId typeName = 0;
};

/// Gives operators, modules and sites their ids on the tape, by the addresses the engine interns
/// them under, and writes each one's row when it is first seen. Not thread-safe: the Recorder
/// locks.
class Identities final {
public:
    explicit Identities(storage::TapeWriter& writer) : m_writer(writer) {}

    /// The whole module tree, so that modules never called are on the tape too.
    void describe(const engine::nn::Module& root);

    const OpIdentity& of(const engine::OpDef& op);
    /// Null is no module: id 0.
    const ModuleIdentity& of(const engine::ModuleFrame* frame);
    Identity of(const engine::Site& site);
    storage::NameId name(std::string_view text) { return m_writer.name(text); }

private:
    struct SiteKey {
        const char* file;
        std::uint32_t line;
        friend bool operator==(const SiteKey&, const SiteKey&) = default;
    };
    struct SiteKeyHash {
        std::size_t operator()(const SiteKey& key) const {
            return std::hash<const void*>{}(key.file) * 31 + key.line;
        }
    };
    void describe(const engine::nn::Module& module, storage::ModuleId parent);
    storage::ModuleId addModule(storage::ModuleRow row);

    storage::TapeWriter& m_writer;
    std::unordered_map<const engine::OpDef*, OpIdentity> m_ops;
    std::unordered_map<const engine::ModuleFrame*, ModuleIdentity> m_frames;
    std::unordered_map<std::string, storage::ModuleId> m_modules;  // by path
    std::unordered_map<SiteKey, Identity, SiteKeyHash> m_sites;
    // The same file's name may lie at several addresses, one a translation unit.
    std::unordered_map<std::string, Identity> m_sitesByText;
    const engine::ModuleFrame* m_lastFrame = nullptr;
    const ModuleIdentity* m_last = &m_none;
    ModuleIdentity m_none;
};

}  // namespace tapescope::profiler
