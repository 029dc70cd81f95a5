// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/breakpoint_table.h"

#include <algorithm>

namespace tapescope::engine::debug {

bool LinePass::enter(const ModuleFrame* scope, const Site& site, const void* callee) {
    const bool samePlace = !m_callees.empty() && scope == m_scope && site == m_site;
    if (samePlace && std::find(m_callees.begin(), m_callees.end(), callee) == m_callees.end()) {
        m_callees.push_back(callee);
        return false;
    }
    m_scope = scope;
    m_site = site;
    m_callees.assign(1, callee);
    return true;
}

const ModuleFrame* lineScope(const ModuleFrame* module, const Site& site) {
    while (module && site.known() && module->site == site) module = module->parent;
    return module;
}

}  // namespace tapescope::engine::debug
