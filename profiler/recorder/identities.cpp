// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/identities.h"

#include "profiler/recorder/structure_hash.h"

namespace tapescope::profiler {

using engine::ModuleFrame;
using engine::OpDef;
using engine::Site;

void Identities::describe(const engine::nn::Module& root) { describe(root, 0); }

void Identities::describe(const engine::nn::Module& module, storage::ModuleId parent) {
    storage::ModuleRow row;
    row.parent = parent;
    row.path = module.path();
    row.type = module.type_name();
    for (const auto& [name, tensor] : module.named_parameters(false)) {
        if (tensor.defined()) row.parameters += tensor.numel();
    }
    row.details = module.details();
    const storage::ModuleId id = addModule(std::move(row));
    for (const auto& child : module.children()) describe(*child, id);
}

storage::ModuleId Identities::addModule(storage::ModuleRow row) {
    const auto [at, isNew] =
        m_modules.try_emplace(row.path, static_cast<storage::ModuleId>(m_modules.size() + 1));
    row.id = at->second;
    m_writer.module(std::move(row));  // a second row of the same id replaces the first
    return at->second;
}

const OpIdentity& Identities::of(const OpDef& op) {
    const auto found = m_ops.find(&op);
    if (found != m_ops.end()) return found->second;
    const OpIdentity identity{&op, m_writer.name(op.name), hashOf(op.name), m_ops.size()};
    return m_ops.emplace(&op, identity).first->second;
}

const ModuleIdentity& Identities::of(const ModuleFrame* frame) {
    if (frame == m_lastFrame) return *m_last;
    if (frame == nullptr) return m_none;
    auto found = m_frames.find(frame);
    if (found == m_frames.end()) {
        ModuleIdentity identity;
        identity.typeName = m_writer.name(frame->typeName);
        identity.hash = hashOf(frame->path);
        if (const auto known = m_modules.find(frame->path); known != m_modules.end()) {
            identity.id = known->second;
        } else {
            const storage::ModuleId parent = of(frame->parent).id;
            identity.id = addModule({0, parent, frame->path, frame->typeName, 0, ""});
        }
        found = m_frames.emplace(frame, identity).first;
    }
    m_lastFrame = frame;
    m_last = &found->second;  // elements of an unordered_map stay where they are
    return found->second;
}

Identity Identities::of(const Site& site) {
    if (!site.known()) return {};
    const SiteKey key{site.file, site.line};
    if (const auto found = m_sites.find(key); found != m_sites.end()) return found->second;
    const std::string text = std::string(site.file) + ":" + std::to_string(site.line);
    auto [at, isNew] = m_sitesByText.try_emplace(text);
    if (isNew) {
        at->second = {static_cast<std::uint32_t>(m_sitesByText.size()), hashOf(text)};
        m_writer.site({at->second.id, site.file, site.line, site.function});
    }
    m_sites.emplace(key, at->second);
    return at->second;
}

}  // namespace tapescope::profiler
